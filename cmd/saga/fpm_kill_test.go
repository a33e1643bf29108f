package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sagann/internal/draw"
)

// TestFpmKilled: a search that is killed or interrupted at random moments, and goes on from its folder, writes the same bytes; until all
// of them are written there is no file, and without a folder nothing is left.
func TestFpmKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("kills processes")
	}
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	moments := 3
	if draw.Soak() {
		moments = 20
	}
	for _, more := range []string{"--support 150", "--support 150 --induced --vertices 3", "--support 900 --by instances --engine tables", "--support 900 --by instances"} {
		dir := t.TempDir()
		args := strings.Fields("mine fpm --threads 2 --data synthetic:vertices=2000,edges=2e4,kind=rmat,features=1,classes=8 --undirected " + more)
		if !strings.Contains(more, "--vertices") {
			args = append(args, "--edges", "3")
		}
		whole, out, kept := filepath.Join(dir, "whole.csv"), filepath.Join(dir, "out.csv"), filepath.Join(dir, "kept")
		start := time.Now()
		if text, err := command(t, append(args, "--out", whole)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", more, err, text)
		}
		took := time.Since(start)
		want, err := os.ReadFile(whole)
		if err != nil {
			t.Fatal(err)
		}
		for i := range moments {
			run := append(args, "--out", out)
			if i > 0 { // the first has no folder
				run = append(run, "--resume", kept)
			}
			c := command(t, run...)
			var log bytes.Buffer
			c.Stdout, c.Stderr = &log, &log
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(d.Int64N(int64(took))))
			signal := []os.Signal{os.Interrupt, os.Kill, syscall.SIGTERM}[i%3]
			if err := c.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
			ended := c.Wait() == nil
			if got, err := os.ReadFile(out); ended || err == nil { // the signal may come when all is written and the process has not ended
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%s: %v, other bytes\n%s", more, err, &log)
				}
				os.Remove(out)
			}
			if left, err := filepath.Glob(out + "*"); signal != os.Kill && (err != nil || len(left) > 0) {
				t.Errorf("%s: %v left, %v\n%s", more, left, err, &log)
			}
		}
		if text, err := command(t, append(args, "--out", out, "--resume", kept)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", more, err, text)
		}
		if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, other bytes after going on", more, err)
		}
	}
}

// TestMPIFpm: 2 and 3 ranks over MPI write what one process writes, and go on from sizes that another number of ranks has kept.
func TestMPIFpm(t *testing.T) {
	t.Parallel()
	mpirun(t, 1) // or skip
	dir := t.TempDir()
	args := strings.Fields("mine fpm --data " + mpiData + " --undirected --support 150 --edges 3 --threads 1")
	read := func(name string) []byte {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if text, err := command(t, append(args, "--out", filepath.Join(dir, "one.csv"))...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	kept := filepath.Join(dir, "kept")
	for i, ranks := range []int{2, 3} {
		out := []string{"two.csv", "three.csv"}[i]
		text, err := mpirun(t, ranks, append(args, "--out", filepath.Join(dir, out), "--resume", kept)...).CombinedOutput()
		if err != nil || !bytes.Equal(read(out), read("one.csv")) || !strings.Contains(string(text), "bytes") {
			t.Errorf("%d ranks: %v, other bytes\n%s", ranks, err, text)
		}
		if err := os.Remove(filepath.Join(kept, "size-03.txt")); err != nil {
			t.Error(err)
		}
	}
}
