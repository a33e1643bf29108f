package cuda

import _ "embed"

// levelsText is what the kernel of batches whose levels are drawn together works with: a block a batch. At each step vertices
// are drawn for all of a level, and the block has all edges from them into it.
//
// Before it stand what levelsCommon has, KIND (below), SLOTS (places of the table, a power of two), FILTER (its words, a power of two), GUIDE,
// ROWS (that draw at most), ROW_NORMAL, and of each step sizes, rows_most, edges_most
// and edges_at; after it edge_weight, where there are WEIGHTS.
//
//go:embed levels.cu
var levelsText string

// levelsCommon is what both kernels of many batches at a time have: that of levels that draw together, and that of rows that draw by themselves. Before it stand THREADS, STEPS,
// VERTICES, BEGINS and EDGES_MOST (of a batch at most) and WEIGHTS.
//
//go:embed levels_common.cu
var levelsCommon string

// levelsArguments are those of both kernels. Starts are of the seeds of each batch, named what names the first; again is for batches of rows alone that have too little room.
const levelsArguments = `const u32 *offsets, const u32 *far, const u32 *edge, const float *weight, const u64 *scores, const u64 *sums,
		const u32 *guide, u64 vertices, const u32 *seeds, const u32 *starts, const u32 *named, u32 *l_vertices, u32 *l_begin, u32 *l_far, u32 *l_edge, float *l_weight, u32 *l_counts`

// levelsDraws draws vertices.
//
//go:embed levels_draws.cu
var levelsDraws string

// levelsHead draws a batch step by step.
//
//go:embed levels_head.cu
var levelsHead string

// levelsKernel is the kernel: a block a batch.
const levelsKernel = `
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) saga_levels(LEVELS_ARGUMENTS) {
	extern __shared__ u32 shared[];
	Rowed g = {offsets, far, edge, weight, scores, sums, guide, vertices};
	u64 i = blockIdx.x;
	Lists l = lists_of(i, l_vertices, l_begin, l_far, l_edge, l_weight, l_counts);
	bool fits = levels(g, batch_of(named, i), l, seeds + starts[i], starts[i + 1] - starts[i], shared);
	if (threadIdx.x == 0)
		l.counts[2 * STEPS + 1] = !fits;
}
`

// levelsScan finds the edges from drawn vertices into a level where its edges have scores, or it is the batch itself: there it takes less time than levelsParts, as it needs less
// shared memory. Far ends are read 16 bytes at a time, rows one after the other, so that all lanes
// read whatever the rows' lengths. A filter leaves few of them, which are then looked up.
//
//go:embed levels_scan.cu
var levelsScan string

// levelsParts finds the edges from drawn vertices into a level. Far ends are read 16 bytes at a time, rows one after the other, so that all lanes
// read whatever the rows' lengths, and warps have equal parts. A filter leaves few pieces; they wait until there are enough for all lanes of a warp to look them up.
//
//go:embed levels_parts.cu
var levelsParts string

// levelsOnce draws batches where no draw depends on a level: those of all steps are made first, and so each row is read only once, when
// its vertex is new. Edges from what any step draws wait in the room of the last step's edges until the steps that draw them.
//
// Before it stand DRAWS of all steps, draws_at, and NEW_ROOM for rows that come at a step.
//
//go:embed levels_once.cu
var levelsOnce string

// levelsEdges makes of the edges that were found those of the block.
//
//go:embed levels_edges.cu
var levelsEdges string

// levelsRows is the kernel of blocks whose rows draw by themselves: a block of threads a batch. Tables and lists have room for what batches have on
// average and more; a batch that needs yet more is listed, and drawn by a second launch with room for the most that there can be.
//
//go:embed levels_rows.cu
var levelsRows string
