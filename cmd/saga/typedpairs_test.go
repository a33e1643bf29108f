package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sagann/dataset/npy"
)

// TestTypedPairs: the probabilities of new pairs of a relation are those of the products of the rows that embed writes for both types.
func TestTypedPairs(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	output(t, "data", "generate", "user=20x4,item=31x3,user:buys:item=150,reverse=yes", "--out", at("g.saga"))
	output(t, "train", "--data", at("g.saga"), "--task", "link", "--relation", "buys", "--model", "sage", "--hidden", "8", "--lr", "0.05", "--epochs", "10", "--out", at("run"))
	output(t, "embed", at("run"), "--out", at("user.npy"))
	output(t, "embed", at("run"), "--type", "item", "--out", at("item.npy"))
	rows := [2][]float32{}
	for i, name := range []string{"user.npy", "item.npy"} {
		a, err := npy.Read(at(name))
		if err != nil {
			t.Fatal(err)
		}
		if rows[i], err = a.Float32s(); err != nil || a.Shape[1] != 8 {
			t.Fatal(a.Shape, err)
		}
	}
	var text strings.Builder
	var want []float64
	for k := range 60 {
		u, v := k*7%20, k*11%31
		fmt.Fprintf(&text, "%d,%d\n", u, v)
		s := 0.0
		for c := range 8 {
			s += float64(rows[0][u*8+c]) * float64(rows[1][v*8+c])
		}
		want = append(want, 1/(1+math.Exp(-s)))
	}
	if err := os.WriteFile(at("pairs.csv"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	output(t, "predict", at("run"), "--pairs", at("pairs.csv"), "--out", at("p.npy"))
	a, err := npy.Read(at("p.npy"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Float32s()
	if err != nil || len(got) != len(want) {
		t.Fatal(len(got), err)
	}
	for k, x := range got {
		if math.Abs(float64(x)-want[k]) > 1e-5 {
			t.Fatalf("pair %d: %v, by rows %v", k, x, want[k])
		}
	}
}
