//go:build !amd64 || noasm

package simd

// FlushSubnormals does nothing on this machine.
func FlushSubnormals() (restore func()) { return func() {} }

// Fence does nothing on this machine.
func Fence() {}
