// Package nvrtc translates CUDA C++ to PTX, with NVIDIA's run-time compiler. That
// needs no GPU, only the library, so binaries built with the tag nvrtc (or cuda) have
// it and others say [ErrMissing].
package nvrtc

import "errors"

// ErrMissing is returned by binaries that were built without the library.
var ErrMissing = errors.New("this binary was built without NVRTC; build it with -tags nvrtc")
