package layers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/layers"
	"sagann/net"
	"sagann/net/local"
	"sagann/saga"
	"sagann/sample"
)

// ranked is what a run leaves behind.
type ranked struct {
	losses []float64
	result saga.Result
	file   []byte
}

// onRanks runs f on so many ranks of this process and returns their errors. A rank that fails ends the others.
func onRanks(n int, f func(g *net.Group) error) error {
	_, links := local.New(n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for r, l := range links {
		wg.Go(func() {
			if errs[r] = f(net.Over(l)); errs[r] != nil {
				l.Abort(errs[r])
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// trainRanked trains for two epochs on so many ranks. Every rank has the same losses and scores; the first has written
// the checkpoint, from which resume, unless it is "", begins.
func trainRanked(ranks int, m saga.Model, d *dataset.Data, c saga.Config, path, resume string) (*ranked, error) {
	return trainRankedOn(ranks, m, func(int) (*dataset.Data, error) { return d, nil }, c, path, resume)
}

// trainRankedOn is trainRanked with the data that a rank has.
func trainRankedOn(ranks int, m saga.Model, at func(rank int) (*dataset.Data, error), c saga.Config, path, resume string) (*ranked, error) {
	return trainCompiled(ranks, func(d *dataset.Data, c saga.Config) (*saga.Program, error) { return compileRanked(m, d, c) }, at, c, path, resume)
}

// trainSampledOn is trainRankedOn of batches.
func trainSampledOn(ranks int, m saga.Model, at func(rank int) (*dataset.Data, error), c saga.Config, s saga.Sampling, path string) (*ranked, error) {
	return trainCompiled(ranks, func(d *dataset.Data, c saga.Config) (*saga.Program, error) { return saga.CompileSampled(m, d, c, s) }, at, c, path, "")
}

// trainCompiled is trainRankedOn of programs that compile makes.
func trainCompiled(ranks int, compile func(d *dataset.Data, c saga.Config) (*saga.Program, error), at func(rank int) (*dataset.Data, error), c saga.Config, path, resume string) (*ranked, error) {
	all := make([]*ranked, ranks)
	err := onRanks(ranks, func(g *net.Group) (err error) {
		c := c
		if c.Net = g; ranks == 1 {
			c.Net = nil
		}
		d, err := at(g.Rank())
		if err != nil {
			return err
		}
		if d.Shard != nil {
			defer d.Shard.Close()
		}
		p, err := compile(d, c)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.Close()) }()
		mine := &ranked{}
		res, err := p.Train(context.Background(), saga.TrainOptions{Checkpoint: path, Resume: resume, OnEpoch: func(e saga.Epoch) error {
			mine.losses = append(mine.losses, e.Loss, e.Scores.Train.Loss, e.Scores.Val.Loss, e.Scores.Test.Loss, e.Scores.Test.Accuracy, e.Scores.Test.MicroF1)
			return nil
		}})
		if err != nil {
			return err
		}
		mine.result = *res
		all[g.Rank()] = mine
		if ranks == 1 || resume != "" || p.SampledPlan() != nil {
			return nil
		}
		return countedBytes(p, g)
	})
	if err != nil {
		return nil, err
	}
	for r, x := range all {
		if !slices.Equal(x.losses, all[0].losses) || x.result.Final != all[0].result.Final {
			return nil, fmt.Errorf("rank %d has other losses or scores than rank 0: %v and %v", r, x.losses, all[0].losses)
		}
	}
	all[0].file, err = os.ReadFile(path)
	return all[0], err
}

// compileRanked compiles m; a configuration without intervals and devices is of batches, four an update.
func compileRanked(m saga.Model, d *dataset.Data, c saga.Config) (*saga.Program, error) {
	if c.Chunks > 0 || d.Shard != nil {
		return saga.Compile(m, d, c)
	}
	return saga.CompileSampled(m, d, c, saga.Sampling{Sampler: sample.Neighbours(5, 3), Batch: 40, Accumulate: 4})
}

// TestRanksSampled: on 1, 2 and 4 ranks of two and four devices batches give the losses, scores and checkpoints of one process on
// one device, to the bit; a run goes on from a checkpoint of another number of ranks.
func TestRanksSampled(t *testing.T) {
	d := rankedData(t)
	path := filepath.Join(t.TempDir(), "checkpoint")
	for _, name := range []string{"sage", "gcn"} {
		m := rankedModel(t, name)
		c := saga.Config{Device: "cpu", Seed: 5, Epochs: 3}
		want, err := trainRanked(1, m, d, c, path, "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, n := range [][2]int{{1, 2}, {2, 2}, {2, 4}, {4, 4}} {
			c.Device = fmt.Sprintf("cpu:%d", n[1])
			sameRanked(t, fmt.Sprintf("%s, %d ranks, %d devices", name, n[0], n[1]), n[0], m, d, c, path, "", want)
		}
		half := filepath.Join(t.TempDir(), "half")
		c.Epochs = 1
		if _, err := trainRanked(2, m, d, c, half, ""); err != nil {
			t.Fatal(err)
		}
		c.Epochs = 3
		want.losses = want.losses[len(want.losses)/3:]
		sameRanked(t, name+", on 4 ranks after 2", 4, m, d, c, path, half, want)
	}
}

// countedBytes takes a step more: its transport counts what the plan says.
func countedBytes(p *saga.Program, g *net.Group) error {
	sent0, got0 := g.Moved()
	if _, err := p.Step(); err != nil {
		return err
	}
	sent, got := g.Moved()
	for r := range sent {
		if a, b := p.Traffic()[g.Rank()][r], sent[r]-sent0[r]; a != b {
			return fmt.Errorf("rank %d has sent %d bytes to rank %d, the plan says %d", g.Rank(), b, r, a)
		}
		if a, b := p.Traffic()[r][g.Rank()], got[r]-got0[r]; a != b {
			return fmt.Errorf("rank %d got %d bytes from rank %d, the plan says %d", g.Rank(), b, r, a)
		}
	}
	return nil
}

// TestRanks: on 1, 2 and 4 ranks four devices give the losses, scores and checkpoints of one process, to the bit,
// whatever the model, with chunks handed around the ring and without, resident, streamed, and with host memory in
// files; and every rank sends what the plan says.
func TestRanks(t *testing.T) {
	t.Parallel()
	d := rankedData(t)
	path := filepath.Join(t.TempDir(), "checkpoint")
	for _, name := range []string{"gcn", "ggcn", "gat", "sage", "edgemlp"} {
		m := rankedModel(t, name)
		for _, c := range []saga.Config{{}, {NoRing: true}, {Stream: true}, {Stream: true, NoRing: true}, {Stream: true, HostMem: 1}} {
			c.Device, c.Chunks, c.Seed, c.Epochs = "cpu:4", 8, 5, 2
			if c.HostMem > 0 {
				c.HostMem = leastHost(t, m, d, c)
			}
			what := fmt.Sprintf("%s, ring %v, streamed %v, host memory %d", name, !c.NoRing, c.Stream, c.HostMem)
			want, err := trainRanked(1, m, d, c, path, "")
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			for _, n := range []int{2, 4} {
				sameRanked(t, fmt.Sprintf("%s, %d ranks", what, n), n, m, d, c, path, "", want)
			}
		}
	}
}

// TestRanksGoOn: a run goes on from its checkpoint on another number of ranks, to the bit.
func TestRanksGoOn(t *testing.T) {
	d, dir := rankedData(t), t.TempDir()
	m := rankedModel(t, "ggcn")
	c := saga.Config{Device: "cpu:4", Chunks: 8, Seed: 5, Epochs: 2}
	half, whole := filepath.Join(dir, "half"), filepath.Join(dir, "whole")
	if _, err := trainRanked(2, m, d, c, half, ""); err != nil {
		t.Fatal(err)
	}
	c.Epochs = 4
	want, err := trainRanked(1, m, d, c, whole, "")
	if err != nil {
		t.Fatal(err)
	}
	want.losses = want.losses[len(want.losses)/2:]
	for _, n := range []int{1, 2, 4} {
		sameRanked(t, fmt.Sprintf("on %d ranks", n), n, m, d, c, whole, half, want)
	}
}

// TestRanksDiffer: ranks that were started with other settings are told so before they train.
func TestRanksDiffer(t *testing.T) {
	d, m := rankedData(t), rankedModel(t, "gcn")
	for what, change := range map[string]func(c *saga.Config){
		"plan (digest)": func(c *saga.Config) { c.Seed = 9 },
		"as many":       func(c *saga.Config) { c.Device = "cpu:3" },
	} {
		err := onRanks(2, func(g *net.Group) error {
			c := saga.Config{Device: "cpu:4", Chunks: 8, Seed: 5, Epochs: 1, Net: g}
			if g.Rank() == 1 {
				change(&c)
			}
			p, err := saga.Compile(m, d, c)
			if err != nil {
				return err
			}
			defer p.Close()
			_, err = p.Train(context.Background(), saga.TrainOptions{})
			return err
		})
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: the error is %v", what, err)
		}
	}
}

// sameRanked trains on n ranks as trainRanked and compares with want.
func sameRanked(t *testing.T, what string, n int, m saga.Model, d *dataset.Data, c saga.Config, path, resume string, want *ranked) {
	t.Helper()
	got, err := trainRanked(n, m, d, c, path, resume)
	switch {
	case err != nil:
		t.Errorf("%s: %v", what, err)
	case !slices.Equal(got.losses, want.losses):
		t.Errorf("%s: losses and scores %v, of one process %v", what, got.losses, want.losses)
	case !bytes.Equal(got.file, want.file):
		t.Errorf("%s: another checkpoint than that of one process", what)
	}
}

func rankedData(t *testing.T) *dataset.Data {
	t.Helper()
	spec, err := dataset.ParseSpec("vertices=420,edges=2500,features=12,classes=4,seed=3")
	if err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Synthetic(spec)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func rankedModel(t *testing.T, name string) saga.Model {
	t.Helper()
	m, err := layers.New(name, layers.Options{Features: 12, Hidden: 8, Classes: 4, Layers: 2, Heads: 2, Dropout: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// leastHost is the smallest bound of host memory, with which all that can lies in files.
func leastHost(t *testing.T, m saga.Model, d *dataset.Data, c saga.Config) int64 {
	t.Helper()
	_, err := saga.Compile(m, d, c)
	var small *plan.HostError
	if !errors.As(err, &small) {
		t.Fatalf("a byte of host memory gives %v", err)
	}
	return small.Smallest
}
