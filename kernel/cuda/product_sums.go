package cuda

import "sagann/kernel"

// Sums of products over rows on a GPU, Aᵀ·B: how cuBLAS adds so many terms is its own
// business, so a call never has more than productRows rows to add. Batches of such products
// go to partial sums that lie side by side; then these are added to the Global in float64.

const (
	// productRows is the length of a product's chain: 7.6e-6 of Σ|terms| at most, measured
	// with constants on the CPU.
	productRows = 512
	// productFloats bounds the partial sums. With 128×128 numbers each, which are a block's
	// work, a batch of 256 of them is about two waves of a large GPU.
	productFloats = 1 << 22
	// productRounds is how many batches are summed in the same partial sums.
	productRounds = 64
)

// productParts is the number of partial sums of size numbers over so many rows: batches
// of equal length.
func productParts(size, rows int) int {
	parts := max(1, rows/productRows)
	each := max(1, productFloats/size)
	rounds := (parts + each - 1) / each
	return (parts + rounds - 1) / rounds
}

// productRoom is the most that productParts gives for so many rows or less.
func productRoom(size, rows int) int {
	return min(max(1, rows/productRows), max(1, productFloats/size))
}

// sumTN adds the products of n rows of the tile that begins at row lo to o. With TF32 the
// operands are rounded far more coarsely than any sum.
func (s *launcher) sumTN(o *kernel.Out, lo, n int) {
	p := s.c.p
	a, lda := s.at(o.Reg, lo)
	b, ldb := s.at(o.Reg2, lo)
	g := kernel.GPUGemm{A: a, B: b, C: s.l.Bufs[o.Operand], M: p.Widths[o.Reg], N: p.Widths[o.Reg2], K: n,
		LDA: lda, LDB: ldb, LDC: p.Widths[o.Reg2], TransA: true, Add: true}
	if s.l.TF32 {
		s.gemm(g)
		return
	}
	size := g.M * g.N
	parts, full, rounds, used := productParts(size, n), n/productRows, 0, 1
	g.C = s.partial
	for at := 0; at < full; at += g.Batch {
		if rounds == productRounds {
			s.addParts(o, size, used)
			rounds = 0
		}
		if rounds == 0 {
			used = min(parts, full-at)
		}
		g.K, g.Batch, g.Add = productRows, min(parts, full-at), rounds > 0
		g.StrideA, g.StrideB, g.StrideC = productRows*lda, productRows*ldb, size
		g.A, g.B = a+uint64(at)*uint64(g.StrideA)*4, b+uint64(at)*uint64(g.StrideB)*4
		s.gemm(g)
		rounds++
	}
	if rest := n % productRows; rest > 0 {
		skip := uint64(full*productRows) * 4
		g.A, g.B, g.K, g.Batch, g.Add = a+skip*uint64(lda), b+skip*uint64(ldb), rest, 0, rounds > 0
		s.gemm(g)
	}
	s.addParts(o, size, used)
}

// addParts adds partial sums of cols numbers each to the Global of o.
func (s *launcher) addParts(o *kernel.Out, cols, parts int) {
	carry := uint64(0)
	if o.Carry {
		carry = 1
	}
	s.call(s.c.lookup("saga_columns_add"), (cols+31)/32, 256, 0, 1,
		[]uint64{s.l.Bufs[o.Operand], s.partial, uint64(cols), uint64(parts), carry})
	s.count(work{bytes: 4 * int64(parts) * int64(cols), flops: int64(parts) * int64(cols)})
}
