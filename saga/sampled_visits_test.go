package saga_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sagann/device"
	"sagann/device/cudatest"
	"sagann/saga"
	"sagann/sample"
)

// drawingGPU is an emulated GPU that draws and takes batches in; the kernels of steps compute nothing. What is captured is kept as calls.
type drawingGPU struct {
	device.GPU
	first *device.Mem     // that was taken: the plan's
	kept  *[]func() error // while something is captured
}

type keptCalls struct{ calls []func() error }

func (r *keptCalls) Tasks() int64 { return int64(len(r.calls)) }

func (d drawingGPU) Alloc(bytes int64) (device.Mem, error) {
	m, err := d.GPU.Alloc(bytes)
	if d.first.Len() == 0 {
		*d.first = m
	}
	return m, err
}

// CopyD2H ends with the copy, as that to memory that is not pinned does.
func (d drawingGPU) CopyD2H(q device.Queue, to []byte, from device.Mem, at int64) error {
	return errors.Join(d.GPU.CopyD2H(q, to, from, at), d.GPU.Sync())
}

// CopyD2D goes by the host.
func (d drawingGPU) CopyD2D(q device.Queue, to device.Mem, toAt int64, _ device.Device, from device.Mem, at, bytes int64) error {
	list := make([]byte, bytes)
	return errors.Join(d.CopyD2H(q, list, from, at), d.CopyH2D(q, to, toAt, list))
}

// idle is a kernel that does nothing.
type idle struct{ name string }

func (k idle) Name() string { return k.name }

func (d drawingGPU) Compile(source string, names []string) (list []device.Function, err error) {
	switch {
	case slices.Contains(names, "saga_take"):
		return d.GPU.Compile("template <class T> T __ldg(const T *p) { return *p; }\n#define __restrict__\n"+source, names)
	case strings.Contains(source, "philox") || names[0] == "saga_pairs":
		return d.GPU.Compile(source, names)
	}
	for _, n := range names {
		list = append(list, idle{n})
	}
	return list, nil
}

func (d drawingGPU) Launch(q device.Queue, k device.Kernel) error {
	b, err := k.(device.GPUKernel).Batch(d)
	if err != nil {
		return err
	}
	call := func() error {
		return d.GPU.Launch(q, device.GPUFunc(k.Name(), func(device.GPU) (device.Batch, error) { return b, nil }))
	}
	if *d.kept != nil {
		*d.kept = append(*d.kept, call)
		return nil
	}
	return call()
}

// Prepare leaves out what computes nothing.
func (d drawingGPU) Prepare(list []device.Command) (device.Batch, error) {
	return d.GPU.Prepare(slices.DeleteFunc(slices.Clone(list), func(c device.Command) bool {
		if c.Call == nil {
			return c.Gemm != nil
		}
		_, is := c.Call.Func.(idle)
		return is
	}))
}

func (d drawingGPU) Capture(_ []device.Queue, f func() error) (device.Graph, error) {
	g := &keptCalls{}
	return g, d.Update(g, f)
}

func (d drawingGPU) Update(g device.Graph, f func() error) error {
	*d.kept = []func() error{}
	err := f()
	g.(*keptCalls).calls, *d.kept = *d.kept, nil
	return err
}

func (d drawingGPU) Replay(g device.Graph) error {
	for _, call := range g.(*keptCalls).calls {
		if err := call(); err != nil {
			return err
		}
	}
	return nil
}

// TestDrawnThere: what an emulated GPU draws and makes of a batch, its rows, cells of both directions, weights and inputs, is to the bit what the host makes of it.
func TestDrawnThere(t *testing.T) {
	d := sampledGraph(t)
	for _, s := range []sample.Sampler{sample.Neighbours(5, 3), sample.PinSAGE(2, 8, 3, 4)} {
		c := saga.Config{Device: "cuda", Seed: 5, Optimizer: saga.Optimizer{LR: 0.01}, Without: []string{"invariant"}}
		p, err := saga.CompileSampled(sampledModel(t, "gcn", d), d, c, saga.Sampling{Sampler: s, Batch: 50})
		if err != nil {
			t.Fatal(err)
		}
		if x := p.SampledPlan(); !x.Drawn || !x.Ahead {
			t.Fatalf("%s: %+v", s.Name, x)
		}
		var first device.Mem
		var kept []func() error
		gpu := drawingGPU{cudatest.Open(t, 0, p.DeviceBytes()+1<<22), &first, &kept}
		if err := p.OpenOn([]device.Device{gpu}); err != nil {
			t.Fatal(err)
		}
		q, err := gpu.NewQueue("look")
		if err != nil {
			t.Fatal(err)
		}
		n := p.SampledPlan().Batches
		mem := make([]byte, first.Len())
		for k := range 2*n - 1 { // the last batch of an epoch is shorter
			if _, err := p.Step(); err != nil {
				t.Fatal(err)
			}
			if k%2 != 0 { // it was in the second room
				continue
			}
			if err := gpu.CopyD2H(q, mem, first, 0); err != nil {
				t.Fatal(err)
			}
			lists, wrong := p.Arrived(mem, k/n, k%n)
			if wrong != nil {
				t.Fatalf("%s: %.900v", s.Name, wrong)
			}
			if lists < 8 {
				t.Errorf("%s: only %d lists", s.Name, lists)
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
