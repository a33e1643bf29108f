package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strings"

	"sagann/chunk"
	"sagann/internal/regular"
)

const (
	manifestFile = "shards.json"
	shardVersion = 2 // version 1 had no checksum
	maxManifest  = 1 << 30
)

// manifest is the file shards.json: what all shards have in common. Nothing in it is believed. Its numbers are
// compared with the shards when these are opened, and its counts of rows when the cells are read.
type manifest struct {
	Checksum    string               `json:"crc32c"` // of the file with eight zeros here
	Version     int                  `json:"version"`
	Vertices    int                  `json:"vertices"`
	Edges       int                  `json:"edges"`
	Owners      int                  `json:"owners"`
	Intervals   int                  `json:"intervals"`
	SelfLoops   bool                 `json:"self_loops"`
	Weighted    bool                 `json:"weighted"`
	FeatureCols int                  `json:"feature_cols"`
	Cells       []chunk.CellStat     `json:"cells"`                    // index destination × intervals + source
	Sums        map[string]columnSum `json:"sums"`                     // by column: src, dst, weight, type, data, features
	Part        string               `json:"part,omitempty"`           // of a graph of several types: which; "": there are none
	First       int                  `json:"first_interval,omitempty"` // of a part: its number in the run
}

// noSum stands for the checksum where it is computed.
const noSum = "00000000"

// bytes is m as a file.
func (m manifest) bytes() ([]byte, error) {
	m.Checksum = noSum
	text, err := json.Marshal(&m)
	if err != nil {
		return nil, err
	}
	sum := fmt.Sprintf("%08x", crc32.Checksum(text, castagnoli))
	return bytes.Replace(text, []byte(noSum), []byte(sum), 1), nil
}

// readManifest reads the manifest in dir. A file that differs in a byte from what would be written for its values is
// refused: with an unknown, a missing or a repeated key, or another checksum. Errors name the file.
func readManifest(dir string) (*manifest, error) {
	path := filepath.Join(dir, manifestFile)
	fail := func(err error) (*manifest, error) { return nil, fmt.Errorf("%s: %w", path, err) }
	text, err := regular.ReadFile(path, maxManifest)
	if err != nil {
		return nil, err
	}
	var version struct {
		Version  int    `json:"version"`
		Checksum string `json:"crc32c"`
	}
	if json.Unmarshal(text, &version) == nil && version.Version == 1 && version.Checksum == "" {
		return fail(errors.New("shards of version 1 have no checksum, and are not read any more; make them anew: saga data shard --data GRAPH --owners N --out DIR, with --self-loops where it was given then"))
	}
	if version.Version == typedShardVersion {
		return fail(ErrSeveralTypes)
	}
	m := &manifest{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		return fail(err)
	}
	if m.Version != shardVersion {
		return fail(fmt.Errorf("shards of version %d, this program reads version %d", m.Version, shardVersion))
	}
	plain := bytes.Replace(text, []byte(m.Checksum), []byte(noSum), 1)
	if sum := fmt.Sprintf("%08x", crc32.Checksum(plain, castagnoli)); sum != m.Checksum {
		return fail(fmt.Errorf("the file is damaged: its checksum is %q, and its content has %q", m.Checksum, sum))
	}
	if want, err := m.bytes(); err != nil || !bytes.Equal(text, want) {
		return fail(errors.New("not a file as saga data shard writes it: a key is missing, stands twice or elsewhere"))
	}
	if err := m.check(); err != nil {
		return fail(err)
	}
	return m, nil
}

// check returns an error if m is not consistent.
func (m *manifest) check() error {
	even := m.Owners >= 1 && m.Owners <= m.Intervals && m.Intervals%m.Owners == 0 && m.First == 0
	if m.Owners < 1 || m.Intervals < 1 || m.Intervals > chunk.MaxBase || !even && m.Part == "" || m.First < 0 || m.First > chunk.MaxBase || len(m.Cells) != m.Intervals*m.Intervals {
		return fmt.Errorf("%d owners, %d intervals and %d cells do not go together", m.Owners, m.Intervals, len(m.Cells))
	}
	in, err := chunk.NewIntervals(m.Vertices, m.Intervals)
	if err != nil {
		return err
	}
	var edges int64
	for c, x := range m.Cells {
		if x.NNZ < 0 || x.NNZ > int64(m.Edges)-edges || x.DstRows < 0 || x.DstRows > in.Rows(c/in.P) || x.SrcRows < 0 || x.SrcRows > in.Rows(c%in.P) {
			return fmt.Errorf("cell (%d,%d) has %d edges from %d vertices to %d", c/in.P, c%in.P, x.NNZ, x.SrcRows, x.DstRows)
		}
		edges += x.NNZ
	}
	if edges != int64(m.Edges) || m.FeatureCols < 0 || m.FeatureCols > chunk.MaxFeatureCols {
		return fmt.Errorf("%d edges in cells, %d in all, %d columns of features", edges, m.Edges, m.FeatureCols)
	}
	return nil
}

// checkSums compares the lengths of columns with the sizes of the graph.
func (m *manifest) checkSums(types, dataCols int) error {
	want := map[string]int64{"src": 4 * int64(m.Edges), "dst": 4 * int64(m.Edges), "weight": 0, "type": 0, "data": 4 * int64(m.Edges) * int64(dataCols)}
	if m.Weighted {
		want["weight"] = 4 * int64(m.Edges)
	}
	if types > 0 {
		want["type"] = 4 * int64(m.Edges)
	}
	if m.FeatureCols > 0 {
		want["features"] = 4 * int64(m.Vertices) * int64(m.FeatureCols)
	}
	for name, c := range m.Sums {
		n, ok := want[name]
		if !ok || c.Bytes != n {
			return fmt.Errorf("%s: sums: column %s has %d bytes, and the graph's has %d", manifestFile, name, c.Bytes, n)
		}
		if n == 0 && c.CRC != 0 {
			return fmt.Errorf("%s: sums: column %s is empty, and has a checksum", manifestFile, name)
		}
	}
	for name, n := range want {
		if _, ok := m.Sums[name]; !ok && n > 0 {
			return fmt.Errorf("%s: sums: there is none of column %s", manifestFile, name)
		}
	}
	return nil
}

// tag follows the name of the graph in a store of shard o, after a line end. So a store of other shards is noticed, and a
// manifest with other checksums of columns or another flag, which cannot be counted. rows says that it is of features.
func (m *manifest) tag(o int, rows bool) string {
	loops := "without"
	if m.SelfLoops {
		loops = "with"
	}
	columns := []string{"src", "dst", "weight", "type", "data"}
	if rows {
		columns = []string{"features"}
	}
	sums := ""
	for _, c := range columns {
		sums += fmt.Sprintf(" %08x", m.Sums[c].CRC)
	}
	return fmt.Sprintf("shard %d of %d, %s self loops, columns%s", o, m.Owners, loops, sums)
}

// untag returns the name of the graph in a store of shard o, or an error if the store is of another shard.
func (m *manifest) untag(s *chunk.Store, path string, o int, rows bool) (string, error) {
	full, err := s.Name()
	if err != nil {
		return "", err
	}
	at := strings.LastIndexByte(full, '\n')
	if at < 0 || full[at+1:] != m.tag(o, rows) {
		return "", fmt.Errorf("%s: the store says that it is %q, and %s that it is %q", path, full[at+1:], manifestFile, m.tag(o, rows))
	}
	return full[:at], nil
}

// cellCheck compares cells, as they are read, with the manifest.
type cellCheck struct {
	x        *Shard
	dst, src []uint64 // bits by row of an interval: it was met
}

// check returns an error if the edges of cell (d,s) lie elsewhere, or have other numbers of rows than the manifest says.
func (c *cellCheck) check(d, s int, e *chunk.Edges) error {
	in := c.x.Stats.Intervals
	clear(c.dst)
	clear(c.src)
	got := chunk.CellStat{NNZ: int64(e.E())}
	add := func(bits []uint64, row int) int {
		w, bit := &bits[row/64], uint64(1)<<(row%64)
		if *w&bit != 0 {
			return 0
		}
		*w |= bit
		return 1
	}
	dLo, dHi := in.Bounds(d)
	sLo, sHi := in.Bounds(s)
	for k, v := range e.Dst {
		to, from := int(c.x.Order.New[v]), int(c.x.Order.New[e.Src[k]])
		if to < dLo || to >= dHi || from < sLo || from >= sHi {
			return fmt.Errorf("%s: the shards have an edge from vertex %d to %d in cell (%d,%d), where it does not belong", c.x.dir, e.Src[k], v, d, s)
		}
		got.DstRows += add(c.dst, to-dLo)
		got.SrcRows += add(c.src, from-sLo)
	}
	if want := c.x.Stats.Cell(d, s); got != want {
		return fmt.Errorf("%s: cell (%d,%d) has %d edges from %d vertices to %d, and %s says %d from %d to %d", c.x.dir, d, s,
			got.NNZ, got.SrcRows, got.DstRows, manifestFile, want.NNZ, want.SrcRows, want.DstRows)
	}
	return nil
}

func (x *Shard) newCellCheck() *cellCheck {
	words := (x.Stats.Width + 63) / 64
	return &cellCheck{x, make([]uint64, words), make([]uint64, words)}
}

// VerifyShards reads and checks all shards in dir: every checksum of their stores, and all cells against the manifest.
// It returns what the manifest says.
func VerifyShards(dir string) (d *Data, err error) {
	d, err = OpenShards(dir, 0, 1)
	if err != nil {
		return nil, err
	}
	return d, errors.Join(d.Shard.verify(), d.Shard.Close())
}

// verify is VerifyShards of open shards.
func (x *Shard) verify() error {
	for _, o := range x.mine {
		if err := x.stores[o].Verify(); err != nil {
			return err
		}
		if x.cols == 0 || x.rowsOf(o) == 0 {
			continue
		}
		s, err := chunk.Open(rowsFile(x.dir, o))
		if err != nil {
			return err
		}
		if err := errors.Join(s.Verify(), s.Close()); err != nil {
			return err
		}
	}
	for _, out := range []bool{false, true} {
		if err := x.eachCell(out, func(*chunk.Edges) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}
