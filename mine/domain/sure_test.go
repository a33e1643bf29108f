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

// TestSure compares what semi-joins leave of the domains of random patterns with the domains that all embeddings give: nothing of these is lost, and
// nothing else is left where searches are said to be needless.
func TestSure(t *testing.T) {
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	sure, several := 0, 0
	graphs := 1500
	if testing.Short() {
		graphs = 300
	}
	for range graphs {
		n, labels := 4+d.IntN(16), 1+d.IntN(4)
		e := &chunk.Edges{V: n}
		for range n/2 + d.IntN(n) {
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
		g, err := New(context.Background(), r, nil, 1, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			p := pattern.New(0).Add(int32(d.IntN(labels)))
			for v := range 2 + d.IntN(6) {
				p = p.Add(int32(d.IntN(labels))).WithEdge(v+1, d.IntN(v+1))
			}
			if u, v := d.IntN(p.Vertices()), d.IntN(p.Vertices()); u != v && d.IntN(4) == 0 {
				p = p.WithEdge(u, v)
			}
			w := g.worker(&Question{Least: 1, Vertices: 8})
			if !starts(w, p) {
				continue
			}
			want := embedded(r, g, p, nil)
			if !w.consistent() {
				if len(want[0]) > 0 {
					t.Fatalf("%v has an embedding", p)
				}
				continue
			}
			is := w.sureOf(p)
			for v := range p.Vertices() {
				got := slices.Collect(pack(w.sets[v], size(w.sets[v])).All())
				for _, x := range want[v] {
					if !slices.Contains(got, x) {
						t.Fatalf("%v, vertex %d: %v of %v", p, v, got, want[v])
					}
				}
				if is>>v&1 == 1 {
					if sure++; len(got) != len(want[v]) {
						t.Fatalf("%v, vertex %d: %v, %v expected", p, v, got, want[v])
					}
					for u := range v {
						if p.Label(u) == p.Label(v) {
							several++
							break
						}
					}
				}
			}
		}
	}
	if sure < graphs || several < graphs/4 {
		t.Errorf("%d domains were sure, %d of them where labels repeat", sure, several)
	}
}

// starts begins a pattern with the ends of its edges. It reports whether the graph has them all.
func starts(w *worker, p pattern.Pattern) bool {
	for v := range p.Vertices() {
		if l := w.g.find(p.Label(v)); int(l) == len(w.g.Labels) || w.g.Labels[l].Value != p.Label(v) {
			return false
		}
		for u := range v {
			if p.Adjacent(u, v) && w.g.arcs[arcKey{w.g.find(p.Label(u)), w.g.find(p.Label(v)), p.EdgeLabel(u, v)}] == nil {
				return false
			}
		}
	}
	w.begin(p)
	for v := range w.n {
		w.sets[v] = slices.Repeat([]uint64{^uint64(0)}, (len(w.g.Labels[w.label[v]].Vertices)+63)/64)
		for u := range w.n {
			if w.near[v]>>u&1 == 1 {
				w.list = w.arcs[v][u].set().meet(w.sets[v], w.list)
			}
		}
		w.count[v] = size(w.sets[v])
	}
	return true
}

// embedded is the domains of a pattern, by all embeddings. kind is the labels of edges, nil if there are none.
func embedded(r *rows.Rows, g *Graph, p pattern.Pattern, kind func(a, b uint32) int32) [][]uint32 {
	sets := make([]map[uint32]bool, p.Vertices())
	for v := range sets {
		sets[v] = map[uint32]bool{}
	}
	var image []uint32
	var place func()
	place = func() {
		v := len(image)
		if v == p.Vertices() {
			for u, x := range image {
				sets[u][x] = true
			}
			return
		}
	next:
		for x := range uint32(r.V()) {
			if r.Label[x] != p.Label(v) || slices.Contains(image, x) {
				continue
			}
			for u, y := range image {
				if p.Adjacent(u, v) && (!r.Has(x, y) || kind != nil && kind(x, y) != p.EdgeLabel(u, v)) {
					continue next
				}
			}
			image = append(image, x)
			place()
			image = image[:v]
		}
	}
	place()
	out := make([][]uint32, p.Vertices())
	for v := range out {
		for i, x := range g.Labels[g.find(p.Label(v))].Vertices {
			if sets[v][x] {
				out[v] = append(out[v], uint32(i))
			}
		}
	}
	return out
}

// TestSureOf: which vertices of a pattern need no search.
func TestSureOf(t *testing.T) {
	e := &chunk.Edges{V: 15}
	for a := range uint32(15) {
		for b := range uint32(15) {
			if a != b {
				e.Src, e.Dst = append(e.Src, a), append(e.Dst, b)
			}
		}
	}
	r, _, err := rows.FromEdges(e)
	if err != nil {
		t.Fatal(err)
	}
	for v := range 15 {
		r.Label = append(r.Label, int32(v%5))
	}
	g, err := New(context.Background(), r, nil, 1, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]uint8{
		"0:0-1:1-2:2":                   0b111,
		"0:0-1:1-2:0":                   0b111, // ends
		"0:0-1:0-2:1-3:1":               0b1111,
		"0:0-1:1 0-2:1 0-3:1":           0b1111,
		"0:0-1:1-2:2-3:0":               0, // 0 and 3 may be one vertex
		"0:0-1:1-2:0-3:2":               0b0010,
		"0:1-1:2-2:0-3:3-4:0-5:4":       0b001000,
		"0:0-1:1 0-2:1 1-3:2 0-4:3-5:4": 0b110001,
		"0:0-1:1 0-2:1 0-3:1 3-4:2":     0, // three peers
		"0:0-1:1-2:2-0":                 0,
		"0:0-1:1-2:0 1-3:0 1-4:2 4-5:3": 0b111111,
		"0:0-1:1-2:2-3:3-4:4-0":         0,
	} {
		p, err := pattern.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		w := g.worker(&Question{Least: 1, Vertices: 8})
		if !p.Labelled() || !starts(w, p) {
			t.Fatalf("%s does not start", text)
		}
		if got := w.sureOf(p); got != want {
			t.Errorf("%s: %b, %b expected", text, got, want)
		}
	}
}
