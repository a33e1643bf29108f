package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// TestSampledHostMemory: a process that trains on samples and evaluates on the whole graph has at most this in memory: what one has that stops
// when the data are loaded and batches were drawn to plan; --mem, which a CPU has in host memory; --host-mem; and 16 MiB, for 16 bytes
// an edge while cells are built and for goroutines. Without --host-mem it has more.
func TestSampledHostMemory(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("trains three times")
	}
	dir := t.TempDir()
	store := filepath.Join(dir, "graph.saga")
	run := func(works bool, args ...string) (peak int64, out string) {
		t.Helper()
		c, most := measured(t, command(t, args...))
		text, err := c.CombinedOutput()
		if _, failed := err.(*exec.ExitError); failed == works {
			t.Fatalf("%v: %v\n%s", args, err, text)
		}
		return most(), string(text)
	}
	run(true, "data", "generate", "--out", store, "vertices=30000,edges=300K,features=384,classes=4,seed=1")
	const mem, fixed = 40 << 20, 16 << 20
	train := func(works bool, host, name string) (int64, string) {
		return run(works, "train", "--data", store, "--model", "sage", "--hidden", "16", "--sample", "10,5", "--batch", "256", "--epochs", "1",
			"--mem", fmt.Sprint(mem), "--host-mem", host, "--scratch", dir, "--out", filepath.Join(dir, name))
	}
	loaded, text := train(false, "1KiB", "none")
	m := regexp.MustCompile(`smallest budget that would do is .* \((\d+) bytes\)`).FindStringSubmatch(text)
	if m == nil {
		t.Fatal(text)
	}
	smallest, _ := strconv.ParseInt(m[1], 10, 64)
	for _, host := range []int64{smallest, smallest * 3 / 2} {
		peak, _ := train(true, fmt.Sprint(host), fmt.Sprint(host))
		t.Logf("%d MiB with --host-mem %d MiB; at most %d, of which %d to load", peak>>20, host>>20, (loaded+mem+host+fixed)>>20, loaded>>20)
		if peak > loaded+mem+host+fixed {
			t.Errorf("--host-mem %d: %d MiB, at most %d", host, peak>>20, (loaded+mem+host+fixed)>>20)
		}
	}
	if peak, _ := train(true, "auto", "free"); peak <= loaded+mem+smallest+fixed {
		t.Errorf("without a bound %d MiB are within %d: the test shows nothing", peak>>20, (loaded+mem+smallest+fixed)>>20)
	} else {
		t.Logf("%d MiB without a bound", peak>>20)
	}
}
