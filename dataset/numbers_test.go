package dataset

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
)

// TestNumbers: the spread of targets about their mean, and splits of what has none.
func TestNumbers(t *testing.T) {
	nan := float32(math.NaN())
	n := Numbers{Rows: []float32{1, 10, 3, 10, nan, nan, 5, 40}, Cols: 2}
	if got := n.Spread([]uint32{0, 1, 3}); !slices.Equal(got, []float64{8, 600}) {
		t.Errorf("the spread is %v", got)
	}
	if err := n.Cover(GraphLabels, [3][]uint32{{0}, {1, 3}, nil}); err != nil {
		t.Error(err)
	}
	if err := n.Cover(GraphLabels, [3][]uint32{{0}, {1, 2}, nil}); err == nil || err.Error() != "graph 2 of the validation split has no targets" {
		t.Error(err)
	}
}

func TestNumbersRefused(t *testing.T) {
	for _, tc := range []struct {
		text  string
		spoil func(d *Data)
	}{
		{"59 targets do not make 60 rows of width 1", func(d *Data) { d.Targets.Vertex = d.Targets.Vertex[1:] }},
		{"60 targets do not make 60 rows of width 0", func(d *Data) { d.Targets.Cols = 0 }},
		{"vertex 5 has the targets [+Inf]", func(d *Data) { d.Targets.Vertex[5] = float32(math.Inf(1)) }},
		{"no graph of each vertex", func(d *Data) { d.Targets.Graph, d.GraphOf = Numbers{Rows: []float32{1}, Cols: 1}, nil }},
		{"vertex 20 belongs to graph 1: there are targets of 1 graphs", func(d *Data) { d.Targets.Graph = Numbers{Rows: []float32{1}, Cols: 1} }},
	} {
		d := full(t)
		d.Labels, d.GraphLabels = nil, nil
		d.Targets.Vertex, d.Targets.Cols = make([]float32, d.Edges.V), 1
		tc.spoil(d)
		if err := Validate(d); err == nil || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("error %v, want %q", err, tc.text)
		}
	}
}

// TestGraphNumbersInStores: a store keeps the numbers of graphs.
func TestGraphNumbersInStores(t *testing.T) {
	d, path := full(t), filepath.Join(t.TempDir(), "g.saga")
	d.GraphLabels, d.Targets.Graph = nil, Numbers{Rows: []float32{1, 2, 3, 4, 5, 6}, Cols: 2}
	if err := WriteStore(path, d, 2); err != nil {
		t.Fatal(err)
	}
	if got := mustLoad(t, path, Options{}); !slices.Equal(got.Targets.Graph.Rows, d.Targets.Graph.Rows) || got.Targets.Graph.Cols != 2 || !slices.Equal(got.GraphOf, d.GraphOf) {
		t.Errorf("%+v", got.Targets.Graph)
	}
	if _, err := Open(filepath.Dir(path), Options{}); err == nil {
		t.Error("a folder with a store in it is no data")
	}
}

// TestSparseOf: the entries of dense rows, and back.
func TestSparseOf(t *testing.T) {
	d := full(t)
	d.Features[4], d.Features[5] = 0, 0
	want := slices.Clone(d.Features)
	s := SparseOf(d.Features, d.FeatureCols)
	if s.Longest() != 3 || s.Ptr[2]-s.Ptr[1] != 1 {
		t.Errorf("the longest row has %d entries, the second %d", s.Longest(), s.Ptr[2]-s.Ptr[1])
	}
	if err := d.SetSparse(s, d.FeatureCols); err != nil {
		t.Fatal(err)
	}
	if d.HoldFeatures(); !slices.Equal(d.Features, want) {
		t.Errorf("dense again: %v, want %v", d.Features, want)
	}
	dense, loose := full(t), full(t)
	if err := loose.SetSparse(SparseOf(loose.Features, loose.FeatureCols), loose.FeatureCols); err != nil {
		t.Fatal(err)
	}
	RowNormalize(dense)
	RowNormalize(loose)
	if loose.HoldFeatures(); !slices.Equal(loose.Features, dense.Features) {
		t.Error("sparse rows are divided by other sums than dense ones")
	}
}

func TestSparseRowsRefused(t *testing.T) {
	for _, tc := range []struct {
		text string
		s    SparseRows
	}{
		{"3 row pointers, 1 columns and 1 values do not make 3 rows", SparseRows{Ptr: []int64{0, 1, 1}, Cols: []uint32{0}, Vals: []float32{1}}},
		{"row pointer 0 is 0, the next is 2", SparseRows{Ptr: []int64{0, 2, 1, 1}, Cols: []uint32{0}, Vals: []float32{1}}},
		{"feature row 1: column 4 of 4", SparseRows{Ptr: []int64{0, 0, 1, 1}, Cols: []uint32{4}, Vals: []float32{1}}},
		{"column 1 stands behind column 2", SparseRows{Ptr: []int64{0, 2, 2, 2}, Cols: []uint32{2, 1}, Vals: []float32{1, 1}}},
		{"feature row 2, column 3 is +Inf", SparseRows{Ptr: []int64{0, 0, 0, 1}, Cols: []uint32{3}, Vals: []float32{float32(math.Inf(1))}}},
	} {
		d := &Data{Edges: &chunk.Edges{V: 3}}
		if err := d.SetSparse(&tc.s, 4); err == nil || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("error %v, want %q", err, tc.text)
		}
	}
}

func TestDegreeFeatures(t *testing.T) {
	d := full(t)
	in, out := d.Edges.InDegrees(), d.Edges.OutDegrees()
	DegreeFeatures(d)
	for v := range d.Edges.V {
		if x := d.Features[2*v : 2*v+2]; d.FeatureCols != 2 || math.Abs(math.Expm1(float64(x[0]))-float64(in[v])) > 1e-4 || math.Abs(math.Expm1(float64(x[1]))-float64(out[v])) > 1e-4 {
			t.Fatalf("vertex %d, of degrees %d and %d, has the row %v", v, in[v], out[v], x)
		}
	}
}
