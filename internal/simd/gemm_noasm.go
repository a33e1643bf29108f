//go:build !amd64 || noasm

package simd

// gemmPanelAsm reports false: this build has the Go loop only.
func gemmPanelAsm(Level, int, tileA, []float32, int, int, []float32, int, int, bool) bool {
	return false
}
