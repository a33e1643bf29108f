package cpu

import "sagann/internal/simd"

// Sums of many terms. Each addition in float32 may lose 2⁻²⁴ of the sum so far; equal terms
// all lose in one direction, and n of them up to 1.5e-8·n of their sum (measured with 20,000
// constants). So a chain of additions ends after chainTerms terms, the sums of chains are
// added in float32 at most chainSums times, and what is then there goes to float64. Together
// that is at most 384 additions in float32: 5.8e-6 of Σ|terms|, however many terms there are.
// A sum of at most chainTerms terms is one chain, and costs nothing more.
const (
	chainTerms = 128
	chainSums  = 256
)

// longSum is a sum of rows in the making. Its chains are counted from its first row, so its
// bits do not depend on how many rows come at a time.
type longSum struct {
	chain []float32 // the chain at hand
	terms int       // in chain
	part  []float32 // the chains since the last that went to total
	n     int       // chains in part
	wide  bool      // total holds something
	total []float64
}

// reset makes it the sum of nothing, cols wide.
func (s *longSum) reset(cols int) {
	s.part = zeros(s.part, cols)
	s.terms, s.n, s.wide = 0, 0, false
}

// resetWide is reset of a sum that is in total alone.
func (s *longSum) resetWide(cols int) {
	s.part, s.total = s.part[:0], zeros(s.total, cols)
	s.terms, s.n, s.wide = 0, 0, true
}

// zeros are n zeros, in the memory of x where that is enough.
func zeros[T float32 | float64](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	clear(x[:n])
	return x[:n]
}

// more adds n rows. add continues a chain, sum, with rows [lo, hi) of them.
func (s *longSum) more(n int, add func(sum []float32, lo, hi int)) {
	for lo := 0; lo < n; {
		if s.terms == 0 {
			s.chain = zeros(s.chain, len(s.part))
		}
		hi := min(n, lo+chainTerms-s.terms)
		add(s.chain, lo, hi)
		s.terms += hi - lo
		lo = hi
		if s.terms == chainTerms {
			s.endChain()
		}
	}
}

// endChain adds the chain at hand, if there is one, to part.
func (s *longSum) endChain() {
	if s.terms > 0 {
		simd.AddTo(s.next(), s.chain)
		s.terms = 0
	}
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
	if !s.wide {
		s.total, s.wide = zeros(s.total, len(s.part)), true
	}
	for i, x := range s.part {
		s.total[i] += float64(x)
	}
	clear(s.part)
	s.n = 0
}

// addTo adds the sum to dst.
func (s *longSum) addTo(dst []float32) {
	s.endChain()
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

// segment adds segment g of a row's edges to dst: by whole, which adds their sum, when they
// are all and one chain. The sum of a row of several segments, or of a long one, is made by
// more and waits in s for the last: one sum is added to dst for each row and cell. Where dst
// is zero yet a chain may as well be made in it.
func (s *longSum) segment(dst []float32, g segment, whole func(dst []float32), more func(sum []float32, lo, hi int)) {
	switch {
	case g.first && g.last && g.all <= chainTerms:
		whole(dst)
		return
	case g.fresh:
		more(dst, g.lo, g.hi)
		return
	}
	if g.first {
		s.reset(len(dst))
	}
	s.more(g.hi-g.lo, func(sum []float32, lo, hi int) { more(sum, g.lo+lo, g.lo+hi) })
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
