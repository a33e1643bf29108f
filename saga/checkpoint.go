package saga

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"sagann/dataset"
	"sagann/device"
	"sagann/internal/safetensors"
)

// Versions of the metadata. In version 1 they have no checksum and not the optimiser's numbers: parameters can be read from such a
// checkpoint, but training cannot go on. Version 3 is that of several vertex types: in version 2 they had the activation of layers in each
// relation (see suits).
const (
	typedVersion      = "3"
	checkpointVersion = "2"
	firstVersion      = "1"
)

// Keys of checksums in the metadata: of the values, and of all other metadata with the names and
// shapes of the tensors.
const (
	valueSum  = "crc32c"
	headerSum = "header_crc32c"
)

// Keys of sampled training in the metadata: completed batches of the current epoch, and the sum of
// their losses times their numbers of seeds.
const (
	batchMeta     = "batch"
	batchLossMeta = "batch_loss"
)

// bestPrefix begins the names of the parameters that early stopping keeps.
const bestPrefix = "best:"

// Checkpoint is the metadata of a checkpoint. A checkpoint is a safetensors file with every parameter
// ("layer1.W"), the optimiser's moments ("moment1:layer1.W") and, with early stopping, the
// parameters of the best epoch ("best:layer1.W"), all float32. If parameters have a row for each vertex, it also
// has the ids of the vertices ("vertex:ids").
type Checkpoint struct {
	Model     string // name
	Options   string // text that the caller of Save gave
	Epoch     int    // completed epochs
	Kept      int    // the epoch of the parameters that predictions use: with early stopping that of the lowest validation loss, else Epoch
	Seed      uint64
	Optimizer string
	Chunks    int    // number of intervals P; 0 in sampled training
	Batch     int    // sampled training: completed batches of the current epoch
	Digest    string // see Program.Digest
	Data      string // checksum of edges, features, labels and training split

	// Schema says what the numbers of the data meant (see Record); nil if the checkpoint is of a version that kept
	// none.
	Schema *dataset.Schema

	version    string
	conditions []condition // other settings of the run
	batchLoss  float64     // updates.loss
	plateau    plateau
}

// ReadCheckpoint reads the metadata of the checkpoint at path. It refuses a file that is no
// checkpoint or of a later version, or whose header was changed since it was written. It does not
// check the values. Errors name the file.
func ReadCheckpoint(path string) (*Checkpoint, error) {
	f, c, err := openCheckpoint(path)
	if err != nil {
		return nil, err
	}
	return c, f.Close()
}

func openCheckpoint(path string) (*safetensors.File, *Checkpoint, error) {
	f, err := safetensors.Open(path)
	if err != nil {
		return nil, nil, err
	}
	c, err := parseMeta(f)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return f, c, nil
}

func parseMeta(f *safetensors.File) (*Checkpoint, error) {
	m := f.Meta
	switch v := m["sagann"]; v {
	case checkpointVersion, typedVersion:
		if err := checkHeader(f); err != nil {
			return nil, err
		}
	case firstVersion:
		if _, later := m[headerSum]; later {
			return nil, fmt.Errorf("the file says that it is of version %s, but it was written by a later one: it is damaged", firstVersion)
		}
	case "":
		return nil, errors.New("not a checkpoint: the metadata have no \"sagann\"")
	default:
		return nil, fmt.Errorf("a checkpoint of version %q; this program knows versions %s, %s and %s", v, firstVersion, checkpointVersion, typedVersion)
	}
	c := &Checkpoint{Model: m["model"], Options: m["options"], Optimizer: m["optimizer"], Digest: m["digest"], Data: m["data"], version: m["sagann"]}
	var err error
	if c.Schema, err = parseMeaning(m); err != nil {
		return nil, err
	}
	if c.Epoch, err = strconv.Atoi(m["epoch"]); err != nil || c.Epoch < 0 {
		return nil, fmt.Errorf("metadata epoch is %q", m["epoch"])
	}
	if c.Chunks, err = strconv.Atoi(m["chunks"]); err != nil {
		return nil, fmt.Errorf("metadata chunks is %q", m["chunks"])
	}
	if c.Seed, err = strconv.ParseUint(m["seed"], 10, 64); err != nil {
		return nil, fmt.Errorf("metadata seed is %q", m["seed"])
	}
	if text, ok := m[batchMeta]; ok {
		if c.Batch, err = strconv.Atoi(text); err != nil || c.Batch < 0 {
			return nil, fmt.Errorf("metadata %s is %q", batchMeta, text)
		}
		if c.batchLoss, err = strconv.ParseFloat(m[batchLossMeta], 64); err != nil {
			return nil, fmt.Errorf("metadata %s is %q", batchLossMeta, m[batchLossMeta])
		}
	}
	c.Kept = c.Epoch
	if slices.ContainsFunc(f.Names(), func(name string) bool { return strings.HasPrefix(name, bestPrefix) }) {
		var b best
		if err := json.Unmarshal([]byte(m["best"]), &b); err != nil {
			return nil, fmt.Errorf("metadata best: %w", err)
		}
		c.Kept = b.Epoch
	}
	if c.version == firstVersion {
		return c, nil
	}
	if err := json.Unmarshal([]byte(m["run"]), &c.conditions); err != nil {
		return nil, fmt.Errorf("metadata run: %w", err)
	}
	if text, ok := m["plateau"]; ok {
		if err := json.Unmarshal([]byte(text), &c.plateau); err != nil {
			return nil, fmt.Errorf("metadata plateau: %w", err)
		}
	}
	return c, nil
}

// Save writes the program's parameters, moments and epoch to path. Whenever the process is killed,
// path has either its old content or the whole checkpoint. options is kept as Checkpoint.Options.
// Parameters or moments that are not finite are an error that names them; path is then unchanged.
func (p *Program) Save(path, options string) error {
	return p.save(path, options, p.identity(), best{})
}

// save is Save. With path "" it reads all that a checkpoint has and writes nothing.
func (p *Program) save(path, options string, id identity, b best) error {
	kept, err := json.Marshal(b)
	if err != nil {
		return err
	}
	run, err := json.Marshal(p.conditions())
	if err != nil {
		return err
	}
	s, err := p.open()
	if err != nil {
		return err
	}
	tensors, err := s.tensors()
	if err != nil {
		return err
	}
	for _, t := range tensors {
		x, err := valuesOf(t)
		if err != nil {
			return err
		}
		if text := describeNotFinite(t.Name, x); text != "" {
			return fmt.Errorf("epoch %d: no checkpoint is written: %s", p.epoch, text)
		}
	}
	for _, q := range p.params {
		if x, ok := b.params[q.Name]; ok {
			tensors = append(tensors, safetensors.Tensor{Name: bestPrefix + q.Name, Shape: []int{q.Rows, q.Cols}, Data: x})
		}
	}
	meta := map[string]string{
		"sagann": p.in.checkpointVersion(), "model": p.model.Name, "options": options,
		"epoch": strconv.Itoa(p.epoch), "seed": strconv.FormatUint(p.cfg.Seed, 10),
		"optimizer": p.cfg.Optimizer.Kind, "run": string(run), "chunks": strconv.Itoa(p.mode.facts().chunks),
		"digest": id.digest, "data": id.data, "best": string(kept),
	}
	ids, err := meaning(p, meta)
	if err != nil {
		return err
	}
	tensors = append(tensors, ids...)
	if meta[valueSum], err = checksum(tensors); err != nil {
		return err
	}
	maps.Copy(meta, p.mode.facts().meta)
	if p.plateau.Seen {
		text, err := json.Marshal(p.plateau)
		if err != nil {
			return err
		}
		meta["plateau"] = string(text)
	}
	meta[headerSum] = headerChecksum(meta, tensors)
	if p.cfg.Net.Rank() > 0 || path == "" { // ranks read learned rows together; only the first writes them
		return safetensors.Write(io.Discard, tensors, meta)
	}
	return safetensors.WriteFile(path, tensors, meta)
}

// checkpointVersion is the version of checkpoints of a program over in.
func (in *inputs) checkpointVersion() string {
	if in.kinds != nil {
		return typedVersion
	}
	return checkpointVersion
}

// checkpointBytes is no less than the size of a checkpoint.
func checkpointBytes(p *Program) int64 {
	n := int64(64 << 10) // names, shapes and metadata
	for _, q := range p.params {
		copies := int64(len(p.stateOf(q.Name)))
		if p.cfg.Patience > 0 {
			copies++
		}
		n += 4*int64(q.Rows)*int64(q.Cols)*copies + 1<<10
	}
	return n
}

// canWrite is an error if this rank writes checkpoints and could not write path.
func (p *definition) canWrite(path string) error {
	if p.cfg.Net.Rank() > 0 {
		return nil
	}
	return safetensors.CanWrite(path)
}

// headerChecksum is the CRC-32C of metadata and of the tensors' names and shapes, each sorted by name,
// every text preceded by its length.
func headerChecksum(meta map[string]string, tensors []safetensors.Tensor) string {
	h := crc32.New(castagnoli)
	text := func(s string) { fmt.Fprintf(h, "%d:%s", len(s), s) } // a hash takes every write
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		if key != headerSum {
			text(key)
			text(meta[key])
		}
	}
	byName := slices.SortedFunc(slices.Values(tensors), func(a, b safetensors.Tensor) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range byName {
		text(t.Name)
		text(fmt.Sprint(t.Shape))
	}
	return fmt.Sprintf("%08x", h.Sum32())
}

// checkHeader compares the header of f with its checksum.
func checkHeader(f *safetensors.File) error {
	var tensors []safetensors.Tensor
	for _, name := range f.Names() {
		info, _ := f.Info(name)
		tensors = append(tensors, safetensors.Tensor{Name: name, Shape: info.Shape})
	}
	if sum := headerChecksum(f.Meta, tensors); sum != f.Meta[headerSum] {
		return fmt.Errorf("the header has checksum %s, it was written with %q: the file is damaged", sum, f.Meta[headerSum])
	}
	return nil
}

// checksum is the CRC-32C of the values. It sorts the tensors by name.
func checksum(tensors []safetensors.Tensor) (string, error) {
	sort.Slice(tensors, func(i, j int) bool { return tensors[i].Name < tensors[j].Name })
	sum := uint32(0)
	for _, t := range tensors {
		x, err := bytesOfValues(t)
		if err != nil {
			return "", err
		}
		sum = crc32.Update(sum, castagnoli, x)
	}
	return fmt.Sprintf("%08x", sum), nil
}

// bytesOfValues are the values of a tensor as bytes.
func bytesOfValues(t safetensors.Tensor) ([]byte, error) {
	switch x := t.Data.(type) {
	case []uint8:
		return x, nil
	case []uint32:
		return device.Bytes(x), nil
	case []uint64:
		return device.Bytes(x), nil
	}
	x, err := valuesOf(t)
	return device.Bytes(x), err
}

// ReadStored reads the checkpoint at path. Errors name the file.
func ReadStored(path string) (*Stored, error) {
	f, ck, err := openCheckpoint(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	k, err := readTensors(f)
	if err == nil && ck.Schema != nil {
		vertices := ck.Schema.Vertices
		if ck.Schema.Types != nil {
			vertices = -1
		}
		k.learned, err = learnedOf(f.Meta, k.list, vertices)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	k.path, k.about, k.graphs = path, ck, f.Meta[graphsMeta]
	return &k, nil
}

// readTensors reads all values of f and compares them with the checksum: list has parameters and moments, k.best the
// state of early stopping, k.ids the ids of vertices.
func readTensors(f *safetensors.File) (k Stored, err error) {
	if err := json.Unmarshal([]byte(f.Meta["best"]), &k.best); err != nil {
		return k, fmt.Errorf("metadata best: %w", err)
	}
	var all []safetensors.Tensor
	k.list, k.ids = map[string]safetensors.Tensor{}, map[string]safetensors.Tensor{}
	for _, name := range f.Names() {
		if isID(name) {
			t, err := loadID(f, name)
			if err != nil {
				return k, err
			}
			all, k.ids[name] = append(all, t), t
			continue
		}
		x, shape, err := safetensors.Load[float32](f, name)
		if err != nil {
			return k, err
		}
		t := safetensors.Tensor{Name: name, Shape: shape, Data: x}
		all = append(all, t)
		if param, ok := strings.CutPrefix(name, bestPrefix); ok {
			if k.best.params == nil {
				k.best.params = map[string][]float32{}
			}
			k.best.params[param] = x
			continue
		}
		k.list[name] = t
	}
	sum, err := checksum(all)
	if err != nil {
		return k, err
	}
	if sum != f.Meta[valueSum] {
		return k, fmt.Errorf("the values have checksum %s, they were written with %q: the file is damaged", sum, f.Meta[valueSum])
	}
	for name, x := range k.best.params {
		if t, ok := k.list[name]; !ok || len(t.Data.([]float32)) != len(x) {
			return k, fmt.Errorf("tensor %q does not fit a parameter", bestPrefix+name)
		}
	}
	return k, nil
}
