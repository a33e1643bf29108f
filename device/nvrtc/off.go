//go:build !cuda && !nvrtc

package nvrtc

// PTX compiles CUDA C++ to PTX. In this binary it returns ErrMissing.
func PTX(source string, arch int) (string, error) { return "", ErrMissing }
