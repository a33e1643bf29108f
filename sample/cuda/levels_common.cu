
#define WARPS (THREADS / 32)

struct Batch { u32 seed0, seed1, epoch, number; };
struct Lists { // of all batches
	u32 *vertices, *begin, *far, *edge;
	float *weight;
	u32 *counts; // STEPS + 1 levels, then edges of the steps, then 1 where there was no room
};

// What is read. Far are pairs of far end and edge number where each row draws by itself. Scores, of whole numbers, are the sums of those of the edges before
// each; sums those of the vertices up to and with each, of which guide says where to begin to search.
struct Rowed { const u32 *offsets, *far, *edge; const float *weight; const u64 *scores, *sums; const u32 *guide; u64 vertices; };
struct Edged { u32 source, target, at; float probability, draws, times; };

static __device__ __forceinline__ Batch batch_of(const u32 *named, u64 i) {
	Batch b = {named[0], named[1], named[2], named[3] + (u32)i};
	return b;
}

static __device__ __forceinline__ Lists lists_of(u64 i, u32 *vertices, u32 *begin, u32 *far, u32 *edge, float *weight, u32 *counts) {
	Lists l = {vertices + i * VERTICES, begin + i * BEGINS, far + i * EDGES_MOST, edge + i * EDGES_MOST, WEIGHTS ? weight + i * EDGES_MOST : 0, counts + i * (2 * STEPS + 2)};
	return l;
}
