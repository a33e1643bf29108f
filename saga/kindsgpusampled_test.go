package saga_test

import (
	"fmt"
	"os"
	"testing"

	"sagann/device"
	"sagann/device/cudatest"
	"sagann/saga"
	"sagann/sample"
)

// goldenBatches compares a batch of all training vertices with all in-edges with the golden values of the full graph, with features in a table for
// each type on the device that kernels read in place, in tables of which a step copies the rows of a batch, and with rows that come with a batch.
// open opens p. A model has tables of at least two types.
func goldenBatches(t *testing.T, m saga.Model, on string, open func(p *saga.Program) error) {
	t.Helper()
	x, d := typedData(t)
	for _, how := range []struct {
		cache   float64
		without []string
	}{{0, nil}, {0, []string{"in-place"}}, {-1, nil}} {
		c := saga.Config{Device: on, Without: append([]string{"invariant"}, how.without...)}
		p, err := saga.CompileSampled(m, d, c, saga.Sampling{Sampler: sample.Neighbours(50, 50), Batch: 10000, Cache: how.cache})
		at := fmt.Sprintf("%s, cache %v, without %v", m.Name, how.cache, how.without)
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		if err := open(p); err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		if n := len(p.TakenSets()); (n > 1) != (how.cache == 0) {
			t.Errorf("%s: %d tables", at, n)
		}
		x.begin(t, at, m.Name, p)
		x.step(t, at, m.Name, p)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTypedTablesEmulated: on an emulated GPU batches with features in a table for each type give the golden values.
func TestTypedTablesEmulated(t *testing.T) {
	if testing.Short() {
		t.Skip("emulation is slow")
	}
	goldenBatches(t, typedModels()[1], "cuda", func(p *saga.Program) error {
		return p.OpenOn([]device.Device{cudatest.Steps(cudatest.Open(t, 0, p.DeviceBytes()+1<<20))})
	})
}

// TestGPUTypedSampled: the GPU of SAGANN_DEVICE gives the golden values, also with features in a table for each type.
func TestGPUTypedSampled(t *testing.T) {
	on := os.Getenv("SAGANN_DEVICE")
	if !device.IsGPU(on) {
		t.Skip("SAGANN_DEVICE names no GPU")
	}
	for _, m := range typedModels() {
		goldenBatches(t, m, on, func(*saga.Program) error { return nil })
	}
}
