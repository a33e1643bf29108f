
enum { TAG, KEY0, KEY1, SEED0 = 4, SEED1, EPOCH, NUMBER, FROM, SIZE, TOTAL, WRONG, COUNT = 16, EDGES = 32, TICKET = 48 };

static __device__ __forceinline__ u64 marked(u32 tag, u32 x) { return (u64)tag << 32 | (u32)~x; }

static __device__ __forceinline__ u32 waited(const u64 *sum, u32 tag) {
	u64 x = *(const volatile u64 *)sum;
	while ((u32)(x >> 32) != tag) {
		__nanosleep(20);
		x = *(const volatile u64 *)sum;
	}
	return (u32)x;
}

// The sum over the tiles before.
static __device__ __forceinline__ u32 before_tile(const u64 *sums, u32 tile, u32 tag, u32 *room) {
	u32 sum = 0;
	for (u32 j = threadIdx.x; j < tile; j += THREADS)
		sum += waited(sums + j, tag);
	return block_sum(sum, room);
}

static __device__ __forceinline__ u32 next_tile(u32 *ticket, u32 *room) {
	if (threadIdx.x == 0)
		room[0] = atomicAdd(ticket, 1u);
	__syncthreads();
	u32 tile = room[0];
	__syncthreads();
	return tile;
}

// How many seeds the batch has, and its key.
static __device__ __forceinline__ u32 seeds_of(const u32 *b) {
	u32 from = b[FROM], size = b[SIZE], total = b[TOTAL], left = total > from ? total - from : 0;
	return size < left ? size : left;
}

static __device__ __forceinline__ Words stream_of(const u32 *b) { return philox(b[SEED0], b[SEED1], b[EPOCH], b[NUMBER], 0, 0); }
