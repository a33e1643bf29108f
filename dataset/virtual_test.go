package dataset

import (
	"math"
	"reflect"
	"testing"

	"sagann/chunk"
)

// TestVirtualVertices: two graphs of two vertices and one get a vertex each, as PyG's VirtualNode gives them.
func TestVirtualVertices(t *testing.T) {
	d := &Data{Edges: &chunk.Edges{V: 3, Src: []uint32{0}, Dst: []uint32{1}, Types: 2, Type: []uint32{1}, Weight: []float32{0.5}, DataCols: 2, Data: []float32{7, 8}},
		Features: []float32{1, 2, 3}, FeatureCols: 1, GraphOf: []uint32{0, 0, 1}, GraphLabels: []int32{0, 1}, Labels: []int32{0, 0, 0}, Classes: 1, Train: []uint32{1},
		Vertices: Naming{IDs: []uint64{5, 9, 7}}}
	d.Schema.Edges.Relations = []string{"single", "double"}
	if err := VirtualVertices(d); err != nil {
		t.Fatal(err)
	}
	want := &chunk.Edges{V: 5, Src: []uint32{0, 0, 1, 2, 3, 3, 4}, Dst: []uint32{1, 3, 3, 4, 0, 1, 2}, Types: 4, Type: []uint32{1, 2, 2, 2, 3, 3, 3},
		Weight: []float32{0.5, 1, 1, 1, 1, 1, 1}, DataCols: 2, Data: append([]float32{7, 8}, make([]float32, 12)...)}
	if !reflect.DeepEqual(d.Edges, want) {
		t.Errorf("edges %+v, want %+v", d.Edges, want)
	}
	if x := []any{d.Features, d.GraphOf, d.Vertices.IDs, d.Labels == nil, d.Train == nil}; !reflect.DeepEqual(x, []any{[]float32{1, 2, 3, 0, 0}, []uint32{0, 0, 1, 0, 1}, []uint64{5, 9, 7, 10, 11}, true, true}) {
		t.Errorf("%v", x)
	}
	if names := d.Schema.Edges.Relations; len(names) != 4 || names[1] != "double" {
		t.Errorf("types of edges are called %q", names)
	}
	if err := Validate(d); err != nil {
		t.Error(err)
	}
	if VirtualVertices(&Data{Edges: &chunk.Edges{V: 1}}) == nil {
		t.Error("vertices of no graphs get virtual ones")
	}
	for largest, fits := range map[uint64]bool{math.MaxUint64 - 2: true, math.MaxUint64 - 1: false, math.MaxUint64: false} {
		d := &Data{Edges: &chunk.Edges{V: 2}, GraphOf: []uint32{0, 1}, Vertices: Naming{IDs: []uint64{largest, 1}}}
		if err := VirtualVertices(d); (err == nil) != fits || fits && !reflect.DeepEqual(d.Vertices.IDs, []uint64{largest, 1, math.MaxUint64 - 1, math.MaxUint64}) || !fits && d.Edges.V != 2 {
			t.Errorf("above %d: %d, %v", largest, d.Vertices.IDs, err)
		}
	}
}

// TestVirtualSparse: sparse rows stay sparse, with empty ones for the virtual vertices; rows that were made dense have no sparse form.
func TestVirtualSparse(t *testing.T) {
	for _, dense := range []bool{false, true} {
		d := &Data{Edges: &chunk.Edges{V: 3}, GraphOf: []uint32{0, 0, 1}, GraphLabels: []int32{0, 1}}
		if err := d.SetSparse(&SparseRows{Ptr: []int64{0, 1, 1, 3}, Cols: []uint32{1, 0, 1}, Vals: []float32{5, 6, 7}}, 2); err != nil {
			t.Fatal(err)
		}
		want := &SparseRows{Ptr: []int64{0, 1, 1, 3, 3, 3}, Cols: []uint32{1, 0, 1}, Vals: []float32{5, 6, 7}}
		if dense {
			d.HoldFeatures()
			want = nil
		}
		if err := VirtualVertices(d); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(d.Late.Sparse, want) || (d.Features != nil) != dense || d.Record().Features.Sparse == dense {
			t.Errorf("dense %t: %+v, %v", dense, d.Late.Sparse, d.Features)
		}
		if d.HoldFeatures(); !reflect.DeepEqual(d.Features, []float32{0, 5, 0, 0, 6, 7, 0, 0, 0, 0}) || d.Late.Sparse != nil || d.Late.Make != nil {
			t.Errorf("dense %t: %v, %+v", dense, d.Features, d.Late)
		}
		if err := Validate(d); err != nil {
			t.Error(err)
		}
	}
}
