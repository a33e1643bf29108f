package cuda

// levelsState is what a block has of a level whose vertices are drawn together.
const levelsState = `
// A level and what is drawn for it, in shared memory.
struct Level {
	Table t;             // the level's vertices, and those that were drawn
	u32 *number;         // of a vertex of the level its number, else NONE
	u32 *drawn;          // the least draw of this step that gave it, or NONE
	u32 *slot;           // of a draw its place in the table
	u32 *first, *times;  // of the least draw of a vertex: its first edge, and how many draws gave it
	u64 *own;            // and the sum of its scores
	u32 *fresh;          // the first edges of vertices that have no number yet
	u32 *ahead;          // vertices that are drawn before the first step
	u32 *before, *quads; // of rows: edges, and 16-byte pieces of far, before each
	u32 *shift;          // where a row begins, less 4 quads; until the row is entered, its vertex
	u64 *sums;           // scores before each
	u32 *begin;          // edges of the block before each
	unsigned char *filter;
	u32 *room, *spans;   // of the block, and of each warp
	u32 *many;           // the edges that were found, and the fresh vertices
	u32 *order, *which, *rank, *row; // of each where it stands among all edges of rows, in pieces of four; its far end's slot beside its row; its number; and by numbers the row
	u32 n, k, step, k0, k1;
	u64 total;
};

static __device__ __forceinline__ u32 begin_of(const Level &s, u32 row) { return s.shift[row] + 4 * s.quads[row]; }

static __device__ __forceinline__ void place_level(Level &s, u32 *at) {
	s.own = (u64 *)at;
	at += KIND == COLUMNS ? 2 * MOST_DRAWS : 0;
	s.sums = (u64 *)at;
	at += KIND == COLUMNS ? 2 * (ROW_ROOM) : 0;
	s.room = at;
	at += ROOM_OF_BLOCK;
	s.spans = at;
	at += WARPS * ROOM_OF_WARP;
	s.many = s.room + ROOM_OF_BLOCK - 4;
	s.order = at;
	s.which = at + FOUND + 4;
	s.rank = at + 2 * FOUND + 4;
	s.row = at + 3 * FOUND + 4;
	at += 4 * FOUND + 4;
	s.filter = (unsigned char *)at;
	at += FILTER / 4;
	s.t.key = at;
	s.t.mask = SLOTS - 1;
	s.number = at + SLOTS;
	s.drawn = at + 2 * SLOTS;
	at += (KIND == AMONG ? 2 : 3) * SLOTS;
	s.first = at;
	s.times = at + MOST_DRAWS;
	s.slot = at + 2 * MOST_DRAWS;
	s.fresh = at + 3 * MOST_DRAWS;
	at += 4 * MOST_DRAWS + 4;
	s.ahead = at;
	at += KIND == EVERYWHERE ? ALL_DRAWS : 0;
	s.before = at;
	s.quads = at + (ROW_ROOM);
	s.shift = at + 2 * (ROW_ROOM);
	s.begin = at + 3 * (ROW_ROOM);
}

// The rows from one on, which are new, with sums over them. A row has at least one piece.
static __device__ __forceinline__ void enter_rows(const Rowed &g, const Level &s, u32 from) {
	u64 *room = (u64 *)s.room, base = (u64)s.quads[from] << 32 | s.before[from], scores = KIND == COLUMNS ? s.sums[from] : 0, all;
	for (u32 r0 = from; r0 < s.n; r0 += THREADS) {
		u32 r = r0 + threadIdx.x, lo = 0, d = 0, quads = 0;
		u64 own = 0;
		if (r < s.n) {
			u32 v = s.shift[r];
			lo = g.offsets[v];
			d = g.offsets[v + 1] - lo;
			quads = ((lo & 3) + d + 3) >> 2;
			quads = quads ? quads : 1;
			if (KIND == COLUMNS)
				own = g.scores[lo + d] - g.scores[lo];
		}
		u64 x = (u64)quads << 32 | d, at = base + wide_scan(x, room, &all);
		base += all;
		if (r < s.n) {
			s.shift[r] = lo - 4 * (u32)(at >> 32);
			s.quads[r + 1] = (u32)(at + x >> 32);
			s.before[r + 1] = (u32)(at + x);
		}
		if (KIND == COLUMNS) {
			at = scores + wide_scan(own, room, &all);
			scores += all;
			if (r < s.n)
				s.sums[r + 1] = at + own;
		}
	}
}

// Nothing is drawn yet at this step.
static __device__ __forceinline__ void clear_drawn(const Level &s) {
	fill((u32 *)s.filter, FILTER / 4, 0);
	if (threadIdx.x < 2)
		s.many[threadIdx.x] = 0;
	for (u32 j = threadIdx.x; j < MOST_DRAWS; j += THREADS) {
		s.first[j] = NONE;
		s.times[j] = 0;
		if (KIND == COLUMNS)
			s.own[j] = 0;
	}
}
`
