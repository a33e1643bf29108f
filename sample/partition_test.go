package sample

import (
	"testing"

	"sagann/dataset"
)

// Clusters are balanced, none is empty, and of communities most edges stay within.
func TestPartition(t *testing.T) {
	d, err := dataset.Synthetic(dataset.Spec{Kind: dataset.Communities, Vertices: 4000, Edges: 60000, Features: 4, Classes: 20, Seed: 3, Copies: 1})
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGraph(d.Edges)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2, 20, 100, 3999, 4000} {
		of, err := Partition(g, n)
		if err != nil {
			t.Fatal(err)
		}
		size, within := make([]int, n), 0
		for _, c := range of {
			size[c]++
		}
		for c, k := range size {
			if k == 0 || k > 4000/n+4000/n/10+1 {
				t.Errorf("%d clusters: number %d has %d vertices", n, c, k)
			}
		}
		for e := range d.Edges.Src {
			if of[d.Edges.Src[e]] == of[d.Edges.Dst[e]] {
				within++
			}
		}
		share := float64(within) / float64(d.Edges.E())
		t.Logf("%d clusters: %.3f of the edges within", n, share)
		if n == 20 && share < 0.5 {
			t.Errorf("%.3f of the edges are within 20 clusters, at random 0.05", share)
		}
	}
	for _, n := range []int{0, -1, 4001} {
		if _, err := Partition(g, n); err == nil {
			t.Errorf("%d clusters are taken", n)
		}
	}
}
