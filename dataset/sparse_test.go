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

// A store keeps features of a sparse matrix as such, and targets; dense again they are the file's, whichever way
// the store is read.
func TestStoresKeepSparseRows(t *testing.T) {
	dir := t.TempDir()
	folder, store, back := filepath.Join(dir, "g.npz"), filepath.Join(dir, "g.saga"), filepath.Join(dir, "back")
	const v, cols = 60, 50
	indptr, indices, data, targets := []int32{0}, []int32{}, []float32{}, make([]float32, 2*v)
	edges := make([]int64, 0, 2*v)
	for r := range v {
		for k := range r % 3 {
			indices, data = append(indices, int32((7*r+11*k)%cols)), append(data, float32(r+k+1))
		}
		indptr = append(indptr, int32(len(indices)))
		edges = append(edges, int64(r), int64((r+1)%v))
		targets[2*r], targets[2*r+1] = float32(r), -float32(r)
	}
	targets[6], targets[7] = float32(math.NaN()), float32(math.NaN())
	if err := npy.WriteZip(folder, map[string]*npy.Array{
		"edges":                {Shape: []int{v, 2}, Data: edges},
		"targets":              {Shape: []int{v, 2}, Data: targets},
		"features_csr_data":    {Shape: []int{len(data)}, Data: data},
		"features_csr_indices": {Shape: []int{len(indices)}, Data: indices},
		"features_csr_indptr":  {Shape: []int{len(indptr)}, Data: indptr},
		"features_csr_shape":   {Shape: []int{2}, Data: []int32{v, cols}},
	}); err != nil {
		t.Fatal(err)
	}
	want := mustLoad(t, folder, Options{})
	if err := WriteStore(store, want, 2); err != nil { // dense
		t.Fatal(err)
	}
	dense := mustLoad(t, store, Options{})
	if err := WriteStore(store, mustLoad(t, folder, Options{SparseFrom: 1}), 2); err != nil {
		t.Fatal(err)
	}
	loose := mustLoad(t, store, Options{SparseFrom: 1})
	if loose.Late.Sparse == nil || loose.Features != nil || len(loose.Late.Sparse.Cols) != len(data) || loose.FeatureCols != cols {
		t.Fatalf("the store gives %d columns, sparse rows %v", loose.FeatureCols, loose.Late.Sparse)
	}
	loose.HoldFeatures()
	tight := mustLoad(t, store, Options{})
	if tight.Late.Sparse != nil {
		t.Error("rows stay sparse where nobody asks for it")
	}
	if err := WriteNpyFolder(back, mustLoad(t, store, Options{})); err != nil {
		t.Fatal(err)
	}
	// A folder of arrays keeps sparse rows, too.
	kept := back + " of sparse rows"
	if err := WriteNpyFolder(kept, mustLoad(t, folder, Options{SparseFrom: 1})); err != nil {
		t.Fatal(err)
	}
	if d := mustLoad(t, kept, Options{SparseFrom: 1}); d.Late.Sparse == nil || d.Features != nil || len(d.Late.Sparse.Cols) != len(data) || d.FeatureCols != cols {
		t.Errorf("the folder gives %d columns, sparse rows %v", d.FeatureCols, d.Late.Sparse)
	}
	for what, d := range map[string]*Data{"dense": dense, "sparse": loose, "made dense": tight, "a folder": mustLoad(t, back, Options{}), "a folder of sparse rows": mustLoad(t, kept, Options{})} {
		if !slices.Equal(d.Features, want.Features) {
			t.Errorf("%s: other features", what)
		}
		if x := d.Targets; x.Cols != 2 || !slices.EqualFunc(x.Vertex, want.Targets.Vertex, func(a, b float32) bool { return a == b || a != a && b != b }) {
			t.Errorf("%s: other targets", what)
		}
	}
}
