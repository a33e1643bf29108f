package cuda

import (
	"strings"

	"sagann/kernel"
)

// Reductions by key on a GPU. A block sums a range of rows in their order into a partial result of its own, in float64,
// with a thread per column. Then the partial results are added in the order of the blocks. Consecutive rows of one key
// are summed in a register. If a result is too large for two copies, one block adds to it in place. Maxima do not depend
// on the order: they are atomic.

// byDoubles is about how many numbers the partial results of one sum may have: 64 MiB.
const byDoubles = 1 << 23

// byBlocks is the number of partial sums of n numbers each. It depends on n alone.
func byBlocks(n int) int { return max(1, min(1024, byDoubles/max(1, n))) }

// byBytes is the size of these partial sums in bytes.
func byBytes(n int) int64 {
	if byBlocks(n) == 1 {
		return 0
	}
	return kernel.Align(int64(n) * int64(byBlocks(n)) * 8)
}

const sumBySource = `
template <class T>
SAGA_INLINE void saga_sum_runs(const float *x, ll ld, const float *key, ll ldk, ll lo, ll hi, ll w, ll groups, ll c, T *p) {
	double s = 0.;
	int at = -1;
	for (ll r = lo; r < hi; r++) {
		const int k = saga_class((int)groups, key[r * ldk]);
		if (k != at) {
			if (at >= 0) p[at * w + c] += (T)s;
			s = 0.;
			at = k;
		}
		if (k >= 0) s += x[r * ld + c];
	}
	if (at >= 0) p[at * w + c] += (T)s;
}
extern "C" __global__ void saga_sum_by(const float *x, ll ld, const float *key, ll ldk, ll rows, ll w, ll groups, double *part) {
	ll each = (rows + gridDim.x - 1) / gridDim.x, lo = blockIdx.x * each, hi = min(rows, lo + each);
	double *p = part + blockIdx.x * groups * w;
	for (ll c = threadIdx.x; c < w; c += blockDim.x) {
		for (ll k = 0; k < groups; k++) p[k * w + c] = 0.;
		saga_sum_runs(x, ld, key, ldk, lo, hi, w, groups, c, p);
	}
}
extern "C" __global__ void saga_sum_by_here(const float *x, ll ld, const float *key, ll ldk, ll rows, ll w, ll groups, float *dst) {
	for (ll c = threadIdx.x; c < w; c += blockDim.x) saga_sum_runs(x, ld, key, ldk, 0, rows, w, groups, c, dst);
}
extern "C" __global__ void saga_sum_by_add(float *dst, const double *part, ll n, ll blocks) {
	for (ll i = blockIdx.x * (ll)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (ll)blockDim.x) {
		double s = 0.;
		for (ll b = 0; b < blocks; b++) s += part[b * n + i];
		dst[i] += (float)s;
	}
}
`

const maxBySource = `
extern "C" __global__ void saga_max_by(const float *x, ll ld, const float *key, ll ldk, ll rows, ll w, ll groups, float *dst) {
	for (ll i = blockIdx.x * (ll)blockDim.x + threadIdx.x; i < rows * w; i += gridDim.x * (ll)blockDim.x) {
		ll r = i / w, c = i % w;
		int k = saga_class((int)groups, key[r * ldk]);
		float y = x[r * ld + c];
		unsigned b = __float_as_uint(y);
		b = y != y ? 0xffffffffu : b >> 31 ? ~b : b | 0x80000000u;
		if (k >= 0) atomicMax((unsigned *)dst + k * w + c, b);
	}
}
`

// byKernels adds the kernels of the reductions by key that the program has.
func (c *Program) byKernels(b *strings.Builder) {
	sum, top := false, false
	for _, o := range c.p.Outs {
		sum, top = sum || o.Acc == kernel.SumBy, top || o.Acc == kernel.MaxBy
	}
	if sum {
		b.WriteString(sumBySource)
		c.Names = append(c.Names, "saga_sum_by", "saga_sum_by_add", "saga_sum_by_here")
	}
	if top {
		b.WriteString(maxBySource)
		c.Names = append(c.Names, "saga_max_by")
	}
}

// byKey reduces n rows of the tile that begins at row lo.
func (s *launcher) byKey(o *kernel.Out, lo, n int) {
	w := s.c.p.Widths[o.Reg]
	x, ld := s.at(o.Reg, lo)
	key, ldk := s.at(o.Reg2, lo)
	args := []uint64{x, uint64(ld), key, uint64(ldk), uint64(n), uint64(w), uint64(o.Blocks)}
	dst := s.l.Bufs[o.Operand]
	if o.Acc == kernel.MaxBy {
		s.call(s.c.lookup("saga_max_by"), 1024, 256, 0, 1, append(args, dst))
		return
	}
	blocks, threads := byBlocks(w*o.Blocks), min(256, (w+31)/32*32)
	if blocks == 1 {
		s.call(s.c.lookup("saga_sum_by_here"), 1, threads, 0, 1, append(args, dst))
		return
	}
	s.call(s.c.lookup("saga_sum_by"), blocks, threads, 0, 1, append(args, s.partial))
	s.call(s.c.lookup("saga_sum_by_add"), 1024, 256, 0, 1, []uint64{dst, s.partial, uint64(w * o.Blocks), uint64(blocks)})
}
