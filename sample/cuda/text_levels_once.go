package cuda

// levelsOnce draws batches of a warp where no draw depends on a level: those of all steps are made first, and so each row is read only once, when
// its vertex is new. Edges from what any step draws wait in the room of the last step's edges until the steps that draw them.
//
// First is a table of what is drawn here, with an entry for each draw, and its step. Before it stand DRAWS of all steps, draws_at, and NEW_ROOM for rows that come at a step.
const levelsOnce = `
#define AHEAD 4 // draws of a lane whose reads overlap

static __device__ __forceinline__ void draw_ahead(const Rowed &g, Level &s, unsigned char *step_of) {
	s.total = g.sums[g.vertices - 1];
	for (u32 i0 = threadIdx.x; i0 < DRAWS && s.total > 0; i0 += AHEAD * THREADS) {
		u32 lo[AHEAD], n[AHEAD], step[AHEAD];
		u64 at[AHEAD];
		#pragma unroll
		for (u32 q = 0; q < AHEAD; q++) {
			u32 i = i0 + q * THREADS;
			step[q] = lo[q] = n[q] = 0;
			at[q] = 0;
			if (i < DRAWS) {
				#pragma unroll
				for (u32 t = 1; t < STEPS; t++)
					step[q] += draws_at[t] <= i;
				Words w = philox(s.k0, s.k1, 0, step[q], i - draws_at[step[q]], 0);
				at[q] = __umul64hi((u64)w.w0 << 32 | w.w1, s.total);
				lo[q] = g.guide[w.w0 >> GUIDE];
				n[q] = g.guide[(w.w0 >> GUIDE) + 1] - lo[q];
			}
		}
		for (u32 more = 1; more;) { // the first vertices whose sums are above
			u64 x[AHEAD];
			#pragma unroll
			for (u32 q = 0; q < AHEAD; q++)
				x[q] = n[q] ? g.sums[lo[q] + (n[q] >> 1)] : 0;
			more = 0;
			#pragma unroll
			for (u32 q = 0; q < AHEAD; q++) {
				u32 half = n[q] >> 1;
				bool up = n[q] && x[q] <= at[q];
				lo[q] = up ? lo[q] + half + 1 : lo[q];
				more |= n[q] = up ? n[q] - half - 1 : half;
			}
		}
		#pragma unroll
		for (u32 q = 0; q < AHEAD; q++) {
			if (i0 + q * THREADS < DRAWS) {
				u32 v = lo[q], slot = v * 0x9e3779b1u >> 7 & SLOTS - 1;
				#pragma unroll 1
				while (atomicCAS(s.first + slot, NONE, v) != NONE)
					slot = slot + 1 & SLOTS - 1;
				step_of[slot] = (unsigned char)step[q];
				atomicOr(s.filter + (v >> 5 & FILTER - 1), 1u << (v & 31));
			}
		}
	}
}

// How often a step draws a vertex.
static __device__ __forceinline__ u32 times_of(const Level &s, const unsigned char *step_of, u32 v) {
	u32 times = 0;
	#pragma unroll 1
	for (u32 at = v * 0x9e3779b1u >> 7 & SLOTS - 1, k; (k = s.first[at]) != NONE; at = at + 1 & SLOTS - 1)
		times += k == v && step_of[at] == s.step;
	return times;
}

// Appends the edges of the listed pieces from what any step draws to those that wait: places to edge, rows to far. The number of those that wait.
static __device__ __forceinline__ u32 list_edges(const Rowed &g, const Level &s, const Lists &l, const Spanned &x, u32 piece, u32 some, u32 wait, u32 first_row) {
	Level drawn = s;
	drawn.key = s.first;
	for (u32 i0 = 0; i0 < some; i0 += 32) {
		u32 i = i0 + threadIdx.x, which = i < some ? x.some[i] >> 8 : 0, left = 0, row, at, all;
		if (which) {
			piece_of(s, x, piece, i, &row, &at);
			u32 lo = begin_of(s, row), d = s.before[row + 1] - s.before[row];
			for (; which; which &= which - 1) {
				u32 q = __ffs(which) - 1;
				if (at + q - lo < d && find(drawn, g.far[at + q]) != NONE)
					left |= 1 << q;
			}
		}
		u32 to = wait + block_scan(__popc(left), s.room, &all);
		wait += all;
		for (; left; left &= left - 1, to++) {
			if (to < edges_most[STEPS - 1]) {
				l.edge[edges_at[STEPS - 1] + to] = at + __ffs(left) - 1;
				l.far[edges_at[STEPS - 1] + to] = first_row + row;
			}
		}
	}
	return wait;
}

// Reads the rows from one on, which are new. The number of edges that wait.
static __device__ __forceinline__ u32 read_new(const Rowed &g, const Level &s, const Lists &l, u32 from, u32 wait) {
	Level fresh = s;
	fresh.n = s.n - from;
	enter_rows(g, fresh, l.vertices + from, 0);
	u32 *mine = s.room + ROOM_OF_BLOCK, all = fresh.quads[fresh.n];
	Spanned x = {mine, mine + TURNS, (unsigned short *)(mine + 2 * TURNS)};
	for (u32 piece = 0; piece < all; piece += SPAN) {
		u32 some = read_span(g, fresh, x, piece, all);
		wait = list_edges(g, fresh, l, x, piece, some, wait, from);
		__syncwarp();
	}
	return wait;
}

// Takes those of the edges that wait that the step draws; new vertices are numbered from n on. The number of edges.
static __device__ __forceinline__ u32 take_waiting(const Rowed &g, const Level &s, const unsigned char *step_of, const Lists &l, u32 base, u32 wait, u32 &n) {
	u32 lane = threadIdx.x & 31, m = 0;
	for (u32 i0 = 0; i0 < wait; i0 += 32) {
		u32 i = i0 + lane, place = 0, row = 0, v = NONE, times = 0, number = 0;
		if (i < wait) {
			place = l.edge[edges_at[STEPS - 1] + i];
			row = l.far[edges_at[STEPS - 1] + i];
			v = g.far[place];
			times = times_of(s, step_of, v);
		}
		if (times) {
			u32 slot = find(s, v);
			number = slot == NONE ? NONE : s.number[slot];
		}
		__syncwarp();
		u32 taken = __ballot_sync(ALL, times > 0), e = m + __popc(taken & (1u << lane) - 1);
		m += __popc(taken);
		#pragma unroll 1
		for (u32 rest = __ballot_sync(ALL, times > 0 && number == NONE); rest; n++) {
			u32 first = __ffs(rest) - 1, one = __shfl_sync(ALL, v, first), same = __ballot_sync(ALL, times > 0 && v == one);
			if (lane == first) {
				l.vertices[n] = v;
				s.number[insert(s, v)] = n;
			}
			if (same >> lane & 1)
				number = n;
			rest &= ~same;
		}
		if (times > 0 && e < edges_most[s.step]) {
			l.far[base + e] = number;
			l.edge[base + e] = g.edge[place];
			atomicAdd(s.count + row, 1u);
#if WEIGHTS
			Edged x = {v, l.vertices[row], place, (float)((double)(g.sums[v] - (v ? g.sums[v - 1] : 0)) / (double)s.total), (float)s.k, (float)times};
			l.weight[base + e] = edge_weight(g, x);
#endif
		}
		__syncwarp();
	}
	return m;
}

// Where rows begin in the block.
static __device__ __forceinline__ void begin_rows(const Level &s, u32 *begin) {
	u32 sum = 0, all;
	for (u32 r0 = 0; r0 < s.n; r0 += THREADS) {
		u32 r = r0 + threadIdx.x, at = sum + block_scan(r < s.n ? s.count[r] : 0, s.room, &all);
		sum += all;
		if (r < s.n)
			s.count[r] = begin[r] = at;
	}
	if (threadIdx.x == 0)
		s.count[s.n] = begin[s.n] = sum;
	__syncwarp();
}

// False where there is too little room.
static __device__ __forceinline__ bool levels(const Rowed &g, const Batch &b, const Lists &l, const u32 *seeds, u32 n, u32 *shared) {
	Level s;
	u32 wait = 0, from = 0;
	s.room = shared;
	s.filter = shared + ROOM;
	s.first = s.filter + FILTER;
	s.key = s.first + SLOTS;
	s.number = s.key + SLOTS;
	s.before = s.number + SLOTS;
	s.quads = s.before + NEW_ROOM;
	s.shift = s.before + 2 * NEW_ROOM;
	s.count = s.before + 3 * NEW_ROOM;
	unsigned char *step_of = (unsigned char *)(s.count + ROW_ROOM);
	Words w = philox(b.seed0, b.seed1, b.epoch, b.number, 0, 0);
	s.k0 = w.w0;
	s.k1 = w.w1;
	s.n = n;
	for (u32 j = threadIdx.x; j < FILTER; j += THREADS)
		s.filter[j] = 0;
	for (u32 j = threadIdx.x; j < 2 * SLOTS; j += THREADS)
		s.first[j] = NONE; // and keys
	if (threadIdx.x == 0)
		s.before[0] = s.quads[0] = 0;
	__syncwarp();
	for (u32 j = threadIdx.x; j < n; j += THREADS) {
		l.vertices[j] = seeds[j];
		s.number[insert(s, seeds[j])] = j;
	}
	draw_ahead(g, s, step_of);
	__syncwarp();
	u32 *begin = l.begin;
	for (s.step = 0; s.step < STEPS; s.step++) {
		u32 base = edges_at[s.step], next = s.n;
		s.k = sizes[s.step];
		for (u32 r = threadIdx.x; r < s.n; r += THREADS)
			s.count[r] = 0;
		if (from < s.n && (wait = read_new(g, s, l, from, wait)) > edges_most[STEPS - 1])
			return false;
		__syncwarp();
		u32 m = take_waiting(g, s, step_of, l, base, wait, next);
		if (m > edges_most[s.step])
			return false;
		begin_rows(s, begin);
		normalise(s, l, base);
		if (threadIdx.x == 0) {
			l.counts[s.step] = s.n;
			l.counts[STEPS + 1 + s.step] = m;
			l.counts[STEPS] = next;
		}
		__syncwarp();
		from = s.n;
		s.n = next;
		begin += rows_most[s.step] + 1;
	}
	return true;
}
`
