package main

import (
	"io"
	"log/slog"
	"path/filepath"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
)

// TestRowNormalize: --row-normalize auto divides the rows of what was made from a Planetoid
// folder, a store too, and leaves other features as they are, counts of words among them.
func TestRowNormalize(t *testing.T) {
	words := make([]float32, 4*20) // four words a row, of twenty
	for i := range words {
		if i%5 == 0 {
			words[i] = float32(1 + i%3)
		}
	}
	d := &dataset.Data{Name: "words", Edges: &chunk.Edges{V: 4, Src: []uint32{0, 1, 2}, Dst: []uint32{1, 2, 3}}, Features: words, FeatureCols: 20,
		Labels: []int32{0, 1, 0, 1}, Classes: 2, Train: []uint32{0, 1}, Val: []uint32{2}, Test: []uint32{3}}
	for form, want := range map[string]bool{"edges.npy": false, dataset.PlanetoidForm: true} {
		d.Report.Form = form
		path := filepath.Join(t.TempDir(), "words.saga")
		if err := dataset.WriteStore(path, d, 1); err != nil {
			t.Fatal(err)
		}
		var all commands
		if _, err := newParser(&all, io.Discard, io.Discard).Parse([]string{"train", "--data", path}); err != nil {
			t.Fatal(err)
		}
		j, err := prepare(&all.Train.settings, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if j.prep.RowNormalize != want {
			t.Errorf("%s: row normalize is %v", form, j.prep.RowNormalize)
		}
	}
}
