package saga_test

import (
	"fmt"
	"math"
	"os"
	"testing"

	"sagann/device"
	"sagann/saga"
)

// boundGPU computes nothing. It checks that clears and calls stay within its memory.
type boundGPU struct {
	nullGPU
	calls, released *int
}

type boundBatch []device.Command

func (b boundBatch) Commands() int { return len(b) }

func (d boundGPU) Prepare(list []device.Command) (device.Batch, error) {
	end := uint64(1<<20 + d.Info().Budget)
	for _, c := range list {
		switch {
		case c.Clear != nil && (c.Clear.Addr < 1<<20 || c.Clear.Bytes < 0 || c.Clear.Addr+uint64(c.Clear.Bytes) > end):
			return nil, fmt.Errorf("clears %d bytes at %#x", c.Clear.Bytes, c.Clear.Addr)
		case c.Call != nil && (c.Call.Grid[0] == 0 || c.Call.Grid[1] == 0 || c.Call.Block == 0):
			return nil, fmt.Errorf("an empty launch of %s: %v blocks of %d", c.Call.Func.Name(), c.Call.Grid, c.Call.Block)
		}
	}
	*d.calls += len(list)
	return boundBatch(list), nil
}

// Launch prepares what a GPU would run.
func (d boundGPU) Launch(q device.Queue, k device.Kernel) error {
	if _, err := k.(device.GPUKernel).Batch(d); err != nil {
		return err
	}
	return d.nullGPU.Launch(q, k)
}

func (d boundGPU) Release(device.Batch) { *d.released++ }

// On a GPU every batch binds its rows and edges to the launches of a step, and what was prepared for
// the batch before is given back.
func TestSampledLaunches(t *testing.T) {
	d := sampledGraph(t)
	for _, name := range []string{"sage", "gcn", "gat", "ggcn"} {
		c := sampledConfig()
		c.Device, c.Without, c.Optimizer.ClipNorm = "cuda", []string{"invariant"}, 0
		p, err := saga.CompileSampled(sampledModel(t, name, d), d, c, sampling())
		if err != nil {
			t.Fatal(err)
		}
		inner, err := device.NewNull(0, p.DeviceBytes())
		if err != nil {
			t.Fatal(err)
		}
		calls, released := 0, 0
		if err := p.OpenOn([]device.Device{boundGPU{nullGPU{inner}, &calls, &released}}); err != nil {
			t.Fatal(err)
		}
		for range 6 {
			if _, err := p.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if calls == 0 || released == 0 {
			t.Errorf("%s: %d commands, %d lists given back", name, calls, released)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The device that SAGANN_DEVICE names, or the CPU with batches that come ahead, gives the losses of the
// CPU over two epochs, to 1e-5.
func TestSampledAgree(t *testing.T) {
	d := sampledGraph(t)
	for _, name := range []string{"sage", "gcn", "gat", "gin", "ggcn"} {
		c := sampledConfig()
		c.Epochs, c.Optimizer = 2, saga.Optimizer{Kind: "sgd", LR: 0.001}
		p := sampledProgram(t, name, d, c, sampling())
		if c.Device == "" {
			if err := p.ComeAhead(); err != nil {
				t.Fatal(err)
			}
		} else if s := p.SampledPlan(); !s.Ahead || s.Tables != 600*12*4 {
			t.Errorf("%s on %s: %+v", name, os.Getenv("SAGANN_DEVICE"), s)
		}
		got, _ := batchLosses(t, p, saga.TrainOptions{})
		c.Device = ""
		want, _ := batchLosses(t, sampledProgram(t, name, d, c, sampling()), saga.TrainOptions{})
		for i, x := range want {
			if math.Abs(got[i]-x) > 1e-5*math.Abs(x) {
				t.Errorf("%s, batch %d: loss %v, on the CPU %v", name, i, got[i], x)
			}
		}
	}
}
