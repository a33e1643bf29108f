package main

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// unbiased is what commit 81499b3 wrote, before a bias and the ranges of first weights were
// options: config.json and checkpoint of the first command, metrics.csv of both.
//
//	saga train --data karate --model gcn --hidden 4 --epochs 6 --lr 0.2 --out run
//	saga train --resume run --epochs 12
const unbiased = "testdata/unbiased"

// TestUnbiased: such a run goes on, its settings begin the same run again, and its checkpoint
// can be evaluated: all of it without a bias.
func TestUnbiased(t *testing.T) {
	dir := t.TempDir()
	resumed, again := filepath.Join(dir, "resumed"), filepath.Join(dir, "again")
	if err := os.CopyFS(resumed, os.DirFS(unbiased)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"train", "--resume", resumed, "--epochs", "12"},
		{"train", "--config", unbiased, "--epochs", "12", "--out", again},
		{"evaluate", unbiased},
	} {
		if status, text := sagaCommand(t, args...); status != exitOK {
			t.Errorf("%v: %s", args, text)
		}
	}
	want := readTable(t, filepath.Join(unbiased, "metrics.csv"))
	for _, run := range []string{resumed, again} {
		got := readTable(t, filepath.Join(run, "metrics.csv"))
		if len(got) != len(want) {
			t.Errorf("%s: %d lines, want %d", run, len(got), len(want))
			continue
		}
		for i := 1; i < len(want); i++ {
			for k := range 5 { // epoch, loss and three scores
				a, _ := strconv.ParseFloat(got[i][k], 64)
				b, err := strconv.ParseFloat(want[i][k], 64)
				if err != nil || math.Abs(a-b) > 1e-5*(1+math.Abs(b)) {
					t.Errorf("%s: line %d, column %d is %s, want %s", run, i, k, got[i][k], want[i][k])
				}
			}
		}
	}
}
