
struct Far {
	const unsigned long long *then, *first, *third; // places in the batch before, in the one before that, and in the one before both
	ll match, match2, match3; // their tags
	const unsigned *slots;
	unsigned same, near, far; // how many were found

	// Where the row of v lies, if it need not come.
	__device__ __forceinline__ const float4 *find(unsigned v, ll words, const float4 *before, const float4 *earlier, const float4 *eldest, const float4 *hot) {
		const unsigned long long old = match ? then[v] : 0, older = match2 ? first[v] : 0, oldest = match3 ? third[v] : 0;
		const unsigned slot = slots[v];
		if (match && (ll)(old >> 32) == match) {
			same++;
			return before + (ll)(unsigned)old * words;
		}
		if (match2 && (ll)(older >> 32) == match2) {
			same++;
			return earlier + (ll)(unsigned)older * words;
		}
		if (match3 && (ll)(oldest >> 32) == match3) {
			same++;
			return eldest + (ll)(unsigned)oldest * words;
		}
		if (slot != 0xffffffffu) {
			near++;
			return hot + slot * words;
		}
		far++;
		return nullptr;
	}
};

extern "C" __global__ void __launch_bounds__(256) saga_far_mark(unsigned long long *last, unsigned *bits, const unsigned *ids, ll n, ll tag, ll again,
		const unsigned *slots, const unsigned long long *then, ll match, const unsigned long long *first, ll match2, const unsigned long long *third, ll match3, unsigned long long *counts) {
	Far f{then, first, third, match, match2, match3, slots, 0, 0, 0};
	for (ll i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
		const unsigned v = ids[i], at = again ? (unsigned)i : v;
		last[v] = (unsigned long long)tag << 32 | (unsigned long long)i;
		if (!f.find(v, 1, (const float4 *)16, (const float4 *)16, (const float4 *)16, (const float4 *)16)) atomicOr(bits + at / 32, 1u << (at % 32));
	}
	for (unsigned d = 16; d > 0; d /= 2) {
		f.far += __shfl_down_sync(0xffffffffu, f.far, d);
		f.near += __shfl_down_sync(0xffffffffu, f.near, d);
		f.same += __shfl_down_sync(0xffffffffu, f.same, d);
	}
	if (threadIdx.x % 32 == 0) {
		if (f.far) atomicAdd(counts, (unsigned long long)f.far);
		if (f.near) atomicAdd(counts + 1, (unsigned long long)f.near);
		if (f.same) atomicAdd(counts + 2, (unsigned long long)f.same);
	}
}

extern "C" __global__ void __launch_bounds__(256) saga_far_near(float4 *to, const unsigned *ids, ll n, ll words, ll full, const float4 *hot, const unsigned *slots,
		const float4 *before, const unsigned long long *then, ll match, const float4 *earlier, const unsigned long long *first, ll match2,
		const float4 *eldest, const unsigned long long *third, ll match3) {
	constexpr unsigned DEEP = 4;
	extern __shared__ u32 shared[]; // of each warp: 32 addresses, and their places
	const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const float4 **from = (const float4 **)(shared + warp * 3 * 32);
	unsigned *at = (unsigned *)(from + 32);
	Far f{then, first, third, match, match2, match3, slots, 0, 0, 0};
	for (ll base = (blockIdx.x * 8ll + warp) * 32; base < n; base += gridDim.x * 256ll) {
		const ll i = base + lane;
		const float4 *row = i < n ? f.find(ids[i], words, before, earlier, eldest, hot) : nullptr;
		const unsigned found = __ballot_sync(0xffffffffu, row != nullptr), count = __popc(found);
		if (row) {
			const unsigned k = __popc(found & ((1u << lane) - 1));
			from[k] = row;
			at[k] = (unsigned)i;
		}
		__syncwarp();
		for (unsigned r = 0; r < count; r += DEEP) {
			for (ll c = lane; c < words; c += 32) {
				float4 x[DEEP];
#pragma unroll
				for (unsigned u = 0; u < DEEP; u++)
					if (r + u < count) x[u] = c < full ? from[r + u][c] : float4{};
#pragma unroll
				for (unsigned u = 0; u < DEEP; u++)
					if (r + u < count) to[at[r + u] * words + c] = x[u];
			}
		}
		__syncwarp();
	}
}

extern "C" __global__ void __launch_bounds__(256) saga_far_take(float4 *to, const float4 *host, const unsigned *ids, ll words, ll full,
		const unsigned long long *last, const unsigned *bits, unsigned *next, ll all, ll again) {
	constexpr unsigned OWN = 16, PART = 32 * OWN, DEEP = 2;
	extern __shared__ u32 shared[]; // of each warp: 32 vertices, their places, and all that it has found
	const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	unsigned *from = shared + warp * (2 * 32 + PART / 2), *at = from + 32;
	unsigned short *list = (unsigned short *)(at + 32);
	for (;;) {
		const ll base = __shfl_sync(0xffffffffu, lane == 0 ? atomicAdd(next, 1u) : 0, 0) * (ll)PART;
		if (base >= all) break;
		const ll x = base + lane * OWN;
		unsigned word = x < all ? ((const unsigned short *)bits)[x / OWN] : 0, upto = __popc(word);
		const unsigned own = upto;
		for (unsigned d = 1; d < 32; d *= 2) {
			const unsigned y = __shfl_up_sync(0xffffffffu, upto, d);
			if (lane >= d) upto += y;
		}
		const unsigned count = __shfl_sync(0xffffffffu, upto, 31);
		for (unsigned k = upto - own; word; word &= word - 1) list[k++] = (unsigned short)(lane * OWN + __ffs(word) - 1);
		__syncwarp();
		for (unsigned g = 0; g < count; g += 32) {
			if (g + lane < count) {
				const ll k = base + list[g + lane];
				from[lane] = again ? ids[k] : (unsigned)k;
				at[lane] = again ? (unsigned)k : (unsigned)last[k];
			}
			__syncwarp();
			const unsigned rows = count - g < 32 ? count - g : 32;
			for (unsigned r = 0; r < rows; r += DEEP) {
				for (ll c = lane; c < words; c += 32) {
					float4 x[DEEP];
#pragma unroll
					for (unsigned u = 0; u < DEEP; u++)
						if (r + u < rows) x[u] = c < full ? host[from[r + u] * words + c] : float4{};
#pragma unroll
					for (unsigned u = 0; u < DEEP; u++)
						if (r + u < rows) to[at[r + u] * words + c] = x[u];
				}
			}
			__syncwarp();
		}
	}
}
