/* Stands before the toolkit's cuda.h on the include path and includes it.
 *
 * CUDA 13 maps five names to newer functions with other arguments; the binding
 * gorgonia.org/cu v0.9.6 calls them with the older ones. The driver still has the
 * older functions under the names below. With CUDA 12 and older nothing happens. */
#ifndef SAGANN_CUDA_H
#define SAGANN_CUDA_H

#include_next <cuda.h>

#if CUDA_VERSION >= 13000
#undef cuCtxCreate
#undef cuMemAdvise
#undef cuMemPrefetchAsync
#undef cuGraphAddDependencies
#undef cuGraphGetEdges
#define cuCtxCreate cuCtxCreate_v2
CUresult CUDAAPI cuCtxCreate_v2(CUcontext *ctx, unsigned int flags, CUdevice dev);
CUresult CUDAAPI cuMemAdvise(CUdeviceptr ptr, size_t bytes, CUmem_advise advice, CUdevice dev);
CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr ptr, size_t bytes, CUdevice dev, CUstream stream);
CUresult CUDAAPI cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n);
CUresult CUDAAPI cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *n);
#endif

#endif
