package locality

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"sagann/chunk"
)

// planted is a graph of k communities of n vertices whose ids are shuffled; each vertex has in-edges from its own, and
// one in ten from anywhere.
func planted(k, n, degree int) (e *chunk.Edges, of []int) {
	r := rand.New(rand.NewPCG(1, 2))
	v := k * n
	e, of = &chunk.Edges{V: v}, make([]int, v)
	place := r.Perm(v)
	for u := range v {
		of[place[u]] = u / n
		for range degree {
			w := u/n*n + r.IntN(n)
			if r.IntN(10) == 0 {
				w = r.IntN(v)
			}
			e.Src, e.Dst = append(e.Src, uint32(place[w])), append(e.Dst, uint32(place[u]))
		}
	}
	return e, of
}

// The cut is that of a plain count, and a store gives what edges in memory give.
func TestCut(t *testing.T) {
	e, _ := planted(4, 50, 6)
	path := filepath.Join(t.TempDir(), "g.saga")
	w, err := chunk.Create(path, chunk.Meta{V: e.V, Base: 7})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AppendEdges(e); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := chunk.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	stored, err := OfStore(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range Ways() {
		for _, hosts := range []int{1, 3, 8} {
			host, err := way.Deal(OfEdges(e), hosts)
			if err != nil {
				t.Fatal(err)
			}
			c, err := CutOf(OfEdges(e), host, hosts)
			if err != nil {
				t.Fatal(err)
			}
			rows, cut := map[[2]int]bool{}, int64(0)
			for k := range e.Src {
				if a, b := host[e.Src[k]], host[e.Dst[k]]; a != b {
					cut++
					rows[[2]int{int(e.Src[k]), int(b)}] = true
				}
			}
			if c.Cut != cut || c.Rows != int64(len(rows)) || c.Edges != int64(e.E()) {
				t.Errorf("%s, %d hosts: %+v, want %d of %d edges and %d rows", way.Name, hosts, c, cut, e.E(), len(rows))
			}
			if share := (e.V + hosts - 1) / hosts; c.Most > share*(100+above)/100+1 {
				t.Errorf("%s, %d hosts: one has %d of %d vertices", way.Name, hosts, c.Most, e.V)
			}
			host2, err := way.Deal(stored, hosts)
			if err != nil {
				t.Fatal(err)
			}
			c2, err := CutOf(stored, host2, hosts)
			if err != nil || c2 != c || !slices.Equal(host, host2) {
				t.Errorf("%s, %d hosts: the store gives %+v, %v; edges in memory %+v", way.Name, hosts, c2, err, c)
			}
		}
	}
}

// Label propagation finds planted communities, of which the order of the input says nothing.
func TestPlanted(t *testing.T) {
	e, _ := planted(16, 200, 12)
	shares := map[string]float64{}
	for _, way := range Ways() {
		host, err := way.Deal(OfEdges(e), 4)
		if err != nil {
			t.Fatal(err)
		}
		c, err := CutOf(OfEdges(e), host, 4)
		if err != nil {
			t.Fatal(err)
		}
		shares[way.Name] = c.Share()
	}
	if a := shares["input order"]; a < 0.7 || a > 0.8 {
		t.Errorf("the input's order cuts %.3f of the edges, at random it is 0.75", a)
	}
	if a := shares["label propagation"]; a > 0.2 {
		t.Errorf("label propagation cuts %.3f of the edges, planted are 0.075; all: %v", a, shares)
	}
	t.Log(shares)
}

// A store with an order of its own gives every vertex its neighbours once.
func TestStoreOrder(t *testing.T) {
	e, _ := planted(4, 50, 6)
	path := filepath.Join(t.TempDir(), "g.saga")
	w, err := chunk.Create(path, chunk.Meta{V: e.V, Base: 4, Order: chunk.Balance(e, 4)})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.AppendEdges(e), w.Close()); err != nil {
		t.Fatal(err)
	}
	s, err := chunk.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	lists := func(g *Near) (in, out [][]uint32) {
		in, out = make([][]uint32, g.V), make([][]uint32, g.V)
		err := g.Each(func(v int, i, o []uint32) {
			in[v], out[v] = append(in[v], slices.Sorted(slices.Values(i))...), append(out[v], slices.Sorted(slices.Values(o))...)
		})
		if err != nil {
			t.Fatal(err)
		}
		return in, out
	}
	stored, err := OfStore(s)
	if err != nil {
		t.Fatal(err)
	}
	in, out := lists(OfEdges(e))
	in2, out2 := lists(stored)
	if !slices.EqualFunc(in, in2, slices.Equal) || !slices.EqualFunc(out, out2, slices.Equal) {
		t.Error("the store's neighbours are others than those of the edges in memory")
	}
}
