package cpu

import "sagann/internal/simd"

// Sums of many terms. Each addition in float32 may lose 2⁻²⁴ of the sum so far. With equal terms
// all errors have the same sign, so n of them lose up to 1.5e-8·n of their sum (measured with 20,000
// constants). Therefore a chain of additions ends after chainTerms terms, at most chainSums sums of chains
// are added in float32, and these are added up in float64. Together
// that is at most 384 additions in float32: an error of at most 5.8e-6 of Σ|terms|, for any number of terms.
// A sum of at most chainTerms terms is one chain, and has no extra cost.
const (
	chainTerms = 128
	chainSums  = 256
)

// longSum is a sum of rows while it is computed. Chains are counted from its first row, so its
// bits do not depend on how many rows are added at a time.
type longSum struct {
	chain []float32 // the sum of the current chain
	terms int       // number of terms in chain
	part  []float32 // the sum of the chains that are not yet in total
	n     int       // number of chains in part
	wide  bool      // total is in use
	total []float64
}

// reset makes s an empty sum of rows of cols columns.
func (s *longSum) reset(cols int) {
	s.part = zeros(s.part, cols)
	s.terms, s.n, s.wide = 0, 0, false
}

// resetWide is reset for a sum that only uses total.
func (s *longSum) resetWide(cols int) {
	s.part, s.total = s.part[:0], zeros(s.total, cols)
	s.terms, s.n, s.wide = 0, 0, true
}

// zeros returns n zeros, in the memory of x if that is large enough.
func zeros[T float32 | float64](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	clear(x[:n])
	return x[:n]
}

// more adds n rows. add(sum, lo, hi) must add rows [lo, hi) of them to the chain sum.
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

// endChain adds the current chain, if there is one, to part.
func (s *longSum) endChain() {
	if s.terms > 0 {
		simd.AddTo(s.next(), s.chain)
		s.terms = 0
	}
}

// next returns the row to which the next chain must be added.
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

// segment adds segment g of a row's edges to dst. One sum is added to dst for each row and cell. If the segment
// has all edges of the row and they are one chain, whole adds their sum. Otherwise the sum is computed by
// more and kept in s until the row's last segment. If dst is still zero, a chain may be computed in
// dst itself.
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

// Every launch of a program, and on GPUs every tile, adds to a Global, and there may be
// many. With Out.Carry its sum is kept in two floats: after its numbers the Global stores the rounding error
// of each of them.

// addCarry adds x to a number of such a Global; rest is its rounding error.
func addCarry(sum, rest *float32, x float64) {
	x += float64(*sum) + float64(*rest)
	*sum, *rest = float32(x), 0
	if y := float32(x - float64(*sum)); y-y == 0 { // y is finite: the sum has not overflowed
		*rest = y
	}
}
