package mine_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sagann/internal/draw"

	"sagann/chunk"
	"sagann/mine"
	"sagann/mine/pattern"
)

// small is a random graph as a matrix, with labels of vertices and, if typed, of edges.
type small struct {
	n     int
	adj   [12][12]bool
	label []int32
	typed bool
	kind  [12][12]uint32
}

func drawGraph(t *rapid.T) *small {
	return drawGraphOf(t, rapid.IntRange(2, 12).Draw(t, "vertices"))
}

// drawGraphOf draws a graph of n vertices.
func drawGraphOf(t *rapid.T, n int) *small {
	g := &small{n: n, typed: rapid.Bool().Draw(t, "typed")}
	dense := rapid.IntRange(1, 9).Draw(t, "density of ten")
	for i := range g.n {
		for j := range i {
			g.adj[i][j] = rapid.IntRange(0, 9).Draw(t, "edge") < dense
			g.adj[j][i] = g.adj[i][j]
			if g.typed {
				g.kind[i][j] = rapid.Uint32Range(0, 1).Draw(t, "edge label")
				g.kind[j][i] = g.kind[i][j]
			}
		}
	}
	for range g.n {
		g.label = append(g.label, rapid.Int32Range(-1, 2).Draw(t, "label"))
	}
	return g
}

// edges lists both directions, some of them twice, and a loop.
func (g *small) edges() *chunk.Edges {
	e := &chunk.Edges{V: g.n}
	for i := range g.n {
		for j := range g.n {
			for k := 0; g.adj[i][j] && k <= (i*j)%2; k++ {
				e.Src, e.Dst, e.Type = append(e.Src, uint32(i)), append(e.Dst, uint32(j)), append(e.Type, g.kind[i][j])
			}
		}
	}
	e.Src, e.Dst, e.Type, e.Types = append(e.Src, 1), append(e.Dst, 1), append(e.Type, 1), 2
	if !g.typed {
		e.Type, e.Types = nil, 0
	}
	return e
}

func (g *small) degree(v int) int64 {
	d := int64(0)
	for _, a := range g.adj[v] {
		if a {
			d++
		}
	}
	return d
}

// atom is a condition in three forms: as users write it, as a function of a match, and
// as a text that two atoms share if they are the same after renumbering.
type atom struct {
	symbol func(m mine.Match) mine.Bool
	holds  func(g *small, m []int) bool
	text   func(to []int) string
}

func drawAtom(t *rapid.T, n int) atom {
	i, j := rapid.IntRange(0, n-1).Draw(t, "i"), rapid.IntRange(0, n-1).Draw(t, "j")
	c := rapid.Int64Range(0, 4).Draw(t, "constant")
	sorted := func(kind string, to []int) string {
		return fmt.Sprint(kind, min(to[i], to[j]), max(to[i], to[j]))
	}
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		return atom{func(m mine.Match) mine.Bool { return m.Label(i).Eq(m.Label(j)) },
			func(g *small, m []int) bool { return g.label[m[i]] == g.label[m[j]] },
			func(to []int) string { return sorted("labels", to) }}
	case 1:
		return atom{func(m mine.Match) mine.Bool { return m.Degree(i).Less(m.Degree(j)) },
			func(g *small, m []int) bool { return g.degree(m[i]) < g.degree(m[j]) },
			func(to []int) string { return fmt.Sprint("degrees", to[i], to[j]) }}
	case 2:
		return atom{func(m mine.Match) mine.Bool { return m.Vertex(i).Less(m.Vertex(j)) },
			func(g *small, m []int) bool { return m[i] < m[j] },
			func(to []int) string { return fmt.Sprint("vertices", to[i], to[j]) }}
	case 3:
		return atom{func(m mine.Match) mine.Bool { return m.Adjacent(i, j) },
			func(g *small, m []int) bool { return g.adj[m[i]][m[j]] },
			func(to []int) string { return sorted("adjacent", to) }}
	case 4:
		return atom{func(m mine.Match) mine.Bool { return m.Adjacent(i, j).Not() },
			func(g *small, m []int) bool { return !g.adj[m[i]][m[j]] },
			func(to []int) string { return sorted("apart", to) }}
	case 5:
		return atom{func(m mine.Match) mine.Bool { return m.Label(i).Plus(m.Degree(j)).AtLeast(mine.Const(c)) },
			func(g *small, m []int) bool { return int64(g.label[m[i]])+g.degree(m[j]) >= c },
			func(to []int) string { return fmt.Sprint("sum", to[i], to[j], c) }}
	}
	return atom{func(m mine.Match) mine.Bool { return m.Degree(i).More(mine.Const(c)).Or(m.Label(j).Eq(mine.Const(c))) },
		func(g *small, m []int) bool { return g.degree(m[i]) > c || int64(g.label[m[j]]) == c },
		func(to []int) string { return fmt.Sprint("either", to[i], to[j], c) }}
}

// brute lists the subgraphs in the documented order, by trying all maps. The group is
// found here anew: permutations that keep the pattern and the set of the atoms' texts.
func brute(g *small, p mine.Pattern, atoms []atom, induced bool) [][]uint32 {
	if induced {
		p = p.Induced() // the marks that it came with are no longer special
	}
	n := p.Vertices()
	same := make([]int, n)
	for i := range same {
		same[i] = i
	}
	texts := func(to []int) []string {
		var out []string
		for _, a := range atoms {
			out = append(out, a.text(to))
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	var group [][]int
	permute(n, n, func(s []int) {
		for i := range n {
			for j := range n {
				if p.Adjacent(i, j) != p.Adjacent(s[i], s[j]) || p.Apart(i, j) != p.Apart(s[i], s[j]) || p.EdgeLabel(i, j) != p.EdgeLabel(s[i], s[j]) {
					return
				}
			}
			if p.Label(i) != p.Label(s[i]) {
				return
			}
		}
		if slices.Equal(texts(s), texts(same)) {
			group = append(group, slices.Clone(s))
		}
	})
	order := []int{0}
	for len(order) < n {
		for v := range n {
			if !slices.Contains(order, v) && slices.ContainsFunc(order, func(w int) bool { return p.Adjacent(v, w) }) {
				order = append(order, v)
				break
			}
		}
	}
	first := func(a, b []int) int {
		for _, v := range order {
			if a[v] != b[v] {
				return a[v] - b[v]
			}
		}
		return 0
	}
	var found [][]int
	permute(g.n, n, func(m []int) {
		for i := range n {
			for j := range i {
				adj := g.adj[m[i]][m[j]]
				if p.Adjacent(i, j) && !adj || adj && p.Apart(i, j) {
					return
				}
				if k := p.EdgeLabel(i, j); k != pattern.AnyLabel && g.kind[m[i]][m[j]] != uint32(k) {
					return
				}
			}
			if p.Label(i) != pattern.AnyLabel && g.label[m[i]] != p.Label(i) {
				return
			}
		}
		for _, a := range atoms {
			if !a.holds(g, m) {
				return
			}
		}
		for _, s := range group {
			other := make([]int, n)
			for i := range n {
				other[i] = m[s[i]]
			}
			if first(other, m) < 0 {
				return
			}
		}
		found = append(found, slices.Clone(m))
	})
	slices.SortFunc(found, first)
	rows := make([][]uint32, len(found))
	for i, m := range found {
		for _, v := range m {
			rows[i] = append(rows[i], uint32(v))
		}
	}
	return rows
}

// permute calls f with every way to pick k of 0..n-1 in order.
func permute(n, k int, f func([]int)) {
	var pick []int
	var next func(used int)
	next = func(used int) {
		if len(pick) == k {
			f(pick)
			return
		}
		for v := range n {
			if used>>v&1 == 0 {
				pick = append(pick, v)
				next(used | 1<<v)
				pick = pick[:len(pick)-1]
			}
		}
	}
	if k <= n {
		next(0)
	}
}

// drawPattern draws one of the connected patterns of at most five vertices, in a random
// numbering, with some marks and labels.
func drawPattern(t *rapid.T, graph *small) mine.Pattern {
	k := rapid.SampledFrom([]int{2, 3, 3, 4, 4, 4, 5}).Draw(t, "pattern vertices")
	if graph.n > 9 {
		k = min(k, 4) // trying all maps takes too long
	}
	all, err := pattern.Motifs(k)
	if err != nil {
		t.Fatal(err)
	}
	p := rapid.SampledFrom(all).Draw(t, "pattern")
	var to pattern.Perm
	for i, v := range rapid.Permutation([]uint8{0, 1, 2, 3, 4}[:k]).Draw(t, "numbering") {
		to[i] = v
	}
	p = p.Relabel(to)
	for i := range k {
		for j := range i {
			if graph.typed && p.Adjacent(i, j) && rapid.IntRange(0, 2).Draw(t, "has edge label") == 0 {
				p = p.WithEdgeLabel(i, j, rapid.Int32Range(0, 1).Draw(t, "label of pattern edge"))
			}
			if !p.Adjacent(i, j) && rapid.IntRange(0, 3).Draw(t, "mark") == 0 {
				p = p.WithApart(i, j)
			}
		}
		if rapid.IntRange(0, 4).Draw(t, "has label") == 0 {
			p = p.WithLabel(i, rapid.Int32Range(0, 2).Draw(t, "label of pattern"))
		}
	}
	return p
}

// TestAgainstBrute compares counts of every engine that applies, listings and limits with
// what trying all maps gives.
func TestAgainstBrute(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		graph := drawGraph(t)
		p := drawPattern(t, graph)
		induced := rapid.Bool().Draw(t, "induced")
		var atoms []atom
		for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "conditions") {
			atoms = append(atoms, drawAtom(t, p.Vertices()))
		}
		var options []mine.Option
		if induced {
			options = append(options, mine.Induced)
		}
		if len(atoms) > 0 {
			options = append(options, mine.Where(func(m mine.Match) mine.Bool {
				all := atoms[0].symbol(m)
				for _, a := range atoms[1:] {
					all = all.And(a.symbol(m))
				}
				return all
			}))
		}
		want := brute(graph, p, atoms, induced)
		for _, engine := range []mine.Engine{mine.Auto, mine.Formula, mine.Bits, mine.Maps, mine.Loops, mine.Join} {
			g, err := mine.Open(graph.edges(), mine.Options{Labels: graph.label, Engine: engine, Threads: 1 + len(want)%3, NoReuse: len(want)%2 == 1})
			if err != nil {
				t.Fatal(err)
			}
			n, err := g.Count(context.Background(), p, options...)
			if err != nil && engine != mine.Auto && engine != mine.Loops {
				continue // it says that it cannot
			}
			if err != nil || n.String() != fmt.Sprint(len(want)) {
				t.Fatalf("%s: %v of %q, %v; want %d", engine, n, p, err, len(want))
			}
			if engine != mine.Loops {
				continue
			}
			limit := rapid.IntRange(0, len(want)+1).Draw(t, "limit")
			var got [][]uint32
			for m, err := range g.Match(context.Background(), p, append(options, mine.Limit(int64(limit)))...) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, slices.Clone(m))
			}
			first := want
			if limit > 0 {
				first = want[:min(limit, len(want))]
			}
			if !slices.EqualFunc(got, first, slices.Equal) {
				t.Fatalf("%q lists %v, want %v", p, got, first)
			}
		}
	})
}
