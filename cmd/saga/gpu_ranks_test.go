package main

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/device"
	"sagann/internal/draw"
	"sagann/internal/runfolder"
)

// twoGPUs skips a test where there are no two GPUs.
func twoGPUs(t *testing.T) {
	t.Helper()
	s, err := device.CUDASystem()
	if err != nil {
		t.Skipf("two GPUs: %v", err)
	}
	if s.GPUs() < 2 {
		t.Skipf("two GPUs: there are %d", s.GPUs())
	}
}

// epochSeconds is the median time of an epoch of a run, the first three apart.
func epochSeconds(t *testing.T, dir string) float64 {
	t.Helper()
	list, err := runfolder.ReadMetrics(dir)
	if err != nil {
		t.Fatal(err)
	}
	var times []float64
	for _, e := range list[3:] {
		times = append(times, e.Seconds)
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// TestTwoGPURanks: two ranks, each with a GPU of this host, write the checkpoint of one process with both: by NCCL from GPU to GPU, by
// NCCL over sockets, and without NCCL, resident and streamed. In make soak an epoch from GPU to GPU takes at most 15 % more. SAGANN_NCCL names the
// library.
func TestTwoGPURanks(t *testing.T) {
	twoGPUs(t)
	library := cmp.Or(os.Getenv("SAGANN_NCCL"), "libnccl.so.2")
	_, none := device.OpenNCCL(library)
	t.Setenv("NCCL_NVLS_ENABLE", "0") // multicast over NVLink stays off
	for _, how := range []string{"", "--mem 1500MiB"} {
		dir := t.TempDir()
		args := func(to string) []string {
			list := []string{"--data", "synthetic:vertices=1M,edges=20M,features=128,classes=16,seed=1", "--model", "ggcn", "--hidden", "128",
				"--device", "cuda:0,1", "--chunks", "8", "--epochs", "20", "--out", filepath.Join(dir, to)}
			return append(list, strings.Fields(how)...)
		}
		if out, err := command(t, append([]string{"train"}, args("one")...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		one := epochSeconds(t, filepath.Join(dir, "one"))
		t.Logf("%q: one process %.1f ms an epoch", how, 1e3*one)
		for _, c := range []struct {
			name, nccl string
			env        []string
			most       float64 // times one's epoch; 0: it is not asked for
		}{
			{"nccl", library, nil, 1.15},
			{"sockets", library, []string{"NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"}, 0},
			{"off", "off", nil, 0},
		} {
			t.Run(c.name+strings.ReplaceAll(how, " ", ""), func(t *testing.T) {
				if none != nil && c.nccl != "off" {
					t.Skipf("SAGANN_NCCL: %v", none)
				}
				for _, name := range c.env {
					t.Setenv(name, "1")
				}
				startPeers(t, 2, append(args(c.name), "--nccl", c.nccl)...).wait(t)
				if !bytes.Equal(checkpointOf(t, filepath.Join(dir, "one")), checkpointOf(t, filepath.Join(dir, c.name))) {
					t.Error("another checkpoint than that of one process")
				}
				took := epochSeconds(t, filepath.Join(dir, c.name))
				t.Logf("%.1f ms an epoch, %.2f times that of one process", 1e3*took, took/one)
				if draw.Soak() && c.most > 0 && how == "" && took > c.most*one {
					t.Errorf("an epoch takes %.2f times that of one process, at most %.2f", took/one, c.most)
				}
			})
		}
	}
}
