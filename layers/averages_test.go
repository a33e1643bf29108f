package layers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sagann/saga"
	"sagann/sample"
)

// values are all parameters of p.
func values(t *testing.T, p *saga.Program) map[string][]float32 {
	all := map[string][]float32{}
	for _, q := range p.Params() {
		all[q.Name] = must(p.Param(q.Name))(t)
	}
	return all
}

// TestAverages: evaluation and prediction of a model with Average are those of a model with the averages, computed in float64
// behind every step, as its parameters. The parameters themselves are trained as without. Statistics of a norm are no averages.
func TestAverages(t *testing.T) {
	d := graphs(t)["synthetic"]
	const keep = 0.6
	m := must(New("sage", Options{Features: d.FeatureCols, Hidden: 5, Classes: d.Classes, Layers: 2, Between: Between{Norm: NormBatch}}))(t)
	for i, c := range []saga.Config{{}, {Chunks: 3, Stream: true}, {Chunks: 4, Device: "cpu:2"}, {Save: saga.SaveAll}} {
		open := func(average float32) *saga.Program {
			m := m
			m.Average = average
			if c.Save == saga.SaveAll {
				return must(saga.CompileSampled(m, d, c, saga.Sampling{Sampler: sample.Neighbours(3, 3), Batch: 40}))(t)
			}
			return must(saga.Compile(m, d, c))(t)
		}
		plain, p := open(0), open(keep)
		defer plain.Close()
		defer p.Close()
		want := map[string][]float64{}
		for name, x := range values(t, plain) {
			for _, w := range x {
				want[name] = append(want[name], float64(w))
			}
		}
		for range 3 {
			must(plain.Step())(t)
			must(p.Step())(t)
			now := values(t, p)
			for name, x := range values(t, plain) {
				if !slices.Equal(now[name], x) {
					t.Fatalf("%d: %s is trained otherwise with averages", i, name)
				}
				for k, w := range x {
					if want[name][k] = keep*want[name][k] + (1-keep)*float64(w); strings.HasSuffix(name, "norm.mean") || strings.HasSuffix(name, "norm.var") {
						want[name][k] = float64(w)
					}
				}
			}
		}
		for name, x := range want {
			if err := plain.SetParam(name, narrow(x)); err != nil {
				t.Fatal(err)
			}
		}
		got, other := must(p.Evaluate())(t), must(plain.Evaluate())(t)
		compare(t, fmt.Sprint(i, ": losses"), []float32{float32(got.Train.Loss), float32(got.Val.Loss)}, []float32{float32(other.Train.Loss), float32(other.Val.Loss)}, 1e-5)
		if c.Save != saga.SaveAll {
			x, _, err := p.Predict()
			y, _, wrong := plain.Predict()
			if err != nil || wrong != nil {
				t.Fatal(err, wrong)
			}
			compare(t, fmt.Sprint(i, ": logits"), x, y, 1e-5)
		}
	}
}

// TestFrozen: parameters that are frozen stay to the bit, and the others change. A name that is not there is an error that lists those
// that are.
func TestFrozen(t *testing.T) {
	d := graphs(t)["synthetic"]
	m := must(New("sage", Options{Features: d.FeatureCols, Hidden: 5, Classes: d.Classes, Layers: 2, Between: Between{Norm: NormBatch}}))(t)
	m.Frozen = []string{"layer1", "layer2.b"}
	for _, c := range []saga.Config{{Optimizer: saga.Optimizer{WeightDecay: 0.1, DecayAll: true}}, {Chunks: 3, Stream: true, Device: "cpu:2"}} {
		p := must(saga.Compile(m, d, c))(t)
		defer p.Close()
		before := values(t, p)
		for range 2 {
			must(p.Step())(t)
		}
		for name, x := range values(t, p) {
			if frozen := strings.HasPrefix(name, "layer1.") || name == "layer2.b"; frozen != slices.Equal(x, before[name]) {
				t.Errorf("%s: frozen %v, and it was %v and is %v", name, frozen, before[name], x)
			}
		}
	}
	for _, tc := range [][]string{{"layer", "layer1.W_self"}, {"layer3"}, {"layer1", "layer2", "are frozen"}} {
		last := len(tc) - 1
		m.Frozen = tc[:max(1, last)]
		if _, err := saga.Compile(m, d, saga.Config{}); err == nil || !strings.Contains(err.Error(), tc[last]) {
			t.Errorf("frozen %v: %v", m.Frozen, err)
		}
	}
}
