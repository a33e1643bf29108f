package cuda

// roundsText is the kernel of walks without a bound. A lane whose walk has ended takes the next one, so that lanes are idle at the end only. What a walk
// adds lies in stretches of STRETCH steps, which lanes take as they need them; where none is left walks are listed, for the next launch.
// The order of stretches and of the list is that of threads; walks are named by their numbers.
//
// taken: walks, stretches, walks that are listed, and whether one has bound steps. A warp takes PART walks, or PARTS stretches, at a time.
const roundsText = `
struct Walks { const u32 *at, *before, *step, *name; }; // of those that go on; before is 0 where all begin
struct Listed { u32 *at, *before, *step, *name; };

// Numbers for the lanes that want one, from what the warp has of n, of which it takes so many at a time. NONE where there is none: those that are
// left in the end may be fewer than lanes, which then get theirs at the next turn if more are there.
struct Supply { u32 next, end, more; };
static __device__ __forceinline__ u32 supply(Supply &s, bool want, u32 *taken, u32 n, u32 part) {
	u32 lane = threadIdx.x & 31, wants = __ballot_sync(ALL, want);
	if (wants == 0)
		return NONE;
	if (s.next == s.end && s.more) {
		u32 at = 0;
		if (lane == 0)
			at = atomicAdd(taken, part);
		at = __shfl_sync(ALL, at, 0);
		s.more = at < n;
		s.next = at < n ? at : n;
		s.end = n - s.next < part ? n : s.next + part;
	}
	u32 mine = s.next + __popc(wants & (1u << lane) - 1), all = s.next + __popc(wants);
	bool got = want && mine < s.end;
	s.next = all < s.end ? all : s.end;
	return got ? mine : NONE;
}

extern "C" __global__ void __launch_bounds__(256) saga_rounds(const u32 *offsets, const void *edges, const u32 *far, const float *weight, const float *most,
		const void *table, u64 vertices, const u32 *w_at, const u32 *w_before, const u32 *w_step, const u32 *w_name, u64 n, u32 *out, u32 *owners, u64 stretches, u64 bound,
		u64 first, u64 key, u64 *wrong, u32 *taken, u32 *l_at, u32 *l_before, u32 *l_step, u32 *l_name) {
	G g = {offsets, edges, far, weight, most, table, vertices};
	F f = {};
	End e = no_end();
	Supply walks = {0, 0, 1}, room = {0, 0, 1};
	u32 step = 0, walk = NONE, stretch = NONE;
	f.k0 = (u32)key;
	f.k1 = (u32)(key >> 32);
	f.wrong = wrong;
	for (;;) {
		u32 i = supply(walks, e.far == NONE, taken, (u32)n, PART);
		if (i != NONE) {
			walk = w_name ? w_name[i] : i;
			step = w_step ? w_step[i] : 0;
			f.before = w_before ? w_before[i] : NONE;
			e.far = w_at[i];
			e.lo = offsets[e.far];
			e.degree = offsets[e.far + 1] - e.lo;
			f.i = walk;
			f.of = (u32)first + walk;
			f.length = 1 + step;
			stretch = NONE;
		}
		bool need = e.far != NONE && (stretch == NONE || step % STRETCH == 0);
		u32 got = supply(room, need, taken + 1, (u32)stretches, PARTS);
		if (need) {
			stretch = got;
			bool full = step >= (u32)bound, dry = room.next == room.end && !room.more;
			if (got != NONE) {
				owners[2 * got] = walk;
				owners[2 * got + 1] = step;
			}
			if (full || got == NONE && dry) {
				u32 k = atomicAdd(taken + 2, 1u);
				l_at[k] = e.far;
				l_before[k] = f.before;
				l_step[k] = step;
				l_name[k] = walk;
				if (full)
					taken[3] = 1;
				if (got != NONE)
					owners[2 * got] = NONE;
				e = no_end();
			}
		}
		bool on = e.far != NONE && stretch != NONE; // else it waits for a stretch
		u32 added[4];
		Words w = {};
		ROUND_TURNS
		if (on) {
			uint4 x = {added[0], added[1], added[2], added[3]};
			((uint4 *)out)[(u64)stretch * (STRETCH / 4) + (step - 4) % STRETCH / 4] = x;
		}
		if (__ballot_sync(ALL, e.far != NONE) == 0 && walks.next == walks.end && !walks.more)
			break;
	}
	for (u32 k = room.next + (threadIdx.x & 31); k < room.end; k += 32) // what the warp has left
		owners[2 * k] = NONE;
}
`

// roundTurn is one of four steps; %[1]d is which of those that share random words, of which turn %[2]d is the first.
const roundTurn = `
		if (on) {
			%[3]s
			f.step = step++;
			f.at = e.far;
			f.lo = e.lo;
			f.degree = e.degree;
			if (e.far != NONE && e.degree > 0) {
				e = next<%[1]d>(g, f, w);
				enter(g, e);
			} else
				e = no_end();
			f.before = f.at;
			added[%[2]d] = e.far;
			f.length += e.far != NONE;
		}
`
