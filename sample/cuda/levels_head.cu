
static __device__ __forceinline__ void place_level(Level &s, u32 *at) {
	s.own = (u64 *)at;
	at += SCORED ? 2 * SLOTS : 0;
	s.sums = (u64 *)at;
	at += KIND == COLUMNS ? 2 * (ROWS + 1) : 0;
	s.room = at;
	at += ROOM;
	s.key = at;
	s.number = at + SLOTS;
	s.first = at + 2 * SLOTS;
	s.times = at + 3 * SLOTS;
	at += (SCORED ? 4 : 3) * SLOTS;
	s.before = at;
	s.quads = at + (ROWS + 1);
	s.shift = at + 2 * (ROWS + 1);
	s.count = at + 3 * (ROWS + 1);
	s.filter = at + 4 * (ROWS + 1);
}

// Nothing is drawn yet.
static __device__ __forceinline__ void clear_drawn(const Level &s) {
	for (u32 j = threadIdx.x; j < SLOTS; j += THREADS) {
		s.first[j] = NONE;
		if (SCORED)
			s.own[j] = s.times[j] = 0;
	}
	for (u32 j = threadIdx.x; j < FILTER; j += THREADS)
		s.filter[j] = 0;
	for (u32 r = threadIdx.x; r < s.n; r += THREADS)
		s.count[r] = 0;
}

// False where there is too little room.
static __device__ __forceinline__ bool levels(const Rowed &g, const Batch &b, const Lists &l, const u32 *seeds, u32 n, u32 *shared) {
	Level s;
	place_level(s, shared);
	Words w = philox(b.seed0, b.seed1, b.epoch, b.number, 0, 0);
	s.k0 = w.w0;
	s.k1 = w.w1;
	s.n = n;
	s.total = 0;
	s.row0 = 0;
	for (u32 j = threadIdx.x; j < SLOTS; j += THREADS)
		s.key[j] = s.number[j] = NONE;
	if (threadIdx.x == 0) {
		s.before[0] = s.quads[0] = 0;
		if (KIND == COLUMNS)
			s.sums[0] = 0;
	}
	__syncthreads();
	for (u32 j = threadIdx.x; j < n; j += THREADS) {
		l.vertices[j] = seeds[j];
		s.number[insert(s, seeds[j])] = j;
	}
	u32 *begin = l.begin, from = 0, m;
	for (s.step = 0; s.step < STEPS; s.step++) {
		u32 base = edges_at[s.step];
		s.k = sizes[s.step];
		__syncthreads();
		clear_drawn(s);
		enter_rows(g, s, l.vertices, from);
		if (KIND == POOL)
			draw_pool(g, s);
		else if (KIND == EVERYWHERE)
			draw_everywhere(g, s);
		else if (KIND == COLUMNS)
			draw_columns(g, s);
		else
			for (u32 j = threadIdx.x; j < n; j += THREADS)
				drawn(s, seeds[j]);
		__syncthreads();
		m = find_edges(g, s, l, base, edges_most[s.step]);
		if (m > edges_most[s.step])
			return false;
		begin_rows(s, begin, m);
		weigh_edges(g, s, l, base, m);
		normalise(s, l, base);
		from = s.n;
		s.n = number_new(s, l, base, m);
		if (threadIdx.x == 0) {
			l.counts[s.step] = from;
			l.counts[STEPS + 1 + s.step] = m;
			l.counts[STEPS] = s.n;
		}
		begin += rows_most[s.step] + 1;
	}
	return true;
}
