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

// linkKinds is the edges of a relation of timedKinds as links: those before 5 are for training, those of 5 and 6 for validation. Edges from
// time cut on are left out of all relations with times.
func linkKinds(t *testing.T, relation string, moved, cut float64) *dataset.Data {
	t.Helper()
	h := timedKinds(t, moved).Vertices.Kinds.Graph
	for _, r := range h.Relations {
		e := r.Links.Edges
		x := *e
		if x.Time == nil {
			continue
		}
		e.Src, e.Dst, e.Time = nil, nil, nil
		for k, at := range x.Time {
			if at < cut {
				e.Src, e.Dst, e.Time = append(e.Src, x.Src[k]), append(e.Dst, x.Dst[k]), append(e.Time, at)
			}
		}
	}
	r, err := h.Relation(relation)
	if err != nil {
		t.Fatal(err)
	}
	if cut < 10 {
		return h.Along(r)
	}
	d, err := dataset.LinksOfPast(h.Along(r), dataset.TimeCut{Val: 5, Test: 7}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestPastKindsLinks: links of a relation, within a type and between two: those from validation on change no loss and no training score, nor the
// bits of a resumed run; earlier ones do. Pairs at a time have the scores that the graph before that time gives.
func TestPastKindsLinks(t *testing.T) {
	for _, c := range []struct {
		relation, model, times string
		head                   saga.LinkHead
		eval                   []int
	}{{"buys", "sage", "uniform", saga.LinkDot, nil}, {"buys", "hgt", "latest", saga.LinkMLP, []int{2, 2}}, {"knows", "rgcn", "latest", saga.LinkBilinear, nil}} {
		what := fmt.Sprint(c.relation, " ", c.model)
		m, cfg := kindsModel(t, c.model), saga.Config{Seed: 3, Epochs: 2}
		m.Task, m.LinkHead = saga.LinkTask, c.head
		s := saga.Sampling{Sampler: sample.Neighbours(3, 2), Batch: 20, Times: c.times, Eval: c.eval}
		program := func(moved float64) *saga.Program {
			p, err := saga.CompileSampled(m, linkKinds(t, c.relation, moved, 10), cfg, s)
			if err != nil {
				t.Fatal(what, err)
			}
			t.Cleanup(func() { p.Close() })
			return p
		}
		p := program(9)
		losses, r := batchLosses(t, p, saga.TrainOptions{})
		path := filepath.Join(t.TempDir(), "c.safetensors")
		if err := p.Save(path, ""); err != nil {
			t.Fatal(err)
		}
		if a := r.Final.Test.AUC; !(a > 0 && a <= 1) {
			t.Errorf("%s: AUC %v", what, a)
		}
		for name, moved := range map[string]float64{"future": 4, "past": 2} {
			again, other := batchLosses(t, program(moved), saga.TrainOptions{})
			same := slices.Equal(losses, again)
			if c.eval == nil { // else what a relation without times draws depends on the batch, and so on how many pairs there are
				same = same && r.Final.Train == other.Final.Train
			}
			if same != (name == "future") {
				t.Errorf("%s: with other edges of the %s losses are %v, before %v; scores %v and %v", what, name, again, losses, other.Final.Train, r.Final.Train)
			}
		}
		half, part := program(9), filepath.Join(t.TempDir(), "part.safetensors")
		for range 3 {
			if _, err := half.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := half.Save(part, ""); err != nil {
			t.Fatal(err)
		}
		if rest, end := batchLosses(t, program(9), saga.TrainOptions{Resume: part}); !slices.Equal(rest, losses[3:]) || end.Final != r.Final {
			t.Errorf("%s: resumed: losses %v, want %v; scores %v, want %v", what, rest, losses[3:], end.Final, r.Final)
		}
		if again, err := saga.Evaluate(m, linkKinds(t, c.relation, 9, 10), cfg, path); c.eval == nil && (err != nil || math.Abs(again.Test.Loss-r.Final.Test.Loss) > 1e-6) {
			t.Errorf("%s: evaluated: %v, want %v, error %v", what, again, r.Final, err)
		}
		pairs := dataset.Pairs{Src: []uint32{1, 2, 30, 7}, Dst: []uint32{3, 4, 5, 6}}
		if c.relation == "buys" { // items are numbered behind users
			for i := range pairs.Dst {
				pairs.Dst[i] += 40
			}
		}
		score := func(d *dataset.Data, times []float64) []float64 {
			x := pairs
			x.Time = times
			scores, err := saga.ScoreLinks(m, d, saga.Config{}, path, &x)
			if err != nil {
				t.Fatal(what, err)
			}
			return scores
		}
		at4 := slices.Repeat([]float64{4}, 4)
		all, want := score(linkKinds(t, c.relation, 9, 10), at4), score(linkKinds(t, c.relation, 9, 4), nil)
		for i, x := range want {
			if math.Abs(x-all[i]) > 1e-5*max(1, math.Abs(x)) {
				t.Errorf("%s: pair %d has score %v at 4, and %v of the whole graph before 4", what, i, all[i], x)
			}
		}
		if x := score(linkKinds(t, c.relation, 3, 10), at4); !slices.Equal(x, all) {
			t.Errorf("%s: with other edges from 4 on scores at 4 are %v, want %v", what, x, all)
		}
	}
}

// TestPastKindsLinksRefused: a relation that turns the links round without times would show them.
func TestPastKindsLinksRefused(t *testing.T) {
	h := timedKinds(t, 9).Vertices.Kinds.Graph
	e := *h.Relations[2].Links.Edges // buys; after it stands rev_buys
	back := e.Reverse()
	back.Time = nil
	h.Relations[0].Name, h.Relations[0].Links = "rev_buys", &dataset.Data{Name: "rev_buys", Edges: back}
	r, err := h.Relation("buys")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = dataset.LinksOfPast(h.Along(r), dataset.TimeCut{Val: 5, Test: 7}, 1); err == nil || !strings.Contains(err.Error(), "turned round and without times") {
		t.Errorf("error %v", err)
	}
}
