package saga

import (
	"fmt"
	"math"
	"unsafe"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/device"
)

// inputs holds the vertex tensors of one data set, in user order, and lays them out
// for a vertex order.
type inputs struct {
	data    *dataset.Data
	edges   *chunk.Edges // with self loops where the model wants them
	graphs  bool         // the labels stand on graphs
	loss    Loss
	link    *linker              // nil: another task
	byGraph map[string][]float32 // Globals of a row a graph
	extra   map[string][]float32
	cols    map[string]int
	made    map[string]func() source // learned inputs, their first rows; sparse features
	shards  *shardPart               // the rank's part of the graph, of batches over shards
	shared  map[bool][]uint32        // of shards: degrees of all vertices, out of them or into them, where batches read them
}

func newInputs(d *dataset.Data, e *chunk.Edges) *inputs {
	return &inputs{data: d, edges: e, byGraph: map[string][]float32{}, extra: map[string][]float32{}, cols: map[string]int{}}
}

// makes has input name of so many columns come from first.
func (in *inputs) makes(name string, cols int, first func() source) {
	if in.made == nil {
		in.made = map[string]func() source{}
	}
	in.made[name], in.cols[name] = first, cols
}

// source is where a vertex input comes from: rows, or what writes one.
type source struct {
	rows []float32                       // V×width in user order; or
	row  func(v int, to []float32)       // writes the row of vertex v, in user order; or
	one  func(v int) float32             // the value of vertex v, of inputs of one column; or
	all  func(row func(v int) []float32) // fills the row of every vertex
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

// targets are those of regression, 0 where a vertex has none.
func (in *inputs) targets() source {
	t := in.data.Targets.Of(VertexTask)
	return source{row: func(v int, to []float32) { setTargets(to, t, v) }}
}

// setTargets writes row i of t, 0 where it has none.
func setTargets(to []float32, t dataset.Numbers, i int) {
	clear(to)
	if t.Has(i) {
		copy(to, t.Row(i))
	}
}

// trainWeight is how much each vertex counts in the mean loss over the training split.
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

// splitOf is 1, 2 or 3 for the vertices of the training, the validation and the test
// split, and 0 for the rest.
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

// fill lays the rows of input name that own has out in dst, which must have room for just these: in order
// o (nil for the user's), padded with zeros. One pass on all processors; what it takes
// beside dst is at most 4 bytes a vertex.
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

// checked is source with rows of the right number.
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

// fillAll has every row of dst made where it lies, in order o; rows that are not own's go nowhere.
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

// fill writes rows first to end-1 in order o to dst, which holds them alone.
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

// layout is input name as fill lays it out, as bytes, in memory of its own.
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
