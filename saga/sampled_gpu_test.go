package saga_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sagann/dataset"
	"sagann/device"
	"sagann/layers"
	"sagann/saga"
	"sagann/sample"
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

// waitedGPU counts how often the host waits for all that was submitted.
type waitedGPU struct {
	boundGPU
	syncs *int
}

func (d waitedGPU) Sync() error {
	*d.syncs++
	return d.boundGPU.Sync()
}

func (waitedGPU) Await(device.Event) error { return nil }

// No step waits for rows that come over the link for the batches behind it: the host waits for its kernels alone.
func TestSampledWaits(t *testing.T) {
	p := farToFail(t, -1, saga.Config{Device: "cuda"})
	inner, err := device.NewNull(0, p.DeviceBytes())
	if err != nil {
		t.Fatal(err)
	}
	calls, released, syncs := 0, 0, 0
	if err := p.OpenOn([]device.Device{waitedGPU{boundGPU{nullGPU{inner}, &calls, &released}, &syncs}}); err != nil {
		t.Fatal(err)
	}
	for step := range 6 {
		before := syncs
		if _, err := p.Step(); err != nil {
			t.Fatal(err)
		}
		if step > 0 && syncs > before {
			t.Errorf("step %d waits %d times for all that the device does", step, syncs-before)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// keepingGPU keeps steps as graphs, and notes what runs.
type keepingGPU struct {
	boundGPU
	ran, kept *[]string
	graphs    *int // that ran
}

type keptGraph struct{ commands []string }

func (g *keptGraph) Tasks() int64 { return int64(len(g.commands)) }

func (d keepingGPU) Launch(q device.Queue, k device.Kernel) error {
	b, err := k.(device.GPUKernel).Batch(d)
	if err != nil {
		return err
	}
	to := d.ran
	if *d.kept != nil {
		to = d.kept
	}
	for _, c := range b.(boundBatch) {
		switch {
		case c.Call != nil:
			*to = append(*to, fmt.Sprint(c.Call.Func.Name(), c.Call.Grid, c.Call.Args))
		case c.Gemm != nil:
			*to = append(*to, fmt.Sprint(*c.Gemm))
		default:
			*to = append(*to, fmt.Sprint(*c.Clear))
		}
	}
	return d.nullGPU.Launch(q, k)
}

func (d keepingGPU) Capture(_ []device.Queue, f func() error) (device.Graph, error) {
	g := &keptGraph{}
	return g, d.Update(g, f)
}

func (d keepingGPU) Update(graph device.Graph, f func() error) error {
	*d.kept = []string{}
	err := f()
	graph.(*keptGraph).commands, *d.kept = *d.kept, nil
	return err
}

func (d keepingGPU) Replay(graph device.Graph) error {
	*d.graphs++
	*d.ran = append(*d.ran, graph.(*keptGraph).commands...)
	return nil
}

// taskwiseGPU hides that it can keep steps.
type taskwiseGPU struct{ keepingGPU }

func (taskwiseGPU) Capture() {}

// A step that was captured while the one before was at work runs the kernels that it would without. The first step of an epoch, whose batch does not
// come ahead where the host draws, runs task by task.
func TestSampledGraphs(t *testing.T) {
	d := mustSynthetic(t, "vertices=2000,edges=8000,features=5,classes=3,seed=4")
	var ran [2][]string
	for i := range ran {
		c := saga.Config{Device: "cuda", Without: []string{"invariant", "draw"}}
		p, err := saga.CompileSampled(sampledModel(t, "gat", d), d, c, saga.Sampling{Sampler: sample.Neighbours(3, 2), Batch: 200})
		if err != nil {
			t.Fatal(err)
		}
		inner, err := device.NewNull(0, p.DeviceBytes())
		if err != nil {
			t.Fatal(err)
		}
		calls, released, graphs, kept := 0, 0, 0, []string(nil)
		var dev device.Device = keepingGPU{boundGPU{nullGPU{inner}, &calls, &released}, &ran[i], &kept, &graphs}
		if i == 1 {
			dev = taskwiseGPU{dev.(keepingGPU)}
		}
		if err := p.OpenOn([]device.Device{dev}); err != nil {
			t.Fatal(err)
		}
		n := p.SampledPlan().Batches
		for range 2 * n {
			if _, err := p.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if want := (1 - i) * 2 * (n - 1); graphs != want || n < 3 {
			t.Errorf("%d of %d steps are graphs, want %d", graphs, 2*n, want)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(ran[0]) == 0 || !slices.Equal(ran[0], ran[1]) {
		t.Errorf("%d commands run with graphs, %d without, or others", len(ran[0]), len(ran[1]))
	}
}

// markedGPU notes the batch before whose rows a batch finds.
type markedGPU struct {
	waitedGPU
	before *[]uint64
}

func (d markedGPU) Prepare(list []device.Command) (device.Batch, error) {
	for _, c := range list {
		if c.Call != nil && c.Call.Func.Name() == "saga_far_mark" {
			*d.before = append(*d.before, c.Call.Args[8])
		}
	}
	return d.waitedGPU.Prepare(list)
}

// The first batch of an epoch finds the rows of the last one before it, unless evaluation came between.
func TestSampledFarEpochs(t *testing.T) {
	p := farToFail(t, -1, saga.Config{Device: "cuda"})
	inner, err := device.NewNull(0, p.DeviceBytes()+1<<24) // evaluation takes some beside
	if err != nil {
		t.Fatal(err)
	}
	calls, released, syncs, before := 0, 0, 0, []uint64(nil)
	if err := p.OpenOn([]device.Device{markedGPU{waitedGPU{boundGPU{nullGPU{inner}, &calls, &released}, &syncs}, &before}}); err != nil {
		t.Fatal(err)
	}
	n := p.SampledPlan().Batches
	steps := func(n int) {
		for range n {
			if _, err := p.Step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	steps(2 * n)
	for i, b := range before {
		if b != uint64(i) {
			t.Errorf("batch %d finds the rows of batch %d", i+1, b)
		}
	}
	if _, err := p.Evaluate(); err != nil {
		t.Fatal(err)
	}
	steps(1)
	if len(before) <= 2*n || before[2*n] != 0 {
		t.Errorf("the batches after an evaluation find the rows of %v", before[2*n:])
	}
	if err := p.Close(); err != nil {
		t.Error(err)
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
		} else if s := p.SampledPlan(); !s.Ahead || s.Tables != 600*16*4 || !s.Drawn {
			t.Errorf("%s on %s: %+v", name, os.Getenv("SAGANN_DEVICE"), s)
		}
		got, _ := batchLosses(t, p, saga.TrainOptions{})
		if c.Device != "" {
			c.Mem = leastSampled(t, name, d, c)
			q := sampledProgram(t, name, d, c, sampling())
			if again, _ := batchLosses(t, q, saga.TrainOptions{}); q.SampledPlan().Ahead || !slices.Equal(got, again) {
				t.Errorf("%s: losses %v, with least memory %v", name, got, again)
			}
			c.Mem = 0
		}
		c.Device = ""
		want, _ := batchLosses(t, sampledProgram(t, name, d, c, sampling()), saga.TrainOptions{})
		for i, x := range want {
			if math.Abs(got[i]-x) > 1e-5*math.Abs(x) {
				t.Errorf("%s, batch %d: loss %v, on the CPU %v", name, i, got[i], x)
			}
		}
	}
}

// Rows that a GPU reads from host memory, hot ones and those of the batch before give the bits of rows
// that all lie on the device, also where a batch overflows, and where a run goes on from within an epoch. Without a GPU there are none.
func TestSampledFar(t *testing.T) {
	c := sampledConfig()
	if c.Device == "" {
		t.Skip("SAGANN_DEVICE names no GPU")
	}
	d, err := dataset.Synthetic(dataset.Spec{Kind: dataset.Communities, Vertices: 30000, Edges: 300000, Features: 12, Classes: 4, Seed: 3, Copies: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := dataset.RandomSplit(d, 0.4, 0.3, 1); err != nil {
		t.Fatal(err)
	}
	c.Epochs, c.Optimizer.ClipNorm = 2, 0
	for _, name := range []string{"sage", "gat"} { // drawn by the GPU, and by the host
		var want []float64
		for _, x := range []struct {
			cache   float64
			without []string
			room    int // that is left for batches; 0: what they take
			stop    int // after so many batches, and go on
		}{{0, nil, 0, 0}, {-1, nil, 0, 0}, {0.2, nil, 0, 0}, {0.2, []string{"match"}, 0, 0}, {0, []string{"stream"}, 0, 0}, {0, []string{"draw"}, 0, 0}, {-1, nil, 64, 0}, {-1, nil, 0, 3}, {0.2, nil, 0, 8}} {
			c.Without = x.without
			how := saga.Sampling{Sampler: sample.Neighbours(5, 3), Batch: 2000, Cache: x.cache}
			p := sampledProgram(t, name, d, c, how)
			if x.room > 0 {
				if err := p.Cramp(x.room); err != nil {
					t.Fatal(err)
				}
			}
			var o saga.TrainOptions
			if x.stop > 0 {
				o.Resume = stoppedAfter(t, sampledProgram(t, name, d, c, how), x.stop)
			}
			got, _ := batchLosses(t, p, o)
			if got = append(slices.Clone(want[:min(x.stop, len(want))]), got...); want == nil {
				want = got
			}
			if n := p.SampledPlan().Overflows; (n > 0) != (x.room > 0) {
				t.Errorf("%s, %+v: %d batches were run again", name, x, n)
			}
			s := p.SampledPlan()
			if !slices.Equal(got, want) {
				t.Errorf("%s, %+v: losses %v, want %v", name, x, got, want)
			}
			if s.Drawn && x.without != nil && x.without[0] != "match" {
				t.Errorf("%s, %+v: drawn on the GPU", name, x)
			}
			if n := s.FarRows; (n[0] > 0) != (x.cache != 0) || (n[1] > 0) != (x.cache > 0) || (n[2] > 0) != (x.cache != 0 && x.without == nil) {
				t.Errorf("%s, %+v: rows %v", name, x, n)
			}
			t.Logf("%s, %+v: rows %v, drawn there %t", name, x, s.FarRows, s.Drawn)
		}
	}
}

// Batches of the most visited vertices that a GPU draws have the losses, to the bit, of those that the host draws, also from within an
// epoch. Without a GPU there are none.
func TestSampledVisits(t *testing.T) {
	c := sampledConfig()
	if c.Device == "" {
		t.Skip("SAGANN_DEVICE names no GPU")
	}
	d, how := sampledGraph(t), saga.Sampling{Sampler: sample.PinSAGE(2, 8, 3, 4), Batch: 60}
	var want []float64
	for _, x := range []struct {
		without []string
		stop    int
	}{{nil, 0}, {[]string{"draw"}, 0}, {nil, 2}} {
		c.Without = x.without
		p := sampledProgram(t, "gcn", d, c, how)
		var o saga.TrainOptions
		if x.stop > 0 {
			o.Resume = stoppedAfter(t, sampledProgram(t, "gcn", d, c, how), x.stop)
		}
		got, _ := batchLosses(t, p, o)
		if got = append(slices.Clone(want[:min(x.stop, len(want))]), got...); want == nil {
			want = got
		}
		if s := p.SampledPlan(); !slices.Equal(got, want) || s.Drawn != (x.without == nil) {
			t.Errorf("%+v: losses %v, want %v; drawn on the GPU: %t", x, got, want, s.Drawn)
		}
	}
}

// stoppedAfter is the checkpoint of a run that was stopped after n batches.
func stoppedAfter(t *testing.T, p *saga.Program, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.safetensors")
	ctx, stop := context.WithCancel(context.Background())
	if _, err := p.Train(ctx, saga.TrainOptions{Checkpoint: path, OnBatch: func(saga.Batch) error {
		if n--; n == 0 {
			stop()
		}
		return nil
	}}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return path
}

// batchesToFail is a program over batches that come ahead.
func batchesToFail(t *testing.T, c saga.Config) *saga.Program {
	t.Helper()
	d := mustSynthetic(t, "vertices=40,edges=200,features=5,classes=3,seed=4")
	m, err := layers.New("sage", layers.Options{Features: 5, Hidden: 4, Classes: 3, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	c.Optimizer.Kind = "sgd"
	p, err := saga.CompileSampled(m, d, c, saga.Sampling{Sampler: sample.Neighbours(3, 2), Batch: 7})
	if err == nil {
		err = p.ComeAhead()
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// farToFail is a program over batches of a graph with so many rows that they may come over the link. A GPU draws them.
func farToFail(t *testing.T, cache float64, c saga.Config) *saga.Program {
	t.Helper()
	d := mustSynthetic(t, "vertices=40000,edges=80000,features=5,classes=3,seed=4")
	c.Optimizer.Kind, c.Without = "sgd", []string{"invariant"}
	p, err := saga.CompileSampled(sampledModel(t, "sage", d), d, c, saga.Sampling{Sampler: sample.Neighbours(3, 2), Batch: 200, Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	if s := p.SampledPlan(); !s.Ahead || !s.Drawn || (s.Tables == 40000*8*4) != (cache == 0) {
		t.Fatalf("%+v", s)
	}
	return p
}
