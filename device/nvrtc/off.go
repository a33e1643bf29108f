//go:build !cuda && !nvrtc

package nvrtc

// Cubin compiles CUDA C++ to machine code of a GPU. In this binary it returns ErrMissing.
func Cubin(source string, arch, driver int) ([]byte, error) { return nil, ErrMissing }

// Check is missing in this build.
func Check(source string, arch int) error { return ErrMissing }
