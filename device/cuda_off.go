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
		"build it with \"go build -tags cuda\" where a C compiler and the CUDA toolkit are installed", index)
}

// CUDASystem asks the CUDA driver for its GPUs. This binary was built without the tag
// cuda, so it returns an error that says how to build one with it.
func CUDASystem() (System, error) {
	return nil, errors.New("cuda: this binary was built without CUDA; " +
		"build it with \"go build -tags cuda\" where a C compiler and the CUDA toolkit are installed")
}
