
// The slot of a key in a table of so many slots, mask and one, with each keys of size words; keys are one more than they say, 0 is free. A key that is not there is
// put there, and is_new. There is always a free slot.
static __device__ __forceinline__ u64 slot_of(u64 *keys, u64 size, u64 mask, u64 key, bool &is_new) {
	key++;
	for (u64 h = key * 0x9e3779b97f4a7c15ull >> 24 & mask;; h = h + 1 & mask) {
		u64 seen = *(volatile u64 *)(keys + size * h);
		if (seen == 0) {
			seen = atomicCAS(keys + size * h, 0ull, key);
			is_new = seen == 0;
			if (is_new)
				return h;
		}
		if (seen == key)
			return h;
	}
}
