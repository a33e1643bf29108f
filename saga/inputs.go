package saga

import (
	"fmt"
	"math"
	"unsafe"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/device"
)

// inputs holds the vertex inputs of one data set, in the user's order, and lays them out in a plan's
// vertex order.
type inputs struct {
	data    *dataset.Data
	edges   *chunk.Edges // with self loops if the model adds them
	weight  []float32    // of edges, before oneLoop
	oneLoop bool         // Model.OneLoop, with SelfLoops
	graphs  bool         // labels are those of graphs
	loss    Loss
	link    *linker                  // nil: the task is not LinkTask
	byGraph map[string][]float32     // Globals with one row per graph, and those of losses
	extra   map[string][]float32     // invariants
	cols    map[string]int           // width of invariants and of made
	made    map[string]func() source // first rows of learned inputs; sparse features
	shards  *shardPart               // batches over shards: the rank's part of the graph
	sums    []float64                // batches over shards: sums of the weights of in-edges of all vertices
	shared  map[bool][]uint32        // batches over shards: out-degrees (true) and in-degrees of all vertices
}

func newInputs(d *dataset.Data, e *chunk.Edges) *inputs {
	return &inputs{data: d, edges: e, weight: e.Weight, byGraph: map[string][]float32{}, extra: map[string][]float32{}, cols: map[string]int{}}
}

// makes defines input name, with so many columns, whose rows first gives.
func (in *inputs) makes(name string, cols int, first func() source) {
	if in.made == nil {
		in.made = map[string]func() source{}
	}
	in.made[name], in.cols[name] = first, cols
}

// source is where the rows of a vertex input come from. One field is set. v is a vertex in the
// user's order.
type source struct {
	rows []float32                       // all rows, V×width, in the user's order
	row  func(v int, to []float32)       // writes the row of vertex v to to
	one  func(v int) float32             // the value of vertex v, for inputs of one column
	all  func(row func(v int) []float32) // calls row for every vertex, in any order, and fills what it returns
}

// width is the number of columns of input name.
func (in *inputs) width(name string) int {
	switch name {
	case featuresInput:
		return in.data.FeatureCols
	case labelsInput:
		if in.loss.numbers() {
			return in.data.Targets.Cols
		}
		if in.data.MultiLabels != nil {
			return in.data.Classes
		}
	case splitsInput:
		return 3
	}
	if n, ok := in.cols[name]; ok {
		return n
	}
	return 1
}

func (in *inputs) source(name string) (source, error) {
	d := in.data
	switch name {
	case featuresInput:
		if d.Features == nil && d.Late.Make != nil {
			return source{all: d.Late.Make}, nil
		}
		return source{rows: d.Features}, nil
	case labelsInput:
		if in.loss.numbers() {
			return in.targets(), nil
		}
		if d.MultiLabels != nil {
			return source{rows: d.MultiLabels}, nil
		}
		if d.Labels == nil {
			return source{}, fmt.Errorf("saga: %s has no labels", d.Name)
		}
		return source{one: func(v int) float32 { return float32(d.Labels[v]) }}, nil
	case weightInput:
		return in.trainWeight()
	case splitsInput:
		split := in.splitOf()
		return source{row: func(v int, to []float32) {
			clear(to)
			if s := split[v]; s > 0 {
				to[s-1] = 1
			}
		}}, nil
	case graphOf:
		return source{one: func(v int) float32 { return float32(d.GraphOf[v]) }}, nil
	case "vertex:id":
		return source{one: func(v int) float32 { return math.Float32frombits(uint32(v)) }}, nil
	case "vertex:outdegree":
		deg, err := in.degrees(true)
		if err != nil {
			return source{}, err
		}
		return source{one: func(v int) float32 { return float32(deg[v]) }}, nil
	}
	if first := in.made[name]; first != nil {
		return first(), nil
	}
	if x, ok := in.extra[name]; ok {
		return source{rows: x}, nil
	}
	var of func(degree uint32) float32
	switch name {
	case rsqrtWeight:
		return in.rsqrtWeights()
	case "vertex:indegree":
		of = func(n uint32) float32 { return float32(n) }
	case invDegree:
		of = func(n uint32) float32 { return 1 / float32(max(n, 1)) }
	case rsqrtDegree:
		of = func(n uint32) float32 {
			if n == 0 {
				return 0
			}
			return float32(1 / math.Sqrt(float64(n)))
		}
	default:
		return source{}, fmt.Errorf("saga: no vertex input %q", name)
	}
	deg, err := in.degrees(false)
	return source{one: func(v int) float32 { return of(deg[v]) }}, err
}

// rsqrtWeights are the inverse square roots of the sums of weights of in-edges, 0 where a sum is 0.
func (in *inputs) rsqrtWeights() (source, error) {
	sums, err := in.inWeights()
	if err != nil {
		return source{}, err
	}
	for v, x := range sums {
		if x < 0 {
			return source{}, fmt.Errorf("saga: the weights of the edges into vertex %s of %s add up to %v, which has no square root to normalise by", in.data.ID(v), in.data.Name, float32(x))
		}
	}
	return source{one: func(v int) float32 {
		if sums[v] == 0 {
			return 0
		}
		return float32(1 / math.Sqrt(sums[v]))
	}}, nil
}

// targets are the regression targets of vertices, 0 for a vertex without targets.
func (in *inputs) targets() source {
	t := in.data.Targets.Of(VertexTask)
	return source{row: func(v int, to []float32) { setTargets(to, t, v) }}
}

// setTargets writes row i of t to to, zeros if t has no row i.
func setTargets(to []float32, t dataset.Numbers, i int) {
	clear(to)
	if t.Has(i) {
		copy(to, t.Row(i))
	}
}

// trainWeight is the weight of each vertex in the mean loss over the training split, 0 outside it.
func (in *inputs) trainWeight() (source, error) {
	d, split := in.data, in.splitOf()
	each := 1 / float32(len(d.Train))
	of := func(int) float32 { return each }
	if in.loss.ClassWeights != nil {
		w, err := in.trainWeights(func(v uint32) int32 { return d.Labels[v] }, d.Train)
		if err != nil {
			return source{}, err
		}
		of = func(v int) float32 { return w[d.Labels[v]] }
	}
	return source{one: func(v int) float32 {
		if split[v] == 1 {
			return of(v)
		}
		return 0
	}}, nil
}

// splitOf is, by vertex, 1, 2 or 3 in the training, validation and test split, and 0 in none.
func (in *inputs) splitOf() []uint8 {
	split := make([]uint8, in.edges.V)
	for k, ids := range in.data.Splits(dataset.VertexLabels) {
		chunk.Ranges(len(ids), func(lo, hi int) {
			for _, v := range ids[lo:hi] {
				split[v] = uint8(k + 1)
			}
		})
	}
	return split
}

// fill writes the rows of input name that own has to dst, which must have exactly their size: in
// vertex order o (nil: the user's), each padded with zeros. It is one pass on all processors and
// takes at most 4 bytes per vertex in addition to dst.
func (in *inputs) fill(dst []float32, name string, o *chunk.Order, own owned) error {
	s, err := in.checked(name)
	if err != nil {
		return err
	}
	cols := in.width(name)
	ld := chunk.LD(cols)
	if len(dst) != own.rows*ld {
		return fmt.Errorf("saga: input %q laid out has %d numbers, there is room for %d", name, own.rows*ld, len(dst))
	}
	if s.all != nil {
		s.fillAll(dst, cols, ld, o, own)
		return in.shardErr()
	}
	for _, r := range own.ranges {
		s.fill(dst[r.at*ld:(r.at+r.hi-r.lo)*ld], cols, ld, o, r.lo, r.hi)
	}
	return nil
}

// checked is source, or an error if it has rows of another size than V×width.
func (in *inputs) checked(name string) (source, error) {
	s, err := in.source(name)
	if err != nil {
		return s, err
	}
	if cols, v := in.width(name), in.edges.V; s.all == nil && s.row == nil && s.one == nil && len(s.rows) != v*cols {
		return s, fmt.Errorf("saga: input %q has %d numbers, want %d×%d", name, len(s.rows), v, cols)
	}
	return s, nil
}

// fillAll has s.all write every row directly to its place in dst, in order o. Rows that own does
// not have are dropped.
func (s *source) fillAll(dst []float32, cols, ld int, o *chunk.Order, own owned) {
	s.all(func(from int) []float32 {
		n := from
		if o != nil {
			n = int(o.New[from])
		}
		if n = own.place(n); n < 0 {
			return make([]float32, cols)
		}
		row := dst[n*ld : (n+1)*ld]
		clear(row[cols:])
		return row[:cols]
	})
}

// fill writes rows first to end-1 of order o to dst, which has exactly their size.
func (s *source) fill(dst []float32, cols, ld int, o *chunk.Order, first, end int) {
	if s.row == nil && s.one == nil {
		chunk.PermuteRows(dst, s.rows, cols, ld, o, first, end)
		device.Drop(bytesOf(s.rows))
		return
	}
	chunk.Ranges(end-first, func(lo, hi int) {
		for n := lo; n < hi; n++ {
			from := first + n
			if o != nil {
				from = int(o.Old[from])
			}
			if s.one != nil {
				dst[n] = s.one(from)
				continue
			}
			row := dst[n*ld : (n+1)*ld]
			s.row(from, row[:cols])
			clear(row[cols:])
		}
	})
}

// layout is what fill writes, in new memory, as bytes.
func (in *inputs) layout(name string, o *chunk.Order, own owned) ([]byte, error) {
	out := make([]float32, own.rows*chunk.LD(in.width(name)))
	if err := in.fill(out, name, o, own); err != nil {
		return nil, err
	}
	return bytesOf(out), nil
}

func bytesOf(x []float32) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x))
}

func floatsOf(b []byte) []float32 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/4)
}
