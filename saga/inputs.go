package saga

import (
	"fmt"
	"math"
	"unsafe"

	"sagann/chunk"
	"sagann/dataset"
)

// inputs holds the vertex tensors of one data set, in user order, and lays them out
// for a vertex order.
type inputs struct {
	data    *dataset.Data
	edges   *chunk.Edges         // with self loops where the model wants them
	graphs  bool                 // the labels stand on graphs
	byGraph map[string][]float32 // Globals of a row a graph
	extra   map[string][]float32
	cols    map[string]int
}

func newInputs(d *dataset.Data, e *chunk.Edges) *inputs {
	return &inputs{data: d, edges: e, byGraph: map[string][]float32{}, extra: map[string][]float32{}, cols: map[string]int{}}
}

// rows gives input name as V×cols numbers in user order.
func (in *inputs) rows(name string) (x []float32, cols int, err error) {
	d, v := in.data, in.edges.V
	switch name {
	case featuresInput:
		return d.Features, d.FeatureCols, nil
	case labelsInput:
		if d.MultiLabels != nil {
			return d.MultiLabels, d.Classes, nil
		}
		if d.Labels == nil {
			return nil, 0, fmt.Errorf("saga: %s has no labels", d.Name)
		}
		return in.each(func(i int) float32 { return float32(d.Labels[i]) }), 1, nil
	case weightInput:
		x := make([]float32, v)
		for _, i := range d.Train {
			x[i] = 1 / float32(len(d.Train))
		}
		return x, 1, nil
	case splitsInput:
		x := make([]float32, 3*v)
		for k, split := range [][]uint32{d.Train, d.Val, d.Test} {
			for _, i := range split {
				x[3*int(i)+k] = 1
			}
		}
		return x, 3, nil
	case graphOf:
		return in.each(func(i int) float32 { return float32(d.GraphOf[i]) }), 1, nil
	case "vertex:id":
		return in.each(func(i int) float32 { return math.Float32frombits(uint32(i)) }), 1, nil
	case "vertex:outdegree":
		deg := in.edges.OutDegrees()
		return in.each(func(i int) float32 { return float32(deg[i]) }), 1, nil
	}
	if x, ok := in.extra[name]; ok {
		return x, in.cols[name], nil
	}
	deg := in.edges.InDegrees()
	switch name {
	case "vertex:indegree":
		return in.each(func(i int) float32 { return float32(deg[i]) }), 1, nil
	case invDegree:
		return in.each(func(i int) float32 { return 1 / float32(max(deg[i], 1)) }), 1, nil
	case rsqrtDegree:
		return in.each(func(i int) float32 {
			if deg[i] == 0 {
				return 0
			}
			return float32(1 / math.Sqrt(float64(deg[i])))
		}), 1, nil
	}
	return nil, 0, fmt.Errorf("saga: no vertex input %q", name)
}

func (in *inputs) each(f func(i int) float32) []float32 {
	x := make([]float32, in.edges.V)
	for i := range x {
		x[i] = f(i)
	}
	return x
}

// layout is input name in order o with padded rows, as bytes.
func (in *inputs) layout(name string, o *chunk.Order) ([]byte, error) {
	x, cols, err := in.rows(name)
	if err != nil {
		return nil, err
	}
	if len(x) != in.edges.V*cols {
		return nil, fmt.Errorf("saga: input %q has %d numbers, want %d×%d", name, len(x), in.edges.V, cols)
	}
	ld := chunk.LD(cols)
	out := make([]float32, in.edges.V*ld)
	chunk.Permute(out, x, cols, ld, o)
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
