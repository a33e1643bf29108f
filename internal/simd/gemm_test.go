package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// refGemm adds op(A)·op(B) to want in float64, and the sizes of the terms to
// size; at and bt say where the elements lie.
func refGemm(m, n, k int, a func(i, p int) float32, b func(p, j int) float32, want, size []float64) {
	for i := range m {
		for j := range n {
			for p := range k {
				v := float64(a(i, p)) * float64(b(p, j))
				want[i*n+j] += v
				size[i*n+j] += math.Abs(v)
			}
		}
	}
}

var gemmShapes = [][3]int{ // m, k, n
	{1, 1, 1}, {1, 7, 41}, {2, 16, 16}, {3, 5, 8}, {4, 0, 3}, {5, 3, 17}, {6, 9, 9}, {7, 33, 31}, {11, 64, 32},
	{12, 16, 7}, {13, 255, 33}, {23, 256, 48}, {24, 257, 49}, {25, 602, 41}, {37, 40, 64}, {241, 17, 20}, {0, 3, 4}, {4, 3, 0},
}

func TestGemmPacked(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 10))
		var buf []float32
		for _, s := range gemmShapes {
			m, k, n := s[0], s[1], s[2]
			lda, ldc := k+r.IntN(4), n+r.IntN(4)
			a := normals(r, m*lda)
			for _, trans := range []bool{false, true} {
				for _, accumulate := range []bool{false, true} {
					name := fmt.Sprintf("m=%d k=%d n=%d trans=%v accumulate=%v", m, k, n, trans, accumulate)
					rows, cols := k, n
					if trans {
						rows, cols = n, k
					}
					ldb := cols + r.IntN(4)
					b := normals(r, rows*ldb)
					bAt := func(p, j int) float32 { return b[p*ldb+j] }
					if trans {
						bAt = func(p, j int) float32 { return b[j*ldb+p] }
					}
					pb := PackB(b, ldb, k, n, trans, buf)
					buf = pb.data // dirty for the next one
					start := normals(r, m*n)
					want, size := make([]float64, m*n), make([]float64, m*n)
					if accumulate {
						want, size = widen64(start)
					}
					refGemm(m, n, k, func(i, p int) float32 { return a[i*lda+p] }, bAt, want, size)

					c, check := guarded(t, m*ldc)
					for i := range m {
						copy(c[i*ldc:], start[i*n:(i+1)*n])
					}
					GemmPacked(m, a, lda, &pb, c, ldc, accumulate, make([]float32, GemmScratch(k, n)))
					check()
					dense := compact(t, c, m, n, ldc)
					near(t, name, dense, want, size)

					// Any split of the rows gives the same bits.
					for i := 0; i < m && k > 0; {
						h := min(1+r.IntN(30), m-i)
						part := append([]float32(nil), start[i*n:(i+h)*n]...)
						GemmPacked(h, a[i*lda:], lda, &pb, part, n, accumulate, nil)
						sameBits(t, name+", rows split", part, dense[i*n:(i+h)*n])
						i += h
					}
				}
			}
		}
	})
}

// compact returns an m×n matrix without the gaps of its leading dimension,
// which must still hold the guard.
func compact(t *testing.T, c []float32, m, n, ldc int) []float32 {
	t.Helper()
	var out []float32
	for i := range m {
		out = append(out, c[i*ldc:][:n]...)
		for _, v := range c[i*ldc+n : (i+1)*ldc] {
			if v != -12345 {
				t.Fatalf("wrote into the gap behind row %d", i)
			}
		}
	}
	return out
}

func TestGemmTN(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 12))
		var scratch []float32
		for _, s := range gemmShapes {
			m, k, n := s[0], s[1], s[2]
			for range 2 { // k and m change places, so that both are long once
				m, k = k, m
				lda, ldb, ldc := m+r.IntN(4), n+r.IntN(4), n+r.IntN(4)
				a, b, start := normals(r, k*lda), normals(r, k*ldb), normals(r, m*n)
				want, size := widen64(start)
				refGemm(m, n, k, func(i, p int) float32 { return a[p*lda+i] },
					func(p, j int) float32 { return b[p*ldb+j] }, want, size)
				c, check := guarded(t, m*ldc)
				for i := range m {
					copy(c[i*ldc:], start[i*n:(i+1)*n])
				}
				if size := GemmTNScratch(k, m, n); len(scratch) < size {
					scratch = normals(r, size)
				}
				GemmTN(k, m, n, a, lda, b, ldb, c, ldc, scratch)
				check()
				near(t, fmt.Sprintf("m=%d k=%d n=%d", m, k, n), compact(t, c, m, n, ldc), want, size)
			}
		}
	})
}

// TestGemmSpecial expects NaN and Inf to reach exactly the elements of C that
// they belong to: the padding of a panel must not leak.
func TestGemmSpecial(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		const m, k, n = 14, 20, 41
		a, b, c := normals(r, m*k), normals(r, k*n), make([]float32, m*n)
		a[3*k+5] = float32(math.NaN())
		b[7*n+40] = float32(math.Inf(1))
		pb := PackB(b, n, k, n, false, nil)
		GemmPacked(m, a, k, &pb, c, n, false, nil)
		for i := range m {
			for j := range n {
				v := float64(c[i*n+j])
				if (i == 3) != math.IsNaN(v) || (i != 3 && j == 40) != math.IsInf(v, 0) {
					t.Errorf("c[%d][%d] = %g", i, j, v)
				}
			}
		}
	})
}

// TestNoAllocation runs the kernels with all the memory they ask for.
func TestNoAllocation(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		const m, k, n = 50, 300, 41
		a, b, c := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
		w := make([]float32, k*n)
		buf, scratch := make([]float32, PackedBSize(k, n)), make([]float32, GemmTNScratch(m, k, n))
		idx := []uint32{1, 2, 3}
		if got := testing.AllocsPerRun(5, func() {
			p := PackB(b, n, k, n, false, buf)
			GemmPacked(m, a, k, &p, c, n, false, nil)
			GemmTN(m, k, n, a, k, c, n, w, n, scratch)
			GatherSum(c[:n], a, k, idx)
			Exp(c, c)
		}); got != 0 {
			t.Errorf("%v allocations", got)
		}
	})
}
