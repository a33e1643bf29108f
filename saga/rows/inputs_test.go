package rows

import (
	"math"
	"slices"
	"testing"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataset"
	"sagann/device"
)

// testInputs are those of a graph with 8 feature columns, 5 or one label columns, and
// one stored invariant of 3 columns.
func testInputs(t *testing.T, multi bool) *Inputs {
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 9000, Edges: 30001, Features: 8, Classes: 5, Seed: 3, Skew: 0.7})
	if err != nil {
		t.Fatal(err)
	}
	d.GraphOf = make([]uint32, d.Edges.V)
	for v := range d.GraphOf {
		d.GraphOf[v] = uint32(v / 100)
	}
	d.Train = d.Train[:len(d.Train)-7] // vertices in no split
	if multi {
		d.MultiLabels = make([]float32, 5*d.Edges.V)
		for v, c := range d.Labels {
			d.MultiLabels[5*v+int(c)] = 1
		}
		d.Labels = nil
	}
	in := New(d, d.Edges.WithSelfLoops(), Meaning{Rows: d.Sets(dataset.VertexLabels)}, false)
	x := make([]float32, 3*d.Edges.V)
	for i := range x {
		x[i] = float32(i) / 2
	}
	in.Keep("kept", x, 3)
	return in
}

// wanted is row v of an input, the slow way.
func (in *Inputs) wanted(name string, v int) []float32 {
	d, deg, out := in.Data, 0, 0
	for k, dst := range in.Edges.Dst {
		if int(dst) == v {
			deg++
		}
		if int(in.Edges.Src[k]) == v {
			out++
		}
	}
	one := func(x float64) []float32 { return []float32{float32(x)} }
	in3 := func(ids []uint32) float32 {
		if slices.Contains(ids, uint32(v)) {
			return 1
		}
		return 0
	}
	switch name {
	case Features:
		return d.Features[8*v : 8*v+8]
	case Labels:
		if d.MultiLabels != nil {
			return d.MultiLabels[5*v : 5*v+5]
		}
		return one(float64(d.Labels[v]))
	case Weight:
		return []float32{in3(d.Train) / float32(len(d.Train))}
	case Splits:
		return []float32{in3(d.Train), in3(d.Val), in3(d.Test)}
	case GraphOf:
		return one(float64(v / 100))
	case dataflow.IDInput:
		return []float32{math.Float32frombits(uint32(v))}
	case dataflow.OutDegree:
		return one(float64(out))
	case dataflow.InDegree:
		return one(float64(deg))
	case InvDegree:
		return one(1 / float64(deg))
	case RsqrtDegree:
		return one(1 / math.Sqrt(float64(deg)))
	}
	return in.Kept("kept")[3*v : 3*v+3]
}

var allInputs = []string{Features, Labels, Weight, Splits, GraphOf, dataflow.IDInput,
	dataflow.OutDegree, dataflow.InDegree, InvDegree, RsqrtDegree, "kept"}

func TestFillInputs(t *testing.T) {
	for _, multi := range []bool{false, true} {
		in := testInputs(t, multi)
		for _, o := range []*chunk.Order{nil, chunk.Balance(in.Edges, 7)} {
			for _, name := range allInputs {
				cols := in.Width(name)
				ld := chunk.LD(cols)
				dst := make([]float32, (in.Edges.V * chunk.LD(in.Width(name))))
				for i := range dst {
					dst[i] = -9 // what was there before must not show
				}
				if err := in.fill(dst, name, o, All(in.Edges.V)); err != nil {
					t.Fatal(err)
				}
				for _, v := range []int{0, 1, 4097, in.Edges.V - 1} {
					n := v
					if o != nil {
						n = int(o.New[v])
					}
					want := append(slices.Clone(in.wanted(name, v)), make([]float32, ld-cols)...)
					if got := dst[n*ld : (n+1)*ld]; string(device.Bytes(got)) != string(device.Bytes(want)) {
						t.Fatalf("%s of vertex %d is %v, want %v", name, v, got, want)
					}
				}
				own, err := in.Layout(name, o, All(in.Edges.V))
				if err != nil || string(own) != string(device.Bytes(dst)) {
					t.Errorf("%s: layout differs from fill: %v", name, err)
				}
			}
		}
	}
}

func TestFillRefuses(t *testing.T) {
	in := testInputs(t, false)
	if err := in.fill(make([]float32, 5), Features, nil, All(in.Edges.V)); err == nil {
		t.Error("5 numbers hold all features")
	}
	if err := in.fill(make([]float32, in.Edges.V), "vertex:nosuch", nil, All(in.Edges.V)); err == nil {
		t.Error("an input that there is not")
	}
	in.Data.Labels = nil
	if err := in.fill(make([]float32, in.Edges.V), Labels, nil, All(in.Edges.V)); err == nil {
		t.Error("labels of a graph without")
	}
}
