package saga

import (
	"math"
	"math/rand/v2"
	"testing"

	"sagann/dataset"
)

// drawnPairs are so many pairs of v vertices with one of so many types.
func drawnTriples(r *rand.Rand, n, v, types int) *dataset.Pairs {
	p := &dataset.Pairs{}
	for range n {
		p.Src, p.Dst, p.Type = append(p.Src, r.Uint32N(uint32(v))), append(p.Dst, r.Uint32N(uint32(v))), append(p.Type, r.Uint32N(uint32(types)))
	}
	return p
}

// TestRanks compares ranks with those that are counted from their definition, over rows of few values, so that many scores are equal.
func TestRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for k := range 40 {
		v, types := 3+r.IntN(12), 1+r.IntN(3)
		s := &scorer{head: LinkDistMult, c: 1 + r.IntN(3)}
		for range v * s.c {
			s.z = append(s.z, float32(r.IntN(3)-1))
		}
		w := make([]float32, types*s.c)
		for i := range w {
			w[i] = float32(r.IntN(3) - 1)
		}
		s.w = [][]float32{w}
		edges, known := drawnTriples(r, 5, v, types), drawnTriples(r, 3*v, v, types)
		known = known.With(edges)
		first := uint32(r.IntN(2))
		ends := [2]dataset.Span{{First: 0, End: uint32(v)}, {First: first, End: uint32(v)}}
		isKnown := map[[3]uint32]bool{}
		for i, u := range known.Src {
			isKnown[[3]uint32{u, known.Dst[i], known.Type[i]}] = true
		}
		got, work := s.ranks(edges, ends, known), s.work()
		for i, rank := range got {
			u, x, typ := edges.Src[i/2], edges.Dst[i/2], edges.Type[i/2]
			mine, want := s.score(u, x, typ, work), 1.0
			for y := range uint32(v) {
				a, b := y, x
				if i%2 == 1 {
					a, b = u, y
				}
				if y < ends[i%2].First || isKnown[[3]uint32{a, b, typ}] {
					continue
				}
				switch z := s.score(a, b, typ, work); {
				case z > mine:
					want++
				case z == mine:
					want += 0.5
				}
			}
			if rank != want {
				t.Errorf("case %d: rank %d is %v, want %v", k, i, rank, want)
			}
		}
	}
}

// TestTypedHead: the gradients of links of several types are those of small steps.
func TestTypedHead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const v, types = 5, 3
	s := &scorer{head: LinkDistMult, c: 2}
	for range v * s.c {
		s.z = append(s.z, float32(r.NormFloat64()))
	}
	w := make([]float32, types*s.c)
	for i := range w {
		w[i] = float32(r.NormFloat64())
	}
	s.w = [][]float32{w}
	pairs := drawnTriples(r, 9, v, types)
	_, dz, dw := s.gradients(pairs, 4)
	check := func(what string, x []float32, d []float32) {
		for i := range x {
			was := x[i]
			const step = 1.0 / 256
			x[i] = was + step
			up, _, _ := s.gradients(pairs, 4)
			x[i] = was - step
			down, _, _ := s.gradients(pairs, 4)
			x[i] = was
			if want := (up - down) / (2 * step); math.Abs(want-float64(d[i])) > 1e-4 {
				t.Errorf("%s %d: %v, want %v", what, i, d[i], want)
			}
		}
	}
	check("row", s.z, dz)
	check("relation", w, dw[0])
}
