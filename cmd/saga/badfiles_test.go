package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBadFiles gives the commands files that are cut, and tables that are wrong: each ends with
// status 1, names the file, and writes nothing. TestBadInput in package dataset has the places.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	made := "../../dataset/testdata/formats"
	bad := map[string]string{
		"list.txt": "0 1\n1 x\n", "list.csv": "0,1\n1\n", "graph.mtx": "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n",
		"graph.mat": "MATLAB 5.0 MAT-file", "graph.saga": "sagann", "none.npz": "", "none.pt": "", "none.saga": "", "text.npz": "no archive", "odd.parquet": "PAR1",
	}
	list, err := filepath.Glob(made + "/*.*")
	if err != nil || len(list) == 0 {
		t.Fatal(err)
	}
	for _, path := range list {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if ext := filepath.Ext(path); ext == ".npz" || ext == ".pt" {
			base := filepath.Base(path)
			bad["third-"+base], bad["half-"+base], bad["short-"+base] = string(text[:len(text)/3]), string(text[:len(text)/2]), string(text[:len(text)-1])
		}
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for _, d := range []string{in, out} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(name string, args ...string) {
		t.Helper()
		status, text := sagaCommand(t, args...)
		if status != exitFailure || !strings.Contains(text, name) {
			t.Errorf("%v: status %d\n%s", args, status, text)
		}
		left, err := os.ReadDir(out)
		if err != nil || len(left) > 0 {
			t.Fatalf("%v: %v is left, %v", args, left, err)
		}
	}
	for name, text := range bad {
		path := filepath.Join(in, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		refused(name, "data", "convert", path, "--out", filepath.Join(out, "graph.saga"))
		refused(name, "train", "--data", path, "--out", filepath.Join(out, "run"))
	}
	t.Logf("%d files", len(bad))

	for name, text := range map[string]string{
		"empty.csv": "", "heading.csv": "source,target\n", "short.csv": "source,target\n1,2\n3\n", "quote.csv": "source,target\n\"1,2\n",
		"weight.csv": "source,target,weight\n1,2,x\n", "id.csv": "source,target\n1,\n",
	} {
		path := filepath.Join(in, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		refused(name, "data", "convert", "--edges", path, "--out", filepath.Join(out, "graph.saga"))
	}
}
