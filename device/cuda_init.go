//go:build cuda

package device

/*
#cgo CFLAGS: -D_GNU_SOURCE
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <cuda.h>

// Package cu calls cuInit before main, which takes a third of a second, and ends the process where there is no
// driver: a binary with CUDA could not even print its help. So this program defines a cuInit of its own, which is linked
// before the driver's and does nothing. The driver's runs when something asks for GPUs. A library without cuInit stands
// for a driver where there is none: -1.
CUresult cuInit(unsigned int flags) { return CUDA_SUCCESS; }

static int saga_start_driver(void) {
	CUresult (*driver)(unsigned int) = (CUresult (*)(unsigned int))dlsym(RTLD_NEXT, "cuInit");
	return driver ? (int)driver(0) : -1;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"gorgonia.org/cu"
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
	return cu.NumDevices()
}

// cuDriver is the version of CUDA that the driver supports, 13000 for 13.0; 0: not known.
func cuDriver() int {
	var v C.int
	if cuStart() != nil || C.cuDriverGetVersion(&v) != 0 {
		return 0
	}
	return int(v)
}

func cuDevice(i int) (int, error) {
	d, err := cu.GetDevice(i)
	return int(d), err
}

func cuName(dev int) (string, error) {
	name, err := cu.Device(dev).Name()
	name, _, _ = strings.Cut(name, "\x00")
	return name, err
}

func cuTotal(dev int) (int64, error) { return cu.Device(dev).TotalMem() }

// maxSharedOptin is the attribute of the bytes of shared memory that a block may ask for, which package cu has no name for.
const maxSharedOptin = cu.DeviceAttribute(C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)

// cuAttributes are those that Info and the compiler need, in this order: capability, major and minor, multiprocessors,
// bytes of cache, bytes of shared memory that a block may ask for.
func cuAttributes(dev int) (list [5]int, err error) {
	for i, a := range [5]cu.DeviceAttribute{cu.ComputeCapabilityMajor, cu.ComputeCapabilityMinor, cu.MultiprocessorCount, cu.L2CacheSize, maxSharedOptin} {
		if list[i], err = cu.Device(dev).Attribute(a); err != nil {
			break
		}
	}
	return list, err
}
