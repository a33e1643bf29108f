package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sagann/chunk"
	"sagann/internal/draw"
)

// smallMachine is a control group whose processes, with the files that the system keeps in memory for them, take at most so many bytes; a test
// is skipped where none can be made.
func smallMachine(t *testing.T, bytes int64) (dir string) {
	t.Helper()
	dir, limit := "/sys/fs/cgroup/memory/saga-test", "memory.limit_in_bytes"
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		dir, limit = "/sys/fs/cgroup/saga-test", "memory.max"
	}
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		t.Cleanup(func() { _ = syscall.Rmdir(dir) })
		err = os.WriteFile(filepath.Join(dir, limit), []byte(strconv.FormatInt(bytes, 10)), 0o644)
	}
	if err != nil {
		t.Skipf("a machine of little memory: no control group can be made here: %v", err)
	}
	return dir
}

// inGroup has c run in a control group.
func inGroup(dir string, c *exec.Cmd) *exec.Cmd {
	c.Args = append([]string{"bash", "-c", "echo $$ >" + filepath.Join(dir, "cgroup.procs") + ` && exe=$1 && shift && exec -a saga "$exe" "$@"`, "bash", c.Path}, c.Args[1:]...)
	c.Path = "/bin/bash"
	return c
}

// TestLargerThanMemory: a store of 3.2 GB is written as shards and trained on by four ranks, with host memory in files, all together in 2 GiB.
func TestLargerThanMemory(t *testing.T) {
	if !draw.Soak() {
		t.Skip("a store of 3.2 GB: make soak writes one and trains on it")
	}
	machine, dir := smallMachine(t, 2<<30), t.TempDir()
	store, shards := filepath.Join(dir, "graph.saga"), filepath.Join(dir, "shards")
	writeLarge(t, store, 1_500_000, 12_000_000, 512)
	info, err := os.Stat(store)
	if err != nil || info.Size() < 3e9 {
		t.Fatalf("a store of %d bytes: %v", info.Size(), err)
	}
	out, err := inGroup(machine, command(t, "data", "shard", "--data", store, "--owners", "4", "--chunks", "32", "--out", shards)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Remove(store); err != nil {
		t.Fatal(err)
	}
	var peaks []func() int64
	p := startPeersBy(t, 4, func(c *exec.Cmd) *exec.Cmd {
		c, most := measured(t, c)
		peaks = append(peaks, most)
		return inGroup(machine, c)
	}, "--data", shards, "--model", "sage", "--hidden", "16", "--owners", "4", "--epochs", "1",
		"--mem", "120MiB", "--host-mem", "160MiB", "--scratch", dir, "--out", filepath.Join(dir, "run"))
	p.wait(t)
	for r, most := range peaks {
		t.Logf("rank %d: %d MiB", r, most()>>20)
	}
	lines := strings.Split(strings.TrimSpace(p.out[0].String()), "\n")
	t.Logf("a store of %d MiB in 2048:\n%s", info.Size()>>20, strings.Join(lines[max(0, len(lines)-12):], "\n"))
}

// writeLarge writes a graph of random edges and features, a piece at a time. The class of a vertex is seen in its features.
func writeLarge(t *testing.T, path string, vertices, edges, cols int) {
	t.Helper()
	const classes, piece = 4, 1 << 14
	r := rand.New(rand.NewPCG(1, 2))
	w, err := chunk.Create(path, chunk.Meta{Name: "large", V: vertices, FeatureCols: cols, Classes: classes, Memory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for left := edges; left > 0; left -= piece {
		e := &chunk.Edges{V: vertices}
		for range min(piece, left) {
			e.Src, e.Dst = append(e.Src, r.Uint32N(uint32(vertices))), append(e.Dst, r.Uint32N(uint32(vertices)))
		}
		if err := w.AppendEdges(e); err != nil {
			t.Fatal(err)
		}
	}
	labels := make([]int32, vertices)
	for lo := 0; lo < vertices; lo += piece {
		x := make([]float32, min(piece, vertices-lo)*cols)
		for i := range x {
			x[i] = r.Float32()
		}
		for v := lo; v < min(vertices, lo+piece); v++ {
			labels[v] = int32(r.IntN(classes))
			x[(v-lo)*cols+int(labels[v])] += 1
		}
		if err := w.AppendFeatures(x); err != nil {
			t.Fatal(err)
		}
	}
	w.SetLabels(labels)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
