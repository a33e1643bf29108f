
// What the edges to a far end have won: the terms of the columns, listed by the edges' ranks modulo T. A word of a far end's table says
// where the terms of such ranks begin in its list, and how many there are. A term is a number and, above it, rank / T and the column. A block lists a row at a time. terms is shared memory:
// W terms, T + T / 32 words and W places.
template <int T, int W>
SAGA_INLINE void saga_won_list(const float *won, ll wonLD, const float *grad, ll gradLD, unsigned long long *list, ll rows, unsigned long long *terms) {
	unsigned *begins = (unsigned *)(terms + W), *sums = begins + T, *table = (unsigned *)(list + rows * W);
	unsigned short *place = (unsigned short *)(sums + T / 32);
	for (ll row = blockIdx.x; row < rows; row += gridDim.x) {
		const float *ranks = won + row * wonLD, *numbers = grad + row * gradLD;
		constexpr unsigned none = 1u << 24; // no edge has such a rank
		auto rankOf = [&](int c) {
			const unsigned r = (unsigned)ranks[c];
			return (float)r == ranks[c] ? min(r, none) : none;
		};
		begins[threadIdx.x] = 0;
		__syncthreads();
		for (int c = threadIdx.x; c < W; c += T) {
			const unsigned r = rankOf(c);
			if (r < none) place[c] = (unsigned short)atomicAdd(&begins[r % T], 1u);
		}
		__syncthreads();
		const unsigned many = begins[threadIdx.x];
		unsigned upto = many;
		for (int d = 1; d < 32; d *= 2) {
			const unsigned y = __shfl_up_sync(0xffffffffu, upto, d);
			if (threadIdx.x % 32 >= d) upto += y;
		}
		if (threadIdx.x % 32 == 31) sums[threadIdx.x / 32] = upto;
		__syncthreads();
		unsigned begin = upto - many, all = 0;
		for (int k = 0; k < T / 32; k++) {
			begin += k < threadIdx.x / 32 ? sums[k] : 0;
			all += sums[k];
		}
		begins[threadIdx.x] = begin;
		table[row * T + threadIdx.x] = begin << 16 | many;
		__syncthreads();
		for (int c = threadIdx.x; c < W; c += T) {
			const unsigned r = rankOf(c);
			if (r < none) terms[begins[r % T] + place[c]] = (unsigned long long)(r / T << 15 | (unsigned)c) << 32 | __float_as_uint(numbers[c]);
		}
		__syncthreads();
		for (unsigned i = threadIdx.x; i < all; i += T) list[row * W + i] = terms[i];
		__syncthreads();
	}
}

// Adds what 32 edges of a row have won to its sums: S of them for each column, of which edge k adds to sum k % S. Lane k has edge k: its far end, the
// far end's word, and rank / T. Eight lanes take an edge's terms, four edges at a time, each sum's in the order of edges.
// The sums are of C of the W columns, from begin on; terms of others are left.
template <int S, int W, int C>
SAGA_INLINE void saga_won_add(const unsigned long long *list, unsigned far, unsigned word, unsigned rank, float *sums, unsigned begin) {
	const int lane = threadIdx.x % 8, sub = threadIdx.x % 32 / 8;
	unsigned long long term[8];
#pragma unroll
	for (int j = 0; j < 8; j++) {
		const unsigned f = __shfl_sync(0xffffffffu, far, j * 4 + sub), w = __shfl_sync(0xffffffffu, word, j * 4 + sub);
		term[j] = lane < (int)(w & 0xffffu) ? list[(ll)f * W + (w >> 16) + lane] : 0;
	}
#pragma unroll
	for (int j = 0; j < 8; j++) {
		const unsigned f = __shfl_sync(0xffffffffu, far, j * 4 + sub), w = __shfl_sync(0xffffffffu, word, j * 4 + sub), r = __shfl_sync(0xffffffffu, rank, j * 4 + sub);
		for (int turn = 0; turn < 4 / S; turn++) {
			if (sub / S == turn) {
				float *to = sums + sub % S * C;
				auto add = [&](unsigned long long x) {
					const unsigned col = ((unsigned)(x >> 32) & 0x7fffu) - begin;
					if ((unsigned)(x >> 47) == r && (C == W || col < C)) to[col] += __uint_as_float((unsigned)x);
				};
				if (lane < (int)(w & 0xffffu)) add(term[j]);
				for (unsigned k = lane + 8; k < (w & 0xffffu); k += 8) add(list[(ll)f * W + (w >> 16) + k]);
			}
			__syncwarp();
		}
	}
}
