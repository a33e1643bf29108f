package saga_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/saga"
	"sagann/sample"
)

// timedGraph is sampledGraph with times from 0 to 9 of edges and vertices. Ends of edges later than moved's time are drawn anew by it.
func timedGraph(t *testing.T, moved float64) *dataset.Data {
	d, r := sampledGraph(t), rand.New(rand.NewPCG(7, 7))
	for k := range d.Edges.Src {
		at := float64(r.IntN(10))
		d.Edges.Time = append(d.Edges.Time, at)
		if at > moved {
			d.Edges.Src[k] = (d.Edges.Src[k] + 77) % uint32(d.Edges.V)
		}
	}
	for range d.Edges.V {
		d.Vertices.Time = append(d.Vertices.Time, float64(r.IntN(6)))
	}
	return d
}

// TestPastAlone: edges after the times of all vertices change no loss, no score and no bit of a resumed run, with one layer or three, drawn
// uniformly, as the latest or all; edges before do.
func TestPastAlone(t *testing.T) {
	for _, c := range []struct {
		model, times string
		eval         []int
	}{{"sage", "uniform", nil}, {"sage", "latest", []int{2, 2}}, {"gat", "uniform", nil}, {"gin", "latest", nil}} {
		run := func(moved float64, o saga.TrainOptions) ([]float64, saga.Scores) {
			d, s, cfg := timedGraph(t, moved), sampling(), sampledConfig()
			s.Times, s.Eval = c.times, c.eval
			cfg.Epochs = 3
			p := sampledProgram(t, c.model, d, cfg, s)
			losses, r := batchLosses(t, p, o)
			return losses, r.Final
		}
		path := filepath.Join(t.TempDir(), "c.safetensors")
		losses, scores := run(9, saga.TrainOptions{})
		for what, moved := range map[string]float64{"future": 5, "past": 3} {
			again, other := run(moved, saga.TrainOptions{})
			if same := slices.Equal(losses, again) && scores == other; same != (what == "future") {
				t.Errorf("%s %s: with other edges of the %s losses are %v, before %v; scores %v and %v", c.model, c.times, what, again, losses, other, scores)
			}
		}
		part, cfg := sampling(), sampledConfig()
		part.Times, part.Eval = c.times, c.eval
		cfg.Epochs = 3
		p := sampledProgram(t, c.model, timedGraph(t, 9), cfg, part)
		for range 2 {
			if _, err := p.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Save(path, ""); err != nil {
			t.Fatal(err)
		}
		rest, end := run(9, saga.TrainOptions{Resume: path})
		if !slices.Equal(rest, losses[2:]) || end != scores {
			t.Errorf("%s %s: resumed: losses %v, want %v; scores %v, want %v", c.model, c.times, rest, losses[2:], end, scores)
		}
		for what, change := range map[string]func(d *dataset.Data){
			"edges":    func(d *dataset.Data) { slices.Reverse(d.Edges.Time) },
			"vertices": func(d *dataset.Data) { slices.Reverse(d.Vertices.Time) },
		} {
			d := timedGraph(t, 9)
			change(d)
			if _, err := sampledProgram(t, c.model, d, cfg, part).Train(t.Context(), saga.TrainOptions{Resume: path}); err == nil || !strings.Contains(err.Error(), "on other data") {
				t.Errorf("%s %s: resumed with other times of %s: error %v", c.model, c.times, what, err)
			}
		}
		checkPastRows(t, c.model, p, path)
	}
}

// checkPastRows holds the rows that p, a program by time, and its checkpoint predict against passes over the edges up to each time.
func checkPastRows(t *testing.T, model string, p *saga.Program, path string) {
	t.Helper()
	d, cfg := timedGraph(t, 9), sampledConfig()
	m := sampledModel(t, model, d)
	values := func(params []saga.Param) (map[string][]float32, error) {
		out := map[string][]float32{}
		for _, q := range params {
			x, err := p.Param(q.Name)
			if err != nil {
				return nil, err
			}
			out[q.Name] = x
		}
		return out, nil
	}
	for what, f := range map[string]func() ([]float32, int, error){
		"program":    p.Predict,
		"checkpoint": func() ([]float32, int, error) { return saga.Predict(m, d, cfg, path) },
		"future":     func() ([]float32, int, error) { return saga.Predict(m, timedGraph(t, 5), cfg, path) },
	} {
		rows, cols, err := f()
		if err != nil {
			t.Fatal(model, what, err)
		}
		for at := range 6 {
			before := timedGraph(t, 9)
			e := *before.Edges
			e.Src, e.Dst, e.Time = nil, nil, nil
			for k, x := range before.Edges.Time {
				if x <= float64(at) {
					e.Src, e.Dst = append(e.Src, before.Edges.Src[k]), append(e.Dst, before.Edges.Dst[k])
				}
			}
			before.Edges = &e
			want, _, err := saga.PredictWith(m, before, cfg, values)
			if err != nil {
				t.Fatal(model, what, err)
			}
			for v, x := range d.Vertices.Time {
				for k := v * cols; x == float64(at) && k < (v+1)*cols; k++ {
					if d := math.Abs(float64(rows[k] - want[k])); d > 1e-5*max(1, math.Abs(float64(want[k]))) {
						t.Fatalf("%s %s: vertex %d at %d: %v, want %v of a pass over the edges up to then", model, what, v, at, rows[k], want[k])
					}
				}
			}
		}
	}
}

// TestPastRefused has what does not go with times yet.
func TestPastRefused(t *testing.T) {
	for want, change := range map[string]func(d *dataset.Data, s *saga.Sampling, c *saga.Config){
		"there are uniform and latest":       func(_ *dataset.Data, s *saga.Sampling, _ *saga.Config) { s.Times = "newest" },
		"have no times (edge_time)":          func(d *dataset.Data, _ *saga.Sampling, _ *saga.Config) { d.Edges.Time = nil },
		"have none (vertex_time)":            func(d *dataset.Data, _ *saga.Sampling, _ *saga.Config) { d.Vertices.Time = nil },
		"are not scaled":                     func(_ *dataset.Data, s *saga.Sampling, _ *saga.Config) { s.Norm = saga.NormFull },
		"bound of host memory":               func(_ *dataset.Data, _ *saga.Sampling, c *saga.Config) { c.HostMem = 1 << 30 },
		"with equal probability and without": func(_ *dataset.Data, s *saga.Sampling, _ *saga.Config) { s.Sampler = sample.WeightedNeighbours(3, 3) },
	} {
		d, s, cfg := timedGraph(t, 9), sampling(), sampledConfig()
		s.Times = "uniform"
		change(d, &s, &cfg)
		if _, err := saga.CompileSampled(sampledModel(t, "sage", d), d, cfg, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	d, s := timedGraph(t, 9), sampling()
	s.Times = "uniform"
	for model, want := range map[string]string{"gcn": "reads degrees of the whole graph", "pna": "scaled by the mean degree of the whole graph"} {
		if _, err := saga.CompileSampled(sampledModel(t, model, d), d, sampledConfig(), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", model, err)
		}
	}
}
