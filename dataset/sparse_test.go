package dataset

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"sagann/dataset/npy"
)

// Entries in any order, twice in one place, or zero, give the rows that SciPy makes dense.
func TestSparseFeatures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.npz")
	write := func(data []float64, indices []int32) {
		t.Helper()
		err := npy.WriteZip(path, map[string]*npy.Array{
			"edges":                {Shape: []int{3, 2}, Data: []int64{0, 1, 1, 2, 2, 0}},
			"features_csr_data":    {Shape: []int{len(data)}, Data: data},
			"features_csr_indices": {Shape: []int{len(indices)}, Data: indices},
			"features_csr_indptr":  {Shape: []int{4}, Data: []int32{0, 4, 4, 5}},
			"features_csr_shape":   {Shape: []int{2}, Data: []int32{3, 4}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	write([]float64{1, 2, 3, 0, 5}, []int32{3, 1, 3, 0, 2})
	want := mustLoad(t, path, Options{}).Features
	for _, from := range []int64{1, 48} {
		d := mustLoad(t, path, Options{SparseFrom: from})
		if d.Features != nil || d.Late.Sparse == nil {
			t.Fatalf("from %d bytes: the features are dense", from)
		}
		if !slices.Equal(d.Late.Sparse.Cols, []uint32{1, 3, 2}) || !slices.Equal(d.Late.Sparse.Vals, []float32{2, 4, 5}) || !slices.Equal(d.Late.Sparse.Ptr, []int64{0, 2, 2, 3}) {
			t.Errorf("rows %+v", d.Late.Sparse)
		}
		if d.HoldFeatures(); !slices.Equal(d.Features, want) {
			t.Errorf("dense again: %v, want %v", d.Features, want)
		}
	}
	if d := mustLoad(t, path, Options{SparseFrom: 49}); d.Features == nil {
		t.Error("48 bytes of dense features stay sparse from 49 on")
	}
	write([]float64{1, 2, 3, 0, 5}, []int32{3, 1, 4, 0, 2})
	_, err := Load(path, Options{SparseFrom: 1})
	refused(t, "a column out of range", err, "columns")
	write([]float64{1, math.NaN(), 3, 0, 5}, []int32{3, 1, 3, 0, 2})
	_, err = Load(path, Options{SparseFrom: 1})
	refused(t, "a value that is not finite", err, "NaN")
}
