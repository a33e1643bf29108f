package mine_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sagann/internal/draw"
	"sagann/mine"
	"sagann/mine/pattern"
)

// seen is what brute force knows of a pattern: its distinct sets of edges or vertices, and which vertices
// of the graph stand at each of its vertices.
type seen struct {
	instances int
	domains   []map[uint32]bool
}

// support is the size of the smallest domain.
func (s *seen) support() int {
	least := len(s.domains[0])
	for _, d := range s.domains {
		least = min(least, len(d))
	}
	return least
}

// add notes a subgraph: the vertices, with the edges between them that are meant.
func add(all map[mine.Pattern]*seen, g *small, vertices []int, meant func(a, b int) bool, plain bool) {
	p := pattern.New(0)
	for i, v := range vertices {
		p = p.Add(g.label[v])
		for j, w := range vertices[:i] {
			if meant(v, w) {
				kind := int32(pattern.AnyLabel)
				if g.typed && !plain {
					kind = int32(g.kind[v][w])
				}
				p = p.WithEdgeLabel(i, j, kind)
			}
		}
	}
	if !p.Connected() {
		return
	}
	c, to := p.Canon()
	s := all[c]
	if s == nil {
		s = &seen{domains: make([]map[uint32]bool, len(vertices))}
		for i := range s.domains {
			s.domains[i] = map[uint32]bool{}
		}
		all[c] = s
	}
	s.instances++
	for _, a := range c.Automorphisms() {
		for i, v := range vertices {
			s.domains[a[to[i]]][uint32(v)] = true
		}
	}
}

// bruteEdges looks at every set of at most k edges between vertices with a label.
func bruteEdges(g *small, k int, plain bool) map[mine.Pattern]*seen {
	var edges [][2]int
	for a := range g.n {
		for b := range a {
			if g.adj[a][b] && g.label[a] >= 0 && g.label[b] >= 0 {
				edges = append(edges, [2]int{a, b})
			}
		}
	}
	all := map[mine.Pattern]*seen{}
	for n := 1; n <= min(k, len(edges)); n++ {
		subsets(len(edges), n, func(pick []int) {
			in := map[[2]int]bool{}
			set := map[int]bool{}
			for _, i := range pick {
				in[edges[i]], set[edges[i][0]], set[edges[i][1]] = true, true, true
			}
			if len(set) <= n+1 {
				add(all, g, slices.Sorted(maps.Keys(set)), func(a, b int) bool { return in[[2]int{max(a, b), min(a, b)}] }, plain)
			}
		})
	}
	return all
}

// bruteVertices looks at every set of 2 to k vertices with a label.
func bruteVertices(g *small, k int, plain bool) map[mine.Pattern]*seen {
	all := map[mine.Pattern]*seen{}
	for set := range 1 << g.n {
		if n := bits.OnesCount(uint(set)); n < 2 || n > k {
			continue
		}
		var vertices []int
		for v := range g.n {
			if set>>v&1 == 1 && g.label[v] >= 0 {
				vertices = append(vertices, v)
			}
		}
		if len(vertices) == bits.OnesCount(uint(set)) {
			add(all, g, vertices, func(a, b int) bool { return g.adj[a][b] }, plain)
		}
	}
	return all
}

// subsets calls f with every ascending choice of k of 0..n-1.
func subsets(n, k int, f func(pick []int)) {
	pick := make([]int, 0, k)
	var next func(from int)
	next = func(from int) {
		if len(pick) == k {
			f(pick)
			return
		}
		for i := from; i < n; i++ {
			pick = append(pick, i)
			next(i + 1)
			pick = pick[:len(pick)-1]
		}
	}
	next(0)
}

// TestFrequentAgainstBrute compares frequent patterns, their supports and their domains with what looking
// at every subgraph gives.
func TestFrequentAgainstBrute(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		graph := drawGraphOf(t, rapid.IntRange(2, 9).Draw(t, "vertices"))
		f := mine.Frequency{Support: rapid.Int64Range(1, int64(min(graph.n, 3))).Draw(t, "support"), PlainEdges: rapid.Bool().Draw(t, "plain"), Domains: true}
		var all map[mine.Pattern]*seen
		if f.Induced = rapid.Bool().Draw(t, "induced"); f.Induced {
			f.Vertices = rapid.IntRange(2, 5).Draw(t, "most vertices")
			all = bruteVertices(graph, f.Vertices, f.PlainEdges)
		} else {
			f.Edges, f.Vertices = rapid.IntRange(1, 4).Draw(t, "most edges"), rapid.SampledFrom([]int{0, 0, 3, 4}).Draw(t, "most vertices")
			all = bruteEdges(graph, f.Edges, f.PlainEdges)
		}
		want := map[string]string{}
		for p, s := range all {
			if n := s.support(); n >= int(f.Support) && (f.Vertices == 0 || p.Vertices() <= f.Vertices) {
				want[p.String()] = fmt.Sprint(n, s.domains)
			}
		}
		g, err := mine.Open(graph.edges(), mine.Options{Labels: graph.label, Threads: rapid.IntRange(1, 3).Draw(t, "threads")})
		if err != nil {
			t.Fatal(err)
		}
		found, err := g.Frequent(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for i := range found {
			p := found[i].Pattern
			domains := make([]map[uint32]bool, p.Vertices())
			for v := range domains {
				domains[v] = map[uint32]bool{}
				for x := range found[i].Domain(v) {
					domains[v][x] = true
				}
			}
			got[p.String()] = fmt.Sprint(found[i].Support, domains)
		}
		if !maps.Equal(got, want) || len(got) != len(found) {
			t.Fatalf("%+v finds %d patterns\n%v\nwant\n%v", f, len(found), got, want)
		}
		f.AtLeast, f.Domains = true, false
		if less, err := g.Frequent(context.Background(), f); err != nil || !slices.Equal(sortedText(less), sortedText(found)) {
			t.Fatalf("deciding alone finds %v, %v; want %v", sortedText(less), err, sortedText(found))
		}
	})
}

// sortedText is the patterns as text, sorted.
func sortedText(found []mine.FrequentPattern) []string {
	var out []string
	for _, f := range found {
		out = append(out, strings.TrimSpace(f.Pattern.String()))
	}
	slices.Sort(out)
	return out
}

// TestInstancesAgainstBrute compares the numbers of instances with what looking at every set of edges gives.
func TestInstancesAgainstBrute(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		graph := drawGraphOf(t, rapid.IntRange(2, 9).Draw(t, "vertices"))
		f := mine.Frequency{Support: rapid.Int64Range(1, 4).Draw(t, "support"), PlainEdges: rapid.Bool().Draw(t, "plain"),
			Edges: rapid.IntRange(1, 4).Draw(t, "most edges"), Vertices: rapid.SampledFrom([]int{0, 0, 2, 3, 4}).Draw(t, "most vertices"),
			By:     rapid.SampledFrom([]mine.By{mine.Instances, mine.InstancesAll}).Draw(t, "by"),
			Engine: rapid.SampledFrom([]mine.Engine{mine.Auto, mine.Tables}).Draw(t, "engine")}
		if f.Induced = rapid.Bool().Draw(t, "induced"); f.Induced {
			f.Engine, f.Edges, f.Vertices = mine.Auto, 0, rapid.IntRange(2, 5).Draw(t, "vertices of a pattern")
		}
		g, err := mine.Open(graph.edges(), mine.Options{Labels: graph.label, Threads: rapid.IntRange(1, 3).Draw(t, "threads")})
		if err != nil {
			t.Fatal(err)
		}
		found, err := g.Frequent(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		if x, err := g.ExplainFrequent(context.Background(), f); err != nil || x.Patterns != "" && !enough(x.Patterns, len(found)) {
			t.Fatalf("%+v finds %d patterns of at most %s, %v", f, len(found), x.Patterns, err)
		}
		all := bruteEdges(graph, f.Edges, f.PlainEdges)
		if f.Induced {
			all = bruteVertices(graph, f.Vertices, f.PlainEdges)
		}
		want := map[string]string{}
		reached := map[mine.Pattern]bool{}
		for _, p := range slices.SortedFunc(maps.Keys(all), bySize) {
			if all[p].instances < int(f.Support) || f.Vertices > 0 && p.Vertices() > f.Vertices {
				continue
			}
			grows := p.Edges() == 1 && p.Vertices() == 2 || f.By == mine.InstancesAll
			for i := range p.Vertices() {
				for j := range i {
					if f.Induced {
						grows = grows || reached[p.WithoutVertex(i).Canonical()] || reached[p.WithoutVertex(j).Canonical()]
					} else if p.Adjacent(i, j) && !grows {
						q, _ := p.WithoutEdge(i, j)
						grows = q.Connected() && reached[q.Canonical()]
					}
				}
			}
			if grows {
				reached[p] = true
				want[p.String()] = fmt.Sprint(all[p].instances)
			}
		}
		got := map[string]string{}
		for _, p := range found {
			got[p.Pattern.String()] = p.Support.String()
		}
		if !maps.Equal(got, want) || len(got) != len(found) {
			t.Fatalf("%+v finds\n%v\nwant\n%v", f, got, want)
		}
	})
}

// enough reports whether a count as text is at least n.
func enough(most string, n int) bool {
	x, err := strconv.ParseUint(most, 10, 64)
	return err == nil && x >= uint64(n)
}

// TestMostPatterns: in a complete graph without labels a census finds as many patterns as it may.
func TestMostPatterns(t *testing.T) {
	var pairs [][2]uint32
	for v := range uint32(5) {
		for u := range v {
			pairs = append(pairs, [2]uint32{u, v})
		}
	}
	g := mustOpen(t, both(5, pairs...), mine.Options{})
	for _, of := range []struct{ edges, vertices, want int }{{1, 0, 1}, {2, 0, 2}, {3, 0, 5}, {3, 3, 3}, {3, 2, 1}} {
		f, want := mine.Frequency{Support: 1, By: mine.InstancesAll, Edges: of.edges, Vertices: of.vertices}, of.want
		found, err := g.Frequent(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		x, err := g.ExplainFrequent(context.Background(), f)
		if err != nil || len(found) != want || x.Patterns != strconv.Itoa(want) {
			t.Errorf("%+v: %d patterns of at most %s, %v; want %d", f, len(found), x.Patterns, err, want)
		}
	}
}

// bySize orders patterns so that parts come first.
func bySize(a, b mine.Pattern) int {
	return cmp.Or(cmp.Compare(a.Vertices()+a.Edges(), b.Vertices()+b.Edges()), pattern.Compare(a, b))
}
