// Package nvrtc compiles CUDA C++ to machine code with NVIDIA's run-time compiler. This needs
// no GPU, only the library. It works in binaries built with the tag nvrtc or cuda; in
// others Cubin returns [ErrMissing].
package nvrtc

import "errors"

// ErrMissing is returned by binaries that were built without the library.
var ErrMissing = errors.New("this binary was built without NVRTC; build it with -tags nvrtc")
