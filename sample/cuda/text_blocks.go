package cuda

import _ "embed"

// blocksText, rowsText (text.go) and hopsText are the kernels of a batch of blocks: for each hop a draw and a
// place, and then saga_finish. Nothing waits for the host: how many rows and edges there are stands in
// words of the batch, which each kernel reads and writes.
//
// A vertex's entry in the table is the batch's tag above ~x, where x is the first place at which it stands: the number of
// a seed, or SEEDS more than the place of an edge's far end among those of all hops. atomicMax keeps the least x whatever the order
// of threads, and entries of earlier batches have lower tags, so nothing is cleared between batches.
//
// A place in far first has an id. When the hop is placed it has its local number, with the
// highest bit set, if the vertex stands there for the first time, and else the x where it does; saga_finish makes local
// numbers of both.
//
// Positions come from sums over tiles. A block takes the next tile by a ticket, publishes its
// sum with the tag, and adds up those of all tiles before: their blocks have begun, so that they end.
//
//go:embed blocks.cu
var blocksText string

//go:embed hops.cu
var hopsText string

// drawHead is the kernel that draws the edges of a hop: its number, draws of a row, lanes a row, rows a block, whether with replacement, and
// loops.
const drawHead = `
extern "C" __global__ void __launch_bounds__(THREADS) saga_draw_%[1]d(const u32 *offsets, const u32 *pairs, u32 *b, const u32 *seeds, u32 *vertices, u64 *table, u64 *sums, u32 *begin, u32 *far, u32 *edge, u64 start,
		const void *table_of_scores, const float *most, const float *score, const u32 *drawable) {
	Scores scores = {table_of_scores, most, score, drawable};
	extern __shared__ u32 shared[];
	draw<%[2]d, %[3]d, %[4]d, %[5]v, %[6]d>(offsets, (const uint2 *)pairs, b, %[1]d, seeds, vertices, table, sums, begin, far, edge, (u32)start, scores, shared);
}
`

// placeHead is the kernel that numbers the far ends of a hop: its number, and edges that a thread places.
const placeHead = `
extern "C" __global__ void __launch_bounds__(THREADS) saga_place_%[1]d(u32 *b, u32 *vertices, const u64 *table, u64 *sums, const u32 *ids, u32 *far, u64 start) {
	extern __shared__ u32 shared[];
	place<%[2]d>(b, %[1]d, vertices, table, sums, ids, far, (u32)start, shared);
}
`

// finishHead and finishHop are saga_finish: far ends become local numbers, and the words of the batch are those
// of the next one. finishHop is for a hop.
const finishHead = `
extern "C" __global__ void __launch_bounds__(THREADS) saga_finish(u32 *b, u32 *all, u64 seeds%s) {
	u32 at = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
`

const finishHop = `	for (u32 e = at; e < b[EDGES + %[1]d]; e += step)
		far%[1]d[e] = local_of(far%[1]d[e], all, (u32)seeds);
`

const finishEnd = `	if (at == 0) {
		for (u32 i = 0; i < 2 * HOPS; i++)
			b[TICKET + i] = 0;
		b[TAG]++;
		b[NUMBER]++;
		b[FROM] += b[SIZE];
	}
}
`

// scanText sums over the threads of a block, THREADS of them.
//
//go:embed scan.cu
var scanText string
