package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestShardsMemory: of four ranks over shards each takes at most a quarter of the memory of one process, but for numbers a vertex, and a
// tenth more and 16 bytes a vertex, while it loads, too; writing the shards takes 16 bytes a vertex and 256 MiB at most.
func TestShardsMemory(t *testing.T) {
	t.Parallel()
	const vertices, data = 60_000, "vertices=60000,edges=600K,features=384,classes=4,seed=1"
	dir := t.TempDir()
	store, shards := filepath.Join(dir, "graph.saga"), filepath.Join(dir, "shards")
	run := func(args ...string) int64 {
		t.Helper()
		c, most := measured(t, command(t, args...))
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return most()
	}
	run("data", "generate", "--out", store, data)
	sharding := run("data", "shard", "--data", store, "--owners", "4", "--out", shards)
	train := []string{"--model", "sage", "--owners", "4", "--epochs", "2", "--data"}
	one := run(append(append([]string{"train", "--chunks", "4", "--without", "invariant", "--out", filepath.Join(dir, "one")}, train...), store)...)
	var peaks []func() int64
	p := startPeersBy(t, 4, func(c *exec.Cmd) *exec.Cmd {
		c, most := measured(t, c)
		peaks = append(peaks, most)
		return c
	}, append(append([]string{"--out", filepath.Join(dir, "four")}, train...), shards)...)
	p.wait(t)
	if limit := int64(16*vertices + 256<<20); sharding > limit {
		t.Errorf("sharding takes %d MiB, at most %d", sharding>>20, limit>>20)
	}
	const perVertex = 32 // order, degrees, labels, splits
	limit := (one-perVertex*vertices)/4*11/10 + 16*vertices
	for r, most := range peaks {
		peak := most()
		t.Logf("rank %d takes %d MiB, one process %d, sharding %d", r, peak>>20, one>>20, sharding>>20)
		if peak > limit {
			t.Errorf("rank %d takes %d MiB, at most %d; one process takes %d", r, peak>>20, limit>>20, one>>20)
		}
	}
}
