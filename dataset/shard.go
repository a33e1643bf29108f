package dataset

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"sagann/chunk"
)

// This file reads shards: a folder with a graph that no process holds as a whole. Shard o has what owner o of a
// run needs, in two stores. One has the edges into and out of its intervals (o, o+owners, …) of the run's order, so
// an edge is in the shards of both its ends; it also has everything that is a number for each vertex of the
// graph. The other has the features of its vertices, in that order. The folder also has a manifest with the
// numbers of edges and rows of all cells of the grid, which plans need, and with the checksums of whole
// columns, so that a run over shards can compute the checksum of the graph.

func shardFile(dir string, o int) string { return filepath.Join(dir, fmt.Sprintf("shard%d.saga", o)) }
func rowsFile(dir string, o int) string  { return filepath.Join(dir, fmt.Sprintf("rows%d.saga", o)) }

// Shard is one rank's part of a graph in shards. Data.Edges then has no edges, and Data.Late makes only the rows of
// the rank's vertices.
type Shard struct {
	Owners    int // devices of the run
	E         int // edges of the whole graph
	SelfLoops bool
	Order     *chunk.Order
	Stats     chunk.GridStats // statistics of the whole graph under Order
	Chunks    int             // intervals of the run: Stats.P, but of vertices of one of several types
	Target    bool            // of several types: of these the labels are trained
	Layers    int             // of several types: labels of models with more layers depend on more than there is; 0: never

	first  int          // number of the first interval among those of the run
	ends   *[2]shardEnd // of a relation: of sources and of destinations; nil: there are no types
	dir    string
	name   string // of the graph
	mine   []int  // the owners of this rank
	sums   map[string]columnSum
	cols   int
	stores map[int]*chunk.Store
	broken error // errors of reading rows
}

// IsShards reports whether path is a folder of shards.
func IsShards(path string) bool {
	_, err := os.Stat(filepath.Join(path, manifestFile))
	return err == nil
}

// OpenShards opens those shards in dir that belong to a rank, of so many ranks. Of a graph of several types the error is ErrSeveralTypes.
func OpenShards(dir string, rank, ranks int) (*Data, error) {
	m, err := readManifest(dir)
	if err == nil && m.Part != "" {
		err = fmt.Errorf("%s is the %s of a graph in shards; name the folder %s", dir, m.Part, filepath.Dir(filepath.Clean(dir)))
	}
	if err != nil {
		return nil, err
	}
	return m.open(dir, rank, ranks, nil)
}

// open is OpenShards. Vertices that are in no order of their own are in order same or, for nil, in that of their ids.
func (m *manifest) open(dir string, rank, ranks int, same *chunk.Order) (d *Data, err error) {
	fail := func(format string, a ...any) (*Data, error) {
		return nil, fmt.Errorf("%s: %w", dir, fmt.Errorf(format, a...))
	}
	if m.Owners%max(1, ranks) != 0 {
		return fail("shards for %d devices cannot be dealt to %d ranks, as many to each", m.Owners, ranks)
	}
	in, err := chunk.NewIntervals(m.Vertices, m.Intervals)
	if err != nil {
		return nil, err
	}
	x := &Shard{Owners: m.Owners, E: m.Edges, SelfLoops: m.SelfLoops, Chunks: m.Intervals, first: m.First, dir: dir, sums: m.Sums, cols: m.FeatureCols, stores: map[int]*chunk.Store{}}
	defer func() {
		if err != nil {
			d, err = nil, errors.Join(err, x.Close())
		}
	}()
	n := m.Owners / max(1, ranks)
	for o := rank * n; o < (rank+1)*n; o++ {
		x.mine = append(x.mine, o)
		s, err := chunk.Open(shardFile(dir, o))
		if err != nil {
			return nil, err
		}
		if x.stores[o] = s; s.V() != m.Vertices || s.Intervals().P != m.Intervals {
			return fail("shard %d is of a graph of %d vertices in %d intervals", o, s.V(), s.Intervals().P)
		}
		if x.name, err = m.untag(s, shardFile(dir, o), o, false); err != nil {
			return nil, err
		}
		if s.Weighted() != m.Weighted {
			return fail("shard %d has weights: %t; %s says %t", o, s.Weighted(), manifestFile, m.Weighted)
		}
		for j := range ofOwner(o, m.First, in.P, m.Owners) {
			for i := range in.P {
				if s.CellNNZ(j, i) != m.Cells[j*in.P+i].NNZ || s.CellNNZ(i, j) != m.Cells[i*in.P+j].NNZ {
					return fail("shard %d does not have the number of edges between intervals %d and %d that %s says", o, i, j, manifestFile)
				}
			}
		}
	}
	first := x.stores[x.mine[0]]
	if d, err = restOfStore(first); err == nil {
		x.Order, err = first.Order()
	}
	if err != nil {
		return nil, err
	}
	if x.Order == nil {
		x.Order = same
	}
	if x.Order == nil {
		x.Order = chunk.Identity(m.Vertices)
	}
	x.Stats = chunk.GridStats{Intervals: in, DataCols: d.Edges.DataCols, Cells: m.Cells}
	d.Shard, d.FeatureCols, d.Name = x, m.FeatureCols, x.name
	if err := m.checkSums(d.Edges.Types, d.Edges.DataCols); err != nil {
		return fail("%w", err)
	}
	if m.Weighted {
		d.Edges.Weight = []float32{}
	}
	if d.Edges.Types > 0 {
		d.Edges.Type = []uint32{}
	}
	if m.FeatureCols > 0 {
		d.Late.Make = x.rows
	}
	return d, x.check(m)
}

// check opens the stores of features, to find errors early.
func (x *Shard) check(m *manifest) error {
	for _, o := range x.mine {
		if x.cols == 0 || x.rowsOf(o) == 0 {
			if _, err := os.Lstat(rowsFile(x.dir, o)); err == nil {
				return fmt.Errorf("%s: there are features, and %s says that there are none", rowsFile(x.dir, o), manifestFile)
			}
			continue
		}
		s, err := chunk.Open(rowsFile(x.dir, o))
		if err != nil {
			return err
		}
		if s.V() != x.rowsOf(o) || s.FeatureCols() != x.cols {
			err = fmt.Errorf("%s: %d×%d features, want %d×%d", rowsFile(x.dir, o), s.V(), s.FeatureCols(), x.rowsOf(o), x.cols)
		}
		if err == nil {
			_, err = m.untag(s, rowsFile(x.dir, o), o, true)
		}
		if err := errors.Join(err, s.Close()); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the files.
func (x *Shard) Close() error {
	var err error
	for _, s := range x.stores {
		err = errors.Join(err, s.Close())
	}
	return err
}

// rowsOf is the number of vertices of an owner.
func (x *Shard) rowsOf(o int) (n int) {
	for j := range x.intervals(o) {
		n += x.Stats.Rows(j)
	}
	return n
}

// intervals are those of an owner.
func (x *Shard) intervals(o int) iter.Seq[int] { return ofOwner(o, x.first, x.Stats.P, x.Owners) }

// ofOwner are the intervals of one of so many owners among p of a run, of which the first has number first there.
func ofOwner(o, first, p, owners int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for j := (o + owners - first%owners) % owners; j < p && yield(j); j += owners {
		}
	}
}

// Edges reads the edges into the rank's vertices or, with out, those out of them, in the user's ids; of a relation in the numbering
// of Stats.
func (x *Shard) Edges(out bool) (*chunk.Edges, error) {
	var all *chunk.Edges
	n, p := 0, x.Stats.P
	for _, o := range x.mine {
		for j := range x.intervals(o) {
			for i := range p {
				c := j*p + i
				if out {
					c = i*p + j
				}
				n += int(x.Stats.Cells[c].NNZ)
			}
		}
	}
	err := x.eachCell(out, func(e *chunk.Edges) error {
		if all == nil {
			all = &chunk.Edges{V: e.V, Types: e.Types, DataCols: e.DataCols, Src: make([]uint32, 0, n), Dst: make([]uint32, 0, n)}
			if e.Weight != nil {
				all.Weight = make([]float32, 0, n)
			}
			if e.Type != nil {
				all.Type = make([]uint32, 0, n)
			}
			if e.Data != nil {
				all.Data = make([]float32, 0, n*e.DataCols)
			}
		}
		all.Src, all.Dst = append(all.Src, e.Src...), append(all.Dst, e.Dst...)
		all.Weight, all.Type, all.Data = append(all.Weight, e.Weight...), append(all.Type, e.Type...), append(all.Data, e.Data...)
		return nil
	})
	if err == nil && all.E() != n {
		err = fmt.Errorf("%s: the shards have %d edges of this rank, the manifest says %d", x.dir, all.E(), n)
	}
	return all, err
}

// Degrees is the in-degree of the rank's vertices or, with out, their out-degree; of a relation, of vertices of its target or source. The
// numbers of other vertices have no meaning.
func (x *Shard) Degrees(out bool) ([]uint32, error) {
	v := x.Stats.V
	if x.ends != nil {
		v = x.end(out).v
	}
	deg := make([]uint32, v)
	return deg, x.eachCell(out, func(e *chunk.Edges) error {
		ends := e.Dst
		if out {
			ends = e.Src
		}
		for _, v := range x.inType(ends, out) {
			deg[v]++
		}
		return nil
	})
}

// AddInWeights adds the weights of the in-edges of the rank's own vertices to sums [V], with oneLoop as chunk.Edges.OneLoop
// leaves them.
func (x *Shard) AddInWeights(sums []float64, oneLoop bool) error {
	return x.eachCell(false, func(e *chunk.Edges) error {
		if oneLoop {
			e = e.OneLoop()
		}
		of := *e
		of.Dst = x.inType(e.Dst, false)
		of.AddInWeights(sums)
		return nil
	})
}

// eachCell calls f for the edges of each of the rank's cells: those whose destination (with out: source) interval
// belongs to the rank. It compares each cell with the manifest.
func (x *Shard) eachCell(out bool, f func(e *chunk.Edges) error) error {
	p, check := x.Stats.P, x.newCellCheck()
	for _, o := range x.mine {
		for j := range x.intervals(o) {
			for i := range p {
				d, s := j, i
				if out {
					d, s = i, j
				}
				e, err := x.stores[o].ReadCells(d, d+1, s, s+1)
				if err == nil {
					err = check.check(d, s, e)
				}
				if err == nil {
					err = f(e)
				}
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// rows fills the features of the rank's vertices.
func (x *Shard) rows(row func(v int) []float32) {
	for _, o := range x.mine {
		if err := x.fillRows(o, row); err != nil {
			x.broken = errors.Join(x.broken, err)
		}
	}
}

func (x *Shard) fillRows(o int, row func(v int) []float32) error {
	if x.rowsOf(o) == 0 {
		return nil
	}
	s, err := chunk.Open(rowsFile(x.dir, o))
	if err != nil {
		return err
	}
	var rows []float32
	at, step := 0, max(1, pieceValues/x.cols)
	for j := range x.intervals(o) {
		lo, hi := x.Stats.Bounds(j)
		for ; lo < hi && err == nil; lo += step {
			n := min(step, hi-lo)
			if rows, err = s.ReadFeaturesIn(rows, at, at+n); err != nil {
				break
			}
			for i := range n {
				copy(row(int(x.Order.Old[lo+i])), rows[i*x.cols:(i+1)*x.cols])
			}
			at += n
		}
	}
	return errors.Join(err, s.Close())
}

// Err is the first error of reading rows of features, as Data.Late.Make returns none.
func (x *Shard) Err() error { return x.broken }

// Sum appends a column of the whole graph to a checksum: sum is the checksum of some bytes, and the result that of
// the same bytes followed by the column (src, dst, weight, type, data or features).
func (x *Shard) Sum(sum uint32, column string) uint32 {
	c := x.sums[column]
	return chunk.JoinCRC(sum, c.CRC, c.Bytes)
}

// Bytes is the length of a column of the whole graph.
func (x *Shard) Bytes(column string) int64 { return x.sums[column].Bytes }

// Mine is the number of this rank.
func (x *Shard) Mine() int { return x.mine[0] / len(x.mine) }

// Rank is the rank that has vertex v: its edges and its features.
func (x *Shard) Rank(v uint32) int {
	return (x.first + x.Stats.Of(int(x.Order.New[v]))) % x.Owners / len(x.mine)
}

// EachVertex calls f for the vertices of a rank, in the order of its rows.
func (x *Shard) EachVertex(rank int, f func(v uint32)) {
	for o := rank * len(x.mine); o < (rank+1)*len(x.mine); o++ {
		for j := range x.intervals(o) {
			lo, hi := x.Stats.Bounds(j)
			for _, v := range x.Order.Old[lo:hi] {
				f(v)
			}
		}
	}
}

// leaveEdgeLabels drops labels, targets and splits of edges, as shards train labels of vertices.
func leaveEdgeLabels(d *Data) {
	if d.Labelled(EdgeLabels) {
		d.Report.Changes = append(d.Report.Changes, "labels and targets of edges are left out: shards train labels of vertices")
	}
	d.EdgeLabels, d.EdgeSplit, d.Schema.Edge = nil, Split{}, Labels{}
	d.Targets.Edge, d.Targets.EdgeSets = Numbers{}, Numbers{}
}

// shardable returns an error if the graph has data that shards cannot hold.
func shardable(s *Stream) error {
	d := s.Data
	switch {
	case d.Labelled(EdgeLabels):
		return fmt.Errorf("%sshards do not keep labels or targets of edges", namedFirst(d))
	case s.Timed || d.Vertices.Time != nil:
		return fmt.Errorf("%sshards do not keep times of edges and vertices yet", namedFirst(d))
	case s.kept != nil:
		return fmt.Errorf("%sshards do not keep sparse features; x.toarray() in Python makes dense ones (--format npy writes them as features_csr_*.npy: numpy.save(\"features.npy\", scipy.sparse.csr_matrix((data, indices, indptr), shape).toarray()))", namedFirst(d))
	}
	return nil
}
