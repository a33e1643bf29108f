package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// benchLevels runs f at every level of this machine.
func benchLevels(b *testing.B, name string, f func(b *testing.B)) {
	best := active
	defer func() { active = best }()
	for l := detect(); l >= Go; l-- {
		active = l
		b.Run(fmt.Sprintf("%s/%v", name, l), f)
	}
}

// bestOf times each iteration of f and returns the shortest in seconds: what
// the kernel can do, also on a machine that is busy with something else.
func bestOf(b *testing.B, f func()) float64 {
	best := time.Duration(1 << 62)
	for b.Loop() {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return best.Seconds()
}

// gflops reports the best rate of an f that does n floating-point operations.
func gflops(b *testing.B, n int, f func()) {
	b.ReportMetric(float64(n)/bestOf(b, f)/1e9, "GFLOP/s")
}

// gbytes reports the best rate of an f that reads and writes n bytes.
func gbytes(b *testing.B, n int, f func()) {
	b.ReportMetric(float64(n)/bestOf(b, f)/1e9, "GB/s")
}

func fill(n int) []float32 { return normals(rand.New(rand.NewPCG(1, 1)), n) }

var benchShapes = [][3]int{ // m, k, n
	{2400, 602, 256}, {20000, 602, 256}, {20000, 602, 41}, {20000, 602, 16}, {20000, 128, 128}, {20000, 128, 16}, {20000, 64, 41}, {20000, 16, 64}, {20000, 16, 16},
}

func BenchmarkGemm(b *testing.B) {
	for _, s := range benchShapes {
		m, k, n := s[0], s[1], s[2]
		x, w, c := fill(m*k), fill(k*n), make([]float32, m*n)
		benchLevels(b, fmt.Sprintf("%dx%dx%d", m, k, n), func(b *testing.B) {
			buf := make([]float32, PackedBSize(k, n))
			gflops(b, 2*m*k*n, func() {
				p := PackB(w, n, k, n, false, buf)
				GemmPacked(m, x, k, &p, c, n, false, nil)
			})
		})
	}
}

func BenchmarkGemmTN(b *testing.B) {
	for _, s := range benchShapes {
		k, m, n := 4096, s[1], s[2]
		x, dy, dw := fill(k*m), fill(k*n), make([]float32, m*n)
		benchLevels(b, fmt.Sprintf("%dx%dx%d", k, m, n), func(b *testing.B) {
			scratch := make([]float32, GemmTNScratch(k, m, n))
			gflops(b, 2*m*k*n, func() { GemmTN(k, m, n, x, m, dy, n, dw, n, scratch) })
		})
	}
}

func BenchmarkPackB(b *testing.B) {
	const k, n = 602, 256
	w := fill(k * n)
	for _, trans := range []bool{false, true} {
		ldb := n
		if trans {
			ldb = k
		}
		benchLevels(b, fmt.Sprintf("trans=%v", trans), func(b *testing.B) {
			buf := make([]float32, PackedBSize(k, n))
			gbytes(b, 2*4*k*n, func() { PackB(w, ldb, k, n, trans, buf) })
		})
	}
}

func BenchmarkGather(b *testing.B) {
	const rows, degree = 4096, 30
	for _, c := range []struct{ sources, width int }{
		{4096, 128}, {200000, 128}, {4096, 16}, {200000, 16}, {200000, 64}, {200000, 602 / 2}, {4096, 41},
	} {
		r := rand.New(rand.NewPCG(2, 2))
		src := fill(c.sources * c.width)
		acc := make([]float32, rows*c.width)
		idx, w := make([]uint32, rows*degree), fill(rows*degree)
		for i := range idx {
			idx[i] = r.Uint32N(uint32(c.sources))
		}
		name := fmt.Sprintf("%dx%d", c.sources, c.width)
		benchLevels(b, "sum/"+name, func(b *testing.B) {
			gflops(b, rows*degree*c.width, func() {
				for i := range rows {
					GatherSum(acc[i*c.width:(i+1)*c.width], src, c.width, idx[i*degree:(i+1)*degree])
				}
			})
		})
		benchLevels(b, "weighted/"+name, func(b *testing.B) {
			gflops(b, 2*rows*degree*c.width, func() {
				for i := range rows {
					e := i * degree
					GatherWSum(acc[i*c.width:(i+1)*c.width], src, c.width, idx[e:e+degree], w[e:e+degree])
				}
			})
		})
		dst := make([]float32, len(idx)*c.width)
		benchLevels(b, "rows/"+name, func(b *testing.B) {
			gbytes(b, 2*4*len(dst), func() { GatherRows(dst, src, c.width, idx, c.width) })
		})
	}
}

func BenchmarkElementwise(b *testing.B) {
	const n = 4096 // a strip in the first caches
	x, y, dst := fill(n), fill(n), make([]float32, n)
	for _, c := range elemCases() {
		benchLevels(b, c.name, func(b *testing.B) {
			b.ReportMetric(bestOf(b, func() { c.run(dst, x, y, 0.5) })*1e9/n, "ns/elem")
		})
	}
}

func BenchmarkRows(b *testing.B) {
	for _, cols := range []int{8, 41, 128} {
		rows := 1 << 15 / cols
		x, s, dst := fill(rows*cols), fill(rows), make([]float32, rows*cols)
		acc := make([]float32, cols)
		for name, f := range map[string]func(){
			"RowScale": func() { RowScale(dst, x, s, cols) },
			"SumRows":  func() { SumRows(acc, x, rows) },
			"Widen":    func() { Widen(dst, s, rows, 1, cols) },
			"GroupSum": func() { GroupSum(s, x, rows, cols, 1) },
		} {
			benchLevels(b, fmt.Sprintf("%s/%d", name, cols), func(b *testing.B) {
				gbytes(b, 4*rows*cols, f)
			})
		}
	}
}
