package cuda

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"sagann/kernel"
)

// Sums of products over rows on a GPU: Aᵀ·B in float32, as in weight gradients. A sum has as many terms as there are rows,
// and cuBLAS does not promise an order of addition, so this package has its own kernel. A block has a tile of the result
// and a range of the rows. It adds chains of productChain rows in registers, and the chains to its partial sum in memory.
// Then the partial sums are added to the Global in float64. The order depends on the number of rows and columns only.

const (
	// productChain is the length of a chain: 7.6e-6 of Σ|terms| at most, measured with
	// constants on the CPU.
	productChain = 512
	// productChains is how many chains a block adds in its partial sum at most, in a launch.
	productChains = 64
	// productPart is the rows that a block sums at least, so that few rows, too, are shared by many blocks.
	productPart = 64
	// productThreads is how many threads share the rows: two blocks of the largest tile on
	// each of an H200's multiprocessors. It is a constant, for the bits depend on it.
	productThreads = 2 * 132 * 256
)

// productTile is the tile size for a result of m×n numbers: 64 or 128 in each direction, with 8×8 numbers per thread. A
// side of 128 needs fewer reads. It is used where it leaves no more threads idle than 64 does, and for more than 512
// rows or columns, where idle threads are few among many.
func productTile(m, n int) (tm, tn int) {
	side := func(n int) int {
		if (n+63)/64%2 == 0 || n > 512 {
			return 128
		}
		return 64
	}
	return side(m), side(n)
}

// productShape is how Aᵀ·B of m and n columns is summed over so many rows: in parts ranges of at most each rows, with one
// block per range and tile.
func productShape(m, n, rows int) (tiles, threads, parts, each int) {
	tm, tn := productTile(m, n)
	tiles, threads = (m+tm-1)/tm*((n+tn-1)/tn), tm/8*(tn/8)
	steps := max(1, (rows+15)/16)
	parts = max(1, min(productThreads/threads/tiles, rows/productPart))
	each = min((steps+parts-1)/parts*16, productChains*productChain)
	return tiles, threads, parts, each
}

// productRoom is the most partial sums for so many rows or fewer.
func productRoom(m, n, rows int) int {
	_, _, parts, _ := productShape(m, n, rows)
	return parts
}

// productKernel is the kernel of result o and its tile. Rows are copied four columns at a time if they are aligned for it.
func (c *Program) productKernel(o *kernel.Out) (name string, tm, tn int, vec bool) {
	tm, tn = productTile(c.p.Widths[o.Reg], c.p.Widths[o.Reg2])
	name, vec = fmt.Sprintf("saga_product_%d_%d", tm, tn), true
	for _, r := range []int{o.Reg, o.Reg2} {
		h := &c.Home[r]
		vec = vec && h.LD%4 == 0 && h.Kind != kernel.InCell
	}
	few, _ := thin(c, o, tm)
	switch {
	case few != "":
		name = few
	case !vec:
		name += "_any"
	case tm*tn == tileSide*tileSide:
		name = tileSums
	}
	return name, tm, tn, vec
}

// productKernels renders the kernels of the program's sums of products but those that others compute.
func (c *Program) productKernels(b *strings.Builder, others func(o *kernel.Out) bool) {
	p := c.p
	for i := range p.Outs {
		o := &p.Outs[i]
		if o.Acc != kernel.SumTN || others(o) {
			continue
		}
		name, tm, tn, vec := c.productKernel(o)
		if slices.Contains(c.Names, name) || thinKernel(c, b, o, tm) {
			continue
		}
		if name == tileSums {
			tileText(b)
			b.WriteString(tileSumsSource)
			c.name(name)
			continue
		}
		if !strings.Contains(b.String(), productSource) {
			b.WriteString(productSource)
		}
		threads := tm / 8 * (tn / 8)
		fmt.Fprintf(b, productOfSource, threads, 512/threads, name, tm, tn, vec)
		c.name(name)
	}
}

// sumTN adds the products of n rows of the tile that begins at row lo to o. With TF32, cuBLAS computes them: operands are
// then rounded far more coarsely than sums, so the order of addition matters little.
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
	name, _, _, _ := s.c.productKernel(o)
	fn := s.c.lookup(name)
	i := slices.IndexFunc(p.Outs, func(x kernel.Out) bool { return s.beside(&x) == o }) // its sums are made on the way
	for done := 0; done < n; {
		tiles, threads, ranges, each := productShape(g.M, g.N, n-done)
		rows := min(n-done, ranges*each)
		ranges = (rows + each - 1) / each
		args := kernel.GPUArgs{at("a", a+uint64(done)*uint64(lda)*4), num("lda", lda), at("b", b+uint64(done)*uint64(ldb)*4), num("ldb", ldb),
			num("rows", rows), num("m", g.M), num("n", g.N), num("each", each), at("part", s.partial)}
		columns := s.partial + uint64(kernel.Align(int64(ranges)*int64(g.M)*int64(partialLD(g.N))*4))
		if name == tileSums && i >= 0 {
			args = append(args, at("columns", columns))
		} else if name == tileSums {
			args = append(args, at("columns", 0))
		}
		s.call(fn, tiles, threads, 0, ranges, args)
		s.out[len(s.out)-1].Tiles = name == tileSums
		g.K = rows
		s.count(gemmWork(&g))
		sums := []parts{{o, s.partial, g.M, g.N, partialLD(g.N), ranges}}
		if i >= 0 {
			sums = append(sums, parts{&p.Outs[i], columns, 1, g.N, partialLD(g.N), 2 * ranges})
		}
		s.addParts(sums...)
		done += rows
	}
}

// partialLD is the number of floats from row to row of a partial sum of n columns: a multiple of four, so that four floats
// are written at once.
func partialLD(n int) int { return (n + 3) / 4 * 4 }

// productOfSource is the kernel of a tile.
const productOfSource = `extern "C" __global__ void __launch_bounds__(%d, %d) %s(const float *__restrict__ a, ll lda, const float *__restrict__ b, ll ldb, ll rows, ll m, ll n, ll each, float *part) {
	saga_product<%d, %d, %t>(a, lda, b, ldb, rows, m, n, each, part);
}
`

// productSource is the product of a tile of TM×TN numbers over a range of rows. Rows come
// through shared memory, sixteen at a time, two such steps ahead. A warp has 32×64 numbers,
// a lane four blocks of 4×4. Lanes that differ in their lowest bit read the same of
// a, those that differ in the next the same of b: reads of 16 bytes a lane then take half
// a warp at a time, otherwise a quarter. Rows behind the range are zero; what columns behind the result hold is
// of no account, since columns do not mix.
// Every second row of a lane's numbers is taken backwards, so that an operand in a register
// serves two products that follow each other: 1 to 3 % faster on an H200.
//
//go:embed product_sums.cu
var productSource string

// tilesSource is what kernels of tiles share.
//
//go:embed products.cu
var tilesSource string

// tileText writes the source that kernels of tiles share, once.
func tileText(b *strings.Builder) {
	if !strings.Contains(b.String(), tilesSource) {
		b.WriteString(tilesSource)
	}
}

// tileSums is the kernel of sums of products by tiles (product_sums.go).
const tileSums = "saga_product_tiles"

const tileSumsSource = `extern "C" __global__ void __launch_bounds__(256, 2) saga_product_tiles(const float *__restrict__ a, ll lda, const float *__restrict__ b, ll ldb, ll rows, ll m, ll n, ll each, float *part, float *columns) {
	saga_tile_sums(a, lda, b, ldb, rows, m, n, each, part, columns);
}
`

// beside is the sum of products that sums the rows of o on its way, too; nil: there is none.
func (s *launcher) beside(o *kernel.Out) *kernel.Out {
	p := s.c.p
	if s.l.TF32 || o.Acc != kernel.SumRows {
		return nil
	}
	for i := range p.Outs {
		if x := &p.Outs[i]; x.Acc == kernel.SumTN && x.Reg2 == o.Reg {
			if name, _, _, _ := s.c.productKernel(x); name == tileSums {
				return x
			}
		}
	}
	return nil
}
