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

// TestTwoGPURanksShards: batches over shards on two ranks with a GPU each, which the hosts draw, are trained to the parameters of one process over
// the same shards, evaluated by sampling and exactly.
func TestTwoGPURanksShards(t *testing.T) {
	spec, cards := twoOf(t)
	dir := t.TempDir()
	store, shards := filepath.Join(dir, "graph.saga"), filepath.Join(dir, "shards")
	for _, args := range [][]string{
		{"data", "generate", "--out", store, "vertices=200000,edges=4M,features=64,classes=8,seed=1"},
		{"data", "shard", "--data", store, "--owners", "2", "--out", shards},
	} {
		if out, err := command(t, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	for i, how := range []string{"--eval-sample 10,5", "", "--host-mem 1GiB"} {
		args := func(ranks int) []string {
			list := []string{"--data", shards, "--model", "sage", "--sample", "10,5", "--batch", "1000", "--accumulate", "2", "--device", spec, "--mem", "4GiB", "--nccl", "off",
				"--epochs", "3", "--out", filepath.Join(dir, fmt.Sprint(i, ranks))}
			return append(list, strings.Fields(how)...)
		}
		if out, err := command(t, append([]string{"train"}, args(1)...)...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", how, err, out)
		}
		startPeers(t, 2, args(2)...).wait(t)
		if !bytes.Equal(checkpointOf(t, filepath.Join(dir, fmt.Sprint(i, 1))), checkpointOf(t, filepath.Join(dir, fmt.Sprint(i, 2)))) {
			t.Errorf("%q: another checkpoint than that of one process", how)
		}
		var times [3]float64
		for n := 1; n <= 2; n++ {
			list, err := runfolder.ReadMetrics(filepath.Join(dir, fmt.Sprint(i, n)))
			if err != nil {
				t.Fatal(err)
			}
			times[n] = list[len(list)-1].Seconds
		}
		t.Logf("%q on %d GPUs: the last epoch takes %.0f ms in one process, %.0f ms on two ranks", how, cards, 1e3*times[1], 1e3*times[2])
	}
}
