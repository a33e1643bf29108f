
// What rows of a code have in common: the pattern of EDGES edges whose vertices are numbered as they come, the edge that each came with (0 for the first
// two), the neighbours of each in the pattern as bits, and the ends of the edges in their order.
struct __align__(8) Code { u32 vertices, edges; u8 intro[8], near[8], from[28], to[28]; };

// Positions that a row may have, and the words of shared memory that a warp takes.
#if EDGES < 8
#define PLACES (EDGES + 1)
#else
#define PLACES 8
#endif
#define NONE 0xffffffffu // no vertex

static __device__ __forceinline__ u64 edge_of(u32 a, u32 b) { return a < b ? (u64)a << 32 | b : (u64)b << 32 | a; }

// What a launch has done: groups taken, warps that have stopped within one, rows made, steps, counters.
struct Done { u64 next, open, made, steps, counters; };

// Extends rows of EDGES edges by one. A warp takes 32 rows at a time and lays the ends of the lists of neighbours that may follow in a line; its lanes then take
// 32 neighbours at a time. If what it writes to is full it keeps the group and its place in the line in saved, and goes on from there in the
// next launch. With LAST rows are only counted, by code and slot; otherwise they are written: a step, the slot of their code in a table of steps,
// and their vertices.
extern "C" __global__ void __launch_bounds__(128) saga_table(const Row *rows, const u32 *classes, const u64 *off, const u32 *kind, u64 labels, u64 kinds,
		const Code *codes, const u32 *steps, const u32 *parents, u64 parent_room, u64 first, u64 n, u64 *state, Done *done, u64 *saved,
		u64 *keys, u64 mask, u64 most_keys, u64 *fresh, u64 dense, u32 *out, u64 out_room, u64 most_rows) {
	extern __shared__ u32 shared[];
	u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, width = (u32)labels + 9;
	u32 *own = shared + warp * WORDS;
	u64 *at = (u64 *)own;                  // by position and row: where its list is, less its place in the line
#ifdef KINDS
	u64 *kind_at = at + 32 * PLACES;
	u32 *end = (u32 *)(kind_at + 32 * PLACES);
#else
	u32 *end = (u32 *)(at + 32 * PLACES);  // and where it ends in the line
#endif
	u32 *vertex = end + 32 * PLACES, *code_of = vertex + 32 * PLACES;
	saved += 2 * (blockIdx.x * (u64)(blockDim.x >> 5) + warp);
	u64 kept = saved[0], group;
	u32 j = (u32)saved[1];
	for (;;) {
		if (kept)
			group = kept - 1;
		else {
			if (__any_sync(ALL, stopped(state)
#if LAST
					|| !dense && *(volatile u64 *)&done->counters >= most_keys
#else
					|| *(volatile u64 *)&done->made >= most_rows || *(volatile u64 *)&done->steps >= most_keys
#endif
					))
				break;
			group = lane == 0 ? atomicAdd(&done->next, 1ull) : 0;
			group = __shfl_sync(ALL, group, 0);
			if (group * 32 >= n)
				break;
			j = 0;
		}
		u64 r = group * 32 + lane;
		u32 k = 0, code = 0;
		for (u32 p = 0; p < PLACES; p++)
			vertex[32 * p + lane] = NONE;
#if EDGES == 0
		if (r < n) {
			u32 u = (u32)(first + r), c = classes[u];
			vertex[lane] = u;
			code = 1u << 31 | c;
			k = c < labels;
		}
#else
		const Code *q = codes;
		if (r < n) {
			u32 step = steps[parents[r]], swap = step >> 31;
			code = step & 0x7fffffff;
			q += code;
			k = q->vertices;
			for (u32 p = 0; p < PLACES; p++)
				if (p < k)
					vertex[32 * (p < 2 ? p ^ swap : p) + lane] = parents[(1 + p) * parent_room + r];
		}
#endif
		code_of[lane] = code;
		u32 total = 0, last[PLACES];
		for (u32 p = 0; p < PLACES; p++) {
			u32 count = 0, from = 0;
			Row list = {0, 0, 0};
			u32 x = vertex[32 * p + lane];
			if (p < k) {
				list = rows[x];
#if EDGES == 0
				from = list.below;
#else
				// The edge that all that follow at this position must exceed, and the first neighbour that will do.
				u64 bound = edge_of(vertex[32 * q->from[0] + lane], vertex[32 * q->to[0] + lane]);
				for (u32 i = q->intro[p] + 1; i < EDGES; i++)
					bound = max(bound, edge_of(vertex[32 * q->from[i] + lane], vertex[32 * q->to[i] + lane]));
				u32 least = (u32)(bound >> 32), far = (u32)bound;
				if (x < least)
					from = list.degree;
				else {
					if (x == least)
						least = far + 1;
					else if (x <= far)
						least++;
					from = lower(list.at, list.degree, least);
				}
#endif
				count = list.degree - from;
			}
			u32 sum = count;
			for (u32 d = 1; d < 32; d <<= 1) {
				u32 other = __shfl_up_sync(ALL, sum, d);
				if (lane >= d)
					sum += other;
			}
			u32 begin = total + sum - count;
			end[32 * p + lane] = total + sum;
			at[32 * p + lane] = (u64)list.at + 4 * ((u64)from - begin);
#ifdef KINDS
			kind_at[32 * p + lane] = p < k ? off[x] + from - begin : 0;
#endif
			total += __shfl_sync(ALL, sum, 31);
			last[p] = total;
		}
		__syncwarp();
		for (kept = 0; j < total; j += 32) {
#if LAST
			bool full = (j >> 5) % CHECK == 0 && (stopped(state) || !dense && *(volatile u64 *)&done->counters >= most_keys);
#else
			bool full = stopped(state) || *(volatile u64 *)&done->made >= most_rows || *(volatile u64 *)&done->steps >= most_keys;
#endif
			if (__any_sync(ALL, full)) {
				kept = group + 1;
				break;
			}
			u32 e = j + lane, slot = NONE, y = 0, row = 0, places = 0;
			if (e < total) {
				u32 p = 0;
				for (u32 i = 0; i + 1 < PLACES; i++)
					p += e >= last[i];
				for (u32 d = 16; d > 0; d >>= 1)
					if (end[32 * p + row + d - 1] <= e)
						row += d;
				y = ((const u32 *)at[32 * p + row])[e];
				u32 far = NONE, base = p;
				for (u32 i = 0; i < PLACES; i++) {
					u32 v = vertex[32 * i + row];
					places += v != NONE;
					if (v == y)
						far = i;
				}
#ifdef KINDS
				base = p * (u32)kinds + kind[kind_at[32 * p + row] + e];
#endif
				if (far == NONE) {
					u32 c = classes[y];
					if (c < labels && places < 8)
						slot = base * width + c;
				}
#if EDGES > 1
				else {
					const Code *q = codes + code_of[row];
					if (!(q->near[p] >> far & 1) && q->intro[far] >= q->intro[p])
						slot = base * width + (u32)labels + far;
					y = NONE;
				}
#endif
			}
			bool is_new = false;
#if LAST
			if (slot != NONE) {
				if (dense)
					atomicAdd(keys + (code_of[row] * (u64)PLACES * kinds * width + slot), 1ull);
				else
					atomicAdd(keys + 2 * slot_of(keys, 2, mask, (u64)code_of[row] << 32 | slot, is_new) + 1, 1ull);
			}
			if (!dense) {
				u32 all = __popc(__ballot_sync(ALL, is_new));
				if (lane == 0 && all)
					atomicAdd(&done->counters, (u64)all);
			}
#else
			u32 made = __ballot_sync(ALL, slot != NONE);
			u64 to = lane == 0 && made ? atomicAdd(&done->made, (u64)__popc(made)) : 0;
			to = __shfl_sync(ALL, to, 0) + __popc(made & ((1u << lane) - 1));
			if (slot != NONE) {
				u64 key = (u64)code_of[row] << 32 | slot, h = slot_of(keys, 1, mask, key, is_new);
				if (is_new) {
					u64 i = atomicAdd(&done->steps, 1ull);
					fresh[2 * i] = key;
					fresh[2 * i + 1] = h;
				}
				out[to] = (u32)h;
				for (u32 i = 0; i < PLACES; i++) {
					u32 v = vertex[32 * i + row];
					if (v != NONE)
						out[(1 + i) * out_room + to] = v;
				}
				if (y != NONE)
					out[(1 + places) * out_room + to] = y;
			}
#endif
		}
		__syncwarp();
		if (kept)
			break;
	}
	if (lane == 0) {
		saved[0] = kept;
		saved[1] = j;
		if (kept)
			atomicAdd(&done->open, 1ull);
	}
}

// Has steps of the slots of a list, two words each, lead to codes.
extern "C" __global__ void __launch_bounds__(128) saga_table_steps(u32 *steps, const u64 *fresh, const u32 *to, u64 n) {
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (u64)blockDim.x)
		steps[fresh[2 * i + 1]] = to[i];
}
