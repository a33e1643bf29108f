package saga

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"sort"
	"strconv"
	"strings"

	"sagann/internal/safetensors"
)

// checkpointVersion is the version of what the metadata mean.
const checkpointVersion = "1"

// bestPrefix begins the names of the parameters that early stopping keeps.
const bestPrefix = "best:"

// Checkpoint describes a checkpoint: a safetensors file with every parameter
// ("layer1.W"), the optimiser's moments ("moment1:layer1.W") and, with early
// stopping, the parameters of the best epoch ("best:layer1.W"), all float32.
type Checkpoint struct {
	Model     string // name
	Options   string // text that the caller of Save gave
	Epoch     int    // completed
	Seed      uint64
	Optimizer string
	Chunks    int    // P
	Digest    string // of the order of sums; see Program.Digest
	Data      string // checksum of edges, features, labels and training vertices
}

// ReadCheckpoint reads what the checkpoint at path says of itself. An error names the
// file; a file that is no checkpoint, or of a later version, is refused.
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
	c, err := parseMeta(f.Meta)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return f, c, nil
}

func parseMeta(m map[string]string) (*Checkpoint, error) {
	switch v := m["sagann"]; v {
	case checkpointVersion:
	case "":
		return nil, errors.New("not a checkpoint: the metadata have no \"sagann\"")
	default:
		return nil, fmt.Errorf("a checkpoint of version %q; this program knows version %s", v, checkpointVersion)
	}
	c := &Checkpoint{Model: m["model"], Options: m["options"], Optimizer: m["optimizer"], Digest: m["digest"], Data: m["data"]}
	var err error
	if c.Epoch, err = strconv.Atoi(m["epoch"]); err != nil || c.Epoch < 0 {
		return nil, fmt.Errorf("metadata epoch is %q", m["epoch"])
	}
	if c.Chunks, err = strconv.Atoi(m["chunks"]); err != nil {
		return nil, fmt.Errorf("metadata chunks is %q", m["chunks"])
	}
	if c.Seed, err = strconv.ParseUint(m["seed"], 10, 64); err != nil {
		return nil, fmt.Errorf("metadata seed is %q", m["seed"])
	}
	return c, nil
}

// Save writes the program's parameters, moments and epoch to path, which holds either
// what it held before or the whole checkpoint, whenever the process is killed. options
// is kept as Checkpoint.Options.
func (p *Program) Save(path, options string) error {
	return p.save(path, options, p.identity(), best{})
}

func (p *Program) save(path, options string, id identity, b best) error {
	kept, err := json.Marshal(b)
	if err != nil {
		return err
	}
	tensors, err := p.tensors()
	if err != nil {
		return err
	}
	for _, q := range p.params {
		if x, ok := b.params[q.Name]; ok {
			tensors = append(tensors, safetensors.Tensor{Name: bestPrefix + q.Name, Shape: []int{q.Rows, q.Cols}, Data: x})
		}
	}
	return safetensors.WriteFile(path, tensors, map[string]string{
		"sagann": checkpointVersion, "model": p.model.Name, "options": options,
		"epoch": strconv.Itoa(p.epoch), "seed": strconv.FormatUint(p.cfg.Seed, 10),
		"optimizer": p.cfg.Optimizer.Kind, "chunks": strconv.Itoa(p.train.plan.Cells.P),
		"digest": id.digest, "data": id.data, "best": string(kept), "crc32c": checksum(tensors),
	})
}

// checksum is the CRC-32C of the values, tensors in the order of their names.
func checksum(tensors []safetensors.Tensor) string {
	sort.Slice(tensors, func(i, j int) bool { return tensors[i].Name < tensors[j].Name })
	sum := uint32(0)
	for _, t := range tensors {
		sum = crc32.Update(sum, castagnoli, bytesOf(t.Data.([]float32)))
	}
	return fmt.Sprintf("%08x", sum)
}

// tensors reads the parameters and moments from the device.
func (p *Program) tensors() ([]safetensors.Tensor, error) {
	var list []safetensors.Tensor
	for _, q := range p.params {
		names := []string{q.Name}
		for k := range p.cfg.Optimizer.moments() {
			if name := fmt.Sprintf("moment%d:%s", k+1, q.Name); p.hasGlobal(name) {
				names = append(names, name)
			}
		}
		for _, n := range names {
			x, err := p.global(n)
			if err != nil {
				return nil, err
			}
			list = append(list, safetensors.Tensor{Name: n, Shape: []int{q.Rows, q.Cols}, Data: x})
		}
	}
	return list, nil
}

func (p *Program) hasGlobal(name string) bool {
	_, ok := p.train.low.Globals[name]
	return ok
}

// Restore sets the program to what Save wrote at path, so that training goes on bit
// for bit. A checkpoint of another model, seed, optimiser, number of intervals or
// order of sums is refused, and so is a damaged one; then nothing is changed.
func (p *Program) Restore(path string) error {
	_, err := p.restore(path)
	return err
}

func (p *Program) restore(path string) (best, error) {
	if err := p.open(); err != nil {
		return best{}, err
	}
	f, c, err := openCheckpoint(path)
	if err != nil {
		return best{}, err
	}
	defer f.Close()
	fail := func(err error) (best, error) { return best{}, fmt.Errorf("%s: %w", path, err) }
	if err := p.fits(c); err != nil {
		return fail(err)
	}
	want, err := p.tensors()
	if err != nil {
		return best{}, err
	}
	got, b, err := readTensors(f)
	if err != nil {
		return fail(err)
	}
	for _, t := range want {
		if err := sameTensor(t, got[t.Name]); err != nil {
			return fail(err)
		}
	}
	if len(got) != len(want) {
		return fail(fmt.Errorf("%d tensors, this program has %d", len(got), len(want)))
	}
	for name, t := range got {
		if err := p.SetParam(name, t.Data.([]float32)); err != nil {
			return best{}, err
		}
	}
	p.epoch = c.Epoch
	return b, nil
}

// fits says why training cannot go on from c bit for bit.
func (p *Program) fits(c *Checkpoint) error {
	if err := sameArithmetic(c.Digest); err != nil {
		return err
	}
	n := p.train.plan.Cells.P
	switch {
	case c.Model != p.model.Name:
		return fmt.Errorf("a checkpoint of model %q; this is %q", c.Model, p.model.Name)
	case c.Seed != p.cfg.Seed:
		return fmt.Errorf("a checkpoint of a run with seed %d; this one has %d", c.Seed, p.cfg.Seed)
	case c.Optimizer != p.cfg.Optimizer.Kind:
		return fmt.Errorf("a checkpoint of optimizer %q; this is %q", c.Optimizer, p.cfg.Optimizer.Kind)
	case c.Chunks != n:
		return fmt.Errorf("a checkpoint of a run over %d intervals; this plan has %d, so sums would be taken in another order", c.Chunks, n)
	case c.Data != p.in.checksum():
		return fmt.Errorf("a checkpoint of a run on other data (checksum %s; this is %s)", c.Data, p.in.checksum())
	case c.Digest != p.Digest():
		return errors.New("the order of sums is another one than when the checkpoint was written: the model's options, the optimizer's numbers, the kind of device, the schedule or the compiler's passes differ")
	}
	return nil
}

// readTensors reads all values of f and holds them against the checksum. What early
// stopping keeps is in b.
func readTensors(f *safetensors.File) (list map[string]safetensors.Tensor, b best, err error) {
	if err := json.Unmarshal([]byte(f.Meta["best"]), &b); err != nil {
		return nil, b, fmt.Errorf("metadata best: %w", err)
	}
	var all []safetensors.Tensor
	list = map[string]safetensors.Tensor{}
	for _, name := range f.Names() {
		x, shape, err := safetensors.Load[float32](f, name)
		if err != nil {
			return nil, b, err
		}
		t := safetensors.Tensor{Name: name, Shape: shape, Data: x}
		all = append(all, t)
		if param, ok := strings.CutPrefix(name, bestPrefix); ok {
			if b.params == nil {
				b.params = map[string][]float32{}
			}
			b.params[param] = x
			continue
		}
		list[name] = t
	}
	if sum := checksum(all); sum != f.Meta["crc32c"] {
		return nil, b, fmt.Errorf("the values have checksum %s, they were written with %q: the file is damaged", sum, f.Meta["crc32c"])
	}
	for name, x := range b.params {
		if t, ok := list[name]; !ok || len(t.Data.([]float32)) != len(x) {
			return nil, b, fmt.Errorf("tensor %q does not fit a parameter", bestPrefix+name)
		}
	}
	return list, b, nil
}

func sameTensor(want, got safetensors.Tensor) error {
	switch {
	case got.Data == nil:
		return fmt.Errorf("tensor %q is missing", want.Name)
	case !slices.Equal(want.Shape, got.Shape):
		return fmt.Errorf("tensor %q has shape %v; the model has %v", want.Name, got.Shape, want.Shape)
	}
	return nil
}
