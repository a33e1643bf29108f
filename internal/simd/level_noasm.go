//go:build !amd64 || noasm

package simd

// detect returns Go: this build has no assembly.
func detect() Level { return Go }
