package cuda

// SparseSource is the text of sparse rows with what it takes from the prelude.
const SparseSource = `
#define SAGA_INLINE static __device__ __forceinline__
typedef long long ll;
struct float4 { float x, y, z, w; };
SAGA_INLINE float __uint_as_float(unsigned b) { float x; memcpy(&x, &b, 4); return x; }
SAGA_INLINE unsigned __float_as_uint(float x) { unsigned b; memcpy(&b, &x, 4); return b; }
` + sparseSource

// FarSource is a text of its own, for an emulated GPU.
const FarSource = "typedef unsigned long long u64;\ntypedef long long ll;\nstruct float4 { float x, y, z, w; };\n" + farSource
