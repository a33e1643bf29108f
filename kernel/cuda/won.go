package cuda

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"sagann/kernel"
)

// The gradient of a maximum. Beside many edges a far end has few terms, one for each column, and each is of one edge. So the terms of each far end are
// listed in scratch memory by the ranks of their edges (kernel/laid.go). An edge then reads its own terms, not the whole rows of ranks and of the gradient. Each sum
// adds its terms in the order in which the kernels that read whole rows do; the terms of other edges, which are 0 there, change no sum. Rows of very many edges are left to those kernels.

//go:embed won.cu
var wonSource string

// wonWay is one of the kernels that add terms: with so many sums a column, as the kernel has in place of which it runs.
type wonWay struct{ fn, sums int }

// wonKernels renders the kernels of the gradient of a maximum, if the program is one. Those of the ways that read whole rows are rendered already.
func wonKernels(b *strings.Builder, c *Program) {
	if !c.laid.Terms || c.start {
		return
	}
	k, l := &c.p.Leaves[c.laid.Leaves[0]], &c.p.Leaves[c.laid.Leaves[1]]
	if c.laid.Row() == 0 || wonListShared(k.Cols) > sharedLimit {
		return
	}
	b.WriteString(wonSource)
	c.name("won_lay")
	fmt.Fprintf(b, "extern \"C\" __global__ void __launch_bounds__(%d) won_lay(%s) {\n", kernel.WonRanks, c.params())
	fmt.Fprintf(b, "\textern __shared__ float shared_[];\n\tsaga_won_list<%d, %d>(b%d, %d, b%d, %d, (unsigned long long *)laid, fars, (unsigned long long *)shared_);\n}\n",
		kernel.WonRanks, k.Cols, k.Operand, k.LD, l.Operand, l.LD)
	for i := range c.gather {
		w := &c.gather[i]
		for _, sums := range []int{w.sums, 1} {
			if w.hub.fn < 0 || slices.ContainsFunc(c.won, func(x wonWay) bool { return x.sums == sums }) || wonShared(sums, k.Cols) > sharedLimit {
				continue
			}
			if w.sums == 4 && len(c.won) == 0 {
				wonHub(b, c, k.Cols)
			}
			c.won = append(c.won, wonWay{c.name(fmt.Sprintf("won_%d", sums)), sums})
			wonSum(b, c.p, sums, k.Cols, c.params())
		}
	}
}

// wonSum renders the kernel with so many sums a column. Rounds of edges end where the kernel has them in place of which it runs (rounds.go).
func wonSum(b *strings.Builder, p *kernel.Program, sums, cols int, params string) {
	o := &p.Outs[0]
	fmt.Fprintf(b, "extern \"C\" __global__ void __launch_bounds__(%d) won_%d(%s) {\n", wonThreads, sums, params)
	fmt.Fprintf(b, "\tconstexpr int S = %d, W = %d, T = %d, ROUND = S * %d;\n", sums, cols, kernel.WonRanks, roundEdges)
	add := "acc[c]"
	switch sums {
	case 2:
		add = "acc[c] + acc[W + c]"
	case 4:
		add = "(acc[c] + acc[W + c]) + (acc[2 * W + c] + acc[3 * W + c])"
	}
	b.WriteString("\tconst unsigned long long *list = (const unsigned long long *)laid;\n")
	fmt.Fprintf(b, wonRow, wonThreads/32, farID(p, "lo + at + lane"), o.Operand, o.LD, add)
}

// wonRow adds the terms of the edges of a row.
const wonRow = `	extern __shared__ float shared_[];
	float *acc = shared_ + threadIdx.x / 32 * (S * W);
	const int lane = threadIdx.x %% 32;
	const unsigned *table = (const unsigned *)(list + fars * W);
	const ll mine = blockIdx.x * %dll + threadIdx.x / 32;
	if (mine >= n) return;
	const ll entry = first + mine, row = rowids ? rowids[entry] : entry;
	const ll lo = max((ll)ptr[entry], from), hi = min((ll)ptr[entry + 1], to);
	if (hi - lo > large) return;
	const int many = (int)(hi - lo);
	bool more = !begin;
	int at = 0;
	do {
		const int stop = rounds && many - at > ROUND ? at + ROUND : many;
		for (int c = lane; c < S * W; c += 32) acc[c] = 0.f;
		__syncwarp();
		for (; at < stop; at += 32) {
			unsigned far = 0, word = 0, rank_ = 0;
			if (at + lane < stop) {
				far = %s;
				const unsigned r = (unsigned)rank[lo + at + lane];
				word = table[far * (ll)T + r %% T];
				rank_ = r / T;
			}
			saga_won_add<S, W, W>(list, far, word, rank_, acc, 0);
		}
		float *to = b%d + row * %d;
		for (int c = lane; c < W; c += 32) {
			const float x = %s;
			to[c] = more ? x + to[c] : x;
		}
		__syncwarp();
		more = true;
	} while (at < many);
}
`

// wonHub renders the kernel for rows of many edges, but at most one round of the hub kernel (long_rows.go): its groups are those of that kernel, sums and their order, too. As
// a block has sums for its 64 groups, it takes some columns at a time.
func wonHub(b *strings.Builder, c *Program, cols int) {
	turns := (cols + wonHubCols - 1) / wonHubCols
	fmt.Fprintf(b, "extern \"C\" __global__ void __launch_bounds__(%d) won_beside(%s) {\n", hubThreads, c.params())
	fmt.Fprintf(b, "\tconstexpr int W = %d, C = %d, T = %d, WARPS = %d;\n", cols, (cols+turns-1)/turns, kernel.WonRanks, hubThreads/32)
	c.name("won_beside")
	o := &c.p.Outs[0]
	fmt.Fprintf(b, wonHubRows, wonHubMost, farID(c.p, "lo + k"), o.Operand, o.LD)
}

const (
	// wonHubMost is the most edges of a row whose groups have one round.
	wonHubMost = roundEdges * hubThreads / 8
	// wonHubCols is the most columns for which all groups have sums in shared memory.
	wonHubCols = sharedLimit/4/(hubThreads/8) - 4
)

// wonHubRows adds the terms of the large rows of a block.
const wonHubRows = `	__shared__ float sums_[WARPS * 4 * C];
	__shared__ unsigned many_[WARPS];
	const int lane = threadIdx.x %% 32, warp = threadIdx.x / 32;
	float *acc = sums_ + warp * (4 * C);
	const unsigned long long *list = (const unsigned long long *)laid;
	const unsigned *table = (const unsigned *)(list + fars * W);
	const ll mine = blockIdx.x + threadIdx.x * (ll)gridDim.x;
	bool many = false;
	if (mine < n) {
		const ll d = min((ll)ptr[first + mine + 1], to) - max((ll)ptr[first + mine], from);
		many = d > large && d <= %d;
	}
	const unsigned ballot = __ballot_sync(0xffffffffu, many);
	if (lane == 0) many_[warp] = ballot;
	__syncthreads();
	for (int w = 0; w < WARPS; w++) for (unsigned f = many_[w]; f; f &= f - 1) {
		const ll entry = first + blockIdx.x + (w * 32 + __ffs(f) - 1) * (ll)gridDim.x, row = rowids ? rowids[entry] : entry;
		const ll lo = max((ll)ptr[entry], from), hi = min((ll)ptr[entry + 1], to);
		for (int begun = 0; begun < W; begun += C) {
			for (int c = lane; c < 4 * C; c += 32) acc[c] = 0.f;
			__syncwarp();
			for (int m = 0; m * 64 + warp * 4 < hi - lo; m += 8) {
				const int k = (m + lane / 4) * 64 + warp * 4 + lane %% 4;
				unsigned far = 0, word = 0, rank_ = 0;
				if (k < hi - lo) {
					far = %s;
					const unsigned r = (unsigned)rank[lo + k];
					word = table[far * (ll)T + r %% T];
					rank_ = r / T;
				}
				saga_won_add<4, W, C>(list, far, word, rank_, acc, begun);
			}
			for (int c = lane; c < C; c += 32) acc[c] = (acc[c] + acc[C + c]) + (acc[2 * C + c] + acc[3 * C + c]);
			__syncthreads();
			float *out = b%d + row * %d;
			for (int c = threadIdx.x; c < C && begun + c < W; c += WARPS * 32) {
				float x = sums_[c];
				for (int v = 1; v < WARPS; v++) x += sums_[v * 4 * C + c];
				out[begun + c] = begin ? x : x + out[begun + c];
			}
			__syncthreads();
		}
	}
}
`
