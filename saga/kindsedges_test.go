package saga_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
	"sagann/sample"
)

// typedEdges is the golden graph with classes, or two numbers, of the edges of a relation. Each edge has a number of its own besides.
func typedEdges(t *testing.T, relation string, numbers bool) *dataset.Data {
	t.Helper()
	_, d := typedData(t)
	h := *d.Vertices.Kinds.Graph
	h.Relations = slices.Clone(h.Relations)
	r, err := h.Relation(relation)
	if err != nil {
		t.Fatal(err)
	}
	links := *h.Relations[r].Links
	e := *links.Edges
	e.DataCols = 1
	for k := range e.Src {
		e.Data = append(e.Data, float32(k%3))
		links.EdgeLabels = append(links.EdgeLabels, int32(e.Src[k]+2*e.Dst[k])%3)
		links.Targets.Edge.Rows = append(links.Targets.Edge.Rows, float32(e.Src[k])/3, -float32(e.Dst[k])/2)
		part := []*[]uint32{&links.EdgeSplit.Train, &links.EdgeSplit.Val, &links.EdgeSplit.Test}[min(2, k%5/2)]
		*part = append(*part, uint32(k))
	}
	links.Edges, links.Targets.Edge.Cols = &e, 2
	if numbers {
		links.EdgeLabels = nil
	} else {
		links.Targets.Edge = dataset.Numbers{}
	}
	h.Relations[r].Links = &links
	return h.Edges(r)
}

// ofEdges is m for labels of edges, or two numbers, of d.
func ofEdges(m saga.Model, numbers bool) saga.Model {
	m.Task, m.EdgeHead = saga.EdgeTask, layers.EdgeHead(3, 3)
	if numbers {
		m.EdgeHead, m.Loss.Kind = layers.EdgeHead(3, 2), saga.LossMSE
	}
	return m
}

// headOver are the logits of layers.EdgeHead in float64, over rows z of both ends, of which those of the second type come behind.
func headOver(d *dataset.Data, z []float32, values map[string][]float32, classes int) (out [][]float64) {
	const in = 3
	e, behind := dataset.LabelledEdges(d), int(dataset.PairEnds(d)[1].First)
	for k := range e.Src {
		u, v := z[int(e.Src[k])*in:][:in], z[(int(e.Dst[k])+behind)*in:][:in]
		product := func(x []float32, name string, col int) (sum float64) {
			w := values[name]
			for i, a := range x {
				sum += float64(a) * float64(w[i*len(w)/in+col])
			}
			return sum
		}
		row := make([]float64, classes)
		for c := range row {
			row[c] = product(u, "head.S", c) + product(v, "head.D", c) + float64(values["head.b"][c])
			for i := range 8 {
				row[c] += product(u, "head.U", c*8+i) * product(v, "head.V", c*8+i)
			}
		}
		out = append(out, row)
	}
	return out
}

// lossOver is the loss of logits over the training edges of d.
func lossOver(d *dataset.Data, logits [][]float64) (loss float64) {
	train := d.EdgeSplit.Train
	for _, k := range train {
		x := logits[k]
		if d.EdgeLabels == nil {
			for c, y := range d.Targets.Edge.Row(int(k)) {
				loss += (x[c] - float64(y)) * (x[c] - float64(y)) / float64(len(x)*len(train))
			}
			continue
		}
		sum := 0.0
		for _, a := range x {
			sum += math.Exp(a)
		}
		loss += (math.Log(sum) - x[d.EdgeLabels[k]]) / float64(len(train))
	}
	return loss
}

// stepsOf are the losses of steps and scores, and the gradients of the last step.
func stepsOf(t *testing.T, m saga.Model, d *dataset.Data, c saga.Config, s *saga.Sampling, steps int, from, to string) (list []float64, grads map[string][]float32) {
	t.Helper()
	c.Seed, c.Optimizer = 2, saga.Optimizer{Kind: "sgd", LR: 0.05}
	p, err := saga.Compile(m, d, c)
	if s != nil {
		p, err = saga.CompileSampled(m, d, c, *s)
	}
	if err != nil {
		t.Fatalf("%s, %+v: %v", m.Name, c, err)
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
			t.Fatalf("%s: %v", m.Name, err)
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
	scores, err := p.Evaluate()
	if err != nil {
		t.Fatal(err)
	}
	return append(list, scores.Val.Loss, scores.Test.Loss, scores.Test.Accuracy), grads
}

// TestTypedEdges: labels of the edges of a relation have the logits and the loss of the head in float64 over rows of both ends, in all plans,
// gradients that are the slopes of the loss, and batches of all in-edges with the numbers of the full graph.
func TestTypedEdges(t *testing.T) {
	for i, at := range []struct {
		relation string
		numbers  bool
	}{{"author:writes:paper", false}, {"cites", true}, {"author:writes:paper", true}, {"cites", false}} {
		if i > 1 && testing.Short() {
			break
		}
		d := typedEdges(t, at.relation, at.numbers)
		base := typedModels()[i]
		m, name := ofEdges(base, at.numbers), fmt.Sprintf("%s, numbers %v", at.relation, at.numbers)
		p, err := saga.Compile(m, d, saga.Config{Seed: 2})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		values := map[string][]float32{}
		given := func([]saga.Param) (map[string][]float32, error) { return values, nil }
		for _, q := range p.Params() {
			if values[q.Name], err = p.Param(q.Name); err != nil {
				t.Fatal(err)
			}
		}
		p.Close()
		base.Task = saga.LinkTask // gives the rows of both ends
		z, _, err := saga.PredictWith(base, d.Vertices.Kinds.Graph.Along(d.Vertices.Kinds.Relation), saga.Config{}, given)
		if err != nil {
			t.Fatal(err)
		}
		logits, classes, err := saga.PredictWith(m, d, saga.Config{Chunks: 8}, given)
		if err != nil {
			t.Fatal(err)
		}
		brute := headOver(d, z, values, classes)
		for k, x := range logits {
			if y := brute[k/classes][k%classes]; !(math.Abs(float64(x)-y) <= 1e-4*(1+math.Abs(y))) {
				t.Fatalf("%s: logit %d of edge %d is %v, want %v", name, k%classes, k/classes, x, y)
			}
		}
		want, slopes := stepsOf(t, m, d, saga.Config{}, nil, 2, "", "")
		if loss := lossOver(d, brute); !(math.Abs(loss-want[0]) <= 1e-4*(1+loss)) {
			t.Errorf("%s: the loss is %v, want %v", name, want[0], loss)
		}
		small := smallestOf(t, m, d, saga.Config{})
		all := &saga.Sampling{Sampler: sample.Neighbours(50, 50), Batch: 10000}
		for k, c := range []saga.Config{{Chunks: 7, Stream: true}, {Chunks: 8, Device: "cpu:2"}, {Mem: small}, {}} {
			var s *saga.Sampling
			if k == 3 {
				s = all
			}
			got, grads := stepsOf(t, m, d, c, s, 2, "", "")
			for i := range want {
				if !(math.Abs(got[i]-want[i]) <= 1e-4*(1+want[i])) {
					t.Errorf("%s, %+v: %v, want %v", name, c, got, want)
				}
			}
			for q, g := range grads {
				most := 1.0
				for _, x := range g {
					most = max(most, math.Abs(float64(x)))
				}
				for i, x := range g {
					if !(math.Abs(float64(x-slopes[q][i])) <= 1e-5*most) {
						t.Fatalf("%s, %+v: the gradient of %s is %v, want %v", name, c, q, g, slopes[q])
					}
				}
			}
		}
	}
}

// TestTypedEdgesSlopes: gradients are the slopes of the loss in float64, of the head over rows of both ends.
func TestTypedEdgesSlopes(t *testing.T) {
	d := typedEdges(t, "author:writes:paper", false)
	base := typedModels()[0]
	m := ofEdges(base, false)
	p, err := saga.Compile(m, d, saga.Config{Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	values := map[string][]float32{}
	for _, q := range p.Params() {
		if values[q.Name], err = p.Param(q.Name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Step(); err != nil {
		t.Fatal(err)
	}
	base.Task = saga.LinkTask
	links := d.Vertices.Kinds.Graph.Along(d.Vertices.Kinds.Relation)
	loss := func() float64 {
		z, _, err := saga.PredictWith(base, links, saga.Config{}, func([]saga.Param) (map[string][]float32, error) { return values, nil })
		if err != nil {
			t.Fatal(err)
		}
		return lossOver(d, headOver(d, z, values, 3))
	}
	for i, q := range p.Params() {
		if i%4 != 0 && q.Name[:4] != "head" {
			continue
		}
		g, err := p.Grad(q.Name)
		if err != nil {
			t.Fatal(err)
		}
		const step = 1e-2
		was := values[q.Name][0]
		values[q.Name][0] = was + step
		up := loss()
		values[q.Name][0] = was - step
		is := (up - loss()) / (2 * step)
		if values[q.Name][0] = was; math.Abs(is-float64(g[0])) > 2e-3*(1+math.Abs(is)) {
			t.Errorf("the gradient of %s is %v, the loss has the slope %v", q.Name, g[0], is)
		}
	}
}

// TestTypedEdgesResumed: batches of labelled edges of a relation, resumed, give the same bits.
func TestTypedEdgesResumed(t *testing.T) {
	d := typedEdges(t, "author:writes:paper", false)
	m := ofEdges(typedModels()[1], false)
	few, path := &saga.Sampling{Sampler: sample.Neighbours(2, 2), Batch: 4}, filepath.Join(t.TempDir(), "x.safetensors")
	stepsOf(t, m, d, saga.Config{}, few, 2, "", path)
	want, _ := stepsOf(t, m, d, saga.Config{}, few, 4, "", "")
	if got, _ := stepsOf(t, m, d, saga.Config{}, few, 2, path, ""); !slices.Equal(got, want[2:]) {
		t.Errorf("resumed %v, want %v", got, want[2:])
	}
}

// TestTypedEdgesRefused: a graph that does not say which relation has the labels, or has too few, is an error.
func TestTypedEdgesRefused(t *testing.T) {
	_, d := typedData(t)
	m := ofEdges(typedModels()[0], false)
	if _, err := saga.Compile(m, d, saga.Config{}); err == nil {
		t.Error("a graph without a relation whose edges have labels was compiled")
	}
	x := typedEdges(t, "cites", false)
	e := *x
	e.EdgeLabels = e.EdgeLabels[1:]
	if _, err := saga.Compile(m, &e, saga.Config{}); err == nil {
		t.Error("one label too few was compiled")
	}
}

// TestTypedEdgesEvalSampled: evaluation by batches of all in-edges gives the scores of exact evaluation, for labels and numbers of edges, of one
// type and of several.
func TestTypedEdgesEvalSampled(t *testing.T) {
	for steps, numbers := range []bool{true, false} {
		d := typedEdges(t, "author:writes:paper", numbers)
		m := ofEdges(typedModels()[1], numbers)
		all := saga.Sampling{Sampler: sample.Neighbours(50, 50), Batch: 7}
		exact, _ := stepsOf(t, m, d, saga.Config{}, &all, steps, "", "")
		all.Eval = []int{50, 50}
		got, _ := stepsOf(t, m, d, saga.Config{}, &all, steps, "", "")
		for i := range exact {
			if !(math.Abs(got[i]-exact[i]) <= 1e-6*(1+exact[i])) {
				t.Errorf("numbers %v: %v, exactly %v", numbers, got, exact)
			}
		}
	}
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 60, Edges: 300, Features: 5, Classes: 3, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for k := range d.Edges.E() {
		d.EdgeLabels = append(d.EdgeLabels, int32(k%3)-int32(k%7/6)) // some have none
	}
	if err := dataset.RandomSplitOf(d, dataset.EdgeLabels, 0.5, 0.25, 1); err != nil {
		t.Fatal(err)
	}
	m, err := layers.New("sage", layers.Options{Features: 5, Hidden: 6, Classes: 3, Layers: 2, Task: saga.EdgeTask, Loss: saga.Loss{ClassWeights: []float32{1, 2, 3}}})
	if err != nil {
		t.Fatal(err)
	}
	exact, _ := stepsOf(t, m, d, saga.Config{}, &saga.Sampling{Sampler: sample.Neighbours(99, 99), Batch: 40}, 3, "", "")
	got, _ := stepsOf(t, m, d, saga.Config{}, &saga.Sampling{Sampler: sample.Neighbours(99, 99), Batch: 40, Eval: []int{99, 99}}, 3, "", "")
	for i := range exact {
		if !(math.Abs(got[i]-exact[i]) <= 1e-6*(1+exact[i])) {
			t.Errorf("%v, exactly %v", got, exact)
		}
	}
}
