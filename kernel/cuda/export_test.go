package cuda

// SparseSource is the text of sparse rows with what it takes from the prelude.
var SparseSource = `
#define SAGA_INLINE static __device__ __forceinline__
typedef long long ll;
SAGA_INLINE float __uint_as_float(unsigned b) { float x; memcpy(&x, &b, 4); return x; }
SAGA_INLINE unsigned __float_as_uint(float x) { unsigned b; memcpy(&b, &x, 4); return b; }
` + sparseSource

// BlockSource is the text of blocks, for an emulated GPU.
var BlockSource = "typedef unsigned long long u64;\ntemplate <class T> T __ldg(const T *p) { return *p; }\n#define __restrict__\n" + blockSource + farSource
