package cuda

import _ "embed"

// walkText is the kernel of samples that draw once a step: a thread a sample. Before
// the text stand THREADS, ROOTS, PACK (steps that share random words), GOES_ON, STATE, HELD (the state lies in shared memory), and the functions next and,
// with CHOOSE, transits. Roots are vertices of the graph.
//
//go:embed walk.cu
var walkText string

// walkTurn is one step of those that share random words; %d is which. CHOOSE sets e to the
// transit where a sampler has Transits.
const walkTurn = `
		if (step < (u32)steps) {
			f.step = step;
			CHOOSE
			f.at = e.far;
			f.lo = e.lo;
			f.degree = e.degree;
			if (e.far != NONE && e.degree > 0) {
				e = next<%d>(g, f, w);
				enter(g, e);
			} else {
				e = no_end();
			}
			f.before = f.at;
			*to = e.far;
			to += n;
			step++;
			f.length += e.far != NONE;
		}
`

// chooseText is CHOOSE.
const chooseText = `
			{
				i64 v = transits(g, f);
				e = no_end();
				if (v >= 0 && (u64)v < vertices) {
					e.far = (u32)v;
					e.lo = offsets[e.far];
					e.degree = offsets[e.far + 1] - e.lo;
				} else if (v != -1)
					*wrong = 1;
			}
`

// treeText is the kernel of a step in which samples draw many times: a thread a draw. PER are the draws of a sample,
// SIZE those of a transit.
//
//go:embed tree.cu
var treeText string

// treeHead is the kernel of one step: its number, PER and SIZE.
const treeHead = `
extern "C" __global__ void __launch_bounds__(256) saga_tree_%d(const u32 *offsets, const void *edges, const u32 *far, const float *weight, const float *most,
		const void *table, u64 vertices, const u32 *from, const u32 *roots, u32 *out, u64 n, u64 first, u64 key, u64 *wrong) {
	G g = {offsets, edges, far, weight, most, table, vertices};
	tree<%[2]d, %[3]d>(g, from, roots, out, n, %[1]d, first, key, wrong);
}
`
