// threads.h runs the text of a CUDA kernel on the CPU: every thread is a context of its
// own that runs up to its next barrier, of its warp or its block, in turn. A barrier that
// not all threads reach, or that they reach in different operations, ends the program.
#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <map>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) alignas(n)

struct Dim { unsigned x, y, z; };
static Dim threadIdx, blockIdx, blockDim, gridDim;

struct Group { // a warp or a block
	unsigned size = 0, arrived = 0, left = 0;
	uint64_t turn = 0; // barriers passed
	int op = 0;
};
// A stack on which one thread after the other runs, until each has ended.
struct Slot {
	ucontext_t context;
	jmp_buf jump; // where its thread goes on
	bool begun = false;
};
struct Thread {
	unsigned thread, block;
	bool ended = false;
	Slot *slot = nullptr; // from its first turn to its end
	Group *wait = nullptr;
	uint64_t until = 0;
};
static std::vector<Slot *> idle; // slots without a thread
static std::vector<Thread> threads;
static std::vector<Group> warps, blocks;
static std::vector<uint64_t> value; // of each thread in an operation of its warp
static std::vector<uint32_t> memory; // shared, of all blocks
static size_t sharedWords;
static Thread *now;
static jmp_buf scheduler;
static ucontext_t home;

static void fail(const char *what) {
	fprintf(stderr, "block %u, thread %u: %s\n", now ? now->block : 0, now ? now->thread : 0, what);
	_exit(3);
}

// Ends the program before a launch whose memory has its place where the program has its own.
// Another start of the program has that elsewhere.
static void occupied() { _exit(9); }

static void yield() {
	if (!_setjmp(now->slot->jump))
		_longjmp(scheduler, 1);
}

// Waits until all of the group are here.
static void barrier(Group &g, int op) {
	if (g.arrived == 0)
		g.op = op;
	if (g.op != op)
		fail("threads meet in different operations");
	if (g.left)
		fail("a thread waits for one that has ended");
	if (++g.arrived == g.size) {
		g.arrived = 0;
		g.turn++;
		return;
	}
	now->wait = &g;
	now->until = g.turn + 1;
	yield();
}

// Lanes of a warp that meet without the others, by the warp and the mask of the lanes.
static std::map<std::pair<unsigned, unsigned>, Group> parts;

static unsigned warpNumber() { return now->block * ((blockDim.x + 31) / 32) + now->thread / 32; }
static Group &warp() { return warps[warpNumber()]; }
static Group &lanes(unsigned mask) {
	if (mask == 0xffffffffu)
		return warp();
	if (!(mask >> now->thread % 32 & 1))
		fail("a thread is not of the lanes that it meets");
	Group &g = parts[{warpNumber(), mask}];
	g.size = __builtin_popcount(mask);
	return g;
}
static uint64_t &mine(unsigned lane) { return value[now->block * blockDim.x + now->thread / 32 * 32 + lane]; }
static uint32_t *sharedOf() { return memory.data() + now->block * sharedWords; }

static void __syncthreads() { barrier(blocks[now->block], 1); }
static void __syncwarp(unsigned mask = 0xffffffffu) { barrier(lanes(mask), 2); }

static unsigned __ballot_sync(unsigned mask, bool x) {
	mine(now->thread % 32) = x;
	barrier(lanes(mask), 3);
	unsigned m = 0;
	for (unsigned i = 0; i < 32; i++)
		if (mask >> i & 1)
			m |= (unsigned)mine(i) << i;
	barrier(lanes(mask), 4);
	return m;
}
static bool __any_sync(unsigned all, bool x) { return __ballot_sync(all, x) != 0; }

template <class T> void __stcs(T *to, T x) { *to = x; }
template <class T> void __stcg(T *to, T x) { *to = x; }

template <class T> T __shfl_sync(unsigned mask, T x, unsigned from, unsigned width = 32) {
	static_assert(sizeof(T) <= 8);
	unsigned lane = now->thread % 32;
	mine(lane) = 0;
	memcpy(&mine(lane), &x, sizeof x);
	barrier(lanes(mask), 5);
	T y;
	memcpy(&y, &mine(lane / width * width + from % width), sizeof y);
	barrier(lanes(mask), 6);
	return y;
}
static unsigned __match_any_sync(unsigned mask, unsigned x) {
	mine(now->thread % 32) = x;
	barrier(lanes(mask), 7);
	unsigned m = 0;
	for (unsigned i = 0; i < 32; i++)
		if (mask >> i & 1 && mine(i) == x)
			m |= 1u << i;
	barrier(lanes(mask), 8);
	return m;
}
template <class T> T __shfl_xor_sync(unsigned all, T x, unsigned d) { return __shfl_sync(all, x, (now->thread % 32) ^ d); }
template <class T> T __shfl_down_sync(unsigned all, T x, unsigned d) {
	unsigned lane = now->thread % 32;
	return __shfl_sync(all, x, lane + d < 32 ? lane + d : lane);
}
template <class T> T __shfl_up_sync(unsigned all, T x, unsigned d) {
	unsigned lane = now->thread % 32;
	return __shfl_sync(all, x, lane >= d ? lane - d : lane);
}
static void __nanosleep(unsigned) { yield(); } // others run while a thread waits for memory

static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __ffs(unsigned x) { return __builtin_ffs(x); }
static int __clz(unsigned x) { return x ? __builtin_clz(x) : 32; }
static unsigned __umulhi(unsigned a, unsigned b) { return (uint64_t)a * b >> 32; }
static float __fadd_rn(float a, float b) { return a + b; }
static float __fsub_rn(float a, float b) { return a - b; }
static float __fmul_rn(float a, float b) { return a * b; }
static float __fdiv_rn(float a, float b) { return a / b; }
static double __dsqrt_rn(double a) { return std::sqrt(a); }
static float __ll2float_rn(long long a) { return (float)a; }
static float __int_as_float(unsigned a) { float x; memcpy(&x, &a, 4); return x; }
static int __float_as_int(float a) { int x; memcpy(&x, &a, 4); return x; }
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) float4 { float x, y, z, w; };
static uint64_t __umul64hi(uint64_t a, uint64_t b) { return (unsigned __int128)a * b >> 64; }
static unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
static unsigned max(unsigned a, unsigned b) { return a < b ? b : a; }
static unsigned long long min(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
static unsigned long long max(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
template <class T, class U> T atomicAdd(T *p, U x) { T old = *p; *p += x; return old; }
template <class T, class U> T atomicSub(T *p, U x) { T old = *p; *p -= x; return old; }
template <class T, class U> T atomicOr(T *p, U x) { T old = *p; *p |= x; return old; }
template <class T, class U> T atomicMax(T *p, U x) { T old = *p; if (*p < (T)x) *p = x; return old; }
template <class T, class U> T atomicMin(T *p, U x) { T old = *p; if (*p > (T)x) *p = x; return old; }
template <class T> T atomicCAS(T *p, T want, T to) { T old = *p; if (old == want) *p = to; return old; }

static void (*entry)();

static void start() {
	for (;;) { // a thread after the other
		entry();
		now->ended = true;
		warp().left++;
		blocks[now->block].left++;
		if (warp().arrived || blocks[now->block].arrived)
			fail("a thread ends while others wait for it");
		yield();
	}
}

// More slots. Their stacks take memory as they are touched, and are kept for later launches.
static void addSlots() {
	const size_t stack = 64 << 10, n = 256;
	char *stacks = (char *)mmap(nullptr, n * stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (stacks == MAP_FAILED)
		fail("no memory for stacks");
	for (size_t i = n; i-- > 0;) {
		Slot *s = new Slot;
		getcontext(&s->context);
		s->context.uc_stack.ss_sp = stacks + i * stack;
		s->context.uc_stack.ss_size = stack;
		s->context.uc_link = &home;
		makecontext(&s->context, start, 0);
		idle.push_back(s);
	}
}

// Whether blocks run one after the other, so that shared memory that a kernel declares is of one block. No block may wait for another then.
static bool inTurn;

// Runs so many blocks of the grid, from number first on.
static void runBlocks(unsigned first, unsigned grid, unsigned block, size_t shared) {
	sharedWords = (shared + 15) / 16 * 4;
	memory.assign(grid * sharedWords + 4, 0xdeadbeef); // nothing is cleared
	threads.assign(grid * block, {});
	value.assign(grid * block, 0);
	blocks.assign(grid, {});
	parts.clear();
	warps.assign(grid * ((block + 31) / 32), {});
	for (size_t i = 0; i < threads.size(); i++) {
		Thread &t = threads[i];
		t.block = i / block;
		t.thread = i % block;
		blocks[t.block].size++;
		warps[t.block * ((block + 31) / 32) + t.thread / 32].size++;
	}
	for (volatile size_t left = threads.size(); left > 0;) {
		volatile bool any = false;
		for (volatile size_t i = 0; i < threads.size(); i++) {
			Thread &t = threads[i];
			if (t.ended || (t.wait && t.wait->turn < t.until))
				continue;
			any = true;
			t.wait = nullptr;
			if (!t.slot) {
				if (idle.empty())
					addSlots();
				t.slot = idle.back();
				idle.pop_back();
			}
			now = &t;
			threadIdx = {t.thread, 0, 0};
			blockIdx = {(first + t.block) % gridDim.x, (first + t.block) / gridDim.x, 0};
			if (!_setjmp(scheduler)) {
				if (now->slot->begun)
					_longjmp(now->slot->jump, 1);
				now->slot->begun = true;
				setcontext(&now->slot->context);
			}
			if (now->ended) {
				idle.push_back(now->slot);
				left = left - 1;
			}
		}
		if (!any)
			fail("threads wait for ever");
	}
}

static void runAll(unsigned x, unsigned y, unsigned block, size_t shared) {
	gridDim = {x, y, 1};
	blockDim = {block, 1, 1};
	const unsigned each = inTurn ? 1 : x * y;
	for (unsigned b = 0; b < x * y; b += each)
		runBlocks(b, each, block, shared);
}

// Launches come on standard input, until it ends: the kernel's number, blocks in both dimensions of the grid, threads of a block, bytes
// of shared memory, the arguments, and host memory: how many ranges, of each its address, its
// bytes and what it holds, or unchanged where all is as in the launch before. A byte on standard output says
// that the launch is over. The device's memory is file 3, whose address and bytes are arguments of the program.
static bool readAll(void *to, size_t n) {
	for (size_t at = 0; at < n;) {
		ssize_t k = read(0, (char *)to + at, n - at);
		if (k <= 0)
			return false;
		at += k;
	}
	return true;
}

static uint64_t arg[512]; // of the kernel: as many as CUDA passes
static uint64_t number() {
	uint64_t x;
	if (!readAll(&x, 8))
		fail("input ends");
	return x;
}

struct Range { uint64_t at, bytes, page, end; }; // pages that were mapped for it

static const uint64_t unchanged = ~0ull;

// Maps the pages of a range: what reads beyond them is seen. The first and the last may be another range's, too.
static void place(Range &r, const std::vector<Range> &others, int flags, int file) {
	r.page = r.at / 4096 * 4096;
	r.end = (r.at + r.bytes + 4095) / 4096 * 4096;
	for (const Range &o : others)
		if (o.page <= r.page && r.page < o.end)
			r.page = std::min(o.end, r.end);
		else if (r.page < o.page && o.page < r.end)
			r.end = o.page;
	if (r.page < r.end && mmap((void *)r.page, r.end - r.page, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, file, 0) != (void *)r.page)
		occupied();
}

static int serve(void (*const *kernels)(), char **args) {
	Range device = {strtoull(args[1], nullptr, 10), strtoull(args[2], nullptr, 10)};
	place(device, {}, MAP_SHARED, 3);
	std::vector<Range> host;
	for (uint64_t kernel; readAll(&kernel, 8);) {
		entry = kernels[kernel];
		unsigned x = number(), y = number(), block = number();
		size_t shared = number();
		for (uint64_t i = 0, n = number(); i < n; i++)
			arg[i] = number();
		if (uint64_t n = number(); n != unchanged) {
			for (Range &r : host)
				munmap((void *)r.page, r.end - r.page);
			host.clear();
			while (host.size() < n) {
				Range r = {number(), number()};
				place(r, host, MAP_PRIVATE | MAP_ANONYMOUS, -1);
				if (!readAll((void *)r.at, r.bytes))
					fail("input ends");
				host.push_back(r);
			}
		}
		now = nullptr;
		runAll(x, y, block, shared);
		char done = 0;
		if (write(1, &done, 1) != 1)
			return 4;
	}
	return 0;
}
