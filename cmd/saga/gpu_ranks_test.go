package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/device"
	"sagann/internal/draw"
	"sagann/internal/runfolder"
)

// twoOf names two devices of GPUs: two GPUs, or, where there is one, the same one twice. It skips the test where there is none.
func twoOf(t *testing.T) (spec string, cards int) {
	t.Helper()
	s, err := device.CUDASystem()
	if err != nil {
		t.Skipf("GPUs: %v", err)
	}
	if s.GPUs() == 1 {
		return "cuda:0,0", 1
	}
	return "cuda:0,1", 2
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
// NCCL over sockets, and without NCCL, resident and streamed. In make soak an epoch from GPU to GPU takes at most 15 % more. Where there is
// one GPU the ranks share it, which NCCL takes for two of two hosts. SAGANN_NCCL names the library.
func TestTwoGPURanks(t *testing.T) {
	spec, cards := twoOf(t)
	library := cmp.Or(os.Getenv("SAGANN_NCCL"), "libnccl.so.2")
	_, none := device.OpenNCCL(library)
	t.Setenv("NCCL_NVLS_ENABLE", "0") // multicast over NVLink stays off
	cases := []struct {
		name, nccl string
		env        []string
		most       float64 // times one's epoch; 0: it is not asked for
	}{
		{"nccl", library, nil, 1.15},
		{"sockets", library, []string{"NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"}, 0},
		{"off", "off", nil, 0},
	}
	memory, epochs := []string{"", "--mem 1500MiB"}, "20"
	if cards == 1 {
		cases, memory, epochs = cases[1:], []string{"--mem 12GiB", "--mem 1500MiB"}, "7"
	}
	for i, how := range memory {
		dir := t.TempDir()
		args := func(to string) []string {
			list := []string{"--data", "synthetic:vertices=1M,edges=20M,features=128,classes=16,seed=1", "--model", "ggcn", "--hidden", "128",
				"--device", spec, "--chunks", "8", "--epochs", epochs, "--out", filepath.Join(dir, to)}
			return append(list, strings.Fields(how)...)
		}
		if out, err := command(t, append([]string{"train"}, args("one")...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		one := epochSeconds(t, filepath.Join(dir, "one"))
		t.Logf("%q: one process %.1f ms an epoch", how, 1e3*one)
		for _, c := range cases {
			t.Run(c.name+strings.ReplaceAll(how, " ", ""), func(t *testing.T) {
				if none != nil && c.nccl != "off" {
					t.Skipf("SAGANN_NCCL: %v", none)
				}
				for _, name := range c.env {
					t.Setenv(name, "1")
				}
				rank := 0
				apart := func(cmd *exec.Cmd) *exec.Cmd {
					if rank++; cards == 1 {
						cmd.Env = append(os.Environ(), fmt.Sprint("NCCL_HOSTID=", rank))
					}
					return cmd
				}
				startPeersBy(t, 2, apart, append(args(c.name), "--nccl", c.nccl)...).wait(t)
				if !bytes.Equal(checkpointOf(t, filepath.Join(dir, "one")), checkpointOf(t, filepath.Join(dir, c.name))) {
					t.Error("another checkpoint than that of one process")
				}
				took := epochSeconds(t, filepath.Join(dir, c.name))
				t.Logf("%.1f ms an epoch, %.2f times that of one process", 1e3*took, took/one)
				if draw.Soak() && c.most > 0 && i == 0 && took > c.most*one {
					t.Errorf("an epoch takes %.2f times that of one process, at most %.2f", took/one, c.most)
				}
			})
		}
	}
}
