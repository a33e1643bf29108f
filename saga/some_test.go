package saga_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/saga"
)

// TestSomeReads: a request looks at the edges once a layer, also where its work was asked for first. Features and edges that it does not reach
// are not read; those that it reaches are checked.
func TestSomeReads(t *testing.T) {
	d, err := dataset.Open("synthetic:vertices=2000,edges=4e3,features=8,classes=4", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "c.safetensors")
	train(t, program(t, "sage", d, saga.Config{Epochs: 1}), saga.TrainOptions{Checkpoint: path})
	s, err := saga.OpenSome(model(t, "sage", d), d, saga.Config{}, path)
	if err != nil {
		t.Fatal(err)
	}
	list := []uint32{5, 3}
	work, all, err := s.Work(list)
	if err != nil || work < 1 || work > all/20 {
		t.Fatalf("work %d of %d, %v", work, all, err)
	}
	first, cols, err := s.Rows(list)
	if err != nil || len(first) != 2*cols {
		t.Fatalf("%d numbers of %d columns, %v", len(first), cols, err)
	}
	if got, want := saga.Looked(s), 2*int64(d.Edges.E()); got != want {
		t.Errorf("%d edges were looked at, want %d", got, want)
	}
	for range 70 {
		again, _, err := s.Rows([]uint32{3, 5, 3})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(again[cols:2*cols], first[:cols]) || !slices.Equal(again[:cols], first[cols:]) {
			t.Fatal("rows differ from those of the request before")
		}
		if _, _, err := s.Rows(list[:1]); err != nil {
			t.Fatal(err)
		}
	}
	if got := saga.Looked(s); got > 66*int64(d.Edges.E()) {
		t.Errorf("%d edges were looked at in 140 requests", got)
	}
	reached := saga.Reached(s)
	many := make([]uint32, 1500)
	for i := range many {
		many[i] = uint32(i)
	}
	whole, _, err := saga.Predict(model(t, "sage", d), d, saga.Config{}, path)
	if err != nil {
		t.Fatal(err)
	}
	if work, all, err := s.Work(many); err != nil || 2*work <= all { // the search ends early
		t.Errorf("work %d of %d, %v", work, all, err)
	}
	if x, _, err := s.Rows(many); err != nil {
		t.Error(err)
	} else {
		near(t, "many", x, whole[:len(x)])
	}
	far := 0
	for slices.Contains(reached, uint32(far)) {
		far++
	}
	d.Features[far*d.FeatureCols] = float32(math.NaN())
	if x, _, err := saga.PredictSome(model(t, "sage", d), d, saga.Config{}, path, list[:1]); err != nil || !slices.Equal(x, first[:cols]) {
		t.Errorf("NaN in a row that is not read: %v", err)
	}
	d.Features[int(reached[len(reached)-1])*d.FeatureCols] = float32(math.Inf(1))
	if _, _, err := saga.PredictSome(model(t, "sage", d), d, saga.Config{}, path, list[:1]); err == nil || !strings.Contains(err.Error(), "feature row") {
		t.Errorf("infinity in a row that is read: %v", err)
	}
}
