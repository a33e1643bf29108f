
typedef unsigned u32;
typedef unsigned long long u64;
template <int V> struct saga_few { float at[V]; };
template <> struct __align__(16) saga_few<4> { float at[4]; };
// Terms from j on: a row, from column c on, times a factor. Eight are loaded at a time, without
// branches between, and what is none is row 0 and adds nothing. Chains of 128 end in a sum of twice the
// precision. A term whose row is not below limit ends all.
template <int V, class R, class X> SAGA_INLINE void saga_sparse_terms(ll j, ll end, const float *rows, ll ld, ll limit, ll c, double (&sum)[V], R row, X factor) {
	float s[V];
#pragma unroll
	for (int i = 0; i < V; i++) sum[i] = s[i] = 0.f;
	for (int batch = 1; j < end; batch++, j += 8) {
		ll id[8];
		bool there[8];
		float x[8];
		saga_few<V> y[8];
#pragma unroll
		for (int u = 0; u < 8; u++) {
			const ll at = j + u < end ? j + u : end - 1;
			id[u] = row(at);
			x[u] = factor(at);
			there[u] = j + u < end && id[u] < limit;
		}
#pragma unroll
		for (int u = 0; u < 8; u++) y[u] = *(const saga_few<V> *)(rows + (there[u] ? id[u] : 0) * ld + c);
#pragma unroll
		for (int u = 0; u < 8; u++)
#pragma unroll
			for (int i = 0; i < V; i++) s[i] += there[u] ? x[u] * y[u].at[i] : 0.f;
		if (!there[7]) break;
		if (batch % 16) continue;
#pragma unroll
		for (int i = 0; i < V; i++) {
			sum[i] += s[i];
			s[i] = 0.f;
		}
	}
#pragma unroll
	for (int i = 0; i < V; i++) sum[i] += s[i];
}
template <int V> SAGA_INLINE void saga_sparse_rows(const float *x, ll ldx, ll k, const float *w, ll ldw, ll columns, ll rows, ll cols, ll lanes, float *out, ll ldo) {
	const ll r = (blockIdx.x * (ll)blockDim.x + threadIdx.x) / lanes, lane = threadIdx.x % lanes;
	if (r >= rows) return;
	const u32 *ids = (const u32 *)(x + r * ldx);
	const float *values = x + r * ldx + k;
	for (ll c = lane * V; c < cols; c += lanes * V) {
		double sum[V];
		saga_sparse_terms<V>(0, k, w, ldw, columns, c, sum, [&](ll j) { return (ll)ids[j]; }, [&](ll j) { return values[j]; });
		saga_few<V> y;
#pragma unroll
		for (int i = 0; i < V; i++) y.at[i] = (float)sum[i];
		*(saga_few<V> *)(out + r * ldo + c) = y;
	}
}
extern "C" __global__ void __launch_bounds__(256) saga_sparse_product(const float *x, ll ldx, ll k, const float *w, ll ldw, ll columns, ll rows, ll cols, ll lanes, float *out, ll ldo) {
	saga_sparse_rows<4>(x, ldx, k, w, ldw, columns, rows, cols, lanes, out, ldo);
}
extern "C" __global__ void __launch_bounds__(256) saga_sparse_product1(const float *x, ll ldx, ll k, const float *w, ll ldw, ll columns, ll rows, ll cols, ll lanes, float *out, ll ldo) {
	saga_sparse_rows<1>(x, ldx, k, w, ldw, columns, rows, cols, lanes, out, ldo);
}
// What a warp does with the entries of a row in columns from lo on, n of them: four are loaded at a time.
template <class F> SAGA_INLINE void saga_sparse_entries(const u32 *ids, ll k, u32 lo, u32 n, F f) {
	for (ll j = threadIdx.x % 32; j < k; j += 128) {
		u32 id[4];
#pragma unroll
		for (int u = 0; u < 4; u++) id[u] = j + 32 * u < k ? ids[j + 32 * u] : 0xffffffffu;
#pragma unroll
		for (int u = 0; u < 4; u++)
			if (id[u] - lo < n) f(id[u] - lo, j + 32 * u);
	}
}
// A block counts the entries of a range of rows in a slice of the columns, a warp a row.
extern "C" __global__ void __launch_bounds__(1024) saga_sparse_count(const float *x, ll ldx, ll k, ll rows, ll columns, ll each, ll ranges, ll slice, u32 *counters) {
	extern __shared__ u32 shared[];
	const ll range = blockIdx.x % ranges, lo = blockIdx.x / ranges * slice;
	const u32 n = (u32)(lo + slice < columns ? slice : columns - lo);
	const ll end = (range + 1) * each < rows ? (range + 1) * each : rows;
	for (u32 c = threadIdx.x; c < n; c += blockDim.x) shared[c] = 0;
	__syncthreads();
	for (ll r = range * each + threadIdx.x / 32; r < end; r += 32)
		saga_sparse_entries((const u32 *)(x + r * ldx), k, (u32)lo, n, [&](u32 c, ll j) { atomicAdd(shared + c, 1u); });
	__syncthreads();
	for (u32 c = threadIdx.x; c < n; c += blockDim.x) counters[range * columns + lo + c] = shared[c];
}
// Counters become how many entries of the column earlier ranges have.
extern "C" __global__ void __launch_bounds__(256) saga_sparse_columns(u32 *counters, ll ranges, ll columns, u32 *start) {
	const ll c = blockIdx.x * (ll)blockDim.x + threadIdx.x;
	if (c >= columns) return;
	u32 sum = 0;
	for (ll b = 0; b < ranges; b += 8) {
		u32 n[8];
#pragma unroll
		for (int u = 0; u < 8; u++) n[u] = b + u < ranges ? counters[(b + u) * columns + c] : 0;
#pragma unroll
		for (int u = 0; u < 8; u++) {
			if (b + u < ranges) counters[(b + u) * columns + c] = sum;
			sum += n[u];
		}
	}
	start[c] = sum;
}
// Numbers of entries become where each column starts; behind the last is how many there are.
extern "C" __global__ void __launch_bounds__(1024) saga_sparse_scan(u32 *start, ll columns) {
	extern __shared__ u32 shared[];
	const ll each = (columns + blockDim.x - 1) / blockDim.x, lo = threadIdx.x * each, hi = lo + each < columns ? lo + each : columns;
	u32 sum = 0;
	for (ll c = lo; c < hi; c++) sum += start[c];
	shared[threadIdx.x] = sum;
	__syncthreads();
	for (u32 d = 1; d < blockDim.x; d *= 2) {
		const u32 more = threadIdx.x >= d ? shared[threadIdx.x - d] : 0;
		__syncthreads();
		shared[threadIdx.x] += more;
		__syncthreads();
	}
	u32 at = shared[threadIdx.x] - sum;
	for (ll c = lo; c < hi; c++) {
		const u32 n = start[c];
		start[c] = at;
		at += n;
	}
	if (threadIdx.x == blockDim.x - 1) start[columns] = at;
}
// A block has a range and a slice, and takes 32 rows at a time, a warp a row. First each entry leaves its row's
// bit in its column's word; then entries see how many rows before theirs have the column, and take their
// places; then the first of those rows moves the column's next place on and clears the bits.
extern "C" __global__ void __launch_bounds__(1024) saga_sparse_place(const float *x, ll ldx, ll k, ll rows, ll columns, ll each, ll ranges, ll slice, const u32 *counters, const u32 *start, u64 *list) {
	extern __shared__ u32 shared[];
	const ll range = blockIdx.x % ranges, lo = blockIdx.x / ranges * slice;
	const u32 n = (u32)(lo + slice < columns ? slice : columns - lo), bit = 1u << threadIdx.x / 32;
	const ll end = (range + 1) * each < rows ? (range + 1) * each : rows;
	u32 *bits = shared, *next = shared + slice;
	for (u32 c = threadIdx.x; c < n; c += blockDim.x) {
		bits[c] = 0;
		next[c] = start[lo + c] + counters[range * columns + lo + c];
	}
	__syncthreads();
	for (ll first = range * each; first < end; first += 32) {
		const ll r = first + threadIdx.x / 32, its = r < end ? k : 0;
		const u32 *ids = (const u32 *)(x + r * ldx);
		saga_sparse_entries(ids, its, (u32)lo, n, [&](u32 c, ll j) { atomicOr(bits + c, bit); });
		__syncthreads();
		saga_sparse_entries(ids, its, (u32)lo, n, [&](u32 c, ll j) {
			list[next[c] + __popc(bits[c] & (bit - 1))] = (u64)ids[k + j] << 32 | (u32)r;
		});
		__syncthreads();
		saga_sparse_entries(ids, its, (u32)lo, n, [&](u32 c, ll j) {
			const u32 all = *(volatile u32 *)(bits + c);
			if (all & bit && !(all & (bit - 1))) {
				next[c] += __popc(all);
				*(volatile u32 *)(bits + c) = 0;
			}
		});
		__syncthreads();
	}
}
// The last column that starts at entry e or before.
SAGA_INLINE ll saga_sparse_column(const u32 *start, ll columns, ll e) {
	ll lo = 0, hi = columns - 1;
	while (lo < hi) {
		const ll mid = (lo + hi + 1) / 2;
		if (start[mid] <= e) lo = mid; else hi = mid - 1;
	}
	return lo;
}
// A group sums a piece. Columns that lie in it as a whole go to the result; of others the piece has a sum:
// the first, of a column that began before it, the second, of one that ends after it.
template <int V> SAGA_INLINE void saga_sparse_piece(const u64 *list, const u32 *start, ll columns, const float *y, ll ldy, ll w, ll piece, ll lanes, float *dst, float *parts) {
	const ll g = (blockIdx.x * (ll)blockDim.x + threadIdx.x) / lanes, lane = threadIdx.x % lanes, all = start[columns];
	const ll lo = g * piece, hi = lo + piece < all ? lo + piece : all;
	if (lo >= hi) return;
	const ll first = saga_sparse_column(start, columns, lo);
	for (ll c = lane * V; c < w; c += lanes * V) {
		ll col = first;
		for (ll e = lo; e < hi;) {
			ll end = start[col + 1];
			if (end <= e) { // columns without entries
				col = saga_sparse_column(start, columns, e);
				end = start[col + 1];
			}
			const bool begins = start[col] >= lo, ends = end <= hi;
			if (!ends) end = hi;
			double sum[V];
			saga_sparse_terms<V>(e, end, y, ldy, 1ll << 32, c, sum, [&](ll j) { return (ll)(u32)list[j]; },
				[&](ll j) { return __uint_as_float((u32)(list[j] >> 32)); });
			float *to = begins && ends ? dst + col * w + c : parts + (2 * g + (begins ? 1 : 0)) * w + c;
			saga_few<V> s = *(const saga_few<V> *)to;
#pragma unroll
			for (int i = 0; i < V; i++) s.at[i] = (begins && ends ? s.at[i] : 0.f) + (float)sum[i];
			*(saga_few<V> *)to = s;
			e = end;
			col++;
		}
	}
}
extern "C" __global__ void __launch_bounds__(256) saga_sparse_sum(const u64 *list, const u32 *start, ll columns, const float *y, ll ldy, ll w, ll piece, ll lanes, float *dst, float *parts) {
	saga_sparse_piece<4>(list, start, columns, y, ldy, w, piece, lanes, dst, parts);
}
extern "C" __global__ void __launch_bounds__(256) saga_sparse_sum1(const u64 *list, const u32 *start, ll columns, const float *y, ll ldy, ll w, ll piece, ll lanes, float *dst, float *parts) {
	saga_sparse_piece<1>(list, start, columns, y, ldy, w, piece, lanes, dst, parts);
}
// Columns that lie in several pieces.
extern "C" __global__ void __launch_bounds__(256) saga_sparse_add(const u32 *start, ll columns, ll w, ll piece, float *dst, const float *parts) {
	for (ll i = blockIdx.x * (ll)blockDim.x + threadIdx.x; i < columns * w; i += gridDim.x * (ll)blockDim.x) {
		const ll col = i / w, c = i % w, lo = start[col], hi = start[col + 1];
		if (lo == hi || lo / piece == (hi - 1) / piece) continue;
		double s = parts[(lo / piece * 2 + 1) * w + c];
#pragma unroll 8
		for (ll p = lo / piece + 1; p <= (hi - 1) / piece; p++) s += parts[p * 2 * w + c];
		dst[i] += (float)s;
	}
}
