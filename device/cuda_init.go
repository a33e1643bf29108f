//go:build cuda

package device

/*
#cgo CFLAGS: -D_GNU_SOURCE
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <cuda.h>

static CUresult saga_init = CUDA_ERROR_NOT_INITIALIZED;

// Package cu calls cuInit before main, and ends the process if that fails. Without a GPU, a binary
// with CUDA could not even print its help. So this program defines a cuInit of its own, which is linked
// before the driver's. It calls the driver's, and keeps the error for the first call that opens a GPU.
CUresult cuInit(unsigned int flags) {
	CUresult (*driver)(unsigned int) = (CUresult (*)(unsigned int))dlsym(RTLD_NEXT, "cuInit");
	saga_init = driver ? driver(flags) : CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;
	return CUDA_SUCCESS;
}

static CUresult saga_init_result(void) { return saga_init; }
*/
import "C"

import (
	"fmt"

	"gorgonia.org/cu"
)

// cuGPUs is the number of GPUs of the driver. If the driver does not start, the error says what to
// do.
func cuGPUs() (int, error) {
	if err := cuErr(C.saga_init_result()); err != nil {
		return 0, fmt.Errorf("the CUDA driver does not start: %w; run where nvidia-smi lists a GPU, or with --device cpu", err)
	}
	return cu.NumDevices()
}
