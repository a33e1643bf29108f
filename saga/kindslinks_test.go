package saga_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"sagann/dataset"
	"sagann/saga"
	"sagann/sample"
)

// typedLinks is the golden graph with the edges of a relation to predict.
func typedLinks(t *testing.T, relation string) *dataset.Data {
	t.Helper()
	_, d := typedData(t)
	h := d.Vertices.Kinds.Graph
	r, err := h.Relation(relation)
	if err != nil {
		t.Fatal(err)
	}
	d, err = dataset.SplitRelation(h.Along(r), dataset.LinkShares{Val: 0.1, Test: 0.2}, 3)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestTypedLinks: losses of links of a relation are the same in all plans, and their gradients are the slopes of the loss.
func TestTypedLinks(t *testing.T) {
	model := typedModels()[0]
	for _, relation := range []string{"author:writes:paper", "cites"} {
		d := typedLinks(t, relation)
		for _, head := range saga.LinkHeads() {
			if relation == "cites" && head != saga.LinkBilinear || testing.Short() && head != saga.LinkMLP {
				continue
			}
			m := model
			m.Task, m.LinkHead, m.Layers = saga.LinkTask, head, slices.Clone(model.Layers)
			at := relation + ", " + string(head)
			// losses of steps, of which the first has parameter name changed at number i by so much
			losses := func(c saga.Config, name string, i int, by float32) (list []float64, slope float64) {
				c.Seed, c.Optimizer.LR = 2, 0.05
				p, err := saga.Compile(m, d, c)
				if err != nil {
					t.Fatalf("%s, %+v: %v", at, c, err)
				}
				defer p.Close()
				if name != "" {
					x, err := p.Param(name)
					if err != nil {
						t.Fatal(err)
					}
					x[i] += by
					if err := p.SetParam(name, x); err != nil {
						t.Fatal(err)
					}
				}
				for range 3 {
					loss, err := p.Step()
					if err != nil {
						t.Fatal(err)
					}
					if list = append(list, loss); name != "" {
						g, err := p.Grad(name)
						if err != nil {
							t.Fatal(err)
						}
						return list, float64(g[i])
					}
				}
				s, err := p.Evaluate()
				if err != nil {
					t.Fatal(err)
				}
				return append(list, s.Val.Loss, s.Test.AUC), 0
			}
			want, _ := losses(saga.Config{}, "", 0, 0)
			small := smallestOf(t, m, d, saga.Config{})
			for _, c := range []saga.Config{{Chunks: 7, Stream: true}, {Chunks: 8, Device: "cpu:2"}, {Mem: small}} {
				got, _ := losses(c, "", 0, 0)
				for i := range want {
					if math.Abs(got[i]-want[i]) > 1e-4 {
						t.Errorf("%s, %+v: %v, want %v", at, c, got, want)
					}
				}
			}
			p, err := saga.Compile(m, d, saga.Config{})
			if err != nil {
				t.Fatal(err)
			}
			for i, q := range p.Params() {
				if i%5 != 0 && q.Name[:4] != "head" {
					continue
				}
				const step = 1e-2
				up, _ := losses(saga.Config{}, q.Name, 0, step)
				down, _ := losses(saga.Config{}, q.Name, 0, -step)
				_, slope := losses(saga.Config{}, q.Name, 0, 0)
				if is := (up[0] - down[0]) / (2 * step); math.Abs(is-slope) > 2e-3*(1+math.Abs(is)) {
					t.Errorf("%s: the gradient of %s is %v, the loss has the slope %v", at, q.Name, slope, is)
				}
			}
		}
	}
}

// TestTypedLinksSplit: what is held out passes no messages, in its relation and in the reverse one, and pairs without an edge have ends of
// the two types.
func TestTypedLinksSplit(t *testing.T) {
	_, d := typedData(t)
	h := *d.Vertices.Kinds.Graph
	r, err := h.Relation("writes")
	if err != nil {
		t.Fatal(err)
	}
	x := h.Relations[r]
	e := x.Links.Edges
	back := *x.Links
	edges := *e
	edges.Src, edges.Dst = e.Dst, e.Src
	back.Edges = &edges
	h.Relations = append(slices.Clone(h.Relations), dataset.Relation{Source: x.Target, Name: "rev_writes", Target: x.Source, Links: &back})
	out, err := dataset.SplitRelation(h.Along(r), dataset.LinkShares{Val: 0.2, Test: 0.3, Disjoint: 0.3}, 5)
	if err != nil {
		t.Fatal(err)
	}
	g, l := out.Vertices.Kinds.Graph, out.Targets.Links
	shift := uint32(h.Types[x.Source].Rows.Edges.V)
	has := map[string]bool{}
	for k := range e.Src {
		has[fmt.Sprint(e.Src[k], e.Dst[k])] = true
	}
	passes, reversed := map[string]bool{}, map[string]bool{}
	for k, u := range g.Relations[r].Links.Edges.Src {
		passes[fmt.Sprint(u, g.Relations[r].Links.Edges.Dst[k])] = true
	}
	last := g.Relations[len(g.Relations)-1].Links.Edges
	for k, v := range last.Src {
		reversed[fmt.Sprint(last.Dst[k], v)] = true
	}
	if len(passes) == 0 || len(passes) != len(reversed) {
		t.Fatalf("%d pairs pass messages, %d in the reverse relation", len(passes), len(reversed))
	}
	for i, p := range []dataset.Pairs{l.Val, l.Test, l.Train, l.NotVal, l.NotTest} {
		for k, u := range p.Src {
			if u >= shift || p.Dst[k] < shift || int(p.Dst[k]) >= dataset.PairV(out) {
				t.Fatalf("part %d: pair %d, %d of %d sources and %d vertices", i, u, p.Dst[k], shift, dataset.PairV(out))
			}
			name := fmt.Sprint(u, p.Dst[k]-shift)
			if has[name] != (i < 3) || passes[name] || reversed[name] {
				t.Errorf("part %d: pair %s is an edge: %v; it passes messages: %v, %v", i, name, has[name], passes[name], reversed[name])
			}
		}
	}
}

// TestTypedLinksSampled: a batch of all links of a relation, with all in-edges, has the losses and gradients of the full graph; smaller ones
// are resumed with the same bits.
func TestTypedLinksSampled(t *testing.T) {
	for relation, head := range map[string]saga.LinkHead{"author:writes:paper": saga.LinkMLP, "cites": saga.LinkDot} {
		d := typedLinks(t, relation)
		m := typedModels()[0]
		m.Task, m.LinkHead = saga.LinkTask, head
		run := func(s *saga.Sampling, steps int, from, to string) (list []float64, grads map[string][]float32) {
			c := saga.Config{Seed: 2, Optimizer: saga.Optimizer{Kind: "sgd", LR: 0.05}}
			var p *saga.Program
			var err error
			if s == nil {
				p, err = saga.Compile(m, d, c)
			} else {
				p, err = saga.CompileSampled(m, d, c, *s)
			}
			if err != nil {
				t.Fatalf("%s: %v", relation, err)
			}
			defer p.Close()
			if from != "" {
				if err := p.Restore(from); err != nil {
					t.Fatal(err)
				}
			}
			for range steps {
				loss, err := p.Step()
				if err != nil {
					t.Fatalf("%s: %v", relation, err)
				}
				list = append(list, loss)
			}
			grads = map[string][]float32{}
			for _, q := range p.Params() {
				if g, err := p.Grad(q.Name); err == nil {
					grads[q.Name] = g
				}
			}
			if to != "" {
				if err := p.Save(to, ""); err != nil {
					t.Fatal(err)
				}
			}
			s2, err := p.Evaluate()
			if err != nil {
				t.Fatal(err)
			}
			return append(list, s2.Val.Loss, s2.Test.AUC), grads
		}
		all := &saga.Sampling{Sampler: sample.Neighbours(50, 50), Batch: 10000}
		want, slopes := run(nil, 3, "", "")
		got, grads := run(all, 3, "", "")
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-5 {
				t.Errorf("%s: %v, over the full graph %v", relation, got, want)
			}
		}
		if len(grads) != len(slopes) {
			t.Errorf("%s: %d gradients, over the full graph %d", relation, len(grads), len(slopes))
		}
		for name, g := range grads {
			for i, x := range g {
				if math.Abs(float64(x-slopes[name][i])) > 1e-5 {
					t.Errorf("%s: the gradient of %s is %v, over the full graph %v", relation, name, g, slopes[name])
					break
				}
			}
		}
		few, path := &saga.Sampling{Sampler: sample.Neighbours(2, 2), Batch: 5}, filepath.Join(t.TempDir(), "x.safetensors")
		run(few, 2, "", path)
		want, _ = run(few, 4, "", "")
		if got, _ = run(few, 2, path, ""); !slices.Equal(got, want[2:]) {
			t.Errorf("%s: resumed %v, want %v", relation, got, want[2:])
		}
	}
}
