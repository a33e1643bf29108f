//go:build !cuda

package device

import (
	"errors"
	"fmt"
)

// OpenCUDA opens a GPU. This binary was built without the tag cuda, so it
// returns an error that says how to build one with it.
func OpenCUDA(index int, budget int64) (Device, error) {
	return nil, fmt.Errorf("cuda:%d: this binary was built without CUDA; "+
		"build it with \"make cuda\", or \"go build -tags cuda\", where a C compiler and the CUDA toolkit are installed", index)
}

// CUDASystem asks the CUDA driver for its GPUs. This binary was built without the tag
// cuda, so it returns an error that says how to build one with it.
func CUDASystem() (System, error) {
	return nil, errors.New("cuda: this binary was built without CUDA; " +
		"build it with \"make cuda\", or \"go build -tags cuda\", where a C compiler and the CUDA toolkit are installed")
}

// errNCCL is that of a binary without CUDA.
var errNCCL = errors.New("NCCL: this binary was built without CUDA")

// OpenNCCL finds NCCL in the library at path, and tells its version.
func OpenNCCL(string) (version string, err error) { return "", errNCCL }

// NCCLID is what the GPUs of one run find each other by: one process makes it for all.
func NCCLID() ([]byte, error) { return nil, errNCCL }

// JoinNCCL makes devices, all of this process, numbers first and on of so many GPUs of all processes, which all call it.
func JoinNCCL([]Device, []byte, int, int) error { return errNCCL }
