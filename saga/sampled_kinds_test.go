package saga_test

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"sagann/device"
	"sagann/device/cudatest"
	"sagann/net"
	"sagann/net/local"
	"sagann/saga"
	"sagann/sample"
)

// batchesOf are the losses of some steps over batches of the golden graph, and the gradients of the last. gpus emulates a GPU.
func batchesOf(t *testing.T, m saga.Model, c saga.Config, s saga.Sampling, gpus bool) (losses []float64, grads map[string][]float32) {
	t.Helper()
	_, d := typedData(t)
	c.Seed, c.Optimizer = 3, saga.Optimizer{Kind: "sgd", LR: 0.05}
	p, err := saga.CompileSampled(m, d, c, s)
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	defer p.Close()
	if gpus {
		if err := p.OpenOn([]device.Device{cudatest.Steps(cudatest.Open(t, 0, p.DeviceBytes()+1<<20))}); err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
	}
	for range 4 {
		loss, err := p.Step()
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		losses = append(losses, loss)
	}
	grads = map[string][]float32{}
	for _, q := range p.Params() {
		if g, err := p.Grad(q.Name); err == nil {
			grads[q.Name] = g
		}
	}
	return losses, grads
}

// TestTypedSampledEmulated: batches over several types, some without a vertex of some type, give on an emulated GPU, for which the host
// draws, what they give on the CPU.
func TestTypedSampledEmulated(t *testing.T) {
	if testing.Short() {
		t.Skip("emulation is slow")
	}
	for i, m := range typedModels()[:2] {
		s := saga.Sampling{Sampler: sample.Neighbours(1, 1), Batch: 2}
		if i == 1 {
			s.Relations = map[string]sample.Sampler{"writes": sample.Neighbours(0, 2), "cites": sample.Neighbours(3, 0)}
		}
		want, slopes := batchesOf(t, m, saga.Config{}, s, false)
		got, grads := batchesOf(t, m, saga.Config{Device: "cuda", Without: []string{"invariant", "stream"}}, s, true)
		for k := range want {
			if !(math.Abs(got[k]-want[k]) <= 1e-4) {
				t.Errorf("%s: %v, on the CPU %v", m.Name, got, want)
				break
			}
		}
		for name, g := range slopes {
			for k := range g {
				if !(math.Abs(float64(g[k]-grads[name][k])) <= 1e-4) {
					t.Errorf("%s: the gradient of %s is %v, on the CPU %v", m.Name, name, grads[name], g)
					break
				}
			}
		}
	}
}

// TestTypedSampledTables: rows of features that lie in a table for each type, as on a GPU, give the bits of rows that come with a batch, where
// kernels read them in the tables and where a step copies those that a batch has.
func TestTypedSampledTables(t *testing.T) {
	_, d := typedData(t)
	for _, m := range typedModels() {
		run := func(ahead bool, without ...string) (losses []float64, p *saga.Program) {
			c := saga.Config{Seed: 3, Optimizer: saga.Optimizer{Kind: "sgd", LR: 0.05}, Without: append(without, "invariant")}
			p, err := saga.CompileSampled(m, d, c, saga.Sampling{Sampler: sample.Neighbours(2, 1), Batch: 2})
			if err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			t.Cleanup(func() {
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			})
			if ahead {
				if err := p.ComeAhead(); err != nil {
					t.Fatalf("%s: %v", m.Name, err)
				}
				if len(p.TakenSets()) < 3 {
					t.Fatalf("%s: %d tables", m.Name, len(p.TakenSets()))
				}
			}
			losses, _ = batchLosses(t, p, saga.TrainOptions{})
			return losses, p
		}
		want, plain := run(false)
		for _, without := range [][]string{nil, {"in-place"}} {
			got, p := run(true, without...)
			if !slices.Equal(got, want) {
				t.Errorf("%s without %v: losses %v, want %v", m.Name, without, got, want)
			}
			sameParams(t, plain, p)
		}
	}
}

// TestTypedSampledLaunches: on a GPU that is given batches ahead, batches without a vertex of some type launch nothing empty.
func TestTypedSampledLaunches(t *testing.T) {
	_, d := typedData(t)
	for _, m := range typedModels() {
		c := saga.Config{Device: "cuda", Without: []string{"invariant"}}
		p, err := saga.CompileSampled(m, d, c, saga.Sampling{Sampler: sample.Neighbours(1, 1), Batch: 1})
		if err != nil {
			t.Fatal(err)
		}
		if z := p.SampledPlan(); !z.Ahead || !strings.Contains(z.Host, "one type of vertices") {
			t.Errorf("%s: ahead %v, drawn by the host as %q", m.Name, z.Ahead, z.Host)
		}
		inner, err := device.NewNull(0, p.DeviceBytes())
		if err != nil {
			t.Fatal(err)
		}
		calls, released := 0, 0
		if err := p.OpenOn([]device.Device{boundGPU{nullGPU{inner}, &calls, &released}}); err != nil {
			t.Fatal(err)
		}
		for range 8 {
			if _, err := p.Step(); err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
		}
		if calls == 0 {
			t.Errorf("%s: nothing ran", m.Name)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTypedSampledDevices: no bit depends on how many devices compute the batches of an update.
func TestTypedSampledDevices(t *testing.T) {
	m := typedModels()[0]
	s := saga.Sampling{Sampler: sample.Neighbours(2, 1), Batch: 2, Accumulate: 2}
	want, _ := batchesOf(t, m, saga.Config{}, s, false)
	if got, _ := batchesOf(t, m, saga.Config{Device: "cpu:2"}, s, false); !slices.Equal(got, want) {
		t.Errorf("on two devices %v, on one %v", got, want)
	}
}

// TestTypedSampledRanks: two ranks have the bits of one process, and so has a run that plans again because batches are larger than their room.
func TestTypedSampledRanks(t *testing.T) {
	_, d := typedData(t)
	m, s := typedModels()[0], saga.Sampling{Sampler: sample.Neighbours(2, 1), Batch: 2, Accumulate: 2}
	run := func(c saga.Config, cramp bool) (losses []float64) {
		c.Seed, c.Optimizer = 3, saga.Optimizer{Kind: "sgd", LR: 0.05}
		p, err := saga.CompileSampled(m, d, c, s)
		if err != nil {
			t.Error(err)
			return nil
		}
		defer p.Close()
		if cramp {
			if err := p.Cramp(2); err != nil {
				t.Error(err)
			}
		}
		for range 5 {
			loss, err := p.Step()
			if err != nil {
				t.Error(err)
				break
			}
			losses = append(losses, loss)
		}
		if over := p.SampledPlan().Overflows; cramp && over == 0 {
			t.Error("no batch was larger than its room")
		}
		return losses
	}
	want := run(saga.Config{}, false)
	if got := run(saga.Config{}, true); !slices.Equal(got, want) {
		t.Errorf("with more room %v, want %v", got, want)
	}
	_, links := local.New(2)
	var wg sync.WaitGroup
	for r, l := range links {
		wg.Go(func() {
			if got := run(saga.Config{Device: "cpu:2", Net: net.Over(l)}, false); !slices.Equal(got, want) {
				t.Errorf("rank %d: %v, want %v", r, got, want)
			}
		})
	}
	wg.Wait()
}

// TestTypedSampledAlone: where no relation leads to the type that has the labels, there is nothing to draw, which is said.
func TestTypedSampledAlone(t *testing.T) {
	x, d := typedData(t)
	graph := d.Vertices.Kinds.Graph
	for n, lonely := range graph.Types {
		if lonely.Name != "lonely" {
			continue
		}
		labels := make([]int32, lonely.Rows.Edges.V)
		graph.Types[n].Rows.Labels, graph.Types[n].Rows.Classes, graph.Types[n].Rows.Train = labels, x.Classes, []uint32{0}
		for _, m := range typedModels()[:3] {
			s := saga.Sampling{Sampler: sample.Neighbours(2, 2), Batch: 2}
			if p, err := saga.CompileSampled(m, graph.At(n), saga.Config{}, s); err == nil || !strings.Contains(err.Error(), "no relation of golden leads to vertices of type lonely") {
				t.Errorf("%s: %v %v", m.Name, p, err)
			}
		}
	}
}
