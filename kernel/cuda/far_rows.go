package cuda

import _ "embed"

// farSource is the kernels that collect a batch's rows of tables in host memory.
//
// saga_far_mark notes the vertices of the batch and their places in it. It marks the vertices whose rows must come over
// the link: those that are neither hot nor in one of the two previous batches. saga_far_near copies the other rows, with
// the whole device.
//
// saga_far_take reads the marked rows in the order of vertices, as the link is faster if addresses ascend. If a batch may
// have a vertex several times, the marks and the order are of places in the batch. A warp takes the next PART of the
// marks, finds those that are set, and takes their rows 32 at a time: all lanes read the words of one row, with two rows
// in flight. A read never spans two rows, since the line that they share would come twice. The padding of a row is not
// read but set to zero. The kernel has few warps and few rows in flight. More requests would only queue, and other traffic on
// the link would wait behind them, such as the launches of steps that are not CUDA graphs (bench/RESULTS.md).
//
//go:embed far_rows.cu
var farSource string
