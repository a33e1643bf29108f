
struct Walks { const u32 *at, *before, *step, *name; }; // of those that go on; before, step and name are 0 where all begin
struct Listed { u32 *at, *before, *step, *name, *count; };

// Walks that a warp takes together: the first, how many, and of each lane where its one begins.
struct Pool { u32 first, size; End at; };
static __device__ __forceinline__ Pool next_pool(const Walks &w, u32 n, u32 *taken, u32 &ticket) {
	u32 lane = threadIdx.x & 31;
	Pool p = {__shfl_sync(ALL, ticket, 0), 0, no_end()};
	if (p.first < n) {
		p.size = n - p.first < 32 ? n - p.first : 32;
		if (lane == 0)
			ticket = atomicAdd(taken, 32u); // of the pool after this one: nothing waits for it now
		if (lane < p.size)
			p.at.far = w.at[p.first + lane];
	}
	return p;
}

static __device__ __forceinline__ void list_walk(const Listed &l, u32 at, u32 before, u32 step, u32 name) {
	u32 k = atomicAdd(l.count, 1u);
	l.at[k] = at;
	l.before[k] = before;
	l.step[k] = step;
	l.name[k] = name;
}

extern "C" __global__ void __launch_bounds__(256, ROUND_BLOCKS) saga_rounds(const u32 *offsets, const void *edges, const u32 *far, const float *weight, const float *most,
		const void *table, u64 vertices, const u32 *roots, const u32 *w_at, const u32 *w_before, const u32 *w_step, const u32 *w_name, u64 n, u32 *out, u32 *place, u64 turns, u64 bound,
		u64 first, u64 key, u64 *wrong, u32 *taken, u32 *l_at, u32 *l_before, u32 *l_step, u32 *l_name) {
	G g = {offsets, edges, far, weight, most, table, vertices};
	Walks all = {w_at, w_before, w_step, w_name};
	F f = {};
	End e = no_end();
	u32 lane = threadIdx.x & 31, step = 0, used = 0, turn = 0, ticket = 0;
	u32 begin = (blockIdx.x * blockDim.x + threadIdx.x >> 5) * (u32)turns * 32 + lane;
	f.k0 = (u32)key;
	f.k1 = (u32)(key >> 32);
	f.roots = roots;
	f.wrong = wrong;
	if (lane == 0)
		ticket = atomicAdd(taken, 32u);
	Pool now = {0, 0, no_end()}, next_ones = next_pool(all, (u32)n, taken, ticket);
	bool late = true; // where the rows of the next ones begin is not read yet
	for (; turn < (u32)turns; turn++) {
		u32 wants = __ballot_sync(ALL, e.far == NONE);
		if (wants && (used < now.size || next_ones.size)) {
			if (late && lane < next_ones.size) {
				next_ones.at.lo = offsets[next_ones.at.far];
				next_ones.at.degree = offsets[next_ones.at.far + 1] - next_ones.at.lo;
			}
			late = false;
			if (used == now.size) {
				now = next_ones;
				used = 0;
				next_ones = next_pool(all, (u32)n, taken, ticket);
				late = true;
			}
			u32 k = used + __popc(wants & (1u << lane) - 1);
			End x = {__shfl_sync(ALL, now.at.far, k & 31), __shfl_sync(ALL, now.at.lo, k & 31), __shfl_sync(ALL, now.at.degree, k & 31)};
			if (e.far == NONE && k < now.size) {
				u32 i = now.first + k;
				e = x;
				step = w_step ? w_step[i] : 0;
				f.before = w_before ? w_before[i] : NONE;
				f.i = w_name ? w_name[i] : i;
				f.of = (u32)first + (u32)f.i;
				f.length = 1 + step;
				place[i] = begin + 32 * turn;
			}
			used = used + __popc(wants) < now.size ? used + __popc(wants) : now.size;
		}
		bool on = e.far != NONE;
		if (__ballot_sync(ALL, on) == 0)
			return; // there are no more
		if (on && step >= (u32)bound) {
			taken[2] = 1;
			on = false;
			e = no_end();
		}
		u32 added[4] = {NONE, NONE, NONE, NONE};
		Words w = {};
		ROUND_TURNS
		if (on) {
			uint4 x = {added[0], added[1], added[2], added[3]};
			__stcs((uint4 *)out + begin + 32 * turn, x); // read by no thread: the graph stays in the cache
		}
	}
	Listed l = {l_at, l_before, l_step, l_name, taken + 1};
	if (e.far != NONE)
		list_walk(l, e.far, f.before, step, (u32)f.i);
	for (;;) {
		u32 k = used + lane, i = now.first + k;
		u32 at = __shfl_sync(ALL, now.at.far, k & 31);
		if (k < now.size) {
			list_walk(l, at, w_before ? w_before[i] : NONE, w_step ? w_step[i] : 0, w_name ? w_name[i] : i);
			place[i] = NONE;
		}
		if (next_ones.size == 0)
			return;
		now = next_ones;
		used = 0;
		next_ones = next_pool(all, (u32)n, taken, ticket);
	}
}
