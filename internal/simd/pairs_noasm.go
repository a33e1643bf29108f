//go:build !amd64 || noasm

package simd

// pairsAsm has no assembly in this build.
func pairsAsm(_, _ []uint64) (uint64, bool) { return 0, false }
