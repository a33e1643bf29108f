package simd

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"
)

// lengths are around the edges of vectors, unrolled loops and column tiles.
var lengths = []int{0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 41, 63, 64, 65, 100, 127, 128, 129, 200, 602}

// eachLevel runs f once at every level of this machine.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	best := active
	defer func() { active = best }()
	for l := Go; l <= detect(); l++ {
		active = l
		t.Run(l.String(), f)
	}
}

// guarded returns n floats at an odd address with a guard behind them, and a
// function that fails the test when the guard changed.
func guarded(t *testing.T, n int) ([]float32, func()) { return guardedAt(t, n, 3) }

// guardedLine is guarded, with the slice at the start of a line of the caches.
func guardedLine(t *testing.T, n int) ([]float32, func()) { return guardedAt(t, n, -1) }

// guardedAt is guarded with so many floats before the slice; -1: as many as end at a line.
func guardedAt(t *testing.T, n, at int) ([]float32, func()) {
	const guard = -12345
	buf := make([]float32, n+40)
	for i := range buf {
		buf[i] = guard
	}
	if at < 0 {
		at = int(-uintptr(unsafe.Pointer(&buf[0])) % 64 / 4)
	}
	return buf[at : at+n : at+n], func() {
		t.Helper()
		for i, v := range buf {
			if (i < at || i >= at+n) && v != guard {
				t.Fatalf("length %d: wrote outside, at %d", n, i-at)
			}
		}
	}
}

func normals(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// special are the values that arithmetic gets wrong first.
var special = []float32{
	0, float32(math.Copysign(0, -1)), 1, -1, 0.5, -0.5, 2, -2, 3e-8, -3e-8,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()),
	math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 1e-40, -1e-40, 0x1p-126, -0x1p-126,
	math.MaxFloat32, -math.MaxFloat32, 1e20, -1e20, 88.7, 88.72, 88.73, 89, 90, 104, -87, -87.4, -88, -100, -103,
	-103.9, -104, -105, -200, 200, 0.6249, 0.625, 0.626, -0.625, 9, -9, 12, -12, 16, -16, 0.34657, 0.7071, 0.7072, 1.4142, 1.4143,
}

// sameValue compares a result with a float64 reference: within rel of it, or
// within abs; NaN and infinities must agree.
func sameValue(got float32, want, rel, abs float64) bool {
	g := float64(got)
	if math.IsNaN(want) || math.IsNaN(g) {
		return math.IsNaN(want) && math.IsNaN(g)
	}
	if w32 := float64(float32(want)); math.IsInf(w32, 0) || math.IsInf(g, 0) {
		// At the edge of the range both sides of the rounding are right.
		return w32 == g || math.Abs(want) > 0.999999*math.MaxFloat32 && math.Abs(g) > 0.999999*math.MaxFloat32 &&
			math.Signbit(want) == math.Signbit(g)
	}
	d := math.Abs(g - want)
	return d <= abs || d <= rel*math.Abs(want)
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		best Level
		want string
		out  Level
	}{
		{AVX512, "", AVX512},
		{AVX512, "avx2", AVX2},
		{AVX512, "go", Go},
		{AVX2, "avx512", AVX2},
		{AVX2, "sse", AVX2},
		{Go, "avx2", Go},
	} {
		if got := choose(c.best, c.want); got != c.out {
			t.Errorf("choose(%v, %q) = %v, want %v", c.best, c.want, got, c.out)
		}
	}
}

// TestEnvironment starts this test again with SAGANN_SIMD set.
func TestEnvironment(t *testing.T) {
	const marker = "SIMD_TEST_PRINT_LEVEL"
	if os.Getenv(marker) != "" {
		println("level=" + Active().String())
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Skip("no path of the test binary: ", err)
	}
	for l := Go; l <= detect(); l++ {
		cmd := exec.Command(self, "-test.run=^TestEnvironment$")
		cmd.Env = append(os.Environ(), marker+"=1", "SAGANN_SIMD="+l.String())
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "level="+l.String()+"\n") {
			t.Errorf("SAGANN_SIMD=%v: %v\n%s", l, err, out)
		}
	}
}

// TestLevelsAgree compares the two kinds of assembly bit by bit: the same
// operations in the same order give the same results at any width.
func TestLevelsAgree(t *testing.T) {
	if detect() < AVX512 {
		t.Skip("this processor has no AVX-512")
	}
	best := active
	defer func() { active = best }()
	r := rand.New(rand.NewPCG(15, 16))
	x, y := inputs(r, 5000)
	old := normals(r, len(x))
	for _, c := range elemCases() {
		active = AVX2
		want := append([]float32(nil), old...)
		c.run(want, x, y, 0.3)
		active = AVX512
		got := append([]float32(nil), old...)
		c.run(got, x, y, 0.3)
		sameBits(t, c.name, got, want)
	}
	const m, k, n = 29, 300, 41
	a, b := normals(r, m*k), normals(r, k*n)
	results := map[Level][]float32{}
	for _, l := range []Level{AVX2, AVX512} {
		active = l
		c := make([]float32, m*n)
		p := PackB(b, n, k, n, false, nil)
		GemmPacked(m, a, k, &p, c, n, false, nil)
		dw := make([]float32, k*n)
		GemmTN(m, k, n, a, k, c, n, dw, n, nil)
		group := make([]float32, k)
		GroupSum(group, dw, k, n, 1)
		GatherWSum(c[:n], b, n, []uint32{1, 7, 3}, x[100:])
		results[l] = append(append(c, dw...), group...)
	}
	sameBits(t, "products", results[AVX512], results[AVX2])
}
