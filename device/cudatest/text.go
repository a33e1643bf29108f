package cudatest

import (
	"regexp"
	"strings"

	"sagann/device"
)

// stepPrelude has what the text of steps uses of CUDA beside threads.h. Blocks run in turn, as what a kernel declares as shared is static.
const stepPrelude = `
#define __restrict__
static unsigned __float_as_uint(float x) { unsigned b; memcpy(&b, &x, 4); return b; }
static float __uint_as_float(unsigned b) { float x; memcpy(&x, &b, 4); return x; }
static float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
struct alignas(8) float2 { float x, y; };
static float2 make_float2(float x, float y) { return {x, y}; }
static int max(int a, int b) { return a < b ? b : a; }
static unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) { return ((uint64_t)hi << 32 | lo) >> (n & 31); }
static float __fdividef(float x, float y) { return x / y; }
static long long min(long long a, long long b) { return a < b ? a : b; }
static long long max(long long a, long long b) { return a < b ? b : a; }
static int min(int a, int b) { return a < b ? a : b; }
template <class T> T __ldg(const T *p) { return *p; }
template <class T> T __ldcs(const T *p) { return *p; }
static size_t __cvta_generic_to_global(const void *p) { return (size_t)p; }
static void *__cvta_global_to_generic(size_t p) { return (void *)p; }
static const bool blocksInTurn = inTurn = true;
`

var (
	aligned    = regexp.MustCompile(`__shared__ (__align__\(\d+\))`)
	sharedPart = regexp.MustCompile(`extern __shared__ float (\w+)\[\];`)
	exponent   = regexp.MustCompile(`asm\("ex2.*;`)
	unbounded  = regexp.MustCompile(`__global__ void ([a-z]\w*)\(`)
)

// sharedWords is how texts declare the words that a launch gives blocks as shared memory, sharedWordsOf how an emulated GPU does.
const (
	sharedWords   = "extern __shared__ u32 shared[];"
	sharedWordsOf = "u32 *shared = sharedOf();"
)

// Step is the text of kernels of a training step for an emulated GPU.
func Step(source string) string {
	source = strings.ReplaceAll(source, sharedWords, sharedWordsOf)
	source = sharedPart.ReplaceAllString(source, "float *$1 = (float *)sharedOf();")
	source = strings.ReplaceAll(aligned.ReplaceAllString(source, "$1 static"), "__shared__", "static")
	source = exponent.ReplaceAllString(source, "e = exp2f(x * __int_as_float(0xbfb8aa3b));")
	return stepPrelude + unbounded.ReplaceAllString(source, "__global__ void __launch_bounds__(1) $1(")
}

// Steps is gpu, an emulated one, for the kernels of training steps.
func Steps(gpu device.GPU) device.GPU { return stepping{gpu} }

type stepping struct{ device.GPU }

// Compile translates the text for an emulated GPU first.
func (s stepping) Compile(source string, names []string) ([]device.Function, error) {
	return s.GPU.Compile(Step(source), names)
}

// CopyD2D copies within the device or from another one.
func (s stepping) CopyD2D(q device.Queue, to device.Mem, toAt int64, from device.Device, src device.Mem, at, bytes int64) error {
	if x, ok := from.(stepping); ok {
		from = x.GPU
	}
	return s.GPU.CopyD2D(q, to, toAt, from, src, at, bytes)
}
