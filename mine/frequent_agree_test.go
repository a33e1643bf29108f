package mine_test

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"sagann/chunk"
	"sagann/internal/draw"
	"sagann/mine"
)

// drawLarger draws a graph of up to 60 vertices, with labels of up to 32 bits, vertices without one, and labels of edges.
func drawLarger(t *rapid.T) (*chunk.Edges, []int32) {
	n := rapid.IntRange(5, 60).Draw(t, "vertices")
	e := &chunk.Edges{V: n}
	kinds := rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "kinds of edges")
	seen := map[[2]int]bool{}
	for range rapid.IntRange(n/2, 3*n).Draw(t, "edges") {
		a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, min(n-1, 9)).Draw(t, "b") // a few hubs
		if rapid.Bool().Draw(t, "no hub") {
			b = rapid.IntRange(0, n-1).Draw(t, "c")
		}
		if a == b || seen[[2]int{min(a, b), max(a, b)}] {
			continue
		}
		seen[[2]int{min(a, b), max(a, b)}] = true
		e.Src, e.Dst = append(e.Src, uint32(a), uint32(b)), append(e.Dst, uint32(b), uint32(a))
		if kinds > 0 {
			kind := uint32(rapid.IntRange(0, kinds-1).Draw(t, "kind")) * 70_001
			e.Type, e.Types = append(e.Type, kind, kind), 3*70_001
		}
	}
	values := rapid.SampledFrom([][]int32{nil, {0}, {7, 1<<31 - 1}, {-1, 0, 65_536, 131_072}, {1 << 20, 1<<20 + 65_536, 3}}).Draw(t, "labels")
	if values == nil {
		return e, nil
	}
	labels := make([]int32, n)
	for v := range labels {
		labels[v] = rapid.SampledFrom(values).Draw(t, "label")
	}
	return e, labels
}

// TestFrequentAgree: domains, tables, the census and matches say the same of every pattern that is found, and its text is a pattern.
func TestFrequentAgree(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		e, labels := drawLarger(t)
		g, err := mine.Open(e, mine.Options{Labels: labels, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		f := mine.Frequency{Support: rapid.Int64Range(1, 5).Draw(t, "support"), PlainEdges: rapid.Bool().Draw(t, "plain")}
		var options []mine.Option
		if f.Induced = rapid.Bool().Draw(t, "induced"); f.Induced {
			f.Vertices, options = 4, []mine.Option{mine.Induced}
		} else {
			f.Edges = 3
		}
		instances := map[mine.Pattern]mine.Total{}
		for _, engine := range []mine.Engine{mine.Tables, mine.Census} {
			if f.Induced && engine == mine.Census {
				continue
			}
			f.By, f.Engine = mine.InstancesAll, engine
			found, err := g.Frequent(ctx, f)
			if err != nil {
				t.Fatal(err)
			}
			now := map[mine.Pattern]mine.Total{}
			for _, p := range found {
				now[p.Pattern] = p.Support
			}
			if engine == mine.Census && !maps.Equal(now, instances) {
				t.Fatalf("census %v, tables %v", now, instances)
			}
			instances = now
		}
		for p, n := range instances {
			if q, err := mine.ParsePattern(p.String()); err != nil || q.Canonical() != p {
				t.Fatalf("%s reads as %s, %v", p, q, err)
			}
			if m, err := g.Count(ctx, p, options...); err != nil || m != n {
				t.Fatalf("%s has %v instances and %v matches, %v", p, n, m, err)
			}
		}
		f.By, f.Engine, f.Domains, f.Support = mine.MNI, mine.Domains, true, min(f.Support, int64(e.V))
		found, err := g.Frequent(ctx, f)
		if err != nil {
			t.Fatal(err)
		}
		for i := range found {
			p := found[i].Pattern
			domains := make([]map[uint32]bool, p.Vertices())
			for v := range domains {
				domains[v] = map[uint32]bool{}
			}
			for row, err := range g.Match(ctx, p, options...) {
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range p.Automorphisms() {
					for v := range row {
						domains[a[v]][row[v]] = true
					}
				}
			}
			least := e.V
			for v := range domains {
				least = min(least, len(domains[v]))
				got := map[uint32]bool{}
				for x := range found[i].Domain(v) {
					got[x] = true
				}
				if !maps.Equal(got, domains[v]) {
					t.Fatalf("%s: domain of %d is %v, matches have %v", p, v, got, domains[v])
				}
			}
			if found[i].Support.String() != fmt.Sprint(least) {
				t.Fatalf("%s: support %v, matches say %d", p, found[i].Support, least)
			}
		}
	})
}
