package main

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/saga"
)

// scored is what saga evaluate prints as JSON, as far as it is tested.
type scored struct {
	Task, On            string
	Rows                int
	Loss, Accuracy, AUC float64
	Micro, Macro        map[string]float64
	Classes             []struct{ Labels, Predicted int }
	Confusion           [][]int
}

// output runs the command and gives its standard output.
func output(t *testing.T, args ...string) []byte {
	t.Helper()
	var errs strings.Builder
	c := command(t, args...)
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("saga %s: %v\n%s", strings.Join(args, " "), err, &errs)
	}
	return out
}

// labelled is a small graph whose labels of one kind follow its vertices' classes.
func labelled(t *testing.T, kind string) *dataset.Data {
	t.Helper()
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 120, Edges: 600, Features: 8, Classes: 3, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	d.HoldFeatures()
	r := rand.New(rand.NewPCG(5, 6))
	switch kind {
	case "sets": // with names of vertices
		d.MultiLabels = make([]float32, 3*d.Edges.V)
		for v, k := range d.Labels {
			d.MultiLabels[3*v+int(k)] = 1
			d.MultiLabels[3*v+r.IntN(3)] = 1
			d.Names = append(d.Names, "v"+string(rune('a'+v%26))+string(rune('a'+v/26)))
		}
		d.Labels = nil
	case "edge":
		for i := range d.Edges.Src {
			d.EdgeLabels = append(d.EdgeLabels, d.Labels[d.Edges.Dst[i]])
		}
		d.Labels, d.Train, d.Val, d.Test = nil, nil, nil, nil
	case "graph": // forty graphs of three vertices
		for v := range d.Edges.V {
			d.GraphOf = append(d.GraphOf, uint32(v/3))
		}
		for i := range d.Edges.Src {
			d.Edges.Dst[i] = d.Edges.Src[i]/3*3 + d.Edges.Dst[i]%3
		}
		for g := range d.Edges.V / 3 {
			d.GraphLabels = append(d.GraphLabels, min(1, d.Labels[3*g]))
		}
		d.Labels, d.Train, d.Val, d.Test = nil, nil, nil, nil
	}
	return d
}

// TestEvaluate: whatever labels stand on, evaluate scores a checkpoint as its training did
// at the end, over the same random splits.
func TestEvaluate(t *testing.T) {
	for _, kind := range []string{"vertex", "sets", "edge", "graph"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			data, run := filepath.Join(dir, "data"), filepath.Join(dir, "run")
			d := labelled(t, kind)
			if err := os.Mkdir(data, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := dataset.WriteNpyFolder(data, d); err != nil {
				t.Fatal(err)
			}
			if d.Names != nil { // which a folder of arrays does not keep
				data += ".saga"
				if err := dataset.WriteStore(data, d, 1); err != nil {
					t.Fatal(err)
				}
			}
			args := []string{"train", "--data", data, "--model", "gcn", "--hidden", "8", "--epochs", "15", "--json", "--out", run}
			if kind == "edge" {
				args = append(args, "--split", "0.5,0.2", "--seed", "9")
			}
			var ended map[string]any
			if err := json.Unmarshal(output(t, args...), &ended); err != nil {
				t.Fatal(err)
			}
			for _, on := range []string{"train", "val", "test"} {
				var s scored
				if err := json.Unmarshal(output(t, "evaluate", run, "--on", on, "--json"), &s); err != nil {
					t.Fatal(err)
				}
				want := map[string]float64{on + "_accuracy": s.Accuracy}
				if kind == "sets" {
					want = map[string]float64{on + "_f1": s.Micro["f1"], on + "_macro_f1": s.Macro["f1"]}
				}
				for name, got := range want {
					if x, ok := ended[name].(float64); !ok || math.Abs(x-got) > 1e-6 {
						t.Errorf("%s: evaluate says %v, training %v", name, got, ended[name])
					}
				}
				if s.On != on || s.Rows == 0 || !(s.Loss > 0) || len(s.Classes) < 2 || (s.Confusion == nil) != (kind == "sets") {
					t.Errorf("%s: %+v", on, s)
				}
			}
		})
	}
}

// TestEvaluateRows: the loss is that of the engine, the lines of --out have the ids of the data
// and are those of --on, and data without splits of their own are scored as a whole.
func TestEvaluateRows(t *testing.T) {
	dir := t.TempDir()
	d := labelled(t, "vertex")
	for v := range d.Edges.V {
		d.IDs = append(d.IDs, uint64(1000+7*v))
	}
	data, run, rows := filepath.Join(dir, "data.saga"), filepath.Join(dir, "run"), filepath.Join(dir, "rows.csv")
	if err := dataset.WriteStore(data, d, 1); err != nil {
		t.Fatal(err)
	}
	output(t, "train", "--data", data, "--model", "gcn", "--hidden", "8", "--epochs", "15", "--out", run)
	var s scored
	if err := json.Unmarshal(output(t, "evaluate", run, "--json", "--out", rows), &s); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(rows)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil || len(lines) != 1+len(d.Test) || s.Rows != len(d.Test) || strings.Join(lines[0], ",") != "vertex,label,class,probability" {
		t.Fatalf("%d lines for %d rows, %v: %v", len(lines), s.Rows, err, lines[0])
	}
	hits := 0
	for i, v := range d.Test {
		if lines[i+1][0] != d.ID(int(v)) {
			t.Fatalf("line %d is of vertex %s, want %s", i, lines[i+1][0], d.ID(int(v)))
		}
		if lines[i+1][1] == lines[i+1][2] {
			hits++
		}
	}
	if x := float64(hits) / float64(len(d.Test)); x != s.Accuracy {
		t.Errorf("%v of the lines are right, the accuracy is %v", x, s.Accuracy)
	}
	list, err := (&inferFlags{}).load(&app{Log: newLogger(os.Stderr)}, run)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := saga.Evaluate(list.model, list.data, saga.Config{}, list.path)
	if err != nil || math.Abs(engine.Test.Loss-s.Loss) > 1e-5 {
		t.Errorf("the engine's loss is %v, %v; evaluate says %v", engine.Test.Loss, err, s.Loss)
	}

	d.Train, d.Val, d.Test, d.Labels[3] = nil, nil, nil, -1
	other := filepath.Join(dir, "other.saga")
	if err := dataset.WriteStore(other, d, 1); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(output(t, "evaluate", run, "--data", other, "--json"), &s); err != nil {
		t.Fatal(err)
	}
	if s.On != "all" || s.Rows != d.Edges.V-1 {
		t.Errorf("%d rows of %s are scored", s.Rows, s.On)
	}
	d.Labels[3] = 7
	for _, want := range []string{"vertex 3 is of class 7; the model in " + list.path + " knows classes 0 to 2", "has no labels of vertices to score with"} {
		d.Classes = 8
		bad := filepath.Join(t.TempDir(), "bad.saga")
		if err := dataset.WriteStore(bad, d, 1); err != nil {
			t.Fatal(err)
		}
		if text, err := command(t, "evaluate", run, "--data", bad).CombinedOutput(); err == nil || !strings.Contains(string(text), want) {
			t.Errorf("%v, %s", err, text)
		}
		d.Labels = nil
	}
}
