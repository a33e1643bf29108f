package cuda

import _ "embed"

// blockSource is the kernels that make parts of sampled blocks on the device: rows of tables by number, in-degrees, and
// the edges of a block sorted by their far ends (the transpose).
//
// saga_take: a thread copies four float4 of the result at a time, which are as far apart as the grid has threads. A
// warp then reads whole rows or contiguous parts of them, with four reads in flight per thread.
// saga_turn_*: the edges of each far end are counted, and the counts summed to offsets. Then each edge takes any free
// place of its far end, in the order in which threads happen to run. Last, saga_turn_order sorts the edges of
// each far end by number, so that the result does not depend on the order of threads.
//
//go:embed block_cells.cu
var blockSource string

// blockNames lists the kernels of blockSource in the order of kernel.BlockKernels.
var blockNames = []string{"saga_take", "saga_degrees", "saga_turn_count", "saga_turn_part", "saga_turn_sum", "saga_turn_put", "saga_turn_order", "saga_pick", "saga_far_mark", "saga_far_near", "saga_far_take"}
