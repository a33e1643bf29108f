package cuda

import (
	"math"
	"strings"

	"sagann/kernel"
)

// Sparse rows on a GPU (ops/sparse.go says what they are). Products with a matrix gather its rows,
// a group of lanes a row. For xᵀ·dy the entries of a tile are sorted by column; those of a column stay in
// the order of the rows. Then a group of lanes sums a piece of the sorted entries, so that a column of
// many entries is no longer than others. What a piece has of a column that others share is added in the
// order of the pieces. Nothing depends on which thread is first.
//
// The sort counts: a block has a range of rows, a slice of the columns and counters of its own in shared
// memory, one a column. It takes 32 rows at a time. No column is twice in a row, so a bit for each row says
// which of them have a column.

const (
	// sparseRanges is how many ranges there are at most, and sparseCounters how many counters: 64 MiB.
	sparseRanges   = 256
	sparseCounters = 1 << 24
	// sparseEach is how many rows a range has at least.
	sparseEach = 64
	// sparseSlice is how many columns a slice has at most: two words each, 96 KiB of shared memory, which every
	// GPU since compute capability 7.0 but 7.5 has.
	sparseSlice = 12288
	// sparseEntries is how many entries are sorted at a time at most, padding included: 256 MiB.
	sparseEntries = 1 << 25
	// sparsePiece is how many entries a group sums at least: four chains, which saga_sparse_terms ends.
	sparsePiece = 512
	// sparseSums is about how many numbers the sums of pieces are at most: 64 MiB.
	sparseSums = 1 << 24
	// sparseScan is the threads of the block that adds up how many entries columns have, and of those that count.
	sparseScan = 1024
)

// sparseShape is how xᵀ·dy is summed over n sparse rows of k entries, w columns of dy and so many
// columns of x.
type sparseShape struct {
	ranges, slices, slice     int   // slices of so many columns, the last of what is left
	piece, pieces             int   // pieces that so many entries can fill
	start, list, parts, bytes int64 // offsets in scratch memory, behind the counters
}

func newSparseShape(n, k, w, columns int) sparseShape {
	s := sparseShape{ranges: max(1, min(sparseRanges, sparseCounters/columns, n/sparseEach)), piece: sparsePiece}
	s.slices = (columns + sparseSlice - 1) / sparseSlice
	s.slice = (columns + s.slices - 1) / s.slices
	most := max(1, sparseSums/2/w)
	for (n*k+s.piece-1)/s.piece > most {
		s.piece *= 2
	}
	s.pieces = (n*k + s.piece - 1) / s.piece
	s.start = kernel.Align(int64(s.ranges) * int64(columns) * 4)
	s.list = s.start + kernel.Align(int64(columns+1)*4)
	s.parts = s.list + kernel.Align(int64(n)*int64(k)*8)
	// As many sums as fewer rows have at most, whose pieces may be shorter.
	room := min((n*k+sparsePiece-1)/sparsePiece, most)
	s.bytes = s.parts + kernel.Align(int64(room)*2*int64(w)*4)
	return s
}

// sparseRows is how many rows of k entries are sorted at a time.
func sparseRows(k int) int { return max(1, sparseEntries/k) }

// sparseBytes is the scratch memory of xᵀ·dy in tiles of at most n rows.
func sparseBytes(n, k, w, columns int) int64 {
	return newSparseShape(min(n, sparseRows(k)), k, w, columns).bytes
}

// sparseKernels adds the kernels of sparse rows, if the program has such: all of a text, for programs of equal
// text have equal kernels.
func (c *Program) sparseKernels(b *strings.Builder) {
	rows, drop := false, false
	for _, in := range c.p.Instrs {
		rows, drop = rows || in.Role == kernel.SparseMatMul, drop || in.Role == kernel.SparseDrop
	}
	for _, o := range c.p.Outs {
		rows = rows || o.Acc == kernel.SumSparse
	}
	if rows {
		b.WriteString(sparseSource)
		c.Names = append(c.Names, "saga_sparse_product", "saga_sparse_product1", "saga_sparse_count", "saga_sparse_columns",
			"saga_sparse_scan", "saga_sparse_place", "saga_sparse_sum", "saga_sparse_sum1", "saga_sparse_add")
	}
	if drop {
		b.WriteString(sparseDropSource)
		c.Names = append(c.Names, "saga_sparse_drop")
	}
}

// sparseThreads is the size of blocks.
const sparseThreads = 256

// lanesOf is how many lanes, of v columns each, take a row of w columns.
func lanesOf(w, v int) int {
	g := 1
	for g < 32 && g*v < w {
		g *= 2
	}
	return g
}

// groupsOf is the blocks in which each of n has a group of lanes.
func groupsOf(n, lanes int) int { return (n + sparseThreads/lanes - 1) / (sparseThreads / lanes) }

// sparseProduct is the product of n sparse rows of the tile that begins at row lo with the matrix of leaf w.
func (s *launcher) sparseProduct(in *kernel.Instr, w *kernel.Leaf, lo, n int) {
	p := s.c.p
	x, ldx := s.at(in.In[0], lo)
	d, ldd := s.at(in.Dst, lo)
	k, cols := p.Widths[in.In[0]]/2, p.Widths[in.Dst]
	name, v := "saga_sparse_product1", 1
	if cols%4 == 0 && w.LD%4 == 0 && ldd%4 == 0 {
		name, v = "saga_sparse_product", 4
	}
	lanes := lanesOf(cols, v)
	s.call(s.c.lookup(name), groupsOf(n, lanes), sparseThreads, 0, 1,
		kernel.GPUArgs{at("x", x), num("ldx", ldx), num("k", k), at("w", s.l.Bufs[w.Operand]), num("ldw", w.LD), num("columns", w.Rows), num("rows", n), num("cols", cols), num("lanes", lanes), at("out", d), num("ldo", ldd)})
	entries := int64(n) * int64(k)
	s.count(work{bytes: 8*entries + 4*entries*int64(cols) + 4*int64(n)*int64(cols), flops: 2 * entries * int64(cols)})
}

// sparseDrop drops entries of n sparse rows.
func (s *launcher) sparseDrop(in *kernel.Instr, step *kernel.Leaf, lo, n int) {
	x, ldx := s.at(in.In[0], lo)
	id, ldi := s.at(in.In[2], lo)
	d, ldd := s.at(in.Dst, lo)
	k := s.c.p.Widths[in.Dst] / 2
	s.call(s.c.lookup("saga_sparse_drop"), min(1<<16, (n*k+sparseThreads-1)/sparseThreads), sparseThreads, 0, 1,
		kernel.GPUArgs{at("x", x), num("ldx", ldx), num("k", k), num("rows", n), at("step", s.l.Bufs[step.Operand]), at("id", id), num("ldi", ldi), num("site", int(in.I)), num("bits", int(math.Float32bits(in.F))), at("out", d), num("ldo", ldd)})
	s.count(work{bytes: 16 * int64(n) * int64(k), flops: int64(n) * int64(k)})
}

// sumSparse adds xᵀ·dy of n rows of the tile that begins at row lo to o.
func (s *launcher) sumSparse(o *kernel.Out, lo, n int) {
	k := s.c.p.Widths[o.Reg2] / 2
	x, ldx := s.at(o.Reg2, lo)
	y, ldy := s.at(o.Reg, lo)
	for most := sparseRows(k); n > 0; n -= most {
		rows := min(n, most)
		s.sparseSum(o, x, ldx, y, ldy, rows, k)
		x, y = x+uint64(rows)*uint64(ldx)*4, y+uint64(rows)*uint64(ldy)*4
	}
}

// sparseSum adds the products of so many rows, of k entries each, at x and y.
func (s *launcher) sparseSum(o *kernel.Out, x uint64, ldx int, y uint64, ldy, rows, k int) {
	w, columns := s.c.p.Widths[o.Reg], o.Blocks
	h := newSparseShape(rows, k, w, columns)
	counters, start, list, parts := at("counters", s.partial), at("start", s.partial+uint64(h.start)), at("list", s.partial+uint64(h.list)), at("parts", s.partial+uint64(h.parts))
	each := (rows + h.ranges - 1) / h.ranges
	call := func(name string, blocks, threads int, args ...kernel.GPUArg) {
		s.call(s.c.lookup(name), max(1, blocks), threads, 0, 1, args)
	}
	c, ranges, piece, wide := num("columns", columns), num("ranges", h.ranges), num("piece", h.piece), num("w", w)
	sort := func(name string, bytes int, more ...kernel.GPUArg) {
		call(name, h.ranges*h.slices, sparseScan, append(kernel.GPUArgs{at("x", x), num("ldx", ldx), num("k", k), num("rows", rows), c, num("each", each), ranges, num("slice", h.slice), counters}, more...)...)
		s.out[len(s.out)-1].Shared = uint32(bytes)
	}
	sort("saga_sparse_count", 4*h.slice)
	call("saga_sparse_columns", (columns+sparseThreads-1)/sparseThreads, sparseThreads, counters, ranges, c, start)
	call("saga_sparse_scan", 1, sparseScan, start, c)
	s.out[len(s.out)-1].Shared = 4 * sparseScan
	sort("saga_sparse_place", 8*h.slice, start, list)
	name, v := "saga_sparse_sum1", 1
	if w%4 == 0 && ldy%4 == 0 {
		name, v = "saga_sparse_sum", 4
	}
	lanes, dst := lanesOf(w, v), at("dst", s.l.Bufs[o.Operand])
	call(name, groupsOf(h.pieces, lanes), sparseThreads, list, start, c, at("y", y), num("ldy", ldy), wide, piece, num("lanes", lanes), dst, parts)
	entries := int64(rows) * int64(k)
	s.count(work{bytes: 8*entries + 4*entries*int64(w) + 8*int64(columns)*int64(w), flops: 2 * entries * int64(w)})
	call("saga_sparse_add", min(1<<14, columns*w/sparseThreads+1), sparseThreads, start, c, wide, piece, dst, parts)
}
