package dataset

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func removeFile(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func TestValidate(t *testing.T) {
	multi := func(d *Data) {
		d.Labels, d.MultiLabels = nil, make([]float32, d.Edges.V*d.Classes)
	}
	for _, c := range []struct {
		word  string
		spoil func(*Data)
	}{
		{"", func(*Data) {}},
		{"", multi},
		{"", func(d *Data) {
			d.Labels, d.Train, d.Val, d.Test, d.Features, d.FeatureCols = nil, nil, nil, nil, nil, 0
		}},
		{"no edges", func(d *Data) { d.Edges = nil }},
		{"edge 7 goes from 99", func(d *Data) { d.Edges.Src[7] = 99 }},
		{"destinations", func(d *Data) { d.Edges.Dst = d.Edges.Dst[1:] }},
		{"edge 3 has weight NaN", func(d *Data) { d.Edges.Weight[3] = float32(math.NaN()) }},
		{"edge 4 has type 3", func(d *Data) { d.Edges.Type[4] = 3 }},
		{"edge 2 has +Inf in column 1", func(d *Data) { d.Edges.Data[5] = float32(math.Inf(1)) }},
		{"feature row 20, column 1 is NaN", func(d *Data) { d.Features[61] = float32(math.NaN()) }},
		{"feature row 0, column 0 is -Inf", func(d *Data) { d.Features[0] = float32(math.Inf(-1)) }},
		{"179 feature values", func(d *Data) { d.Features = d.Features[1:] }},
		{"width 4", func(d *Data) { d.FeatureCols = 4 }},
		{"width 0", func(d *Data) { d.FeatureCols = 0 }},
		{"width 3 without", func(d *Data) { d.Features = nil }},
		{"vertex 5 has label 4", func(d *Data) { d.Labels[5] = 4 }},
		{"vertex 5 has label -2", func(d *Data) { d.Labels[5] = -2 }},
		{"59 labels", func(d *Data) { d.Labels = d.Labels[1:] }},
		{"0 classes", func(d *Data) { d.Classes = 0 }},
		{"both single and multi", func(d *Data) { d.MultiLabels = make([]float32, 240) }},
		{"vertex 2 for class 1 is 0.5", func(d *Data) { multi(d); d.MultiLabels[9] = 0.5 }},
		{"239 label values", func(d *Data) { multi(d); d.MultiLabels = d.MultiLabels[1:] }},
		{"the validation split is empty", func(d *Data) { d.Val = []uint32{} }},
		{"the test split has vertex 60", func(d *Data) { d.Test = append(d.Test, 60) }},
		{"is in the training and in the test split", func(d *Data) { d.Test = []uint32{d.Train[3]} }},
		{"twice in the training split", func(d *Data) { d.Train[1] = d.Train[0] }},
		{"not ascending", func(d *Data) { slices.Reverse(d.Train) }},
		{"of the training split has no label", func(d *Data) { d.Labels[d.Train[2]] = -1 }},
		{"the graph of 59 vertices", func(d *Data) { d.GraphOf = d.GraphOf[1:] }},
		{"belongs to graph 3", func(d *Data) { d.GraphOf[8] = 3 }},
		{"graph 1 has label -2", func(d *Data) { d.GraphLabels[1] = -2 }},
		{"no graph of each", func(d *Data) { d.GraphOf = nil }},
	} {
		d := full(t)
		c.spoil(d)
		err := Validate(d)
		if c.word != "" {
			refused(t, c.word, err, c.word)
		} else if err != nil {
			t.Error(err)
		}
	}
}

func TestValidateTraining(t *testing.T) {
	d := full(t)
	d.Val = nil
	if err := ValidateTraining(d); err != nil {
		t.Errorf("no validation split: %v", err)
	}
	d.Train = nil
	refused(t, "no training split", ValidateTraining(d), "training split is empty")
	d.Labels = nil
	refused(t, "no labels", ValidateTraining(d), "no vertex labels")
	d.Edges.Src[0] = 1000
	refused(t, "bad edges", ValidateTraining(d), "edge 0")
}

func TestRandomSplit(t *testing.T) {
	d := full(t)
	d.Labels[7] = -1
	if err := RandomSplit(d, 0.6, 0.2, 5); err != nil {
		t.Fatal(err)
	}
	if len(d.Train) != 35 || len(d.Val) != 11 || len(d.Test) != 13 {
		t.Errorf("%d, %d, %d", len(d.Train), len(d.Val), len(d.Test))
	}
	if err := ValidateTraining(d); err != nil {
		t.Error(err)
	}
	first := slices.Clone(d.Train)
	if err := RandomSplit(d, 0.6, 0.2, 5); err != nil || !cmp.Equal(first, d.Train) {
		t.Error("another split from the same seed")
	}
	refused(t, "shares", RandomSplit(d, 0.6, 0.4, 5), "below 1")
	refused(t, "tiny shares", RandomSplit(d, 0.001, 0.5, 5), "too few")
	d.Labels = nil
	refused(t, "no labels", RandomSplit(d, 0.6, 0.2, 5), "no labels")
}

func TestRowNormalize(t *testing.T) {
	d := &Data{Features: []float32{1, -3, 0, 0, 2, 2}, FeatureCols: 2}
	RowNormalize(d)
	if want := []float32{0.25, -0.75, 0, 0, 0.5, 0.5}; !cmp.Equal(d.Features, want) {
		t.Errorf("%v", d.Features)
	}
	RowNormalize(&Data{})
}

func TestOneHotFeatures(t *testing.T) {
	d := full(t)
	if err := OneHotFeatures(d); err != nil {
		t.Fatal(err)
	}
	if err := Validate(d); err != nil || d.FeatureCols != 60 || d.Features[61*10] != 1 || d.Features[1] != 0 {
		t.Error(err)
	}
	d.Edges.V = maxOneHot + 1
	refused(t, "many vertices", OneHotFeatures(d), "32769")
}
