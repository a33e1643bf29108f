package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// typedArrays are a graph of 12 papers and 8 authors as arrays; loose adds a paper and an author whose only edges are one of writes
// and one of cites between them, in place of the edges of relations that are to be empty.
func typedArrays(loose, empty bool) map[string][]float32 {
	papers, authors := 12, 8
	if loose || empty {
		papers, authors = 13, 9
	}
	a := map[string][]float32{}
	for v := range papers {
		a["paper.x"] = append(a["paper.x"], float32(v%3), float32(v%5)+.5)
		a["paper.y"] = append(a["paper.y"], float32(v%3))
	}
	for v := range authors {
		a["author.x"] = append(a["author.x"], float32(v%4)+1, 1, float32(v%7))
	}
	ends := func(name string, n int, src, dst func(k int) int) {
		for k := range n {
			a[name] = append(a[name], float32(src(k)), float32(dst(k)))
		}
	}
	back := func(k int) int { return k * 5 % 12 }
	if loose {
		ends("author__writes__paper.edge_index", 1, func(int) int { return 8 }, func(int) int { return 12 })
		ends("paper__cites__paper.edge_index", 1, func(int) int { return 12 }, func(int) int { return 12 })
	} else if !empty {
		ends("author__writes__paper.edge_index", 30, func(k int) int { return k * 7 % 8 }, func(k int) int { return k * 11 % 12 })
		ends("paper__cites__paper.edge_index", 20, func(k int) int { return k * 7 % 12 }, back)
	} else {
		a["author__writes__paper.edge_index"], a["paper__cites__paper.edge_index"] = []float32{}, []float32{}
	}
	ends("paper__rev_writes__author.edge_index", 25, back, func(k int) int { return k * 3 % 8 })
	return a
}

// TestTypesApplied: a run over several types predicts for the type that it was trained on, whatever has labels; features of all types are
// prepared as in training; and a relation without edges still has its weights of the vertices themselves, its biases and loops: as one
// whose only edge is elsewhere.
func TestTypesApplied(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, arrays map[string][]float32) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
		for array, x := range arrays {
			cols := map[string]int{"paper.x": 2, "author.x": 3, "paper.y": 1, "author.y": 1}[array]
			if cols == 0 { // edges
				cols = 2
			}
			writeArray(t, filepath.Join(dir, name), array, "<f4", fmt.Sprintf("(%d, %d)", len(x)/cols, cols), x)
		}
	}
	graph := typedArrays(false, false)
	write("graph", graph)
	other := maps.Clone(graph) // authors have labels in place of papers
	delete(other, "paper.y")
	write("bare", other)
	other = maps.Clone(other)
	other["author.y"] = []float32{0, 1, 0, 1, 0, 1, 0, 1}
	write("authors", other)
	normal := maps.Clone(graph)
	for array, width := range map[string]int{"paper.x": 2, "author.x": 3} {
		normal[array] = nil
		for i := 0; i < len(graph[array]); i += width {
			row, sum := graph[array][i:i+width], float32(0)
			for _, x := range row {
				sum += x
			}
			for _, x := range row {
				normal[array] = append(normal[array], x/sum)
			}
		}
	}
	write("normal", normal)
	write("empty", typedArrays(false, true))
	write("loose", typedArrays(true, false))
	run := func(line string) {
		t.Helper()
		c := command(t, strings.Fields(line)...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("saga %s: %v: %s", line, err, out)
		}
	}
	predicted := func(name, data string) (logits []float64) {
		t.Helper()
		out := name + data + ".csv"
		run("predict " + name + " --data " + data + " --write logits --out " + out)
		b, err := os.ReadFile(filepath.Join(dir, out))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Fields(string(b))[1:] {
			for _, text := range strings.Split(line, ",") {
				x, err := strconv.ParseFloat(text, 64)
				if err != nil {
					t.Fatal(err)
				}
				logits = append(logits, x)
			}
		}
		return logits
	}
	for i, x := range []struct{ flags, first, second string }{
		{"--model sage", "graph", "bare"},
		{"--model sage", "graph", "authors"},
		{"--model sage", "empty", "loose"},
		{"--model gcn", "empty", "loose"},
		{"--model rgcn --features identity", "graph", "bare"},
		{"--model rgcn --row-normalize on", "graph", "normal"},
	} {
		name := fmt.Sprint("run", i)
		run("train --data graph --epochs 2 --hidden 4 --out " + name + " " + x.flags)
		a, b := predicted(name, x.first), predicted(name, x.second)
		if len(a) != len(b) || len(a) < 4*12 {
			t.Fatalf("%s: %d and %d numbers", x.flags, len(a), len(b))
		}
		for k := range 4 * 12 {
			if math.Abs(a[k]-b[k]) > 1e-5 {
				t.Errorf("%s: predictions for %s and %s differ: %v and %v", x.flags, x.first, x.second, a, b)
				break
			}
		}
	}
}
