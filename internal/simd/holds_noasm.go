//go:build !amd64 || noasm

package simd

// holdsAsm has no assembly in this build.
func holdsAsm(_ []bool, _ []uint32, _ []int64, _, _ []uint32) bool { return false }
