package mine_test

import (
	"context"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/mine"
	"sagann/mine/pattern"
)

// TestMaps: maps and loops count the same, for all patterns of up to six vertices that
// maps can count and some larger ones.
func TestMaps(t *testing.T) {
	ctx := context.Background()
	spec, err := dataset.ParseSpec("vertices=40,edges=130,kind=rmat,features=1,seed=5")
	if err != nil {
		t.Fatal(err)
	}
	made, err := dataset.Synthetic(spec)
	if err != nil {
		t.Fatal(err)
	}
	edges := made.Edges.Symmetric()
	byMaps := mustOpen(t, edges, mine.Options{Engine: mine.Maps, Threads: 3})
	byLoops := mustOpen(t, edges, mine.Options{Engine: mine.Loops, Threads: 2})
	var all []mine.Pattern
	for k := 3; k <= 6; k++ {
		if k == 6 && testing.Short() {
			break // more than a hundred patterns
		}
		motifs, err := pattern.Motifs(k)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, motifs...)
	}
	for _, text := range []string{"cycle7", "cycle8", "0-1-2-3-0 3-4-5-3 0-6-1", "0-1-2-0 2-3-4-2 4-5-6-4", "0-1-2-3-4-0 1-5-2 3-6 6-7"} {
		all = append(all, mine.MustPattern(text))
	}
	counted := map[int]int{}
	for _, p := range all {
		n, err := byMaps.Count(ctx, p)
		if err != nil && strings.Contains(err.Error(), "cannot count") {
			continue
		}
		want, e := byLoops.Count(ctx, p)
		if err != nil || e != nil || n != want {
			t.Errorf("%s: %v, %v; loops %v, %v", p, n, err, want, e)
		}
		counted[p.Vertices()]++
	}
	t.Logf("patterns by vertices: %v", counted)
}

// TestFiveCycles: closed walks, maps and loops count the same.
func TestFiveCycles(t *testing.T) {
	ctx := context.Background()
	p := mine.MustPattern("cycle5")
	for _, text := range []string{"vertices=12,edges=5000,kind=rmat,features=1,seed=1", "vertices=300,edges=2500,kind=rmat,features=1,seed=2", "vertices=500,edges=1500,kind=communities,features=1,seed=3"} {
		spec, err := dataset.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		made, err := dataset.Synthetic(spec)
		if err != nil {
			t.Fatal(err)
		}
		edges := made.Edges.Symmetric()
		want, err := mustOpen(t, edges, mine.Options{Engine: mine.Loops}).Count(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, opt := range []mine.Options{{Threads: 1}, {Threads: 3}, {Engine: mine.Formula, Threads: 2}, {Engine: mine.Maps}} {
			if n, err := mustOpen(t, edges, opt).Count(ctx, p); err != nil || n != want {
				t.Errorf("%s, %+v: %v, %v; loops %v", text, opt, n, err, want)
			}
		}
		t.Log(text, want)
	}
}
