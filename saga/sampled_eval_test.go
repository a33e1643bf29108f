package saga_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"sagann/dataflow/plan"
	"sagann/saga"
	"sagann/sample"
)

// Fan-outs above every degree give what the exact evaluation gives, whatever the batches; smaller ones give
// something else, the same every time, and change nothing of training.
func TestSampledEvaluation(t *testing.T) {
	d := sampledGraph(t)
	for _, c := range []struct {
		model string
		adapt func(m *saga.Model, s *saga.Sampling)
	}{{"sage", nil}, {"gcn", nil}, {"gat", nil},
		{"gin", func(_ *saga.Model, s *saga.Sampling) { s.Norm = saga.NormFull }},
		{"gcn", func(_ *saga.Model, s *saga.Sampling) { s.Batch, s.Accumulate = 40, 3 }},
		{"sage", func(m *saga.Model, _ *saga.Sampling) { m.Embedding = 12 }},
	} {
		scores := map[string]saga.Scores{}
		losses := map[string]float64{}
		for name, fanouts := range map[string][]int{"exact": nil, "all": {600, 600}, "some": {3, 2}, "ahead": {3, 2}, "ahead, three intervals": nil} {
			m := sampledModel(t, c.model, d)
			s, cfg := sampling(), sampledConfig()
			s.Eval = fanouts
			if c.adapt != nil {
				c.adapt(&m, &s)
			}
			cfg.Optimizer.ClipNorm = 0
			if name == "ahead, three intervals" {
				cfg.Chunks = 3
			}
			p, err := saga.CompileSampled(m, d, cfg, s)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(name, "ahead") {
				if err := p.ComeAhead(); err != nil {
					t.Fatal(err)
				}
			}
			for range 4 {
				if losses[name], err = p.Step(); err != nil {
					t.Fatal(err)
				}
				if scores[name], err = p.Evaluate(); err != nil {
					t.Fatal(err)
				}
			}
			if again, err := p.Evaluate(); err != nil || again != scores[name] {
				t.Errorf("%s %s: evaluated again: %v, before %v (%v)", c.model, name, again, scores[name], err)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		a, b, x := scores["exact"], scores["all"], scores["some"]
		for k, m := range [][3]saga.Metrics{{a.Train, b.Train, x.Train}, {a.Val, b.Val, x.Val}, {a.Test, b.Test, x.Test}} {
			if math.Abs(m[0].Loss-m[1].Loss) > 1e-5*m[0].Loss || math.Abs(m[0].Accuracy-m[1].Accuracy) > 1e-9 {
				t.Errorf("%s, split %d: %v from all edges, exact %v", c.model, k, m[1], m[0])
			}
			if math.Abs(m[0].Loss-m[2].Loss) < 1e-5*m[0].Loss {
				t.Errorf("%s, split %d: fan-outs 3,2 give the exact loss %v", c.model, k, m[0].Loss)
			}
		}
		if scores["ahead"] != x {
			t.Errorf("%s: where batches come ahead the scores are %v, not %v", c.model, scores["ahead"], x)
		}
		if losses["exact"] != losses["some"] || losses["exact"] != losses["all"] || losses["exact"] != losses["ahead"] || losses["exact"] != losses["ahead, three intervals"] {
			t.Errorf("%s: evaluation changes training: %v", c.model, losses)
		}
	}
}

// A digest is of what the sampler does, not of its name.
func TestSampledDigest(t *testing.T) {
	d := sampledGraph(t)
	digests := map[string]bool{}
	for _, adapt := range []func(s *sample.Sampler){
		func(*sample.Sampler) {},
		func(s *sample.Sampler) { s.Method = sample.Inverse },
		func(s *sample.Sampler) { s.Score = func(e sample.Edge) sample.Real { return sample.Const(2) } },
		func(s *sample.Sampler) { s.Name = "weighted"; s.Replace = true },
	} {
		s := saga.Sampling{Sampler: sample.WeightedNeighbours(5, 3), Batch: 100}
		adapt(&s.Sampler)
		digests[sampledProgram(t, "sage", d, sampledConfig(), s).Digest()] = true
	}
	if len(digests) != 4 {
		t.Errorf("%d digests of four samplers", len(digests))
	}
}

// Device memory holds for evaluation too, and its sampling is part of what a run is.
func TestSampledEvaluationBudget(t *testing.T) {
	d := sampledGraph(t)
	c := sampledConfig()
	p := sampledProgram(t, "sage", d, c, sampling())
	c.Mem = 1
	var small *plan.BudgetError
	if _, err := saga.CompileSampled(sampledModel(t, "sage", d), d, c, sampling()); !errors.As(err, &small) {
		t.Fatalf("a budget of one byte gives %v", err)
	}
	c.Mem = small.Smallest // with exact evaluation
	s := sampling()
	s.Eval = []int{3, 2}
	q := sampledProgram(t, "sage", d, c, s)
	if _, err := q.Evaluate(); err != nil {
		t.Fatal(err)
	}
	if p.Digest() == q.Digest() {
		t.Error("sampled and exact evaluation have one digest")
	}
	for _, x := range []struct {
		adapt func(c *saga.Config, s *saga.Sampling)
		want  string
	}{
		{func(_ *saga.Config, s *saga.Sampling) { s.Eval = []int{3} }, "it takes 2 (--eval-sample)"},
		{func(_ *saga.Config, s *saga.Sampling) { s.Eval = []int{3, 0} }, "0 draws at step 2"},
		{func(c *saga.Config, _ *saga.Sampling) { c.HostMem = 1 << 30 }, "leave out --eval-sample or --host-mem"},
	} {
		c, s := sampledConfig(), s
		x.adapt(&c, &s)
		if _, err := saga.CompileSampled(sampledModel(t, "sage", d), d, c, s); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("got %v, want an error with %q", err, x.want)
		}
	}
}
