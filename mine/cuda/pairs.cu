
static __device__ __forceinline__ u32 pairs(const u32 *set, const u32 *B, u32 W, u32 lane) {
	u32 n = 0;
	for (u32 q = 0; q < W; q++) {
		u32 word = set[q];
		if (__popc(word) > (W - q + 31) / 32 * 2 && (W - q) < 2 * __popc(word)) {
			if (word >> lane & 1) {
				const u32 *r = B + (u64)(q * 32 + lane) * W;
				for (u32 t = q; t < W; t++)
					n += __popc(set[t] & r[t]);
			}
		} else
			for (; word; word &= word - 1) {
				const u32 *r = B + (u64)(q * 32 + __ffs(word) - 1) * W;
				for (u32 t = q + lane; t < W; t += 32)
					n += __popc(set[t] & r[t]);
			}
	}
	return n;
}
