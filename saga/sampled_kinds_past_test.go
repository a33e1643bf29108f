package saga_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
	"sagann/sample"
)

// timedKinds is users, items and shops. Users, who have labels and times from 0 to 5, buy items and know each other at times from 0 to 9, and
// sells has no times. Edges later than moved begin elsewhere. Users have a feature, others are learned.
func timedKinds(t *testing.T, moved float64) *dataset.Data {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 5))
	h := &dataset.Hetero{Name: "shops"}
	sizes := map[string]int{"item": 30, "shop": 4, "user": 40}
	for _, name := range []string{"item", "shop", "user"} {
		d := &dataset.Data{Name: name, Edges: &chunk.Edges{V: sizes[name]}}
		if name == "user" {
			d.Classes, d.FeatureCols = 3, 2
			for v := range d.Edges.V {
				d.Labels, d.Features = append(d.Labels, int32(r.IntN(3))), append(d.Features, r.Float32(), r.Float32())
				d.Vertices.Time = append(d.Vertices.Time, float64(r.IntN(6)))
				split := []*[]uint32{&d.Train, &d.Train, &d.Val, &d.Test}[v%4]
				*split = append(*split, uint32(v))
			}
		}
		h.Types = append(h.Types, dataset.VertexType{Name: name, Rows: d})
	}
	for _, x := range []struct {
		src, dst int
		name     string
		edges    int
		timed    bool
	}{{0, 2, "bought_by", 160, true}, {1, 0, "sells", 40, false}, {2, 0, "buys", 160, true}, {2, 2, "knows", 120, true}} {
		from, to := h.Types[x.src].Rows.Edges.V, h.Types[x.dst].Rows.Edges.V
		e := &chunk.Edges{V: max(from, to)}
		for range x.edges {
			u, v, at := r.IntN(from), r.IntN(to), float64(r.IntN(10))
			if x.timed {
				e.Time = append(e.Time, at)
				if at > moved {
					u = (u + 7) % from
				}
			}
			if x.src == x.dst && u == v { // a loop of the data would be one of the model's, too
				v = (v + 1) % to
			}
			e.Src, e.Dst = append(e.Src, uint32(u)), append(e.Dst, uint32(v))
		}
		h.Relations = append(h.Relations, dataset.Relation{Source: x.src, Name: x.name, Target: x.dst, Links: &dataset.Data{Name: x.name, Edges: e}})
	}
	return h.At(2)
}

func kindsModel(t *testing.T, name string) saga.Model {
	t.Helper()
	m, err := layers.New(name, layers.Options{Features: 2, Hidden: 4, Classes: 3, Layers: 2, Heads: 2})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPastKinds: over several types, edges after the times of all vertices change no loss, no score and no bit of a resumed run; edges before
// do. What is predicted for a vertex is what a pass over the edges up to its time gives, those of relations without times among them.
func TestPastKinds(t *testing.T) {
	for _, c := range []struct {
		model, times string
		eval         []int
	}{{"sage", "uniform", nil}, {"rgcn", "latest", []int{2, 2}}, {"gat", "latest", nil}, {"hgt", "uniform", nil}} {
		m, cfg := kindsModel(t, c.model), saga.Config{Seed: 3, Epochs: 3}
		s := saga.Sampling{Sampler: sample.Neighbours(3, 2), Batch: 6, Times: c.times, Eval: c.eval}
		program := func(moved float64) *saga.Program {
			p, err := saga.CompileSampled(m, timedKinds(t, moved), cfg, s)
			if err != nil {
				t.Fatal(c.model, err)
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
		for what, moved := range map[string]float64{"future": 5, "past": 3} {
			again, other := batchLosses(t, program(moved), saga.TrainOptions{})
			if same := slices.Equal(losses, again) && r.Final == other.Final; same != (what == "future") {
				t.Errorf("%s %s: with other edges of the %s losses are %v, before %v; scores %v and %v", c.model, c.times, what, again, losses, other.Final, r.Final)
			}
		}
		part, half := program(9), filepath.Join(t.TempDir(), "half.safetensors")
		for range 4 {
			if _, err := part.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := part.Save(half, ""); err != nil {
			t.Fatal(err)
		}
		if rest, end := batchLosses(t, program(9), saga.TrainOptions{Resume: half}); !slices.Equal(rest, losses[4:]) || end.Final != r.Final {
			t.Errorf("%s %s: resumed: losses %v, want %v; scores %v, want %v", c.model, c.times, rest, losses[4:], end.Final, r.Final)
		}
		other := timedKinds(t, 9)
		slices.Reverse(other.Vertices.Kinds.Graph.Relations[0].Links.Edges.Time)
		q, err := saga.CompileSampled(m, other, cfg, s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Train(t.Context(), saga.TrainOptions{Resume: half}); err == nil || !strings.Contains(err.Error(), "on other data") {
			t.Errorf("%s %s: resumed with other times: error %v", c.model, c.times, err)
		}
		q.Close()
		if scores, err := saga.Evaluate(m, timedKinds(t, 9), cfg, path); c.eval == nil && (err != nil || math.Abs(scores.Test.Loss-r.Final.Test.Loss) > 1e-6) {
			t.Errorf("%s %s: evaluated: %v, error %v, want %v", c.model, c.times, scores, err, r.Final)
		}
		checkPastKinds(t, m, path, p)
	}
}

// checkPastKinds holds what the checkpoint of a run predicts against passes over the edges up to each time.
func checkPastKinds(t *testing.T, m saga.Model, path string, p *saga.Program) {
	t.Helper()
	own, _, err := p.Predict()
	if err != nil {
		t.Fatal(err)
	}
	for what, read := range map[string]func(of func(saga.Model, *dataset.Data, saga.Config, string) ([]float32, int, error)) ([]float32, int, error){
		"its graph": func(of func(saga.Model, *dataset.Data, saga.Config, string) ([]float32, int, error)) ([]float32, int, error) {
			return of(m, timedKinds(t, 9), saga.Config{}, path)
		},
		"other futures": func(of func(saga.Model, *dataset.Data, saga.Config, string) ([]float32, int, error)) ([]float32, int, error) {
			return of(m, timedKinds(t, 5), saga.Config{}, path)
		},
	} {
		logits, cols, err := read(saga.Predict)
		if err != nil {
			t.Fatal(m.Name, what, err)
		}
		if !slices.Equal(logits, own) {
			t.Errorf("%s: predictions over %s are not those of the program", m.Name, what)
		}
		hidden, wide, err := read(saga.Embed)
		if err != nil {
			t.Fatal(m.Name, what, err)
		}
		values := pastPasses(t, m, p)
		for v, at := range timedKinds(t, 9).Vertices.Time {
			for k, x := range values[int(at)][0][v*cols : (v+1)*cols] {
				if math.Abs(float64(x-logits[v*cols+k])) > 1e-5*max(1, math.Abs(float64(x))) {
					t.Fatalf("%s, %s: vertex %d at %v has logits %v, want %v of a pass over the edges up to then", m.Name, what, v, at, logits[v*cols+k], x)
				}
			}
			for k, x := range values[int(at)][1][v*wide : (v+1)*wide] {
				if math.Abs(float64(x-hidden[v*wide+k])) > 1e-5*max(1, math.Abs(float64(x))) {
					t.Fatalf("%s, %s: vertex %d at %v has hidden rows %v, want %v of a pass over the edges up to then", m.Name, what, v, at, hidden[v*wide+k], x)
				}
			}
		}
	}
}

// pastPasses are, for each time from 0 to 5, the logits and hidden rows of p's parameters over the edges up to then, without times.
func pastPasses(t *testing.T, m saga.Model, p *saga.Program) (list [6][2][]float32) {
	t.Helper()
	for at := range list {
		d := timedKinds(t, 9)
		for _, r := range d.Vertices.Kinds.Graph.Relations {
			x := *r.Links.Edges
			if x.Time == nil {
				continue
			}
			e := r.Links.Edges
			e.Src, e.Dst, e.Time = nil, nil, nil
			for k, time := range x.Time {
				if time <= float64(at) {
					e.Src, e.Dst = append(e.Src, x.Src[k]), append(e.Dst, x.Dst[k])
				}
			}
		}
		q, err := saga.Compile(m, d, saga.Config{Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, param := range q.Params() {
			x, err := p.Param(param.Name)
			if err == nil {
				err = q.SetParam(param.Name, x)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for i, f := range []func() ([]float32, int, error){q.Predict, q.Embed} {
			if list[at][i], _, err = f(); err != nil {
				t.Fatal(err)
			}
		}
		q.Close()
	}
	return list
}

// TestPastKindsRefused has what does not go with times over several types.
func TestPastKindsRefused(t *testing.T) {
	compile := func(model string, change func(d *dataset.Data, s *saga.Sampling)) error {
		d, s := timedKinds(t, 9), saga.Sampling{Sampler: sample.Neighbours(2, 2), Batch: 4, Times: "uniform"}
		change(d, &s)
		_, err := saga.CompileSampled(kindsModel(t, model), d, saga.Config{}, s)
		return err
	}
	none := func(*dataset.Data, *saga.Sampling) {}
	for want, err := range map[string]error{
		"have no times (edge_time)": compile("sage", func(d *dataset.Data, _ *saga.Sampling) {
			for _, r := range d.Vertices.Kinds.Graph.Relations {
				r.Links.Edges.Time = nil
			}
		}),
		"have none (vertex_time)": compile("sage", func(d *dataset.Data, _ *saga.Sampling) { d.Vertices.Time = nil }),
		"not by the sampler weighted": compile("sage", func(_ *dataset.Data, s *saga.Sampling) {
			s.Relations = map[string]sample.Sampler{"knows": sample.WeightedNeighbours(2, 2)}
		}),
		"sums over all vertices of a batch": compile("han", none),
		"degrees of the whole graph":        compile("gcn", none),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
