package layers

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/saga"
)

// linkData is a community graph whose edges are split.
func linkData(t *testing.T) *dataset.Data {
	t.Helper()
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 300, Edges: 2400, Features: 10, Classes: 4, Seed: 3, Skew: 0.8})
	if err != nil {
		t.Fatal(err)
	}
	d, err = dataset.SplitLinks(d, dataset.LinkShares{Val: 0.05, Test: 0.1}, 4)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func linkModel(t *testing.T, name string, d *dataset.Data, head saga.LinkHead, dropout float32) saga.Model {
	t.Helper()
	m, err := New(name, Options{Features: d.FeatureCols, Hidden: 12, Classes: 6, Layers: 2, Dropout: dropout, Task: saga.LinkTask, LinkHead: head})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// trainLinks gives losses of training, then losses, AUC and AP of the end.
func trainLinks(t *testing.T, m saga.Model, d *dataset.Data, c saga.Config, o saga.TrainOptions) []float32 {
	t.Helper()
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	var out []float32
	o.OnEpoch = func(e saga.Epoch) error { out = append(out, float32(e.Loss), float32(e.Scores.Val.Loss)); return nil }
	r, err := p.Train(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []saga.Metrics{r.Final.Train, r.Final.Val, r.Final.Test} {
		out = append(out, float32(m.Loss), float32(m.AUC), float32(m.AP))
	}
	return out
}

// Links are learned, alike with everything resident, streamed, on two devices and in any budget.
func TestLinks(t *testing.T) {
	d := linkData(t)
	for _, head := range saga.LinkHeads() {
		for _, dropout := range []float32{0, 0.3} {
			t.Run(fmt.Sprint(head, dropout), func(t *testing.T) {
				t.Parallel()
				m := linkModel(t, "sage", d, head, dropout)
				const n = 12
				c := saga.Config{Seed: 5, Epochs: n, Device: taskDevice()}
				want := trainLinks(t, m, d, c, saga.TrainOptions{})
				if !(want[2*n-2] < want[0]) {
					t.Errorf("the loss does not fall: %v", want[:2*n])
				}
				c.Chunks, c.Stream = 4, true
				c.Mem = smallest(t, m, d, c)
				compare(t, "streamed", trainLinks(t, m, d, c, saga.TrainOptions{}), want, 1e-4)
				compare(t, "two devices", trainLinks(t, m, d, saga.Config{Seed: 5, Epochs: n, Chunks: 4, Device: "cpu:2"}, saga.TrainOptions{}), want, 1e-4)
				c = saga.Config{Seed: 5, Epochs: n, Chunks: 2, Device: taskDevice()}
				path := filepath.Join(t.TempDir(), "c.safetensors")
				straight := trainLinks(t, m, d, c, saga.TrainOptions{})
				c.Epochs = 5
				first := trainLinks(t, m, d, c, saga.TrainOptions{Checkpoint: path})
				c.Epochs = n
				rest := trainLinks(t, m, d, c, saga.TrainOptions{Resume: path, Checkpoint: path})
				if got := append(first[:10], rest...); !slices.Equal(got, straight) {
					t.Errorf("resumed: %v\nstraight: %v", got, straight)
				}
				l := d.Targets.Links
				scores, err := saga.ScoreLinks(m, d, saga.Config{}, path, &l.Test)
				if err != nil {
					t.Fatal(err)
				}
				not, err := saga.ScoreLinks(m, d, saga.Config{}, path, &l.NotTest)
				if err != nil {
					t.Fatal(err)
				}
				loss := 0.0
				for i, s := range scores {
					loss += (math.Log1p(math.Exp(-s)) + math.Log1p(math.Exp(not[i]))) / float64(2*len(scores))
				}
				compare(t, "test loss from scores", []float32{float32(loss)}, straight[len(straight)-3:len(straight)-2], 1e-5)
			})
		}
	}
}

func TestBadLinkModels(t *testing.T) {
	d := linkData(t)
	plain := *d
	plain.Targets.Links = nil
	good := Options{Features: d.FeatureCols, Hidden: 4, Classes: 4, Layers: 1, Task: saga.LinkTask}
	for _, c := range []struct {
		want   string
		data   *dataset.Data
		change func(m *saga.Model)
	}{
		{`unknown link head "cosine"; there are dot, bilinear, distmult, mlp`, d, func(m *saga.Model) { m.LinkHead = "cosine" }},
		{"does not say which links to predict", &plain, func(*saga.Model) {}},
		{"labels of links are classes", d, func(m *saga.Model) { m.Loss.Kind = saga.LossMSE }},
		{"the positive weights are all 0", d, func(m *saga.Model) { m.Loss.PosWeights = []float32{} }},
		{"has a LinkHead, and neither Head nor EdgeHead", d, func(m *saga.Model) { m.Head = GraphHead(4, 4) }},
	} {
		m, err := New("gcn", good)
		if err != nil {
			t.Fatal(err)
		}
		c.change(&m)
		if _, err := saga.Compile(m, c.data, saga.Config{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
