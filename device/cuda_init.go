//go:build cuda

package device

/*
#cgo CFLAGS: -D_GNU_SOURCE
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <cuda.h>

// A library without cuInit stands for a driver where there is none: -1.
static int saga_start_driver(void) {
	CUresult (*driver)(unsigned int) = (CUresult (*)(unsigned int))dlsym(RTLD_DEFAULT, "cuInit");
	return driver ? (int)driver(0) : -1;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
)

// BuiltForCUDA tells whether this binary can use NVIDIA GPUs.
const BuiltForCUDA = true

// cuStart starts the driver once, when something asks for GPUs: a program that uses none starts at once.
var cuStart = sync.OnceValue(func() error {
	r := C.saga_start_driver()
	if r < 0 {
		return errors.New("libcuda.so.1 is not a driver's")
	}
	signalsAside()
	return cuErr(r)
})

// cuGPUs is the number of GPUs of the driver. If the driver does not start, the error says what to
// do.
func cuGPUs() (int, error) {
	if err := cuStart(); err != nil {
		return 0, fmt.Errorf("the CUDA driver does not start: %w; run where nvidia-smi lists a GPU, or with --device cpu", err)
	}
	var n C.int
	err := cuErr(C.cuDeviceGetCount(&n))
	return int(n), err
}

// cuDriver is the version of CUDA that the driver supports, 13000 for 13.0; 0: not known.
func cuDriver() int {
	var v C.int
	if cuStart() != nil || C.cuDriverGetVersion(&v) != 0 {
		return 0
	}
	return int(v)
}

func cuDevice(i int) (dev int, err error) {
	var d C.CUdevice
	err = cuErr(C.cuDeviceGet(&d, C.int(i)))
	return int(d), err
}

func cuName(dev int) (string, error) {
	var b [128]C.char
	err := cuErr(C.cuDeviceGetName(&b[0], 128, C.CUdevice(dev)))
	return C.GoString(&b[0]), err
}

func cuTotal(dev int) (int64, error) {
	var n C.size_t
	err := cuErr(C.cuDeviceTotalMem(&n, C.CUdevice(dev)))
	return int64(n), err
}

// cuAttributes are those that Info and the compiler need, in this order: capability, major and minor, multiprocessors,
// bytes of cache, bytes of shared memory that a block may ask for.
func cuAttributes(dev int) (list [5]int, err error) {
	for i, a := range [5]C.CUdevice_attribute{C.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, C.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
		C.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, C.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN} {
		var n C.int
		if err = cuErr(C.cuDeviceGetAttribute(&n, a, C.CUdevice(dev))); err != nil {
			break
		}
		list[i] = int(n)
	}
	return list, err
}
