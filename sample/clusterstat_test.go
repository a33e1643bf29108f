package sample

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
)

// inside lists the edges among vertices.
func inside(e *chunk.Edges, vertices []uint32) []uint32 {
	var list []uint32
	for i := range e.Src {
		if slices.Contains(vertices, e.Src[i]) && slices.Contains(vertices, e.Dst[i]) {
			list = append(list, uint32(i))
		}
	}
	return list
}

// induces says how a batch is not its seeds with all edges among them.
func induces(e *chunk.Edges, b *Blocks, seeds []uint32) error {
	var got []uint32
	for _, l := range b.Layers {
		got = append(got, l.Edge...)
	}
	slices.Sort(got)
	switch want := inside(e, seeds); {
	case !slices.Equal(b.Vertices, seeds):
		return fmt.Errorf("%d vertices, want the %d seeds", len(b.Vertices), len(seeds))
	case !slices.Equal(got, want):
		return fmt.Errorf("%d edges among %d vertices, want %d", len(got), len(seeds), len(want))
	}
	return nil
}

// A batch of clusters has exactly the edges among its vertices. Samplers that also take vertices or edges from outside, or only some of
// the edges, are seen to be wrong.
func TestClusterGCN(t *testing.T) {
	e := randomEdges(90, 1500, 4)
	g := mustGraph(t, e)
	cluster := make([]uint32, 90)
	for v := range cluster {
		cluster[v] = uint32(v*v) % 7 % 5
	}
	batches, err := Clusters(cluster, 2, Key{Seed: 8})
	if err != nil {
		t.Fatal(err)
	}
	all, few := ClusterGCN(), ShaDow(1, 1)
	few.Output = Together
	for i, s := range []Sampler{all, few, Neighbours(1 << 20), Neighbours(1)} {
		p, err := Compile(g, s)
		if err != nil {
			t.Fatal(err)
		}
		var b Blocks
		var wrong error
		for _, seeds := range batches {
			if err := p.Blocks(&b, seeds, Key{}); err != nil {
				t.Fatal(err)
			}
			checkBlocks(t, e, &b, b.Vertices[:b.Counts[0]])
			if err := induces(e, &b, seeds); err != nil {
				wrong = err
			}
			if i == 0 {
				edges := len(b.Layers[0].Far)
				b.Deepen(len(seeds)/2, 3)
				if len(b.Layers) != 3 || len(b.Counts) != 4 || len(b.Layers[0].Offsets) != b.Counts[0]+1 || len(b.Layers[1].Far) != edges {
					t.Fatalf("levels %v", b.Counts)
				}
			}
		}
		if (wrong == nil) != (i == 0) {
			t.Errorf("%s (%d): %v", s.Name, i, wrong)
		}
	}
	if _, err := Clusters(cluster, 0, Key{}); err == nil {
		t.Error("0 clusters a batch are taken")
	}
	if _, err := Clusters([]uint32{0, 7}, 1, Key{}); err == nil || !strings.Contains(err.Error(), "vertex 1 is of cluster 7") {
		t.Error(err)
	}
}

// Clusters come together in batches with equal probability, each once an epoch. Neighbours in a ring of clusters would not.
func TestClustersDraws(t *testing.T) {
	cluster := []uint32{3, 0, 1, 4, 2, 0}
	want := outcomes{}
	for _, list := range permutations(5) {
		want[dealt([]uint32{list[0], list[1]}, []uint32{list[2], list[3]}, list[4:])] += 1.0 / 120
	}
	for name, deal := range map[string]func(i int) [][]uint32{
		"right": func(i int) [][]uint32 {
			batches, err := Clusters(cluster, 2, Key{Seed: 3, Epoch: uint32(i)})
			if err != nil {
				t.Fatal(err)
			}
			all := slices.Sorted(slices.Values(slices.Concat(batches...)))
			if !slices.Equal(all, []uint32{0, 1, 2, 3, 4, 5}) {
				t.Fatalf("vertices %v in all batches", all)
			}
			for _, b := range batches {
				for k, v := range b {
					b[k] = cluster[v]
				}
			}
			return batches
		},
		"wrong": func(i int) [][]uint32 {
			n := uint32(below(Key{Seed: 3, Epoch: uint32(i)}.stream().words(place{})[0], 5))
			return [][]uint32{{n, (n + 1) % 5}, {(n + 2) % 5, (n + 3) % 5}, {(n + 4) % 5}}
		},
	} {
		got := outcomes{}
		for i := range rounds() {
			got[dealt(deal(i)...)]++
		}
		if p := pValue(got, want); (p > least) != (name == "right") {
			t.Errorf("%s: p = %.2g", name, p)
		}
	}
}

// dealt names batches of clusters.
func dealt(batches ...[]uint32) (name string) {
	for _, b := range batches {
		name += text(slices.Compact(slices.Sorted(slices.Values(b)))) + "| "
	}
	return name
}

// permutations are all orders of 0 to n-1.
func permutations(n int) (all [][]uint32) {
	var each func(list []uint32)
	each = func(list []uint32) {
		if len(list) == n {
			all = append(all, slices.Clone(list))
		}
		for v := range uint32(n) {
			if !slices.Contains(list, v) {
				each(append(slices.Clone(list), v))
			}
		}
	}
	each(nil)
	return all
}
