package saga_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
	"sagann/sample"
)

// sampling draws 5 and 3 neighbours; of the graph's 240 training vertices an epoch has two whole
// batches and a short one.
func sampling() saga.Sampling {
	return saga.Sampling{Sampler: sample.Neighbours(5, 3), Batch: 100}
}

func sampledGraph(t *testing.T) *dataset.Data {
	t.Helper()
	d, err := dataset.Synthetic(dataset.Spec{Kind: dataset.Communities, Vertices: 600, Edges: 9000, Features: 12, Classes: 4, Seed: 3, Copies: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := dataset.RandomSplit(d, 0.4, 0.3, 1); err != nil {
		t.Fatal(err)
	}
	return d
}

func sampledConfig() saga.Config {
	return saga.Config{Device: os.Getenv("SAGANN_DEVICE"), Epochs: 4, Seed: 5, Optimizer: saga.Optimizer{LR: 0.01, ClipNorm: 5, Gamma: 0.9, DecayEvery: 1}}
}

// sampledProgram is a model of two layers with dropout, closed when t ends.
func sampledProgram(t *testing.T, name string, d *dataset.Data, c saga.Config, s saga.Sampling) *saga.Program {
	t.Helper()
	p, err := saga.CompileSampled(sampledModel(t, name, d), d, c, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func sampledModel(t *testing.T, name string, d *dataset.Data) saga.Model {
	t.Helper()
	m, err := layers.New(name, layers.Options{Features: d.FeatureCols, Classes: d.Classes, Hidden: 8, Layers: 2, Dropout: 0.3, AttentionDropout: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// batchLosses are those of the batches of a run.
func batchLosses(t *testing.T, p *saga.Program, o saga.TrainOptions) (list []float64, r *saga.Result) {
	t.Helper()
	o.OnBatch = func(b saga.Batch) error {
		list = append(list, b.Loss)
		return nil
	}
	r, err := p.Train(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return list, r
}

// An epoch has every training vertex once, in another order each time, and its loss is the
// mean over them though the last batch is short.
func TestSampledEpoch(t *testing.T) {
	d := sampledGraph(t)
	p := sampledProgram(t, "sage", d, sampledConfig(), sampling())
	var first []uint32
	for range 2 {
		var seeds []uint32
		for _, want := range []int{100, 100, 40} {
			if _, err := p.Step(); err != nil {
				t.Fatal(err)
			}
			if got := p.Seeds(); len(got) != want {
				t.Fatalf("%d seeds, want %d", len(got), want)
			}
			seeds = append(seeds, p.Seeds()...)
		}
		if first == nil {
			first = slices.Clone(seeds)
		} else if slices.Equal(first, seeds) {
			t.Error("the second epoch has the order of the first")
		}
		slices.Sort(seeds)
		if !slices.Equal(seeds, slices.Sorted(slices.Values(d.Train))) {
			t.Error("an epoch does not have every training vertex once")
		}
	}
	q := sampledProgram(t, "sage", d, sampledConfig(), sampling())
	list, r := batchLosses(t, q, saga.TrainOptions{})
	n := len(list)
	if want := (100*list[n-3] + 100*list[n-2] + 40*list[n-1]) / 240; math.Abs(r.Loss-want) > 1e-12 || n != 12 {
		t.Errorf("%d batches, the last epoch's loss is %v, want %v", n, r.Loss, want)
	}
	if !(list[n-1] < list[0]) {
		t.Errorf("losses %v: nothing is learned", list)
	}
}

// A run is the same to the bit on one processor, with memory that makes evaluation
// stream, with batches that overflow, and when it goes on from a checkpoint after any batch.
func TestSampledBits(t *testing.T) {
	d := sampledGraph(t)
	for _, name := range []string{"sage", "gcn", "gat", "ggcn"} {
		whole := sampledProgram(t, name, d, sampledConfig(), sampling())
		want, r := batchLosses(t, whole, saga.TrainOptions{})
		same := func(what string, p *saga.Program, got []float64, from int) {
			t.Helper()
			if !slices.Equal(got, want[from:]) {
				t.Errorf("%s, %s: losses %v, want %v", name, what, got, want[from:])
			}
			sameParams(t, whole, p)
			if p.Digest() != whole.Digest() {
				t.Errorf("%s, %s: another digest", name, what)
			}
		}
		procs := runtime.GOMAXPROCS(1)
		p := sampledProgram(t, name, d, sampledConfig(), sampling())
		got, _ := batchLosses(t, p, saga.TrainOptions{})
		runtime.GOMAXPROCS(procs)
		same("one processor", p, got, 0)

		c := sampledConfig()
		c.Chunks = 3
		c.Mem = leastSampled(t, name, d, c)
		p = sampledProgram(t, name, d, c, sampling())
		got, _ = batchLosses(t, p, saga.TrainOptions{})
		same("evaluation in three intervals", p, got, 0)

		p = sampledProgram(t, name, d, sampledConfig(), sampling())
		if err := p.ComeAhead(); err != nil {
			t.Fatal(err)
		}
		got, _ = batchLosses(t, p, saga.TrainOptions{})
		same("batches come ahead", p, got, 0)

		p = sampledProgram(t, name, d, sampledConfig(), sampling())
		if err := p.Cramp(64); err != nil {
			t.Fatal(err)
		}
		got, _ = batchLosses(t, p, saga.TrainOptions{})
		same("no room", p, got, 0)
		if n := p.SampledPlan().Overflows; n == 0 || n > 6 {
			t.Errorf("%s: %d batches were run again", name, n)
		}

		for _, at := range []int{1, 3, 5} {
			path := stoppedAfter(t, sampledProgram(t, name, d, sampledConfig(), sampling()), at)
			rest := sampledProgram(t, name, d, sampledConfig(), sampling())
			got, again := batchLosses(t, rest, saga.TrainOptions{Resume: path})
			same("resumed", rest, got, at)
			if again.Loss != r.Loss || again.Final != r.Final {
				t.Errorf("%s: resumed after %d batches the run ends with %v and %v, want %v and %v", name, at, again.Loss, again.Final, r.Loss, r.Final)
			}
		}
	}
}

// leastSampled is the least Config.Mem with which name trains.
func leastSampled(t *testing.T, name string, d *dataset.Data, c saga.Config) int64 {
	t.Helper()
	c.Mem = 1
	var small *plan.BudgetError
	if _, err := saga.CompileSampled(sampledModel(t, name, d), d, c, sampling()); !errors.As(err, &small) {
		t.Fatalf("a byte of memory gives %v", err)
	}
	return small.Smallest
}

func sortedRows(t *testing.T, d *dataset.Data) *sample.Graph {
	t.Helper()
	g, err := sample.NewGraph(d.Edges)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Every sampler trains, and the weights that it gives are what gcn reads. A model that reads none
// says so.
func TestSampledBySamplers(t *testing.T) {
	d := sampledGraph(t)
	for _, s := range []sample.Sampler{sample.WeightedNeighbours(5, 3), sample.LayerBlocks(64, 64), sample.FastGCN(96, 96), sample.LADIES(96, 96),
		sample.SAINT(3), sample.ShaDow(2, 4), sample.PinSAGE(2, 8, 3, 4)} {
		p := sampledProgram(t, "gcn", d, sampledConfig(), saga.Sampling{Sampler: s, Batch: 60})
		list, r := batchLosses(t, p, saga.TrainOptions{})
		if got := r.Final.Train.Accuracy; got < 0.5 { // of four classes
			t.Errorf("%s: losses %v, accuracy %v: nothing is learned", s.Name, list, got)
		}
		looped := *d
		looped.Edges = d.Edges.WithSelfLoops() // as the model would
		q := sampledProgram(t, "gcn", &looped, sampledConfig(), saga.Sampling{Sampler: s, Batch: 60, Rows: sortedRows(t, &looped)})
		if again, _ := batchLosses(t, q, saga.TrainOptions{}); !slices.Equal(list, again) {
			t.Errorf("%s: a second run, with rows sorted before, has other losses", s.Name)
		}
	}
	_, err := saga.CompileSampled(sampledModel(t, "sage", d), d, sampledConfig(), saga.Sampling{Sampler: sample.FastGCN(96, 96), Batch: 60})
	if err == nil || !strings.Contains(err.Error(), "fastgcn weighs edges, and the model sage reads no weights") {
		t.Error(err)
	}
	_, err = saga.CompileSampled(sampledModel(t, "gcn", d), d, sampledConfig(), saga.Sampling{Sampler: sample.DeepWalk(4), Batch: 60})
	if err == nil || !strings.Contains(err.Error(), "draws walks") {
		t.Error(err)
	}
}

// A checkpoint of another sampler or batch is refused, and so is one of the full graph.
func TestSampledRestoreRefuses(t *testing.T) {
	d := sampledGraph(t)
	path := filepath.Join(t.TempDir(), "c.safetensors")
	batchLosses(t, sampledProgram(t, "sage", d, sampledConfig(), sampling()), saga.TrainOptions{Checkpoint: path})
	for _, s := range []saga.Sampling{{Sampler: sample.Neighbours(5, 4), Batch: 100}, {Sampler: sample.Neighbours(5, 3), Batch: 90}} {
		if err := sampledProgram(t, "sage", d, sampledConfig(), s).Restore(path); err == nil || !strings.Contains(err.Error(), "sampler neighbours 5,3, batches of 100") {
			t.Error(err)
		}
	}
	full, err := saga.Compile(sampledModel(t, "sage", d), d, sampledConfig())
	if err != nil {
		t.Fatal(err)
	}
	if err := full.Restore(path); err == nil || !strings.Contains(err.Error(), "this one has sampler not set") {
		t.Error(err)
	}
	if err := full.Close(); err != nil {
		t.Error(err)
	}
	if ck, err := saga.ReadCheckpoint(path); err != nil || ck.Epoch != 4 || ck.Batch != 0 || ck.Chunks != 0 {
		t.Errorf("%+v, %v", ck, err)
	}
}

// What cannot be sampled says why, and a budget that is too small which one would do.
func TestSampledRefuses(t *testing.T) {
	d := sampledGraph(t)
	concat := saga.Model{Name: "concat", Layers: []saga.Layer{{Name: "concat", ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor { return e.Src }, Gather: saga.Concat(2)}}}
	sage := sampledModel(t, "sage", d)
	one := saga.Sampling{Sampler: sample.Neighbours(5), Batch: 10}
	c := sampledConfig()
	for _, x := range []struct {
		m    saga.Model
		c    func(*saga.Config)
		s    saga.Sampling
		want string
	}{
		{sage, nil, saga.Sampling{Sampler: sample.Neighbours(5, 3)}, "a batch of 0 seeds; at least 1"},
		{sage, nil, saga.Sampling{Sampler: sample.Neighbours(5, 3), Batch: 10, Rows: sortedRows(t, d)}, ""},
		{sampledModel(t, "gcn", d), nil, saga.Sampling{Sampler: sample.Neighbours(5, 3), Batch: 10, Rows: sortedRows(t, d)}, "self loops that the model adds among them"},
		{sage, nil, one, "has 1 step and the model has 2 layers that gather"},
		{sage, nil, saga.Sampling{Sampler: sample.Neighbours(5, 0), Batch: 10}, "0 draws at step 2: a fan-out is 1 or more"},
		{concat, nil, one, "Concat(): needs the whole graph"},
		{sage, func(c *saga.Config) { c.Outputs = []string{"grad:features"} }, sampling(), "gradients of features"},
		{sage, func(c *saga.Config) { c.Outputs = []string{"hidden"} }, sampling(), "no output \"hidden\""},
		{sage, func(c *saga.Config) { c.Mem = 1000 }, sampling(), "the smallest that would do is"},
		{sage, func(c *saga.Config) { c.HostMem = 1000 }, sampling(), "host memory are too few"},
	} {
		c := c
		if x.c != nil {
			x.c(&c)
		}
		if _, err := saga.CompileSampled(x.m, d, c, x.s); (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("got %v, want %q", err, x.want)
		}
	}
	c.Mem = 1000
	_, err := saga.CompileSampled(sage, d, c, sampling())
	var small *plan.BudgetError
	if !errors.As(err, &small) {
		t.Fatal(err)
	}
	c.Mem = small.Smallest
	p := sampledProgram(t, "sage", d, c, sampling())
	if _, r := batchLosses(t, p, saga.TrainOptions{}); r.Peak > c.Mem {
		t.Errorf("%d bytes of %d", r.Peak, c.Mem)
	}
}

// Checkpoints come within an epoch, by the number of batches and by the clock.
func TestSampledCheckpoints(t *testing.T) {
	d := sampledGraph(t)
	for _, x := range []struct {
		o    saga.TrainOptions
		want []int // steps that the checkpoint has when a batch begins to be reported
	}{
		{saga.TrainOptions{CheckpointBatches: 2}, []int{-1, -1, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10}},
		{saga.TrainOptions{CheckpointAfter: 1}, []int{-1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		{saga.TrainOptions{CheckpointEvery: 2}, []int{-1, -1, -1, -1, -1, -1, 6, 6, 6, 6, 6, 6}},
	} {
		p := sampledProgram(t, "sage", d, sampledConfig(), sampling())
		var got []int
		x.o.Checkpoint = filepath.Join(t.TempDir(), "c.safetensors")
		x.o.OnBatch = func(saga.Batch) error {
			n := -1
			if ck, err := saga.ReadCheckpoint(x.o.Checkpoint); err == nil {
				n = 3*ck.Epoch + ck.Batch
			}
			got = append(got, n)
			return nil
		}
		if _, err := p.Train(t.Context(), x.o); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%+v: checkpoints have %v steps, want %v", x.o.CheckpointBatches, got, x.want)
		}
	}
}
