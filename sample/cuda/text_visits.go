package cuda

import _ "embed"

// visitsText draws rows of the vertices that walks visit most: LANES lanes of a warp a row, each of which goes some of its walks. What they saw
// lies in shared memory, where every entry is compared with all of its row.
//
//go:embed visits.cu
var visitsText string

// visitHead is the kernel that draws the rows of a hop: its number, walks and their length, how many vertices are taken, lanes a row.
const visitHead = `
extern "C" __global__ void __launch_bounds__(THREADS) saga_draw_%[1]d(const u32 *offsets, const void *edges, const u32 *every, const float *weights, const float *most, const void *alias, u64 size,
		u32 *b, const u32 *seeds, u32 *vertices, u64 *table, u64 *sums, u32 *begin, u32 *far, u32 *edge, float *weight, u64 start) {
	G g = {offsets, edges, every, weights, most, alias, size};
	extern __shared__ u32 shared[];
	visit<%[2]d, %[3]d, %[4]d, %[5]d>(g, b, %[1]d, seeds, vertices, table, sums, begin, far, edge, weight, (u32)start, shared);
}
`
