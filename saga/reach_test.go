package saga

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
)

// TestReach: what vertices depend on is that of a search edge by edge, also once all edges are sorted. A request looks at every edge once a
// step, and then at none.
func TestReach(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		v, n := 1+rng.IntN(300), rng.IntN(600)
		e := &chunk.Edges{V: v}
		for range n {
			e.Src, e.Dst = append(e.Src, uint32(rng.IntN(v))), append(e.Dst, uint32(rng.IntN(v)))
		}
		r := reaches{edges: e, steps: 1 + rng.IntN(3)}
		for request := range indexAfter + 2 {
			list := []uint32{uint32(rng.IntN(v)), uint32(rng.IntN(v))}
			slices.Sort(list)
			list = slices.Compact(list)
			x, err := r.of(list, 1<<40)
			if err != nil {
				t.Fatal(err)
			}
			compareReach(t, e, r.steps, list, x)
			if looked := int64(min((request+1)*r.steps, indexAfter+r.steps) * n); r.looked > looked {
				t.Fatalf("request %d of %d steps: %d edges of %d were looked at, want at most %d", request, r.steps, r.looked, n, looked)
			}
		}
	}
}

// compareReach searches again, edge by edge.
func compareReach(t *testing.T, e *chunk.Edges, steps int, list []uint32, x *reached) {
	in, work, took := map[uint32]bool{}, 0, map[int]bool{}
	for _, v := range list {
		in[v] = true
	}
	for range steps {
		next := map[uint32]bool{}
		for k, d := range e.Dst {
			if in[d] {
				next[e.Src[k]], took[k] = true, true
				work++
			}
		}
		for v := range next {
			in[v] = true
		}
	}
	last := map[uint32]uint32{}
	for _, k := range x.edges {
		if before, ok := last[e.Dst[k]]; ok && before >= k || !took[int(k)] {
			t.Fatalf("edge %d after edge %d, of those into vertex %d", k, before, e.Dst[k])
		}
		last[e.Dst[k]] = k
	}
	if len(x.edges) != len(took) || int(x.work) != work || len(x.vertices) != len(in) || !slices.IsSorted(x.vertices) {
		t.Fatalf("%d edges, work %d, %d vertices; want %d, %d, %d", len(x.edges), x.work, len(x.vertices), len(took), work, len(in))
	}
	for _, v := range x.vertices {
		if !in[v] {
			t.Fatalf("vertex %d is not reached", v)
		}
	}
}

// TestReachBad: an edge that is wrong is an error where it is reached.
func TestReachBad(t *testing.T) {
	for _, end := range []uint32{3, 200} {
		r := reaches{edges: &chunk.Edges{V: 3, Src: []uint32{0, end}, Dst: []uint32{1, 0}}, steps: 2}
		if _, err := r.of([]uint32{1}, 100); err == nil || !strings.Contains(err.Error(), "edge 1 goes from") {
			t.Errorf("a source %d: %v", end, err)
		}
	}
	r := reaches{edges: &chunk.Edges{V: 3, Src: []uint32{0}, Dst: []uint32{200}}, steps: 2}
	if _, err := r.of([]uint32{1}, 100); err == nil || !strings.Contains(err.Error(), "to 200") {
		t.Errorf("a target: %v", err)
	}
}

// TestAnswerBatch: vertices that reach many others are answered a few at a time, unless these are the same.
func TestAnswerBatch(t *testing.T) {
	for want, far := range map[int]func(v, k int) int{2: func(v, k int) int { return 8 + 20000*v + k }, 8: func(_, k int) int { return 8 + 5*k }} {
		e, list := &chunk.Edges{V: 200000}, []uint32{}
		for v := range 8 {
			list = append(list, uint32(v))
			for k := range 20000 {
				e.Src, e.Dst = append(e.Src, uint32(far(v, k))), append(e.Dst, uint32(v))
			}
		}
		s := &Some{reaches: reaches{edges: e, steps: 1}}
		if n, err := s.batch(list, e); err != nil || n != want {
			t.Errorf("%d vertices at a time, want %d; %v", n, want, err)
		}
	}
}
