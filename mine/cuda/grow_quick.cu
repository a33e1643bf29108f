
// The quick code of a row of N words, of which own has all but the last ones, a and, of an edge, b: word p at own[32 * p]; see Quick of package table.
template <u32 N> static __device__ __forceinline__ u64 quick(const Row *rows, const u32 *classes, const u64 *off, const int *kind, const u32 *kinds, u64 many_kinds, const u32 *own, u32 a, u32 b) {
	u64 code = 0;
	u32 word[N];
	for (u32 i = 0; i + STEP < N; i++)
		word[i] = own[32 * i];
	word[N - STEP] = a;
	if (STEP == 2)
		word[N - 1] = b;
#if VERTICES
	const u32 links = N * (N - 1) / 2;
	for (u32 j = 0, k = 0; j < N; j++) {
		if (LABELBITS)
			code |= (u64)classes[word[j]] << (links + j * LABELBITS);
		for (u32 i = 0; i < j; i++, k++) {
			Row a = rows[word[i]];
			u32 y = word[j], at = lower(a.at, a.degree, y);
			if (at < a.degree && a.at[at] == y) {
				code |= 1ull << k;
				if (KINDBITS)
					code |= (u64)lower(kinds, (u32)many_kinds, (u32)kind[off[word[i]] + at]) << (links + N * LABELBITS + k * KINDBITS);
			}
		}
	}
#else
	const u32 links = 6 * (N / 2 - 1);
	u32 many = 0;
	u64 numbers = 0; // of all places, three bits each
	for (u32 i = 0; i < N; i++) {
		u32 number = many;
		for (u32 j = i; j-- > 0;)
			if (word[j] == word[i])
				number = numbers >> 3 * j & 7;
		numbers |= (u64)number << 3 * i;
		if (number == many) {
			if (LABELBITS)
				code |= (u64)classes[word[i]] << (links + many * LABELBITS);
			many++;
		}
		if (KINDBITS && i % 2)
			code |= (u64)lower(kinds, (u32)many_kinds, (u32)kind_of(rows, off, kind, word[i - 1], word[i])) << (links + (N / 2 + 1) * LABELBITS + i / 2 * KINDBITS);
	}
	code |= numbers >> 6;
#endif
	return code;
}
