package saga_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"sagann/dataset"
	"sagann/device"
	"sagann/saga"
)

// words is a graph whose features are mostly zero, dense and sparse.
func words(t testing.TB) (dense, sparse *dataset.Data) {
	dense, sparse = dataset.Karate(), dataset.Karate()
	const cols = 60
	r := rand.New(rand.NewPCG(4, 5))
	x := make([]float32, dense.Edges.V*cols)
	for v := range dense.Edges.V {
		for range r.IntN(9) { // some have none
			x[v*cols+r.IntN(cols)] = r.Float32()*2 - 1
		}
	}
	for c := range cols {
		x[3*cols+c] = 1
	}
	dense.Features, dense.FeatureCols = x, cols
	if err := sparse.SetSparse(dataset.SparseOf(x, cols), cols); err != nil {
		t.Fatal(err)
	}
	return dense, sparse
}

// Sparse rows give the losses of dense ones, dropout included, however they are kept. SAGANN_DEVICE names
// another device than CPUs for them.
func TestSparseIsDense(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, name := range []string{"gcn", "sage", "gin", "gat", "commnet", "ggnn"} {
		for _, drop := range []float32{0, 0.5} {
			dense, sparse := words(t)
			if drop > 0 {
				dataset.RowNormalize(dense)
				dataset.RowNormalize(sparse)
			}
			m := modelFor(t, name, dense, 0, drop)
			devices := []string{"cpu", "cpu:2", "cpu:3"}
			if spec := os.Getenv("SAGANN_DEVICE"); spec != "" {
				devices = []string{spec, spec, spec}
			}
			want := losses(t, m, dense, saga.Config{Epochs: 4, Seed: 3}, 4)
			if x := far(losses(t, m, sparse, saga.Config{Epochs: 4, Seed: 3}, 4), want); x > 1e-5 {
				t.Errorf("%s, dropout %v: losses differ by %v", name, drop, x)
			}
			for range 3 {
				c := saga.Config{Epochs: 4, Seed: 3, Chunks: 1 + r.IntN(6), Stream: r.IntN(2) == 0, Schedule: []string{"sag", "stage", "dest-order"}[r.IntN(3)],
					Device: devices[r.IntN(3)], Save: []string{"all", "none", "some"}[r.IntN(3)]}
				if x := far(losses(t, m, sparse, c, 4), want); x > 1e-4 {
					t.Errorf("%s, dropout %v, %+v: losses differ by %v", name, drop, c, x)
				}
			}
		}
	}
}

func TestSparseRefuses(t *testing.T) {
	dense, sparse := words(t)
	if _, err := saga.Compile(modelFor(t, "ggcn", dense, 0, 0), sparse, saga.Config{}); err == nil {
		t.Error("gates read sparse features")
	} else {
		t.Log(err)
	}
	for what, s := range map[string]*dataset.SparseRows{
		"a column out of range":   {Ptr: []int64{0, 1}, Cols: []uint32{5}, Vals: []float32{1}},
		"columns that descend":    {Ptr: []int64{0, 2}, Cols: []uint32{2, 1}, Vals: []float32{1, 1}},
		"a column that repeats":   {Ptr: []int64{0, 2}, Cols: []uint32{2, 2}, Vals: []float32{1, 1}},
		"pointers that descend":   {Ptr: []int64{1, 0}, Cols: nil, Vals: nil},
		"values that are missing": {Ptr: []int64{0, 2}, Cols: []uint32{1, 2}, Vals: []float32{1}},
		"too few rows":            {Ptr: []int64{0}},
	} {
		d := dataset.Karate()
		for len(s.Ptr) > 1 && len(s.Ptr) < d.Edges.V+1 {
			s.Ptr = append(s.Ptr, s.Ptr[len(s.Ptr)-1])
		}
		if err := d.SetSparse(s, 5); err == nil {
			t.Errorf("%s is taken", what)
		} else {
			t.Log(fmt.Sprint(what, ": ", err))
		}
	}
}

// All that sparse features ask of a GPU has kernels, with dropout and without.
func TestSparseLaunches(t *testing.T) {
	for _, drop := range []float32{0, 0.5} {
		for _, name := range []string{"gcn", "sage", "gin"} {
			dense, sparse := words(t)
			m := modelFor(t, name, dense, 0, drop)
			for _, c := range []saga.Config{{Chunks: 1}, {Chunks: 4, Stream: true}} {
				c.Device = "cuda"
				c.Seed = 1
				p, err := saga.Compile(m, sparse, c)
				if err != nil {
					t.Fatal(err)
				}
				inner, err := device.NewNull(0, p.DeviceBytes())
				if err != nil {
					t.Fatal(err)
				}
				if err := p.OpenOn([]device.Device{boundGPU{nullGPU{inner}, new(int), new(int)}}); err != nil {
					t.Fatal(err)
				}
				if _, err := p.Step(); err != nil {
					t.Error(err)
				}
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
