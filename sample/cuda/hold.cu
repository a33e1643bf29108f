
#define AGAIN_MOST 255u

// The vertices of a sample with who holds each: 0 if the sample had it before, else (draw + 1) << 8 | times it was made again,
// and NONE if it may be held. free counts those, where it is there.
struct Held { u32 *key, *who, *free; };

static __device__ __forceinline__ u32 hash_of(u32 v) { return (v * 0x9e3779b1u >> 7) & (SLOTS - 1); }

// The place of v in the table, which is put there if it is missing.
static __device__ __forceinline__ u32 place_of(const Held &h, u32 v, bool *fresh) {
	for (u32 at = hash_of(v);; at = (at + 1) & (SLOTS - 1)) {
		u32 was = *(volatile u32 *)(h.key + at);
		if (was == NONE)
			was = atomicCAS(h.key + at, NONE, v);
		if (was == NONE || was == v) {
			*fresh = was == NONE;
			return at;
		}
	}
}

// A draw comes to v. The one that does not hold it then, or NONE.
static __device__ __forceinline__ u32 hold(const Held &h, u32 v, u32 me) {
	bool fresh;
	u32 old = atomicMin(h.who + place_of(h, v, &fresh), me);
	if (old == NONE && h.free)
		atomicAdd(h.free, 0xffffffffu);
	return old > me ? old : me == old ? NONE : me;
}

// Whether v is held by a draw before this one.
static __device__ __forceinline__ bool held_before(const Held &h, u32 v, u32 draw) {
	for (u32 at = hash_of(v);; at = (at + 1) & (SLOTS - 1)) {
		u32 k = *(volatile u32 *)(h.key + at);
		if (k == NONE)
			return false;
		if (k == v)
			return *(volatile u32 *)(h.who + at) >> 8 <= draw;
	}
}

static __device__ __forceinline__ void group_sync() {
	if (GROUP == 32)
		__syncwarp();
	else
		__syncthreads();
}

// A draw that is being made, and how often it was made before.
struct Making { u32 draw, again; };

// Makes a draw that has come to v, and those that it sends away, until none is left, or for so many tries. Some rows have fewer vertices than
// are drawn from them: now and then it is looked up whether there is another at all.
template <class D> static __device__ __forceinline__ bool settle(const Held &h, const D &d, Making &m, u32 v, u32 tries) {
	for (;;) {
		if (v == NONE)
			return true;
		u32 out = hold(h, v, (m.draw + 1) << 8 | m.again);
		if (out == NONE)
			return true;
		m.draw = (out >> 8) - 1;
		m.again = (out & 255) + 1;
		if (m.again > AGAIN_MOST || m.again % 4 == 0 && d.exhausted(h, m.draw, m.again))
			return true;
		if (--tries == 0)
			return false;
		v = d.vertex(m.draw, m.again);
	}
}

#define FOREVER 0xffffffffu
#define EACH 4 // draws that a thread begins at a time, so that their reads overlap

// Makes draws 0 to many-1, those of a group side by side.
template <class D> static __device__ __forceinline__ void settle_all(const Held &h, const D &d, u32 t, u32 many) {
	for (u32 j0 = t; j0 < many; j0 += EACH * GROUP) {
		u32 v[EACH];
		#pragma unroll
		for (u32 q = 0; q < EACH; q++)
			v[q] = j0 + q * GROUP < many ? d.vertex(j0 + q * GROUP, 0) : NONE;
		#pragma unroll
		for (u32 q = 0; q < EACH; q++) {
			Making m = {j0 + q * GROUP, 0};
			settle(h, d, m, v[q], FOREVER);
		}
	}
}
