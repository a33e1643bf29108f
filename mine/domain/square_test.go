package domain

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"sagann/chunk"
	"sagann/internal/draw"
	"sagann/mine/pattern"
	"sagann/mine/rows"
)

// TestSquares compares the domains of random patterns that have a cycle of four with those that all embeddings give. Labels of vertices and of edges
// tell the sides apart, or do not.
func TestSquares(t *testing.T) {
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	graphs, met := 600, [4]int{} // by Peers and Whole
	if testing.Short() {
		graphs = 150
	}
	for range graphs {
		n, labels, types := 5+d.IntN(14), 1+d.IntN(4), 1+d.IntN(2)
		e := &chunk.Edges{V: n}
		for range n + d.IntN(2*n) {
			if a, b := uint32(d.IntN(n)), uint32(d.IntN(n)); a != b {
				e.Src, e.Dst = append(e.Src, a, b), append(e.Dst, b, a)
			}
		}
		r, _, err := rows.FromEdges(e)
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			r.Label = append(r.Label, int32(d.IntN(labels)))
		}
		kinds := make([]int32, len(r.Col))
		kindOf := func(a, b uint32) int32 { return int32(a*b+a+b) % int32(types) }
		for v := range uint32(n) {
			for at := r.Off[v]; at < r.Off[v+1]; at++ {
				kinds[at] = kindOf(v, r.Col[at])
			}
		}
		g, err := New(context.Background(), r, kinds, 1, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for range 12 {
			p := randomSquare(d, labels, types)
			w := g.worker(&Question{Least: 1, Vertices: 8})
			w.walk.alone = 8 * d.IntN(2)
			if !starts(w, p) {
				continue
			}
			want := embedded(r, g, p, kindOf)
			for v := range w.n {
				if s := w.square(v); s != nil {
					i := 0
					if s.Peers {
						i = 1
					}
					if s.Whole {
						i += 2
					}
					met[i]++
				}
			}
			w.orbit = p.Orbits()
			ok := w.consistent() && w.search(0)
			if ok != (len(want[0]) > 0) {
				t.Fatalf("%v: %v, %v expected", p, ok, want)
			}
			for v := range p.Vertices() {
				if got := slices.Collect(pack(w.sets[v], size(w.sets[v])).All()); ok && !slices.Equal(got, want[v]) {
					t.Fatalf("%v, vertex %d: %v, %v expected", p, v, got, want[v])
				}
			}
			if slices.Max(w.words(2*most, 0)) != 0 {
				t.Fatal("marks are left")
			}
		}
	}
	if slices.Min(met[:]) < graphs/4 {
		t.Errorf("%d squares", met)
	}
}

// randomSquare is a cycle of four, and perhaps more vertices and edges.
func randomSquare(d *rand.Rand, labels, types int) pattern.Pattern {
	kind := func() int32 { return int32(d.IntN(types)) }
	p := pattern.New(0)
	for range 4 {
		p = p.Add(int32(d.IntN(labels)))
	}
	for v := range 4 {
		p = p.WithEdge(v, (v+1)%4).WithEdgeLabel(v, (v+1)%4, kind())
	}
	for range d.IntN(4) {
		p = p.Add(int32(d.IntN(labels)))
		v := p.Vertices() - 1
		u := d.IntN(v)
		p = p.WithEdge(u, v).WithEdgeLabel(u, v, kind())
	}
	for range d.IntN(3) {
		if u, v := d.IntN(p.Vertices()), d.IntN(p.Vertices()); u != v && !p.Adjacent(u, v) && d.IntN(2) == 0 {
			p = p.WithEdge(u, v).WithEdgeLabel(u, v, kind())
		}
	}
	return p
}
