package layers_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
	"sagann/sample"
)

// shardsOf writes d as shards for four devices and eight intervals, by way of a store whose grid is another.
func shardsOf(t *testing.T, d *dataset.Data, loops bool) string {
	t.Helper()
	dir := t.TempDir()
	store, out := filepath.Join(dir, "graph.saga"), filepath.Join(dir, "shards")
	if err := dataset.WriteStore(store, d, 3); err != nil {
		t.Fatal(err)
	}
	if _, _, err := dataset.WriteShards(dataset.Sharding{Conversion: dataset.Conversion{From: store, Out: out}, Owners: 4, Chunks: 8, SelfLoops: loops}); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRanksShards: ranks that have shards of a graph give the losses, scores and checkpoints of one process that has it
// all, to the bit, whatever the model, with the ring and without, resident, streamed, and with host memory in files.
func TestRanksShards(t *testing.T) {
	t.Parallel()
	d := rankedData(t)
	path := filepath.Join(t.TempDir(), "checkpoint")
	dirs := map[bool]string{true: shardsOf(t, d, true), false: shardsOf(t, d, false)}
	for _, name := range []string{"gcn", "ggcn", "gat", "sage", "edgemlp"} {
		m := rankedModel(t, name)
		for _, c := range []saga.Config{{}, {NoRing: true}, {Stream: true}, {Stream: true, NoRing: true}, {Stream: true, HostMem: 1}} {
			c.Device, c.Chunks, c.Seed, c.Epochs, c.Without = "cpu:4", 8, 5, 2, []string{"invariant"}
			if c.HostMem > 0 {
				c.HostMem = leastHost(t, m, d, c)
			}
			what := fmt.Sprintf("%s, ring %v, streamed %v, host memory %d", name, !c.NoRing, c.Stream, c.HostMem)
			want, err := trainRanked(1, m, d, c, path, "")
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			c.Chunks, c.Without = 0, nil
			for _, n := range []int{1, 2, 4} {
				got, err := trainRankedOn(n, m, func(rank int) (*dataset.Data, error) { return dataset.OpenShards(dirs[m.SelfLoops], rank, n) }, c, path, "")
				switch {
				case err != nil:
					t.Errorf("%s, %d ranks: %v", what, n, err)
				case !slices.Equal(got.losses, want.losses):
					t.Errorf("%s, %d ranks: losses and scores %v, of one process %v", what, n, got.losses, want.losses)
				case !bytes.Equal(got.file, want.file):
					t.Errorf("%s, %d ranks: another checkpoint than that of one process", what, n)
				}
			}
		}
	}
}

// TestShardsRefuse: what shards cannot do is said.
func TestShardsRefuse(t *testing.T) {
	d, m := rankedData(t), rankedModel(t, "ggcn")
	dir := shardsOf(t, d, false)
	x, err := dataset.OpenShards(dir, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Shard.Close()
	for _, c := range []struct {
		what   string
		config saga.Config
		model  saga.Model
	}{
		{"4 devices, and the run has 2", saga.Config{Device: "cpu:2"}, m},
		{"8 intervals, not 4", saga.Config{Device: "cpu:4", Chunks: 4}, m},
		{"--self-loops", saga.Config{Device: "cpu:4"}, rankedModel(t, "gcn")},
		{"their own order", saga.Config{Device: "cpu:4", Without: []string{"balance"}}, m},
	} {
		if _, err := saga.Compile(c.model, x, c.config); err == nil || !strings.Contains(err.Error(), c.what) {
			t.Errorf("the error is %v, want %s", err, c.what)
		}
	}
	if _, err := dataset.OpenShards(dir, 0, 3); err == nil || !strings.Contains(err.Error(), "4 devices cannot be dealt to 3 ranks") {
		t.Error(err)
	}
}

// TestRanksShardsSampled: batches over shards give the losses, scores and checkpoints of one process that has the whole graph, to the bit, on 1, 2
// and 4 ranks: with self loops, degrees of the whole graph, weights, types and data of edges, sums scaled to all edges, and draws with replacement.
func TestRanksShardsSampled(t *testing.T) {
	t.Parallel()
	plain, path := rankedData(t), filepath.Join(t.TempDir(), "checkpoint")
	rich := rankedData(t)
	e := rich.Edges
	e.Types, e.DataCols = 3, 2
	for k := range e.E() {
		e.Weight, e.Type, e.Data = append(e.Weight, float32(k%7)/7), append(e.Type, uint32(k%3)), append(e.Data, float32(k), float32(k%5))
	}
	for _, c := range []struct {
		name string
		d    *dataset.Data
		s    saga.Sampling
	}{
		{"sage", plain, saga.Sampling{Sampler: sample.Neighbours(5, 3)}},
		{"gcn", plain, saga.Sampling{Sampler: sample.Neighbours(5, 3)}},
		{"gcn", rich, saga.Sampling{Sampler: sample.Neighbours(4, 4), Norm: saga.NormFull}},
		{"ggcn", plain, saga.Sampling{Sampler: replaced(sample.Neighbours(5, 3))}},
		{"gat", rich, saga.Sampling{Sampler: sample.Neighbours(5, 3)}},
		{"edgemlp", rich, saga.Sampling{Sampler: sample.Neighbours(5, 3)}},
	} {
		m := rankedModel(t, c.name)
		c.s.Batch, c.s.Accumulate, c.s.Eval = 40, 4, []int{4, 4}
		dir := shardsOf(t, c.d, m.SelfLoops)
		config := saga.Config{Device: "cpu:4", Chunks: 8, Seed: 5, Epochs: 3, Without: []string{"invariant"}}
		want, err := trainSampledOn(1, m, func(int) (*dataset.Data, error) { return c.d, nil }, config, c.s, path)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		config.Chunks, config.Without = 0, nil
		for _, n := range []int{1, 2, 4} {
			got, err := trainSampledOn(n, m, func(rank int) (*dataset.Data, error) { return dataset.OpenShards(dir, rank, n) }, config, c.s, path)
			switch {
			case err != nil:
				t.Errorf("%s, %d ranks: %v", c.name, n, err)
			case !slices.Equal(got.losses, want.losses):
				t.Errorf("%s, %d ranks: losses and scores %v, of one process %v", c.name, n, got.losses, want.losses)
			case !bytes.Equal(got.file, want.file):
				t.Errorf("%s, %d ranks: another checkpoint than that of one process", c.name, n)
			}
		}
	}
}

// TestShardsSampledExact: without fan-outs for it, batches over shards are evaluated exactly: every number of ranks has the scores that
// one process has with the whole graph and the parameters that were trained. On four ranks features lie in files.
func TestShardsSampledExact(t *testing.T) {
	d, path := rankedData(t), filepath.Join(t.TempDir(), "checkpoint")
	for _, name := range []string{"sage", "gcn", "gat"} {
		m := rankedModel(t, name)
		dir := shardsOf(t, d, m.SelfLoops)
		var first *ranked
		for _, n := range []int{1, 2, 4} {
			got, err := trainSampledOn(n, m, func(rank int) (*dataset.Data, error) { return dataset.OpenShards(dir, rank, n) },
				saga.Config{Device: "cpu:4", Seed: 5, Epochs: 2, HostMem: int64(n&4) << 20}, saga.Sampling{Sampler: sample.Neighbours(5, 3), Batch: 40, Accumulate: 4}, path)
			if err != nil {
				t.Fatalf("%s, %d ranks: %v", name, n, err)
			}
			if first == nil {
				first = got
				want, err := saga.Evaluate(m, d, saga.Config{Device: "cpu:4", Chunks: 8, Without: []string{"invariant"}}, path)
				if err != nil {
					t.Fatal(err)
				}
				if got.result.Final != want || want.Test.Loss == 0 {
					t.Errorf("%s: scores %+v, those of the whole graph are %+v", name, got.result.Final, want)
				}
			}
			if !slices.Equal(got.losses, first.losses) || !bytes.Equal(got.file, first.file) {
				t.Errorf("%s, %d ranks: losses and scores %v, of one %v, or another checkpoint", name, n, got.losses, first.losses)
			}
		}
	}
}

func replaced(s sample.Sampler) sample.Sampler {
	s.Replace = true
	return s
}

// TestShardsSampledRefuse: what batches over shards cannot do is said.
func TestShardsSampledRefuse(t *testing.T) {
	d, m := rankedData(t), rankedModel(t, "sage")
	x, err := dataset.OpenShards(shardsOf(t, d, m.SelfLoops), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Shard.Close()
	for _, c := range []struct {
		what  string
		model saga.Model
		host  int64
		s     saga.Sampling
	}{
		{"equal probability", m, 0, saga.Sampling{Sampler: sample.LADIES(5, 3), Eval: []int{4, 4}}},
		{"of host memory", m, 1 << 10, saga.Sampling{Sampler: sample.Neighbours(5, 3), Eval: []int{4, 4}}},
		{"of host memory", m, 1 << 13, saga.Sampling{Sampler: sample.Neighbours(5, 3)}},
		{"numbers the edges", rankedModel(t, "mpgcn"), 0, saga.Sampling{Sampler: sample.Neighbours(5, 3), Eval: []int{4, 4}}},
	} {
		c.s.Batch = 40
		_, err := saga.CompileSampled(c.model, x, saga.Config{Device: "cpu:4", HostMem: c.host}, c.s)
		if err == nil || !strings.Contains(err.Error(), c.what) {
			t.Errorf("the error is %v, want %s", err, c.what)
		}
		var small *plan.HostError
		if !errors.As(err, &small) {
			continue
		}
		if p, err := saga.CompileSampled(c.model, x, saga.Config{Device: "cpu:4", HostMem: small.Smallest}, c.s); err != nil || p.Close() != nil {
			t.Errorf("the smallest budget that would do: %v", err)
		}
	}
}

// TestRanksShardsWeights: ranks that have shards normalise weights as one process does that has the whole graph, with loops
// that stand more than once, on whole graphs and in batches.
func TestRanksShardsWeights(t *testing.T) {
	d, path := rankedData(t), filepath.Join(t.TempDir(), "checkpoint")
	e := d.Edges
	for v := range uint32(40) {
		e.Src, e.Dst = append(e.Src, v/2), append(e.Dst, v/2)
	}
	for k := range e.E() {
		e.Weight = append(e.Weight, float32(k%7)/7)
	}
	m, err := layers.New("gcn", layers.Options{Features: 12, Hidden: 8, Classes: 4, Layers: 2, Normalize: layers.NormSymWeight})
	if err != nil {
		t.Fatal(err)
	}
	dir := shardsOf(t, d, true)
	s := saga.Sampling{Sampler: sample.Neighbours(5, 3), Batch: 40, Accumulate: 4, Eval: []int{4, 4}}
	for _, whole := range []bool{true, false} {
		c := saga.Config{Device: "cpu:4", Chunks: 8, Seed: 5, Epochs: 2, Without: []string{"invariant"}}
		train := func(n int, at func(int) (*dataset.Data, error)) *ranked {
			var got *ranked
			var err error
			if whole {
				got, err = trainRankedOn(n, m, at, c, path, "")
			} else {
				got, err = trainSampledOn(n, m, at, c, s, path)
			}
			if err != nil {
				t.Fatalf("%d ranks: %v", n, err)
			}
			return got
		}
		want := train(1, func(int) (*dataset.Data, error) { return d, nil })
		c.Chunks, c.Without = 0, nil
		for _, n := range []int{1, 2, 4} {
			got := train(n, func(rank int) (*dataset.Data, error) { return dataset.OpenShards(dir, rank, n) })
			if !slices.Equal(got.losses, want.losses) || !bytes.Equal(got.file, want.file) {
				t.Errorf("whole graph %v, %d ranks: losses %v and their checkpoint, of one process %v", whole, n, got.losses, want.losses)
			}
		}
	}
}
