package dataset

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"sagann/chunk"
)

// Sharding says how a graph is written as shards, one for each owner: a device of a run over several ranks. A
// rank reads only the shards of its owners.
type Sharding struct {
	Conversion      // Out is a folder, which must not exist
	Owners     int  // devices of the run
	Chunks     int  // intervals of the run, a multiple of Owners; 0: Owners
	SelfLoops  bool // add self loops now, for models that would add them
}

// shardMemory is how many bytes edges may take before they are spilled to disk, all shards together.
const shardMemory = 64 << 20

// WriteShards writes a graph as shards. It reads the edges twice. It holds one piece of the edges and features in
// memory, and some numbers for each vertex; it holds all edges if Convert would. It returns the data without
// edges and features, and the number of edges. After an error there is nothing at Out.
func WriteShards(c Sharding) (d *Data, edges int, err error) {
	if c.Chunks == 0 {
		c.Chunks = c.Owners
	}
	if c.Owners < 1 || c.Chunks%c.Owners != 0 || c.Chunks > chunk.MaxBase {
		return nil, 0, fmt.Errorf("%d intervals for %d owners: as many for each, and at most %d", c.Chunks, c.Owners, chunk.MaxBase)
	}
	if c.Progress == nil {
		c.Progress = func(string, int, int) {}
	}
	s, closing, err := c.source()
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, closing()) }()
	if err := DefaultSplit(s.Data, VertexLabels, c.Seed); err != nil {
		return nil, 0, err
	}
	if s.Data.Labelled(VertexLabels) {
		leaveEdgeLabels(s.Data)
	}
	if err := shardable(s); err != nil {
		return nil, 0, err
	}
	if c.SelfLoops {
		if err := s.addLoops(); err != nil {
			return nil, 0, err
		}
	}
	dir, err := chunk.TempFolder(c.Out)
	if err != nil {
		return nil, 0, err
	}
	w := &shardWriter{c: &c, s: s, dir: dir}
	err = w.write()
	if err == nil {
		err = os.Rename(dir, filepath.Clean(c.Out))
	}
	if err != nil {
		return nil, 0, errors.Join(err, os.RemoveAll(dir))
	}
	return s.Data, s.E, nil
}

// source opens the graph. A store is read in pieces.
func (c *Sharding) source() (s *Stream, closing func() error, err error) {
	kind, _, _ := strings.Cut(c.From, ":")
	switch {
	case c.Tables == nil && !c.Undirected && !c.Simple && isStore(c.From):
		if s, closing, err = streamStore(c.From); err == nil {
			c.Options.idleRelabel(s.Data)
		}
		return s, closing, err
	case kind == "synthetic" || kind == "karate":
		s, err = held(Open(c.From, c.Options))
	default:
		s, err = c.open()
	}
	return s, func() error { return nil }, err
}

// addLoops appends the self loops that chunk.Edges.WithSelfLoops would.
func (s *Stream) addLoops() error {
	e, each := s.Data.Edges, s.EachEdges
	has, missing := make([]bool, e.V), e.V
	if err := each(func(p *chunk.Edges) error {
		for k, v := range p.Src {
			if v == p.Dst[k] && !has[v] {
				has[v] = true
				missing--
			}
		}
		return nil
	}); err != nil {
		return err
	}
	const piece = 1 << 16
	s.E += missing
	s.EachEdges = func(fn func(*chunk.Edges) error) error {
		if err := each(fn); err != nil {
			return err
		}
		for lo := 0; lo < e.V; lo += piece {
			p := &chunk.Edges{V: e.V, Types: e.Types, DataCols: e.DataCols}
			for v := lo; v < min(e.V, lo+piece); v++ {
				if !has[v] {
					p.Src = append(p.Src, uint32(v))
				}
			}
			p.Dst = p.Src
			if s.Weighted {
				p.Weight = make([]float32, len(p.Src))
				for i := range p.Weight {
					p.Weight[i] = 1
				}
			}
			if e.Types > 0 {
				p.Type = make([]uint32, len(p.Src))
			}
			if e.DataCols > 0 {
				p.Data = make([]float32, len(p.Src)*e.DataCols)
			}
			if err := fn(p); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// shardWriter writes the shards of one graph.
type shardWriter struct {
	c     *Sharding
	s     *Stream
	dir   string
	order *chunk.Order
	in    chunk.Intervals
	m     manifest

	part   string                          // of a graph of several types: which
	first  int                             // of a part: number of its first interval in the run
	number func(*chunk.Edges) *chunk.Edges // of a relation: the edges in the numbering of in; nil: as they are
}

func (w *shardWriter) write() (err error) {
	v := w.s.Data.Edges.V
	if w.part == "" {
		in, out, err := w.s.degrees(w.c.Progress)
		if err != nil {
			return err
		}
		w.order = chunk.BalanceDegrees(in, out, w.s.E, w.c.Chunks)
	} else {
		v = len(w.order.New)
	}
	if w.in, err = chunk.NewIntervals(v, w.c.Chunks); err != nil {
		return err
	}
	w.m = manifest{Part: w.part, First: w.first, Version: shardVersion, Vertices: v, Edges: w.s.E, Owners: w.c.Owners, Intervals: w.c.Chunks,
		SelfLoops: w.c.SelfLoops, Weighted: w.s.Weighted, FeatureCols: w.s.Data.FeatureCols, Sums: map[string]columnSum{}}
	for _, step := range []func() error{w.edges, w.cells, w.features} {
		if err := step(); err != nil {
			return err
		}
	}
	text, err := w.m.bytes()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.dir, manifestFile), text, 0o666)
}

// edges writes every edge to the shards of its two ends, and completes the stores.
func (w *shardWriter) edges() error {
	d, e := w.s.Data, w.s.Data.Edges
	meta := chunk.Meta{Name: d.Name, V: w.in.V, Base: w.c.Chunks, Order: w.order, Weighted: w.s.Weighted, Types: e.Types, DataCols: e.DataCols,
		Classes: d.Classes, Memory: shardMemory / int64(w.c.Owners)}
	if w.number != nil {
		meta.Order = nil
	}
	var files []*chunk.Writer
	defer func() {
		for _, f := range files {
			f.Abort()
		}
	}()
	for o := range w.c.Owners {
		f, err := chunk.Create(shardFile(w.dir, o), meta)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	done := 0
	parts := make([]*chunk.Edges, w.c.Owners)
	err := w.s.EachEdges(func(p *chunk.Edges) error {
		for name, x := range map[string][]byte{"src": bytesOf(p.Src), "dst": bytesOf(p.Dst), "weight": bytesOf(p.Weight), "type": bytesOf(p.Type), "data": bytesOf(p.Data)} {
			w.m.Sums[name] = w.m.Sums[name].add(x)
		}
		for lo := 0; lo < p.E(); lo += 1 << 16 {
			piece := p.Slice(lo, min(p.E(), lo+1<<16))
			if w.number != nil {
				piece = w.number(piece)
			}
			if err := w.deal(piece, parts, files); err != nil {
				return err
			}
		}
		done += p.E()
		w.c.Progress("edges", done, w.s.E)
		return nil
	})
	if err != nil {
		return err
	}
	for o, f := range files {
		f.SetName(d.Name + "\n" + w.m.tag(o, false))
		if err := w.s.writeRest(f); err != nil {
			return err
		}
	}
	return nil
}

// deal appends the edges of p to the stores of the owners of their ends.
func (w *shardWriter) deal(p *chunk.Edges, parts []*chunk.Edges, files []*chunk.Writer) error {
	for o := range parts {
		if parts[o] == nil {
			parts[o] = &chunk.Edges{V: p.V, Types: p.Types, DataCols: p.DataCols}
		}
		parts[o].Src, parts[o].Dst, parts[o].Weight, parts[o].Type, parts[o].Data = parts[o].Src[:0], parts[o].Dst[:0], parts[o].Weight[:0], parts[o].Type[:0], parts[o].Data[:0]
	}
	put := func(o, k int) {
		e := parts[o]
		e.Src, e.Dst = append(e.Src, p.Src[k]), append(e.Dst, p.Dst[k])
		if p.Weight != nil {
			e.Weight = append(e.Weight, p.Weight[k])
		}
		if p.Type != nil {
			e.Type = append(e.Type, p.Type[k])
		}
		e.Data = append(e.Data, p.Data[k*p.DataCols:(k+1)*p.DataCols]...)
	}
	for k, src := range p.Src {
		a, b := w.owner(src), w.owner(p.Dst[k])
		put(a, k)
		if a != b {
			put(b, k)
		}
	}
	for o, f := range files {
		if parts[o].E() == 0 {
			continue
		}
		if err := f.AppendEdges(parts[o]); err != nil {
			return err
		}
	}
	return nil
}

// owner is the owner of vertex v.
func (w *shardWriter) owner(v uint32) int {
	return (w.first + w.in.Of(int(w.order.New[v]))) % w.c.Owners
}

// cells computes the statistics of all cells, from the shards of their destinations.
func (w *shardWriter) cells() error {
	w.m.Cells = make([]chunk.CellStat, w.c.Chunks*w.c.Chunks)
	for o := range w.c.Owners {
		s, err := chunk.Open(shardFile(w.dir, o))
		if err != nil {
			return err
		}
		for d := range ofOwner(o, w.first, w.c.Chunks, w.c.Owners) {
			for x := range w.c.Chunks {
				if w.m.Cells[d*w.c.Chunks+x], err = s.CellStat(w.order, d, x); err != nil {
					break
				}
			}
			if err != nil {
				break
			}
			w.c.Progress("intervals of cells", d+1, w.c.Chunks)
		}
		if err = errors.Join(err, s.Close()); err != nil {
			return err
		}
	}
	return nil
}

// features writes the rows of every owner, in the order of the plan. It uses a temporary file, where each row is
// written to its place.
func (w *shardWriter) features() (err error) {
	d := w.s.Data
	if w.s.EachRows == nil {
		return nil
	}
	f, err := chunk.TempFile(filepath.Join(w.dir, "rows"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	rowBytes, v := 4*int64(d.FeatureCols), 0
	if err := w.s.EachRows(func(rows []float32) error {
		w.m.Sums["features"] = w.m.Sums["features"].add(bytesOf(rows))
		for ; len(rows) > 0; rows, v = rows[d.FeatureCols:], v+1 {
			if v >= w.in.V {
				return fmt.Errorf("%s: more than %d rows of features", d.Name, w.in.V)
			}
			if _, err := f.WriteAt(bytesOf(rows[:d.FeatureCols]), int64(w.order.New[v])*rowBytes); err != nil {
				return err
			}
		}
		w.c.Progress("rows of features", v, w.in.V)
		return nil
	}); err != nil {
		return err
	}
	if v != w.in.V {
		return fmt.Errorf("%s: %d rows of features for %d vertices", d.Name, v, w.in.V)
	}
	for o := range w.c.Owners {
		if err := w.rowsOf(o, f); err != nil {
			return err
		}
	}
	return nil
}

// rowsOf writes the rows of an owner. f has all rows in the order of the plan.
func (w *shardWriter) rowsOf(o int, f io.ReaderAt) error {
	cols, rows := w.m.FeatureCols, 0
	for j := range ofOwner(o, w.first, w.c.Chunks, w.c.Owners) {
		rows += w.in.Rows(j)
	}
	if rows == 0 {
		return nil
	}
	out, err := chunk.Create(rowsFile(w.dir, o), chunk.Meta{Name: w.s.Data.Name + "\n" + w.m.tag(o, true), V: rows, FeatureCols: cols})
	if err != nil {
		return err
	}
	defer out.Abort()
	piece := make([]float32, max(1, pieceValues/cols)*cols)
	for j := range ofOwner(o, w.first, w.c.Chunks, w.c.Owners) {
		lo, hi := w.in.Bounds(j)
		for ; lo < hi; lo += len(piece) / cols {
			x := piece[:min(len(piece), (hi-lo)*cols)]
			if _, err := f.ReadAt(bytesOf(x), 4*int64(lo)*int64(cols)); err != nil {
				return err
			}
			if err := out.AppendFeatures(x); err != nil {
				return err
			}
		}
	}
	return out.Close()
}

// columnSum is the checksum of a column of the graph, and its length in bytes.
type columnSum struct {
	CRC   uint32 `json:"crc"`
	Bytes int64  `json:"bytes"`
}

func (c columnSum) add(x []byte) columnSum {
	return columnSum{crc32.Update(c.CRC, castagnoli, x), c.Bytes + int64(len(x))}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func bytesOf[T uint32 | float32](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}
