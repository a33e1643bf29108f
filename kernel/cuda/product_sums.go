package cuda

import (
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
	parts = max(1, min(productThreads/threads/tiles, rows/productChain))
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
	if !vec {
		name += "_any"
	}
	return name, tm, tn, vec
}

// productKernels renders the kernels of the program's sums of products.
func (c *Program) productKernels(b *strings.Builder) {
	p := c.p
	for i := range p.Outs {
		o := &p.Outs[i]
		if o.Acc != kernel.SumTN {
			continue
		}
		name, tm, tn, vec := c.productKernel(o)
		if slices.Contains(c.Names, name) {
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
	for at := 0; at < n; {
		tiles, threads, parts, each := productShape(g.M, g.N, n-at)
		rows := min(n-at, parts*each)
		parts = (rows + each - 1) / each
		s.call(fn, tiles, threads, 0, parts, []uint64{a + uint64(at)*uint64(lda)*4, uint64(lda), b + uint64(at)*uint64(ldb)*4, uint64(ldb),
			uint64(rows), uint64(g.M), uint64(g.N), uint64(each), s.partial})
		g.K = rows
		s.count(gemmWork(&g))
		s.addParts(o, g.M, g.N, partialLD(g.N), parts)
		at += rows
	}
}

// partialLD is the number of floats from row to row of a partial sum of n columns: a multiple of four, so that four floats
// are written at once.
func partialLD(n int) int { return (n + 3) / 4 * 4 }

// addParts adds partial sums to the Global of o. Each has m rows of n numbers, ld floats apart.
func (s *launcher) addParts(o *kernel.Out, m, n, ld, parts int) {
	carry := uint64(0)
	if o.Carry {
		carry = 1
	}
	s.call(s.c.lookup("saga_columns_add"), (m*n+31)/32, 256, 0, 1,
		[]uint64{s.l.Bufs[o.Operand], s.partial, uint64(m), uint64(n), uint64(ld), uint64(parts), carry})
	s.count(work{bytes: 4 * int64(parts) * int64(m) * int64(n), flops: int64(parts) * int64(m) * int64(n)})
}

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
const productSource = `
// Sixteen rows of W columns of x on their way to shared memory, T threads, four columns a
// thread and copy.
template <int T, int W, bool V> struct saga_rows {
	const float *from; // of the thread's first copy
	ll step;           // floats between two of its copies
	int floats, row, left;
	__device__ __forceinline__ saga_rows(const float *x, ll ld, ll lo, ll hi, ll c0, ll cols) {
		const int c = threadIdx.x % (W / 4) * 4;
		row = threadIdx.x / (W / 4);
		floats = (int)min(max((V ? ld : cols) - c0 - c, 0ll), 4ll);
		from = x + (lo + row) * ld + (floats ? c0 + c : 0);
		step = T * 4 / W * ld;
		left = (int)(hi - lo) - row;
	}
	__device__ __forceinline__ void next(float (&to)[16][W]) {
#pragma unroll
		for (int k = 0; k < 16; k += T * 4 / W) {
			const int n = k < left ? floats : 0;
			float *at = &to[row + k][threadIdx.x % (W / 4) * 4];
#if __CUDA_ARCH__ >= 800
			const unsigned s = (unsigned)__cvta_generic_to_shared(at);
			if (V) {
				asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(s), "l"(from), "r"(4 * n));
			} else {
				for (int e = 0; e < 4; e++)
					asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(s + 4 * e), "l"(from + (e < n ? e : 0)), "r"(e < n ? 4 : 0));
			}
#else
			for (int e = 0; e < 4; e++) at[e] = e < n ? from[e] : 0.f;
#endif
			from += step;
		}
		left -= 16;
	}
};
template <int TM, int TN, bool V> SAGA_INLINE void saga_product(const float *a, ll lda, const float *b, ll ldb, ll rows, ll m, ll n, ll each, float *part) {
	constexpr int T = TM / 8 * (TN / 8), S = 3;
	__shared__ __align__(16) float as[S][16][TM], bs[S][16][TN];
	const int across = (int)((n + TN - 1) / TN);
	const ll m0 = blockIdx.x / across * TM, n0 = blockIdx.x % across * TN;
	const ll lo = blockIdx.y * each, hi = min(rows, lo + each);
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	const int ly = lane / 2 % 2 + lane / 16 * 2, lx = lane % 2 + lane / 4 % 4 * 2;
	const int i0 = warp / (TN / 64) * 32 + ly * 4, j0 = warp % (TN / 64) * 64 + lx * 4;
	const int steps = (int)((hi - lo + 15) / 16);
	saga_rows<T, TM, V> ra(a, lda, lo, hi, m0, m);
	saga_rows<T, TN, V> rb(b, ldb, lo, hi, n0, n);
	const auto fetch = [&](int s, int to) {
		if (s < steps) {
			ra.next(as[to]);
			rb.next(bs[to]);
		}
#if __CUDA_ARCH__ >= 800
		asm volatile("cp.async.commit_group;");
#endif
	};
	const ll ld = (n + 3) / 4 * 4;
	part += (blockIdx.y * m + m0 + i0) * ld + n0 + j0;
	const int over = (int)min(m - m0 - i0, 32ll), beside = (int)min(ld - n0 - j0, 64ll);
	float acc[64];
#pragma unroll
	for (int e = 0; e < 64; e++) acc[e] = 0.f;
	fetch(0, 0);
	fetch(1, 1);
	int at = 0, to = 2;
	for (int s = 0; s < steps; s++) {
#if __CUDA_ARCH__ >= 800
		asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
		__syncthreads();
		fetch(s + 2, to);
#pragma unroll
		for (int k = 0; k < 16; k++) {
			float x[8], y[8];
			*(float4 *)x = *(const float4 *)&as[at][k][i0];
			*(float4 *)(x + 4) = *(const float4 *)&as[at][k][i0 + 16];
			*(float4 *)y = *(const float4 *)&bs[at][k][j0];
			*(float4 *)(y + 4) = *(const float4 *)&bs[at][k][j0 + 32];
#pragma unroll
			for (int e = 0; e < 64; e++) {
				const int i = e / 8, j = i % 2 ? 7 - e % 8 : e % 8;
				acc[i * 8 + j] = fmaf(x[i], y[j], acc[i * 8 + j]);
			}
		}
		at = at == S - 1 ? 0 : at + 1;
		to = to == S - 1 ? 0 : to + 1;
		if (s % 32 != 31 && s != steps - 1) continue;
		// The chain ends: two rows of the lane's numbers at a time.
#pragma unroll
		for (int i = 0; i < 8; i += 2) {
			float4 q[4];
#pragma unroll
			for (int h = 0; h < 4; h++) {
				const int r = i % 4 + h / 2 + i / 4 * 16, c = h % 2 * 32, e = (i + h / 2) * 8 + h % 2 * 4;
				q[h] = s >= 32 && r < over && c < beside ? *(const float4 *)(part + (ll)r * ld + c) : make_float4(0.f, 0.f, 0.f, 0.f);
				q[h].x += acc[e]; q[h].y += acc[e + 1]; q[h].z += acc[e + 2]; q[h].w += acc[e + 3];
			}
#pragma unroll
			for (int h = 0; h < 4; h++) {
				const int r = i % 4 + h / 2 + i / 4 * 16, c = h % 2 * 32;
				if (r < over && c < beside) *(float4 *)(part + (ll)r * ld + c) = q[h];
			}
		}
#pragma unroll
		for (int e = 0; e < 64; e++) acc[e] = 0.f;
	}
}
`
