package cuda

import (
	"regexp"
	"strings"
)

// SparseSource is the text of sparse rows with what it takes from the prelude.
var SparseSource = `
#define SAGA_INLINE static __device__ __forceinline__
typedef long long ll;
SAGA_INLINE float __uint_as_float(unsigned b) { float x; memcpy(&x, &b, 4); return x; }
SAGA_INLINE unsigned __float_as_uint(float x) { unsigned b; memcpy(&b, &x, 4); return b; }
` + sparseSource

// BlockSource is the text of blocks, for an emulated GPU.
var BlockSource = "typedef unsigned long long u64;\ntemplate <class T> T __ldg(const T *p) { return *p; }\n#define __restrict__\n" + blockSource + farSource

// Emulated is the text of a program for an emulated GPU, on which grids have one dimension and blocks share nothing
// that is declared inside a kernel.
func Emulated(source string) string {
	source = strings.ReplaceAll(source, "__shared__", "static")
	source = regexp.MustCompile(`asm\("ex2.*;`).ReplaceAllString(source, "e = exp2f(x * __int_as_float(0xbfb8aa3b));")
	source = regexp.MustCompile(`__global__ void ([a-z]\w*)\(`).ReplaceAllString(source, "__global__ void __launch_bounds__(1) $1(")
	return `
#define __restrict__
static unsigned __float_as_uint(float x) { unsigned b; memcpy(&b, &x, 4); return b; }
static float __uint_as_float(unsigned b) { float x; memcpy(&x, &b, 4); return x; }
static float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static float __fdividef(float x, float y) { return x / y; }
static long long min(long long a, long long b) { return a < b ? a : b; }
static long long max(long long a, long long b) { return a < b ? b : a; }
static int min(int a, int b) { return a < b ? a : b; }
template <class T> T __ldg(const T *p) { return *p; }
template <class T> T __ldcs(const T *p) { return *p; }
` + source
}
