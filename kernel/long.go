package kernel

import "sagann/internal/simd"

// Sums of many terms. Each addition in float32 may lose 2⁻²⁴ of the sum so far; equal terms
// all lose in one direction, and n of them up to 1.5e-8·n of their sum (measured with 20,000
// constants). So a chain of additions ends after chainTerms terms, the sums of chains are
// added in float32 at most chainSums times, and what is then there goes to float64. Together that is
// at most 384 additions in float32: 5.8e-6 of Σ|terms|, however many terms there are. A sum
// of at most chainTerms terms is one chain, and costs nothing more.
const (
	chainTerms = 128
	chainSums  = 256
)

// longSum is a sum of rows in the making.
type longSum struct {
	part  []float32 // the chains since the last that went to total
	n     int       // how many
	wide  bool      // total holds something
	total []float64
}

// reset makes it the sum of nothing, cols wide.
func (s *longSum) reset(cols int) {
	if cap(s.part) < cols {
		s.part = make([]float32, cols)
	}
	s.part = s.part[:cols]
	clear(s.part)
	s.n, s.wide = 0, false
}

// next is what the sum of the next chain is to be added to.
func (s *longSum) next() []float32 {
	if s.n == chainSums {
		s.widen()
	}
	s.n++
	return s.part
}

// widen moves part to total.
func (s *longSum) widen() {
	if cap(s.total) < len(s.part) {
		s.total = make([]float64, len(s.part))
	}
	s.total = s.total[:len(s.part)]
	if !s.wide {
		clear(s.total)
	}
	for i, x := range s.part {
		s.total[i] += float64(x)
	}
	clear(s.part)
	s.n, s.wide = 0, true
}

// addTo adds the sum to dst.
func (s *longSum) addTo(dst []float32) {
	if !s.wide {
		simd.AddTo(dst, s.part)
		return
	}
	s.widen()
	for i, x := range s.total {
		dst[i] += float32(x)
	}
}

// gather adds the rows ids of src to dst.
func (s *longSum) gather(dst, src []float32, ld int, ids []uint32) {
	if len(ids) <= chainTerms {
		simd.GatherSum(dst, src, ld, ids)
		return
	}
	s.reset(len(dst))
	for len(ids) > 0 {
		n := min(chainTerms, len(ids))
		simd.GatherSum(s.next(), src, ld, ids[:n])
		ids = ids[n:]
	}
	s.addTo(dst)
}

// segment adds segment g of a row's edges to dst, by add, which adds the sum of some of
// them to a row. The sum of a row of several segments, or of a long one, waits in s for the
// last: one sum is added to dst for each row and cell. A row that has no state yet needs no
// second place.
func (s *longSum) segment(dst []float32, g segment, add func(dst []float32, lo, hi int)) {
	if g.fresh || g.first && g.last && g.hi-g.lo <= chainTerms {
		add(dst, g.lo, g.hi)
		return
	}
	if g.first {
		s.reset(len(dst))
	}
	for lo := g.lo; lo < g.hi; lo += chainTerms {
		add(s.next(), lo, min(lo+chainTerms, g.hi))
	}
	if g.last {
		s.addTo(dst)
	}
}

// A Global is added to once a launch of a program, on GPUs once a tile, and these may be
// many. Where Out.Carry says so its sum is kept in two floats: behind its numbers lies what
// each of them is short of the sum.

// addCarry adds x to a number of such a Global.
func addCarry(sum, rest *float32, x float64) {
	x += float64(*sum) + float64(*rest)
	*sum, *rest = float32(x), 0
	if y := float32(x - float64(*sum)); y-y == 0 { // not behind an overflow
		*rest = y
	}
}
