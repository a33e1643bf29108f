package cuda

// farSource is what reads rows of tables that lie in host memory, over the link.
//
// saga_far_mark notes which vertices the batch has, and where. saga_far_take goes over the vertices in their order, as the link is
// faster where addresses ascend. A warp finds those that the batch has among 1024, and takes them 32 at a time: each
// lane finds where a row comes from (one of the two batches before, the hot rows, or the host), then all of them read the words of one row after another, with
// eight rows under way: a read never spans two rows, whose lines would come twice. What pads a row is not read but set to zero. Its warps are few, for the link bounds them, and the kernels of the step at work need the rest.
const farSource = `
extern "C" __global__ void __launch_bounds__(256) saga_far_mark(unsigned long long *last, unsigned *bits, const unsigned *ids, ll n, ll tag) {
	for (ll i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
		const unsigned v = ids[i];
		last[v] = (unsigned long long)tag << 32 | (unsigned long long)i;
		if (bits) atomicOr(bits + v / 32, 1u << (v % 32));
	}
}

extern "C" __global__ void __launch_bounds__(256) saga_far_take(float4 *to, const float4 *host, const unsigned *ids, ll n, ll words, ll full,
		const float4 *hot, const unsigned *slots, const unsigned long long *last, const unsigned *bits, ll vertices,
		const float4 *before, const unsigned long long *then, ll match, const float4 *earlier, const unsigned long long *first, ll match2, unsigned long long *counts) {
	constexpr unsigned PART = 1024, DEEP = 8;
	extern __shared__ u32 shared[]; // of each warp: 32 addresses, 32 places, and the vertices that it has found
	const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const float4 **from = (const float4 **)(shared + warp * (3 * 32 + PART / 2));
	unsigned *at = (unsigned *)(from + 32);
	unsigned short *list = (unsigned short *)(at + 32);
	unsigned far = 0, near = 0, same = 0;
	const ll all = bits ? vertices : n, step = gridDim.x * 8ll * PART;
	for (ll base = (blockIdx.x * 8ll + warp) * PART; base < all; base += step) {
		unsigned count = all - base < PART ? (unsigned)(all - base) : PART;
		if (bits) {
			const ll v = base + lane * 32;
			unsigned word = v < vertices ? bits[v / 32] : 0, upto = __popc(word);
			const unsigned own = upto;
			for (unsigned d = 1; d < 32; d *= 2) {
				const unsigned y = __shfl_up_sync(0xffffffffu, upto, d);
				if (lane >= d) upto += y;
			}
			count = __shfl_sync(0xffffffffu, upto, 31);
			for (unsigned k = upto - own; word; word &= word - 1) list[k++] = (unsigned short)(lane * 32 + __ffs(word) - 1);
			__syncwarp();
		}
		for (unsigned g = 0; g < count; g += 32) {
			const unsigned k = g + lane;
			if (k < count) {
				const unsigned i = bits ? (unsigned)last[base + list[k]] : (unsigned)(base + k);
				const ll v = bits ? base + list[k] : ids[i];
				const unsigned long long old = match ? then[v] : 0, older = match2 ? first[v] : 0;
				const unsigned slot = slots[v];
				const float4 *row = host + v * words;
				if (match && (ll)(old >> 32) == match) {
					row = before + (ll)(unsigned)old * words;
					same++;
				} else if (match2 && (ll)(older >> 32) == match2) {
					row = earlier + (ll)(unsigned)older * words;
					same++;
				} else if (slot != 0xffffffffu) {
					row = hot + slot * words;
					near++;
				} else {
					far++;
				}
				from[lane] = row;
				at[lane] = i;
			}
			__syncwarp();
			const unsigned rows = count - g < 32 ? count - g : 32;
			for (unsigned r = 0; r < rows; r += DEEP) {
				for (ll c = lane; c < words; c += 32) {
					float4 x[DEEP];
#pragma unroll
					for (unsigned u = 0; u < DEEP; u++)
						if (r + u < rows) x[u] = c < full ? from[r + u][c] : float4{};
#pragma unroll
					for (unsigned u = 0; u < DEEP; u++)
						if (r + u < rows) to[at[r + u] * words + c] = x[u];
				}
			}
			__syncwarp();
		}
	}
	for (unsigned d = 16; d > 0; d /= 2) {
		far += __shfl_down_sync(0xffffffffu, far, d);
		near += __shfl_down_sync(0xffffffffu, near, d);
		same += __shfl_down_sync(0xffffffffu, same, d);
	}
	if (lane == 0) {
		atomicAdd(counts, (unsigned long long)far);
		atomicAdd(counts + 1, (unsigned long long)near);
		atomicAdd(counts + 2, (unsigned long long)same);
	}
}
`
