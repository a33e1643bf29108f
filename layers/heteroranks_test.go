package layers_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// TestRanksHetero: over several types of vertices, two and four ranks give the losses, scores and checkpoints of one process, to the bit, with
// every rank sending what the plan says; a run goes on from a checkpoint of another number of ranks. The values of four devices are the
// golden ones in TestHetero.
func TestRanksHetero(t *testing.T) {
	h := layers.HeteroGraph(t)
	d := h.At(2)
	if err := dataset.RandomSplitOf(d, dataset.VertexLabels, 0.5, 0.25, 1); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path, half := filepath.Join(dir, "checkpoint"), filepath.Join(dir, "half")
	for _, name := range []string{"rgcn", "hgt"} {
		m := layers.HeteroModels()[name]
		for _, c := range []saga.Config{{}, {Stream: true, NoRing: true}, {Stream: true, HostMem: 1}} {
			if c.Device, c.Chunks, c.Seed, c.Epochs = "cpu:4", 8, 5, 2; testing.Short() && !c.NoRing {
				continue
			}
			if c.HostMem > 0 {
				c.HostMem = leastHost(t, m, d, c)
			}
			what := fmt.Sprintf("%s, ring %v, streamed %v, host memory %d", name, !c.NoRing, c.Stream, c.HostMem)
			want, err := trainRanked(1, m, d, c, path, "")
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			for _, n := range []int{2, 4} {
				sameRanked(t, fmt.Sprintf("%s, %d ranks", what, n), n, m, d, c, path, "", want)
			}
		}
		c := saga.Config{Device: "cpu:4", Chunks: 8, Seed: 5, Epochs: 1}
		if _, err := trainRanked(2, m, d, c, half, ""); err != nil {
			t.Fatal(err)
		}
		c.Epochs = 2
		want, err := trainRanked(1, m, d, c, path, "")
		if err != nil {
			t.Fatal(err)
		}
		want.losses = want.losses[len(want.losses)/2:]
		sameRanked(t, name+", on 4 ranks after 2", 4, m, d, c, path, half, want)
	}
}

// TestRanksHeteroEdges: labels of the edges of a relation, over ranks, with the bits of one process.
func TestRanksHeteroEdges(t *testing.T) {
	h := *layers.HeteroGraph(t)
	h.Relations = slices.Clone(h.Relations)
	for _, name := range []string{"author:writes:paper", "cites"} {
		r, err := h.Relation(name)
		if err != nil {
			t.Fatal(err)
		}
		links := *h.Relations[r].Links
		for k := range links.Edges.Src {
			links.EdgeLabels = append(links.EdgeLabels, int32(links.Edges.Src[k]+2*links.Edges.Dst[k])%3)
		}
		h.Relations[r].Links = &links
		d := h.Edges(r)
		if err := dataset.RandomSplitOf(d, dataset.EdgeLabels, 0.5, 0.25, 1); err != nil {
			t.Fatal(err)
		}
		m := layers.HeteroModels()["rgcn"]
		m.Task, m.EdgeHead = saga.EdgeTask, layers.EdgeHead(3, 3)
		c := saga.Config{Device: "cpu:4", Chunks: 8, Seed: 5, Epochs: 2, Stream: name == "cites"}
		path := filepath.Join(t.TempDir(), "checkpoint")
		want, err := trainRanked(1, m, d, c, path, "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, n := range []int{2, 4} {
			sameRanked(t, fmt.Sprintf("%s, %d ranks", name, n), n, m, d, c, path, "", want)
		}
	}
}

// TestRanksLinks: links over the whole graph, with the bits of one process on any number of ranks, of one type of vertices and of a relation
// between two, in memory and in files.
func TestRanksLinks(t *testing.T) {
	plain, err := dataset.SplitLinks(rankedData(t), dataset.LinkShares{Val: 0.1, Test: 0.1}, 3)
	if err != nil {
		t.Fatal(err)
	}
	h := layers.HeteroGraph(t)
	r, err := h.Relation("author:writes:paper")
	if err != nil {
		t.Fatal(err)
	}
	typed, err := dataset.SplitRelation(h.Along(r), dataset.LinkShares{Val: 0.2, Test: 0.2}, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		m    saga.Model
		d    *dataset.Data
		head saga.LinkHead
	}{{rankedModel(t, "gcn"), plain, saga.LinkMLP}, {layers.HeteroModels()["rgcn"], typed, saga.LinkDistMult}} {
		x.m.Task, x.m.LinkHead = saga.LinkTask, x.head
		for _, c := range []saga.Config{{}, {Stream: true, NoRing: true}, {Stream: true, HostMem: 1}} {
			if c.Device, c.Chunks, c.Seed, c.Epochs = "cpu:4", 8, 5, 3; testing.Short() && !c.NoRing {
				continue
			}
			if c.HostMem > 0 {
				c.HostMem = leastHost(t, x.m, x.d, c)
			}
			path := filepath.Join(t.TempDir(), "checkpoint")
			what := fmt.Sprintf("%s, ring %v, streamed %v, host memory %d", x.m.Name, !c.NoRing, c.Stream, c.HostMem)
			want, err := trainRanked(1, x.m, x.d, c, path, "")
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			for _, n := range []int{2, 4} {
				sameRanked(t, fmt.Sprintf("%s, %d ranks", what, n), n, x.m, x.d, c, path, "", want)
			}
		}
	}
}
