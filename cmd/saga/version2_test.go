package main

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sagann/internal/testdata"
)

// version2 has a store and two runs that commit 5898ada7 has written, before stores and checkpoints had a schema, with what
// it predicted. The edges have relations eats and sees, the classes names.
//
//	saga data convert --edges e.csv --vertices v.csv --edge-type rel --features x,y --label kind --out graph.saga
//	saga train --data graph.saga --model ggnn --hidden 4 --steps 1 --epochs 15 --lr 0.05 --out run
//	saga train --data graph.saga --model gcn --hidden 4 --features embedding:3 --epochs 15 --lr 0.05 --out rows
//	saga predict run --write logits --out logits.csv
const version2 = "testdata/version2"

// TestVersion2 applies runs of before to a store of before: predictions are the same, evaluation knows the names of classes, and it is
// said that names are not known. Training goes on to the loss that the older program reached.
func TestVersion2(t *testing.T) {
	store := testdata.Unpacked(t, filepath.Join(version2, "graph.saga"))
	for from, want := range map[string]string{"run": "logits.csv", "rows": "rows.csv"} {
		out := filepath.Join(t.TempDir(), want)
		status, text := sagaCommand(t, "predict", filepath.Join(version2, from), "--data", store, "--write", "logits", "--out", out)
		if says := "is of a version that kept no names of classes, relations, columns and vertices"; status != exitOK || !strings.Contains(text, says) {
			t.Errorf("%s: %s, want %q", from, text, says)
			continue
		}
		sameTable(t, out, filepath.Join(version2, want))
	}
	if status, text := sagaCommand(t, "evaluate", filepath.Join(version2, "run"), "--data", store, "--on", "all", "--json"); status != exitOK ||
		!strings.Contains(text, `"loss":0.26722`) || !strings.Contains(text, `"accuracy":0.91666`) || !strings.Contains(text, `"name":"bee"`) {
		t.Errorf("evaluate: %s", text)
	}
	dir := runOf(t, filepath.Join(version2, "run"), store)
	if status, text := sagaCommand(t, "train", "--resume", dir, "--epochs", "20"); status != exitOK {
		t.Fatalf("resume: %s", text)
	}
	lines := readTable(t, filepath.Join(dir, "metrics.csv"))
	if loss, err := strconv.ParseFloat(lines[len(lines)-1][1], 64); err != nil || len(lines) != 21 || math.Abs(loss-0.015368097461760044) > 1e-6 {
		t.Errorf("%d epochs, the last loss %v", len(lines)-1, loss)
	}
	// From now on the run knows names.
	if status, text := sagaCommand(t, "evaluate", dir, "--on", "all"); status != exitOK || strings.Contains(text, "kept no names") {
		t.Errorf("evaluate after going on: %s", text)
	}
}

// sameTable compares a table with that of a file, but for rounding.
func sameTable(t *testing.T, path, want string) {
	t.Helper()
	a, b := readTable(t, path), readTable(t, want)
	for i := range b {
		for k := range b[i] {
			x, errX := strconv.ParseFloat(a[i][k], 64)
			y, errY := strconv.ParseFloat(b[i][k], 64)
			if errX != nil && a[i][k] != b[i][k] || errX == nil && (errY != nil || math.Abs(x-y) > 1e-5*(1+math.Abs(y))) {
				t.Errorf("%s: row %d, column %d is %s, want %s", want, i, k, a[i][k], b[i][k])
			}
		}
	}
}

// runOf copies a run that was made of /data/graph.saga, as one of store.
func runOf(t *testing.T, from, store string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	config = []byte(strings.ReplaceAll(string(config), "/data/graph.saga", store))
	if err := os.WriteFile(filepath.Join(dir, "config.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// typed2 has a store of two types of vertices and three relations, and runs that commit 96376362 has written, which had activations in
// each relation, with what it predicted by rgcn, whose layers sum the messages first:
//
//	saga train --data graph.saga --model sage --hidden 4 --epochs 10 --lr 0.05 --out sage
//	saga train --data graph.saga --model rgcn --hidden 4 --epochs 10 --lr 0.05 --out rgcn
//	saga predict rgcn --write logits --out logits.csv
const typed2 = "testdata/typed2"

// TestTyped2: a run whose layers meant something else is refused wherever its weights are read, by name; another predicts as before.
func TestTyped2(t *testing.T) {
	store := testdata.Unpacked(t, filepath.Join(typed2, "graph.saga"))
	out := filepath.Join(t.TempDir(), "logits.csv")
	if status, text := sagaCommand(t, "predict", filepath.Join(typed2, "rgcn"), "--data", store, "--write", "logits", "--out", out); status != exitOK {
		t.Fatal(text)
	}
	sameTable(t, out, filepath.Join(typed2, "logits.csv"))
	dir := runOf(t, filepath.Join(typed2, "sage"), store)
	for _, command := range [][]string{{"predict", dir, "--data", store, "--out", out + "2.csv"}, {"embed", dir, "--data", store, "--out", out + ".npy"}, {"evaluate", dir, "--data", store}, {"train", "--resume", dir, "--epochs", "12"},
		{"train", "--data", store, "--model", "sage", "--hidden", "4", "--from", dir, "--out", dir + "2"}, {"export", dir, "--pyg", out + ".pt"}} {
		status, text := sagaCommand(t, command...)
		if says := "applied activation, norm and residual of sage in each relation"; status == exitOK || !strings.Contains(text, says) {
			t.Errorf("%s: status %d, %s, want %q", command[0], status, text, says)
		}
	}
}

// TestResumeOtherData: a run does not go on when the splits have changed, or the names of classes.
func TestResumeOtherData(t *testing.T) {
	dir := t.TempDir()
	edges, split, kinds := "source,target\n", []string{"train", "train", "val", "test"}, []string{"a", "b"}
	for v := range 24 {
		edges += strconv.Itoa(v) + "," + strconv.Itoa((v*7+1)%24) + "\n"
	}
	write := func(names []string, swap bool) {
		vertices := "id,x,kind,split\n"
		for v := range 24 {
			part := split[v%4]
			if swap && v == 2 {
				part = "test"
			}
			if swap && v == 3 {
				part = "val"
			}
			vertices += strconv.Itoa(v) + "," + strconv.Itoa(v%5) + "," + names[v/2%2] + "," + part + "\n"
		}
		for name, text := range map[string]string{"e.csv": edges, "v.csv": vertices} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		os.Remove(filepath.Join(dir, "g.saga"))
		if status, text := sagaCommand(t, "data", "convert", "--edges", filepath.Join(dir, "e.csv"), "--vertices", filepath.Join(dir, "v.csv"), "--features", "x", "--label", "kind", "--out", filepath.Join(dir, "g.saga")); status != exitOK {
			t.Fatal(text)
		}
	}
	run := filepath.Join(dir, "run")
	write(kinds, false)
	if status, text := sagaCommand(t, "train", "--data", filepath.Join(dir, "g.saga"), "--model", "gcn", "--hidden", "4", "--epochs", "3", "--out", run); status != exitOK {
		t.Fatal(text)
	}
	for _, x := range []struct {
		names []string
		swap  bool
		want  string
	}{
		{kinds, true, "another validation and test split than when the run in"},
		{[]string{"a", "c"}, false, "the classes of vertices are a, c and were a, b"},
		{kinds, false, ""},
	} {
		write(x.names, x.swap)
		status, text := sagaCommand(t, "train", "--resume", run, "--epochs", "5")
		if (status == exitOK) != (x.want == "") || !strings.Contains(text, x.want) {
			t.Errorf("%v, %v: status %d, %s, want %q", x.names, x.swap, status, text, x.want)
		}
	}
}
