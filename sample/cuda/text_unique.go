package cuda

import _ "embed"

// holdText lets draws of a sample hold vertices, each at most one. The reference goes over the draws in order: one whose vertex
// is held draws again. Here all draw at once. A vertex is held by the least draw that has come to it, which
// sends away a greater one that held it; that one draws again. A draw leaves a vertex only for a lesser draw, and vertices once held stay held, so
// in the end each has what it would have in order. Before it stand GROUP, the threads of a sample, and SLOTS, places
// of its table, a power of two.
//
//go:embed hold.cu
var holdText string

// uniqueTreeText is the kernel of a step of trees that adds no vertex twice (InStep): GROUP threads a sample, in blocks
// of 256. PER are the draws of a sample, SIZE those of a transit.
//
//go:embed unique_tree.cu
var uniqueTreeText string

// uniqueTreeHead is the kernel of one step: its number, PER and SIZE.
const uniqueTreeHead = `
extern "C" __global__ void __launch_bounds__(256) saga_tree_%d(const u32 *offsets, const void *edges, const u32 *far, const float *weight, const float *most,
		const void *table, u64 vertices, const u32 *from, const u32 *roots, u32 *out, u64 n, u64 first, u64 key, u64 *wrong) {
	extern __shared__ u32 shared[];
	G g = {offsets, edges, far, weight, most, table, vertices};
	unique_tree<%[2]d, %[3]d>(g, from, roots, out, n, %[1]d, first, key, wrong, shared);
}
`

// growText is the kernel of samples that grow by steps of SIZE draws from the rows of all that the last step added, without
// a vertex twice, until they have MOST: a block a sample. ROOTS are where a sample begins.
// list has the vertices of each sample, roots first, and place the step and draw of each, as step·SIZE + draw.
//
//go:embed grow.cu
var growText string
