package layers

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/saga"
	"sagann/sample"
)

// weighted is a graph with weights, an edge that stands twice, two loops at vertex 2 and a vertex without in-edges.
func weighted() *dataset.Data {
	e := &chunk.Edges{V: 7, Src: []uint32{2, 0, 1, 2, 3, 0, 4, 5, 2, 1, 3, 0, 6}, Dst: []uint32{2, 1, 0, 1, 2, 3, 3, 4, 2, 4, 0, 1, 5},
		Weight: []float32{0.9, 0.5, 2, 1.25, 0.75, 3, 0.25, 1.5, 0.4, 2.5, 1, 0.125, 0}}
	return &dataset.Data{Name: "weighted", Edges: e, FeatureCols: 3, Classes: 2, Labels: make([]int32, 7), Train: []uint32{0, 1}, Val: []uint32{2}, Test: []uint32{3},
		Features: []float32{0, 0.3, -0.27, -0.89, -0.45, -0.99, 0.06, 1.34, -0.49, -0.62, 0.49, 0.36, 0.11, -0.93, -0.03, 0.7, -1.34, -0.46, -1.9, -1.29, -1.84}}
}

// weightedLogits are those of PyTorch Geometric's layers in float64, with edge_weight: GCNConv (weight: with
// normalize=False, and so without loops), SGConv and APPNP with alpha 0.2 behind a Linear.
var weightedLogits = []struct {
	model, normalize string
	steps            int
	logits           [14]float32
}{
	{"gcn", NormSymWeight, 0, [14]float32{-0.290084728, 2.217563083, -0.115333458, 2.263977907, -0.314624462, 0.413520331, -0.408430976, 0.458701548, -0.706372533, 2.287696538, -0.9824, 0.0058, -0.0827, 6.7934}},
	{"gcn", NormWeight, 0, [14]float32{0.2331, 7.0148, 0.0933125, 2.1215, 0.192175, 1.70385, -0.21105, 2.081975, -0.5031, 8.91645, -0.54, -0.05, -0.54, -0.05}},
	{"sgc", NormSymWeight, 1, [14]float32{-0.290084728, 2.217563083, -0.115333458, 2.263977907, -0.314624462, 0.413520331, -0.408430976, 0.458701548, -0.706372533, 2.287696538, -0.9824, 0.0058, -0.0827, 6.7934}},
	{"sgc", NormSymWeight, 2, [14]float32{-0.195156344, 2.004978735, -0.191295114, 1.491427125, -0.416973921, 0.283800677, -0.33622533, 1.846368366, -0.590028623, 1.980762933, -0.9824, 0.0058, -0.0827, 6.7934}},
	{"appnp", NormSymWeight, 1, [14]float32{-0.349162873, 1.906438328, -0.239085412, 2.503019118, -0.136415772, 0.607933283, -0.399606499, 0.347995894, -0.956504801, 1.756369196, -0.9824, 0.0058, -0.0827, 6.7934}},
	{"appnp", NormSymWeight, 2, [14]float32{-0.341711531, 1.765448899, -0.244992771, 2.012541071, -0.166311881, 0.5282097, -0.385421697, 1.233137212, -0.968730533, 1.551905223, -0.9824, 0.0058, -0.0827, 6.7934}},
}

// TestWeighted holds the logits of models that read weights of edges against PyTorch Geometric's.
func TestWeighted(t *testing.T) {
	for _, tc := range weightedLogits {
		m, err := New(tc.model, Options{Features: 3, Hidden: 4, Classes: 2, Layers: 1, Steps: tc.steps, Alpha: 0.2, Normalize: tc.normalize, Bias: true})
		if err != nil {
			t.Fatal(err)
		}
		m.SelfLoops = tc.normalize != NormWeight
		for _, c := range []saga.Config{{}, {Chunks: 3, Stream: true}, {Chunks: 2, Device: "cpu:2"}, {Chunks: 2, Without: []string{"hoist", "commute", "factor", "fuse", "invariant"}}} {
			t.Run(fmt.Sprintf("%s/%s/%d/P=%d", tc.model, tc.normalize, tc.steps, c.Chunks), func(t *testing.T) {
				d := weighted()
				c.Optimizer, c.Outputs = saga.Optimizer{Kind: "sgd", LR: 1e-20}, []string{"logits"}
				p, err := saga.Compile(m, d, c)
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				if err := setWeighted(p); err != nil {
					t.Fatal(err)
				}
				if _, err := p.Step(); err != nil {
					t.Fatal(err)
				}
				got, _, err := p.Output("logits")
				if err != nil {
					t.Fatal(err)
				}
				compare(t, "logits", got, tc.logits[:], 1e-6)
				if got, _, err = p.Predict(); err != nil {
					t.Fatal(err)
				}
				compare(t, "predicted logits", got, tc.logits[:], 1e-6)
			})
		}
	}
}

// setWeighted sets the parameters of weightedLogits.
func setWeighted(p *saga.Program) error {
	for _, q := range p.Params() {
		x := []float32{-0.24, -1.27, 0.27, 0.16, -0.19, -2.52}
		if q.Rows == 1 {
			x = []float32{-0.54, -0.05}
		}
		if err := p.SetParam(q.Name, x); err != nil {
			return err
		}
	}
	return nil
}

// TestWeightedSampled holds a sampled step that draws all edges against the full-graph step: sums of weights are those of
// the whole graph.
func TestWeightedSampled(t *testing.T) {
	m, err := New("gcn", Options{Features: 3, Hidden: 4, Classes: 2, Layers: 1, Normalize: NormSymWeight, Bias: true})
	if err != nil {
		t.Fatal(err)
	}
	c := saga.Config{Optimizer: saga.Optimizer{Kind: "sgd", LR: 1e-20}}
	whole := must(saga.Compile(m, weighted(), c))(t)
	defer whole.Close()
	part := must(saga.CompileSampled(m, weighted(), c, saga.Sampling{Sampler: sample.Neighbours(9), Batch: 2}))(t)
	defer part.Close()
	var loss [2]float64
	for i, p := range []*saga.Program{whole, part} {
		if err := setWeighted(p); err != nil {
			t.Fatal(err)
		}
		loss[i] = must(p.Step())(t)
	}
	if math.Abs(loss[0]-loss[1]) > 1e-6 {
		t.Errorf("the loss over all drawn edges is %v, and %v over the graph", loss[1], loss[0])
	}
	_, err = saga.CompileSampled(m, weighted(), c, saga.Sampling{Sampler: sample.LADIES(4), Batch: 2})
	if err == nil || !strings.Contains(err.Error(), "the sampler gives edges weights") {
		t.Errorf("a sampler with weights of its own: %v", err)
	}
}

// TestWeightedRefuses: sums of weights below 0, a graph without weights, unknown names.
func TestWeightedRefuses(t *testing.T) {
	m := must(New("gcn", Options{Features: 3, Hidden: 4, Classes: 2, Layers: 1, Normalize: NormSymWeight}))(t)
	d := weighted()
	d.Edges.Weight[1], d.Edges.Weight[3] = -5, 0.5
	p, err := saga.Compile(m, d, saga.Config{})
	if err == nil {
		_, err = p.Step()
	}
	if want := "into vertex 1 of weighted add up to -3.375"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a sum of weights below 0: %v, want %q", err, want)
	}
	d.Edges.Weight = nil
	if _, err := saga.Compile(m, d, saga.Config{}); err == nil || !strings.Contains(err.Error(), "the edges have no weights") {
		t.Errorf("a graph without weights: %v", err)
	}
	for _, name := range Reading(ReadsNormalize) {
		if _, err := New(name, Options{Features: 3, Hidden: 4, Classes: 2, Layers: 1, Normalize: "norm"}); err == nil || !strings.Contains(err.Error(), "sym-weight, weight, none") {
			t.Errorf("%s with an unknown normalisation: %v", name, err)
		}
	}
}

// TestAlphaNone: an alpha of 0 and the default are two things.
func TestAlphaNone(t *testing.T) {
	o := Options{Features: 3, Hidden: 4, Classes: 2, Layers: 1, Steps: 2, Alpha: saga.None}
	none := must(New("appnp", o))(t)
	o.Alpha = 0
	usual := must(New("appnp", o))(t)
	zero := saga.Model{Name: "appnp", SelfLoops: true, Layers: append([]saga.Layer{Linear(3, 2, nil)}, APPNP(2, 2, 0)...)}
	var loss []float64
	for _, m := range []saga.Model{none, zero, usual} {
		p := must(saga.Compile(m, weighted(), saga.Config{}))(t)
		loss = append(loss, must(p.Step())(t))
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if loss[0] != loss[1] || loss[0] == loss[2] {
		t.Errorf("losses with alpha None, 0 and the default are %v, want the first two equal and another third", loss)
	}
}
