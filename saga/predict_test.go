package saga_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/saga"
)

// TestPredict: predictions score as the evaluation says, whether everything is
// resident, streams, or streams under a budget.
func TestPredict(t *testing.T) {
	d := graph(t)
	for _, name := range []string{"ggcn", "gat", "ggnn", "edgemlp"} {
		path := filepath.Join(t.TempDir(), "c.safetensors")
		p := program(t, name, d, streamed(6))
		train(t, p, saga.TrainOptions{Checkpoint: path})
		s, err := p.Evaluate()
		if err != nil {
			t.Fatal(err)
		}
		whole, cols, err := saga.Predict(model(t, name, d), d, saga.Config{}, path)
		if err != nil {
			t.Fatal(err)
		}
		if cols != d.Classes || len(whole) != d.Edges.V*cols {
			t.Fatalf("%s: %d logits of %d columns", name, len(whole), cols)
		}
		if got := accuracy(d, saga.Classes(whole, cols), d.Test); got != s.Test.Accuracy {
			t.Errorf("%s: %v of the test vertices are right, evaluation says %v", name, got, s.Test.Accuracy)
		}
		for _, c := range []saga.Config{{Stream: true, MinChunks: 3}, {Mem: 40000}} {
			x, _, err := saga.Predict(model(t, name, d), d, c, path)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			near(t, name, x, whole)
		}
		live, _, err := p.Predict()
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, live, whole)
		rows, hidden, err := p.Embed()
		if err != nil || len(rows) != d.Edges.V*hidden || hidden == 0 {
			t.Fatalf("%s: %d rows of %d columns, %v", name, len(rows), hidden, err)
		}
		again, _, err := saga.Embed(model(t, name, d), d, saga.Config{Stream: true, MinChunks: 2}, path)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, again, rows)
	}
}

// near compares up to rounding: sums of another number of intervals differ in it.
func near(t *testing.T, name string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", name, len(got), len(want))
	}
	most, diff := 0.0, 0.0
	for i := range want {
		most = max(most, math.Abs(float64(want[i])))
		diff = max(diff, math.Abs(float64(got[i]-want[i])))
	}
	if !(diff <= 1e-4*most) {
		t.Errorf("%s: differs by %v of %v", name, diff, most)
	}
}

// TestPredictKeepsTraining: predicting between two epochs changes nothing.
func TestPredictKeepsTraining(t *testing.T) {
	d, c := graph(t), streamed(6)
	p, q := program(t, "ggcn", d, c), program(t, "ggcn", d, c)
	for i := range 6 {
		for _, x := range []*saga.Program{p, q} {
			if _, err := x.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if i%2 == 0 {
			if _, _, err := p.Predict(); err != nil {
				t.Fatal(err)
			}
		}
	}
	sameParams(t, p, q)
}

// TestPredictUnlabelled: no labels are needed, and a one-layer model embeds as its
// features.
func TestPredictUnlabelled(t *testing.T) {
	d := graph(t)
	path := filepath.Join(t.TempDir(), "c.safetensors")
	m := mlp(12, 4)
	p, err := saga.Compile(m, d, streamed(2))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	train(t, p, saga.TrainOptions{Checkpoint: path})
	bare := &dataset.Data{Name: "bare", Edges: d.Edges, Features: d.Features, FeatureCols: d.FeatureCols}
	x, cols, err := saga.Predict(m, bare, saga.Config{}, path)
	if err != nil || cols != 4 {
		t.Fatal(cols, err)
	}
	live, _, err := p.Predict()
	if err != nil {
		t.Fatal(err)
	}
	near(t, "mlp", x, live)
	rows, cols, err := saga.Embed(m, bare, saga.Config{}, path)
	if err != nil || cols != 12 {
		t.Fatal(cols, err)
	}
	near(t, "embedding of one layer", rows, d.Features)
}

// TestBadCheckpoint: a checkpoint that is cut or changed anywhere is refused, by both
// readers, without a panic.
func TestBadCheckpoint(t *testing.T) {
	d := graph(t)
	path := filepath.Join(t.TempDir(), "c.safetensors")
	p := program(t, "gcn", d, streamed(1))
	train(t, p, saga.TrainOptions{Checkpoint: path})
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad.safetensors")
	try := func(what string, text []byte) {
		t.Helper()
		if bytes.Equal(text, good) {
			return
		}
		if err := os.WriteFile(bad, text, 0o666); err != nil {
			t.Fatal(err)
		}
		q := program(t, "gcn", d, streamed(1))
		if err := q.Restore(bad); err == nil {
			t.Errorf("restored: %s", what)
		}
	}
	for n := 0; n < len(good); n += len(good)/7 + 1 {
		try("cut", good[:n])
	}
	for _, at := range []int{0, 9, len(good) / 2, len(good) - 1} {
		flip := bytes.Clone(good)
		flip[at] ^= 0x10
		try("flipped", flip)
	}
	header := 8 + int(binary.LittleEndian.Uint64(good))
	for at := 8; at < header; at++ { // another letter, or digit, anywhere in the header
		flip := bytes.Clone(good)
		flip[at] ^= 1
		if err := os.WriteFile(bad, flip, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := saga.ReadCheckpoint(bad); err == nil && good[at] != ' ' {
			t.Errorf("read: %q for %q at byte %d, after %q", flip[at], good[at], at, good[max(8, at-20):at])
		}
	}
	for _, change := range [][2]string{
		{`"sagann":"2"`, `"sagann":"9"`}, {`"sagann":"2"`, `"sagann":"1"`}, {`"epoch":"1"`, `"epoch":"x"`}, {`"epoch":"1"`, `"epoch":"9"`}, {`\"Epoch\":1`, `\"Epoch\":9`}, {`"epoch":"1"`, `"epoch":"-"`},
		{`"seed":"7"`, `"seed":"?"`}, {`"chunks":"3"`, `"chunks":"z"`}, {`"F32"`, `"I32"`},
	} {
		text := bytes.Replace(good, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(text, good) {
			t.Errorf("the header has no %s", change[0])
		}
		try(change[1], text)
	}
	if _, err := saga.ReadCheckpoint(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing file was read")
	}
	if _, _, err := saga.Predict(model(t, "gin", d), d, saga.Config{}, path); err == nil {
		t.Error("predicted with another model's checkpoint")
	}
	wide := graph(t)
	wide.FeatureCols, wide.Features = 24, append(wide.Features, wide.Features...)
	if _, _, err := saga.Predict(model(t, "gcn", wide), wide, saga.Config{}, path); err == nil {
		t.Error("predicted from data of another width")
	}
}

// TestPredictBudget: the smallest budget that an error of Predict names does, and a byte
// less does not; gcn has invariants, which are computed within it, too.
func TestPredictBudget(t *testing.T) {
	d := graph(t)
	for _, name := range []string{"gcn", "gat"} {
		path := filepath.Join(t.TempDir(), "c.safetensors")
		p := program(t, name, d, saga.Config{Seed: 1})
		if err := p.Save(path, ""); err != nil {
			t.Fatal(err)
		}
		want, _, err := p.Predict()
		if err != nil {
			t.Fatal(err)
		}
		ask := func(mem int64) ([]float32, *plan.BudgetError) {
			var small *plan.BudgetError
			x, _, err := saga.Predict(model(t, name, d), d, saga.Config{Mem: mem}, path)
			if err != nil && !errors.As(err, &small) {
				t.Fatal(err)
			}
			return x, small
		}
		_, small := ask(1)
		if small == nil {
			t.Fatalf("%s: one byte does", name)
		}
		if x, few := ask(small.Smallest); few != nil || len(x) != len(want) {
			t.Errorf("%s, %d bytes: %v", name, small.Smallest, few)
		}
		if _, few := ask(small.Smallest - 1); few == nil || few.Smallest != small.Smallest {
			t.Errorf("%s, %d bytes: %v", name, small.Smallest-1, few)
		}
	}
}
