package saga_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/saga"
	"sagann/sample"
)

// fewTimes is timedGraph with the first 2500 of its edges.
func fewTimes(t *testing.T, moved float64) *dataset.Data {
	d := timedGraph(t, moved)
	e := d.Edges
	e.Src, e.Dst, e.Time = e.Src[:2500], e.Dst[:2500], e.Time[:2500]
	return d
}

// linkTimes is the edges of fewTimes as links: those before 5 are for training, those of 5 and 6 for validation.
func linkTimes(t *testing.T, moved float64) *dataset.Data {
	d, err := dataset.LinksOfPast(fewTimes(t, moved), dataset.TimeCut{Val: 5, Test: 7}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestPastLinks: links from validation on change no loss and no training score of training, with one layer or three, drawn uniformly or as the
// latest, with each head, nor the bits of a resumed run; earlier ones do. Scores of pairs do not change with edges at their times or after.
func TestPastLinks(t *testing.T) {
	for _, c := range []struct {
		model, times string
		head         saga.LinkHead
		eval         []int
	}{{"sage", "uniform", saga.LinkDot, nil}, {"sage", "latest", saga.LinkBilinear, []int{2, 2}}, {"gat", "uniform", saga.LinkMLP, nil}, {"gin", "latest", saga.LinkDistMult, nil}} {
		what := fmt.Sprint(c.model, " ", c.times)
		s, cfg := sampling(), sampledConfig()
		s.Times, s.Eval, s.Batch, cfg.Epochs = c.times, c.eval, 300, 2
		program := func(moved float64) *saga.Program {
			d := linkTimes(t, moved)
			m := sampledModel(t, c.model, d)
			m.Task, m.LinkHead = saga.LinkTask, c.head
			p, err := saga.CompileSampled(m, d, cfg, s)
			if err != nil {
				t.Fatal(what, err)
			}
			t.Cleanup(func() { p.Close() })
			return p
		}
		path := filepath.Join(t.TempDir(), "c.safetensors")
		p := program(9)
		losses, r := batchLosses(t, p, saga.TrainOptions{})
		if err := p.Save(path, ""); err != nil {
			t.Fatal(err)
		}
		for name, moved := range map[string]float64{"future": 4, "past": 2} {
			again, other := batchLosses(t, program(moved), saga.TrainOptions{})
			if same := slices.Equal(losses, again) && r.Final.Train == other.Final.Train; same != (name == "future") {
				t.Errorf("%s: with other edges of the %s losses are %v, before %v; scores %v and %v", what, name, again, losses, other.Final.Train, r.Final.Train)
			}
		}
		half := program(9)
		for range len(losses) / 3 {
			if _, err := half.Step(); err != nil {
				t.Fatal(err)
			}
		}
		part := filepath.Join(t.TempDir(), "part.safetensors")
		if err := half.Save(part, ""); err != nil {
			t.Fatal(err)
		}
		rest, end := batchLosses(t, program(9), saga.TrainOptions{Resume: part})
		if !slices.Equal(rest, losses[len(losses)/3:]) || end.Final != r.Final {
			t.Errorf("%s: resumed: losses %v, want %v; scores %v, want %v", what, rest, losses[len(losses)/3:], end.Final, r.Final)
		}
		checkPairsAtTimes(t, what, c.model, c.head, path)
		if c.eval != nil {
			continue
		}
		d := linkTimes(t, 9)
		m := sampledModel(t, c.model, d)
		m.Task, m.LinkHead = saga.LinkTask, c.head
		again, err := saga.Evaluate(m, d, sampledConfig(), path)
		if near := math.Abs(again.Test.Loss-r.Final.Test.Loss)+math.Abs(again.Val.AUC-r.Final.Val.AUC) < 1e-6; err != nil || !near {
			t.Errorf("%s: evaluated: scores %v, want %v, error %v", what, again, r.Final, err)
		}
	}
}

// checkPairsAtTimes scores pairs at time 4 on graphs that differ from 4 on, and from 3 on, and holds them against the whole pass over the
// edges before 4.
func checkPairsAtTimes(t *testing.T, what, model string, head saga.LinkHead, path string) {
	t.Helper()
	scores := func(change func(d *dataset.Data), at float64) []float64 {
		d := fewTimes(t, 9)
		change(d)
		m := sampledModel(t, model, d)
		m.Task, m.LinkHead = saga.LinkTask, head
		pairs := &dataset.Pairs{Src: []uint32{1, 2, 3, 300}, Dst: []uint32{9, 1, 7, 5}}
		if !math.IsNaN(at) {
			pairs.Time = slices.Repeat([]float64{at}, 4)
		}
		x, err := saga.ScoreLinks(m, d, sampledConfig(), path, pairs)
		if err != nil {
			t.Fatal(what, err)
		}
		return x
	}
	cut := func(from float64) func(d *dataset.Data) {
		return func(d *dataset.Data) {
			x := *d.Edges
			x.Src, x.Dst, x.Time = nil, nil, nil
			for k, at := range d.Edges.Time {
				if at < from {
					x.Src, x.Dst, x.Time = append(x.Src, d.Edges.Src[k]), append(x.Dst, d.Edges.Dst[k]), append(x.Time, at)
				}
			}
			d.Edges = &x
		}
	}
	all := scores(func(*dataset.Data) {}, 4)
	for name, change := range map[string]func(d *dataset.Data){
		"moved":   func(d *dataset.Data) { d.Edges = fewTimes(t, 3).Edges },
		"without": cut(4),
		"with more": func(d *dataset.Data) {
			for v := range 8 {
				d.Edges.Src, d.Edges.Dst, d.Edges.Time = append(d.Edges.Src, 5), append(d.Edges.Dst, uint32(v)), append(d.Edges.Time, 4)
			}
		},
	} {
		if x := scores(change, 4); !slices.Equal(x, all) {
			t.Errorf("%s: %s edges from time 4 on: scores at 4 %v, want %v", what, name, x, all)
		}
	}
	if x := scores(cut(3), 4); slices.Equal(x, all) {
		t.Errorf("%s: without the edges of time 3 scores at 4 are the same, %v", what, x)
	}
	for k, x := range scores(cut(4), math.NaN()) { // all that is left
		if math.Abs(x-all[k]) > 1e-5*max(1, math.Abs(x)) {
			t.Errorf("%s: pair %d has score %v at 4, and %v of the whole graph before 4", what, k, all[k], x)
		}
	}
}

// TestPastLinksRefused has what links by time do not go with.
func TestPastLinksRefused(t *testing.T) {
	d := linkTimes(t, 9)
	m := sampledModel(t, "sage", d)
	m.Task = saga.LinkTask
	s := saga.Sampling{Sampler: sample.Neighbours(3, 3), Batch: 100}
	refused := func(err error, want string) {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	_, err := saga.CompileSampled(m, d, sampledConfig(), s)
	refused(err, "edges are drawn by time")
	_, err = saga.Compile(m, d, sampledConfig())
	refused(err, "they are trained in batches")
	d, err = dataset.SplitLinks(fewTimes(t, 9), dataset.LinkShares{Val: 0.1, Test: 0.1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Times = "uniform"
	_, err = saga.CompileSampled(m, d, sampledConfig(), s)
	refused(err, "have none (dataset.LinksOfPast)")
}
