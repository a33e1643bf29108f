package layers_test

import (
	"bytes"
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

// TestRanksHeteroShards: ranks that have shards of a graph of several types give the losses, scores and checkpoints of one process that has all
// that labels depend on, to the bit: with self loops, weights, a type without features, streamed, and with host memory in files.
func TestRanksHeteroShards(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, name := range []string{"rgcn", "hgt", "gcn", "gat", "weights", "sage"} {
		h, m := layers.HeteroGraph(t), layers.HeteroModels()[name]
		if name == "weights" {
			m = saga.Model{Name: "gcn", Layers: []saga.Layer{layers.GCN(0, 6, layers.EdgeWeight, nil), layers.GCN(0, 3, layers.EdgeWeight, nil)}, SelfLoops: true, OneLoop: true}
			for l := range m.Layers {
				m.Layers[l].PerRelation = true
			}
			for r := range h.Relations {
				e := h.Relations[r].Links.Edges
				for k := range e.E() {
					e.Weight = append(e.Weight, 1+float32(k%5)/4)
				}
			}
		}
		if name == "sage" {
			dataset.DropFeatures(h.Types[3].Rows)
		}
		store, out, path := filepath.Join(dir, name+".saga"), filepath.Join(dir, name), filepath.Join(dir, "checkpoint")
		if err := dataset.RandomSplitOf(h.Types[2].Rows, dataset.VertexLabels, 0.5, 0.25, 1); err != nil {
			t.Fatal(err)
		}
		if err := dataset.WriteHeteroStore(store, h, 3); err != nil {
			t.Fatal(err)
		}
		s := dataset.Sharding{Conversion: dataset.Conversion{From: store, Out: out}, Owners: 4, Chunks: 8, SelfLoops: m.SelfLoops}
		reached, _, err := dataset.WriteTypedShards(s, dataset.TypedSharding{Target: "paper", Layers: 2})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(h.Types); len(reached.Types) != n-1 { // lonely
			t.Fatalf("%d types of %d", len(reached.Types), n)
		}
		if _, err := dataset.VerifyTypedShards(out); err != nil {
			t.Error(err)
		}
		whole, err := dataset.LoadHetero(store, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		whole.Types = slices.Delete(whole.Types, 1, 2)
		for r := range whole.Relations {
			x := &whole.Relations[r]
			x.Source, x.Target = max(0, x.Source-min(1, x.Source)), max(0, x.Target-min(1, x.Target))
		}
		d := whole.At(1)
		c := []saga.Config{{}, {Stream: true, NoRing: true}, {Stream: true, HostMem: 1}}[i%3]
		c.Device, c.Chunks, c.Seed, c.Epochs, c.Without = "cpu:4", 8, 5, 2, []string{"invariant"}
		if c.HostMem > 0 {
			c.HostMem = leastHost(t, m, d, c)
		}
		want, err := trainRanked(1, m, d, c, path, "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c.Chunks, c.Without = 0, nil
		for _, n := range []int{1 + i%2, 4} {
			got, err := trainRankedOn(n, m, func(rank int) (*dataset.Data, error) {
				x, err := dataset.LoadHetero(out, dataset.Options{Rank: rank, Ranks: n})
				if err != nil {
					return nil, err
				}
				at, err := x.Labelled("")
				return x.At(at), err
			}, c, path, "")
			switch {
			case err != nil:
				t.Errorf("%s, %d ranks: %v", name, n, err)
			case !slices.Equal(got.losses, want.losses):
				t.Errorf("%s, %d ranks: losses and scores %v, of one process %v", name, n, got.losses, want.losses)
			case !bytes.Equal(got.file, want.file):
				t.Errorf("%s, %d ranks: another checkpoint than that of one process", name, n)
			}
		}
	}
}
