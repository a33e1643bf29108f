
#define NONE ALL
static __device__ __forceinline__ u32 slot_of(u32 x, u32 mask) { return (x * 0x9e3779b1u >> 15) & mask; }

static __device__ __forceinline__ void insert(u32 *key, u16 *place, u32 mask, u32 x, u32 i) {
	u32 h = slot_of(x, mask);
	while (atomicCAS(key + h, NONE, x) != NONE)
		h = (h + 1) & mask;
	place[h] = (u16)i;
}

// The slot of x, or NONE. x is not NONE.
static __device__ __forceinline__ u32 find(const u32 *key, u32 mask, u32 x) {
	for (u32 h = slot_of(x, mask);; h = (h + 1) & mask) {
		u32 k = key[h];
		if (k == x)
			return h;
		if (k == NONE)
			return NONE;
	}
}

// Fills the table with the members of own, which are copied to near, too.
static __device__ __forceinline__ u32 fill_table(u32 *near, u32 *key, u16 *place, Above own, u32 base) {
	u32 slots = 64, d = own.n;
	while (slots < 3 * d)
		slots *= 2;
	for (u32 i = threadIdx.x; i < slots; i += blockDim.x)
		key[i] = NONE;
	__syncthreads();
	for (u32 i = threadIdx.x; i < d; i += blockDim.x) {
		u32 x = member(own, i, base);
		near[i] = x;
		insert(key, place, slots - 1, x, i);
	}
	__syncthreads();
	return slots - 1;
}
