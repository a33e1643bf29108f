package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
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
			d.Vertices.Names = append(d.Vertices.Names, "v"+string(rune('a'+v%26))+string(rune('a'+v/26)))
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
			if d.Vertices.Names != nil { // which a folder of arrays does not keep
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
		d.Vertices.IDs = append(d.Vertices.IDs, uint64(1000+7*v))
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
	for _, want := range []string{"left out  1 of class 7, of all vertices, which the run does not know", "has no labels of vertices to score with"} {
		d.Classes = 8
		bad := filepath.Join(t.TempDir(), "bad.saga")
		if err := dataset.WriteStore(bad, d, 1); err != nil {
			t.Fatal(err)
		}
		if text, err := command(t, "evaluate", run, "--data", bad).CombinedOutput(); (err == nil) != (d.Labels != nil) || !strings.Contains(string(text), want) {
			t.Errorf("%v, %s", err, text)
		}
		d.Labels = nil
	}
}

// TestStoreTrains: a store keeps labels, targets and splits of whatever stands on edges and graphs, so that it trains to
// the bits that the files it was made of train to.
func TestStoreTrains(t *testing.T) {
	for _, kind := range []string{"edge", "graph", "edge targets"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			d, task := labelled(t, strings.TrimSuffix(kind, " targets")), dataset.LabelKind(strings.TrimSuffix(kind, " targets"))
			if err := dataset.RandomSplitOf(d, task, 0.4, 0.3, 77); err != nil {
				t.Fatal(err)
			}
			if kind == "edge targets" {
				d.Targets.Edge.Cols = 1
				for i, k := range d.EdgeLabels {
					d.Targets.Edge.Rows = append(d.Targets.Edge.Rows, float32(k)+float32(i%7)/10)
				}
				d.EdgeLabels = nil
			}
			files, store := filepath.Join(dir, "files"), filepath.Join(dir, "g.saga")
			if err := dataset.WriteNpyFolder(files, d); err != nil {
				t.Fatal(err)
			}
			output(t, "data", "convert", files, "--base", "3", "--out", store)
			output(t, "data", "verify", store)
			if info := string(output(t, "data", "info", store)); !strings.Contains(info, string(task)+" train") {
				t.Errorf("info does not tell the splits of the %ss: %s", task, info)
			}
			var of [2]struct {
				said string
				rows []byte
			}
			for i, data := range []string{files, store} {
				run, rows := filepath.Join(dir, fmt.Sprint("run", i)), filepath.Join(dir, fmt.Sprint(i, ".npy"))
				var ended map[string]any
				if err := json.Unmarshal(output(t, "train", "--data", data, "--model", "gcn", "--hidden", "8", "--epochs", "12", "--json", "--out", run), &ended); err != nil {
					t.Fatal(err)
				}
				for name, x := range ended {
					if strings.Contains(name, "loss") || strings.HasPrefix(name, "test_") {
						of[i].said += fmt.Sprintln(name, x)
					}
				}
				lines := strings.Split(of[i].said, "\n")
				slices.Sort(lines)
				of[i].said = strings.Join(lines, "\n")
				output(t, "predict", run, "--write", "logits", "--out", rows)
				var err error
				if of[i].rows, err = os.ReadFile(rows); err != nil {
					t.Fatal(err)
				}
			}
			if of[0].said != of[1].said || !strings.Contains(of[0].said, "loss") || !bytes.Equal(of[0].rows, of[1].rows) {
				t.Errorf("files: %s\nstore: %s", of[0].said, of[1].said)
			}
		})
	}
}

// TestEvaluateOtherSplit: evaluate warns where the graph of training comes with another split, and only then.
func TestEvaluateOtherSplit(t *testing.T) {
	dir := t.TempDir()
	d := labelled(t, "vertex")
	stores := map[string]string{}
	write := func(name string) {
		stores[name] = filepath.Join(dir, name+".saga")
		if err := dataset.WriteStore(stores[name], d, 1); err != nil {
			t.Fatal(err)
		}
	}
	d.Report.Masks, d.Report.Changes = 10, []string{"a split was taken"}
	write("first")
	d.Name = "same"
	write("same")
	d.Train, d.Test, d.Report.Mask = d.Test, d.Train, 3
	write("third")
	d.Labels[0] = (d.Labels[0] + 1) % 3
	write("graph")
	run := filepath.Join(dir, "run")
	output(t, "train", "--data", stores["first"], "--model", "gcn", "--hidden", "8", "--epochs", "2", "--out", run)
	warning := "third.saga has the graph and labels of training but another split (number 3 of 10, from 0) than the model was trained on (number 0 of 10, from 0): " +
		"vertices of its test split may have been trained on"
	for name, path := range stores {
		text, err := command(t, "evaluate", run, "--data", path).CombinedOutput()
		if err != nil || strings.Contains(string(text), "another split") != (name == "third") || name == "third" && !strings.Contains(string(text), warning) {
			t.Errorf("%s: %v, %s", name, err, text)
		}
	}
	if text, err := command(t, "evaluate", run, "--data", stores["third"], "--on", "all").CombinedOutput(); err != nil || strings.Contains(string(text), "another split") {
		t.Errorf("all: %v, %s", err, text)
	}
	// The same graph in another order has a split of its own.
	write2 := func(name string, order []int) string {
		text := "id,f,label\n"
		for _, v := range order {
			text += fmt.Sprintf("n%d,%d,%d\n", v, v*v%7, v%3)
		}
		edges, table, out := filepath.Join(dir, "e.csv"), filepath.Join(dir, name+".csv"), filepath.Join(dir, name+".saga")
		for path, text := range map[string]string{edges: "source,target\nn0,n1\nn1,n2\nn2,n0\n", table: text} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		output(t, "data", "convert", "--edges", edges, "--vertices", table, "--features", "f", "--out", out)
		return out
	}
	straight := make([]int, 30)
	for v := range straight {
		straight[v] = v
	}
	one, copied := write2("one", straight), write2("copied", straight)
	slices.Reverse(straight)
	turned := write2("turned", straight)
	run = filepath.Join(dir, "run2")
	output(t, "train", "--data", one, "--model", "mlp", "--epochs", "2", "--out", run)
	for path, want := range map[string]bool{one: false, copied: false, turned: true} {
		text, err := command(t, "evaluate", run, "--data", path, "--on", "test").CombinedOutput()
		if err != nil || strings.Contains(string(text), "turned.saga is not the data of training, or has it in another order, and its split was drawn at random") != want {
			t.Errorf("%s: %v, %s", path, err, text)
		}
	}
	if info := string(output(t, "data", "info", stores["third"])); !strings.Contains(info, "number 3 of the file's 10") {
		t.Errorf("info: %s", info)
	}
}

// TestEvaluateOtherLinks: links of the training graph in another order, and of a part of it, get another split, which may have been trained
// on; the same graph in another file has that of training.
func TestEvaluateOtherLinks(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	d := labelled(t, "vertex")
	e := d.Edges
	for name, edges := range map[string]*chunk.Edges{"first": e, "same": e, "part": {V: e.V, Src: e.Src[1:], Dst: e.Dst[1:]},
		"order": {V: e.V, Src: slices.Concat(e.Src[1:], e.Src[:1]), Dst: slices.Concat(e.Dst[1:], e.Dst[:1])}} {
		d.Edges = edges
		if err := dataset.WriteStore(path(name+".saga"), d, 1); err != nil {
			t.Fatal(err)
		}
	}
	output(t, "train", "--data", path("first.saga"), "--task", "link", "--model", "gcn", "--hidden", "8", "--epochs", "2", "--out", path("run"))
	for _, name := range []string{"first", "same", "part", "order"} {
		text, err := command(t, "evaluate", path("run"), "--data", path(name+".saga")).CombinedOutput()
		if warned := strings.Contains(string(text), name+".saga is not the graph that the model was trained on"); err != nil || warned != (name == "part" || name == "order") {
			t.Errorf("%s: %v, %s", name, err, text)
		}
	}
}

// TestEvaluateDrawn: other data is scored on its test split, unless that split was drawn at random; a drawn split of vertices is none of
// the graphs.
func TestEvaluateDrawn(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	d := labelled(t, "graph")
	write := func(name string) {
		if err := dataset.WriteStore(path(name), d, 1); err != nil {
			t.Fatal(err)
		}
	}
	d.GraphSplit = dataset.Split{Train: []uint32{0, 1, 2, 3}, Val: []uint32{4}, Test: []uint32{5, 6, 7}}
	write("first.saga")
	d.Labels, d.Classes = make([]int32, d.Edges.V), 1
	if err := dataset.DefaultSplit(d, dataset.VertexLabels, 1); err != nil {
		t.Fatal(err)
	}
	write("vertices.saga")
	d.GraphSplit = dataset.Split{}
	if err := dataset.DefaultSplit(d, dataset.GraphLabels, 1); err != nil {
		t.Fatal(err)
	}
	write("graphs.saga")
	output(t, "train", "--data", path("first.saga"), "--model", "gcn", "--hidden", "8", "--epochs", "1", "--out", path("run"))
	for name, want := range map[string]scored{"vertices.saga": {On: "test", Rows: 3}, "graphs.saga": {On: "all", Rows: 40}} {
		var got scored
		if err := json.Unmarshal(output(t, "evaluate", path("run"), "--data", path(name), "--json"), &got); err != nil || got.On != want.On || got.Rows != want.Rows {
			t.Errorf("%s: %s of %d rows, want %s of %d, %v", name, got.On, got.Rows, want.On, want.Rows, err)
		}
	}
}
