package layers_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/saga"
)

// shardsOf writes d as shards for four devices and eight intervals, by way of a store whose grid is another.
func shardsOf(t *testing.T, d *dataset.Data, loops bool) string {
	t.Helper()
	dir := t.TempDir()
	store, out := filepath.Join(dir, "graph.saga"), filepath.Join(dir, "shards")
	if err := dataset.WriteStore(store, d, 3); err != nil {
		t.Fatal(err)
	}
	if _, _, err := dataset.WriteShards(dataset.Sharding{Conversion: dataset.Conversion{From: store, Out: out}, Owners: 4, Chunks: 8, SelfLoops: loops}); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRanksShards: ranks that have shards of a graph give the losses, scores and checkpoints of one process that has it
// all, to the bit, whatever the model, with the ring and without, resident, streamed, and with host memory in files.
func TestRanksShards(t *testing.T) {
	d := rankedData(t)
	path := filepath.Join(t.TempDir(), "checkpoint")
	dirs := map[bool]string{true: shardsOf(t, d, true), false: shardsOf(t, d, false)}
	for _, name := range []string{"gcn", "ggcn", "gat", "sage", "edgemlp"} {
		m := rankedModel(t, name)
		for _, c := range []saga.Config{{}, {NoRing: true}, {Stream: true}, {Stream: true, NoRing: true}, {Stream: true, HostMem: 1}} {
			c.Device, c.Chunks, c.Seed, c.Epochs, c.Without = "cpu:4", 8, 5, 2, []string{"invariant"}
			if c.HostMem > 0 {
				c.HostMem = leastHost(t, m, d, c)
			}
			what := fmt.Sprintf("%s, ring %v, streamed %v, host memory %d", name, !c.NoRing, c.Stream, c.HostMem)
			want, err := trainRanked(1, m, d, c, path, "")
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			c.Chunks, c.Without = 0, nil
			for _, n := range []int{1, 2, 4} {
				got, err := trainRankedOn(n, m, func(rank int) (*dataset.Data, error) { return dataset.OpenShards(dirs[m.SelfLoops], rank, n) }, c, path, "")
				switch {
				case err != nil:
					t.Errorf("%s, %d ranks: %v", what, n, err)
				case !slices.Equal(got.losses, want.losses):
					t.Errorf("%s, %d ranks: losses and scores %v, of one process %v", what, n, got.losses, want.losses)
				case !bytes.Equal(got.file, want.file):
					t.Errorf("%s, %d ranks: another checkpoint than that of one process", what, n)
				}
			}
		}
	}
}

// TestShardsRefuse: what shards cannot do is said.
func TestShardsRefuse(t *testing.T) {
	d, m := rankedData(t), rankedModel(t, "ggcn")
	dir := shardsOf(t, d, false)
	x, err := dataset.OpenShards(dir, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Shard.Close()
	for _, c := range []struct {
		what   string
		config saga.Config
		model  saga.Model
	}{
		{"4 devices, and the run has 2", saga.Config{Device: "cpu:2"}, m},
		{"8 intervals, not 4", saga.Config{Device: "cpu:4", Chunks: 4}, m},
		{"--self-loops", saga.Config{Device: "cpu:4"}, rankedModel(t, "gcn")},
		{"their own order", saga.Config{Device: "cpu:4", Without: []string{"balance"}}, m},
	} {
		if _, err := saga.Compile(c.model, x, c.config); err == nil || !strings.Contains(err.Error(), c.what) {
			t.Errorf("the error is %v, want %s", err, c.what)
		}
	}
	if _, err := dataset.OpenShards(dir, 0, 3); err == nil || !strings.Contains(err.Error(), "4 devices cannot be dealt to 3 ranks") {
		t.Error(err)
	}
}
