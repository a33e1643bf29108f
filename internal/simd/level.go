package simd

import "os"

// Level names an instruction set that the package has loops for.
type Level int

// The levels, from the loops every machine can run to the widest registers.
const (
	Go     Level = iota // plain Go loops
	AVX2                // 256-bit registers with fused multiply-add
	AVX512              // 512-bit registers (F, BW, DQ, VL)
)

// String returns the name that SAGANN_SIMD takes.
func (l Level) String() string {
	switch l {
	case AVX512:
		return "avx512"
	case AVX2:
		return "avx2"
	}
	return "go"
}

// active is the level in use. It changes in tests only.
var active = choose(detect(), os.Getenv("SAGANN_SIMD"))

// Active returns the level in use: the best that this machine can run, unless
// the environment variable SAGANN_SIMD (go, avx2 or avx512) asked for a lower
// one when the program started.
func Active() Level { return active }

// choose lowers best to the level named want. A name that is empty, unknown or
// above best changes nothing.
func choose(best Level, want string) Level {
	for l := Go; l < best; l++ {
		if l.String() == want {
			return l
		}
	}
	return best
}
