
// Where the rows of a step begin in the block.
static __device__ __forceinline__ void begin_rows(const Level &s, u32 *begin, u32 m) {
	u32 sum = 0, all;
	for (u32 r0 = 0; r0 < s.n; r0 += THREADS) {
		u32 r = r0 + threadIdx.x, at = sum + block_scan(r < s.n ? s.count[r] : 0, s.room, &all);
		sum += all;
		if (r < s.n)
			s.count[r] = begin[r] = at;
	}
	if (threadIdx.x == 0)
		s.count[s.n] = begin[s.n] = m;
	__syncthreads();
}

// Divides the weights of each row by their sum, where that is asked. Count says where rows begin.
static __device__ __forceinline__ void normalise(const Level &s, const Lists &l, u32 base) {
#if ROW_NORMAL
	for (u32 r = threadIdx.x; r < s.n; r += THREADS) {
		double sum = 0;
		for (u32 e = s.count[r]; e < s.count[r + 1]; e++)
			sum += (double)l.weight[base + e];
		for (u32 e = s.count[r]; e < s.count[r + 1]; e++)
			l.weight[base + e] = (float)((double)l.weight[base + e] / sum);
	}
#endif
}

// Numbers and weights of the edges that were found.
static __device__ __forceinline__ void weigh_edges(const Rowed &g, const Level &s, const Lists &l, u32 base, u32 m) {
#if WEIGHTS
	for (u32 e = threadIdx.x; e < m; e += THREADS) {
		u32 at = l.edge[base + e], slot = l.far[base + e];
		l.edge[base + e] = g.edge[at];
		Edged x = {s.key[slot], l.vertices[row_at(s.count, s.n, e)], at, (float)((double)s.own[slot] / (double)s.total), (float)s.k, (float)s.times[slot]};
		l.weight[base + e] = edge_weight(g, x);
	}
	__syncthreads();
#endif
}

// New vertices get numbers in the order in which they first appear, and edges those of their far ends. The number of vertices.
static __device__ __forceinline__ u32 number_new(const Level &s, const Lists &l, u32 base, u32 m) {
	u32 n = s.n;
	for (u32 e0 = 0; e0 < m; e0 += THREADS) { // an edge may be the first from its source
		u32 e = e0 + threadIdx.x, slot = e < m ? l.far[base + e] : 0, all;
		bool first = e < m && s.first[slot] == e && s.number[slot] == NONE;
		u32 number = n + block_scan(first, s.room, &all);
		n += all;
		if (first) {
			s.number[slot] = number;
			l.vertices[number] = s.key[slot];
		}
	}
	__syncthreads();
	for (u32 e = threadIdx.x; e < m; e += THREADS)
		l.far[base + e] = s.number[l.far[base + e]];
	return n;
}
