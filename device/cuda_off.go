//go:build !cuda

package device

import (
	"errors"
	"fmt"
)

// BuiltForCUDA tells whether this binary can use NVIDIA GPUs.
const BuiltForCUDA = false

func cuBegin() {}

func cuWarm(int, bool) {}

func cuAhead(int, []string) func() { return func() {} }

// OpenCUDA opens a GPU. This binary was built without the tag cuda, so it
// returns an error that says how to build one with it.
func OpenCUDA(index int, budget int64, opts ...Option) (Device, error) {
	return nil, fmt.Errorf("cuda:%d: this binary was built without CUDA; "+
		"build it with \"make cuda\", or \"go build -tags cuda\", where a C compiler and the CUDA toolkit are installed", index)
}

// CUDASystem asks the CUDA driver for its GPUs. This binary was built without the tag
// cuda, so it returns an error that says how to build one with it.
func CUDASystem() (System, error) {
	return nil, errors.New("cuda: this binary was built without CUDA; " +
		"build it with \"make cuda\", or \"go build -tags cuda\", where a C compiler and the CUDA toolkit are installed")
}

// errNCCL is the error of the functions below in a binary without CUDA.
var errNCCL = errors.New("NCCL: this binary was built without CUDA")

// OpenNCCL loads NCCL from the library at path and returns its version. Here it fails.
func OpenNCCL(string) (version string, err error) { return "", errNCCL }

// NCCLID makes the identifier by which the GPUs of one run find each other. Here it fails.
func NCCLID() ([]byte, error) { return nil, errNCCL }

// JoinNCCL joins the devices of this process to those of all processes. Here it fails.
func JoinNCCL([]Device, []byte, int, int) error { return errNCCL }
