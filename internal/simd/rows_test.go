package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// near fails unless got is within a few roundings of want, counted by the size
// of the terms that were summed.
func near(t *testing.T, what string, got []float32, want, size []float64) {
	t.Helper()
	for i := range want {
		if d := math.Abs(float64(got[i]) - want[i]); !(d <= 4e-6*size[i]+1e-30) {
			t.Fatalf("%s: element %d is %g, want %g", what, i, got[i], want[i])
		}
	}
}

func widen64(x []float32) (v, size []float64) {
	for _, a := range x {
		v, size = append(v, float64(a)), append(size, math.Abs(float64(a)))
	}
	return v, size
}

func TestGather(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		const rows = 50
		for _, n := range lengths {
			ld := n + r.IntN(5)
			src := normals(r, rows*ld+n)
			all := make([]uint32, 100)
			for i := range all {
				all[i] = r.Uint32N(rows)
			}
			for _, edges := range []int{0, 1, 2, 7, 8, 9, 30, 100} {
				name := fmt.Sprintf("width %d, %d edges", n, edges)
				idx := all[:edges]
				if edges%2 == 0 {
					idx = all[:edges:edges] // nothing to prefetch behind the end
				}
				w := normals(r, edges)
				start := normals(r, n)
				plain, plainSize := widen64(start)
				weighted, weightedSize := widen64(start)
				for i, j := range idx {
					for c := range n {
						v := float64(src[int(j)*ld+c])
						plain[c] += v
						plainSize[c] += math.Abs(v)
						weighted[c] += v * float64(w[i])
						weightedSize[c] += math.Abs(v * float64(w[i]))
					}
				}
				acc, check := guarded(t, n)
				copy(acc, start)
				GatherSum(acc, src, ld, idx)
				check()
				near(t, "GatherSum, "+name, acc, plain, plainSize)
				// The sum is made from zero, and columns in two tiles give the same bits.
				one := make([]float32, n)
				GatherSum(one[:n/3], src, ld, idx)
				GatherSum(one[n/3:], src[n/3:], ld, idx)
				AddTo(one, start)
				sameBits(t, "GatherSum in pieces, "+name, one, acc)

				copy(acc, start)
				GatherWSum(acc, src, ld, idx, w)
				check()
				near(t, "GatherWSum, "+name, acc, weighted, weightedSize)
				clear(one)
				GatherWSum(one[:n/2], src, ld, idx, w)
				GatherWSum(one[n/2:], src[n/2:], ld, idx, w)
				AddTo(one, start)
				sameBits(t, "GatherWSum in pieces, "+name, one, acc)
				// So do weighted rows that are made first: each product is rounded.
				copy(one, start)
				rows := make([]float32, len(idx)*n)
				GatherRows(rows, src, ld, idx, n)
				RowScale(rows, rows, w, n)
				SumRows(one, rows, len(idx))
				sameBits(t, "GatherWSum of rows made first, "+name, one, acc)

				// And a sum that goes on after some edges, of any of them.
				sum, check := guarded(t, n)
				clear(sum)
				cut := r.IntN(edges + 1)
				GatherWMore(sum, src, ld, idx[:cut], w[:cut])
				check()
				GatherWMore(sum, src, ld, idx[cut:], w[cut:])
				check()
				AddTo(sum, start)
				sameBits(t, "GatherWMore, "+name, sum, acc)

				dst, check := guarded(t, edges*n)
				GatherRows(dst, src, ld, idx, n)
				check()
				for i, j := range idx {
					sameBits(t, "GatherRows, "+name, dst[i*n:(i+1)*n], src[int(j)*ld:][:n])
				}
			}
		}
	})
}

func TestRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for _, cols := range lengths[1:] {
			for _, rows := range []int{0, 1, 2, 5, 13} {
				name := fmt.Sprintf("%d×%d", rows, cols)
				x, s, start := normals(r, rows*cols), normals(r, rows), normals(r, cols)

				dst, check := guarded(t, rows*cols)
				RowScale(dst, x, s, cols)
				check()
				for i := range dst {
					if want := x[i] * s[i/cols]; dst[i] != want {
						t.Fatalf("RowScale %s: element %d is %g, want %g", name, i, dst[i], want)
					}
				}
				RepeatRow(dst, start, rows)
				check()
				for i := range rows {
					sameBits(t, "RepeatRow "+name, dst[i*cols:(i+1)*cols], start)
				}
				want, size := widen64(start)
				for i, v := range x {
					want[i%cols] += float64(v)
					size[i%cols] += math.Abs(float64(v))
				}
				acc, check := guarded(t, cols)
				copy(acc, start)
				SumRows(acc, x, rows)
				check()
				near(t, "SumRows "+name, acc, want, size)
				sum := make([]float32, cols)
				SumRows(sum, x, rows)
				AddTo(sum, start)
				sameBits(t, "SumRows from zero "+name, sum, acc)
				more, check := guarded(t, cols)
				clear(more)
				cut := r.IntN(rows + 1)
				MoreRows(more, x, cut)
				check()
				MoreRows(more, x[cut*cols:], rows-cut)
				check()
				AddTo(more, start)
				sameBits(t, "MoreRows "+name, more, acc)
			}
		}
	})
}

func TestGroups(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for _, h := range []int{1, 2, 3, 8} {
			for _, d := range lengths[1:] {
				for _, rows := range []int{0, 1, 3} {
					name := fmt.Sprintf("%d rows, %d groups of %d", rows, h, d)
					f := h * d
					x, y := normals(r, rows*h), normals(r, rows*f)
					wide, check := guarded(t, rows*f)
					Widen(wide, x, rows, h, f)
					check()
					for i := range wide {
						if wide[i] != x[i/d] {
							t.Fatalf("Widen, %s: element %d is %g, want %g", name, i, wide[i], x[i/d])
						}
					}
					want, size := make([]float64, rows*h), make([]float64, rows*h)
					for i, v := range y {
						want[i/d] += float64(v)
						size[i/d] += math.Abs(float64(v))
					}
					sum, check := guarded(t, rows*h)
					GroupSum(sum, y, rows, f, h)
					check()
					near(t, "GroupSum, "+name, sum, want, size)
				}
			}
		}
	})
}

// TestMisuse expects a panic that names the function, not a wild write.
func TestMisuse(t *testing.T) {
	for name, f := range map[string]func(){
		"Add":        func() { Add(make([]float32, 9), make([]float32, 8), make([]float32, 9)) },
		"RowScale":   func() { RowScale(make([]float32, 9), make([]float32, 9), make([]float32, 2), 4) },
		"Widen":      func() { Widen(make([]float32, 9), make([]float32, 2), 1, 2, 9) },
		"GatherRows": func() { GatherRows(make([]float32, 7), make([]float32, 8), 4, []uint32{0, 1}, 4) },
		"GatherWSum": func() { GatherWSum(make([]float32, 4), make([]float32, 8), 4, []uint32{0, 1}, nil) },
		"PackB":      func() { PackB(make([]float32, 11), 4, 3, 4, false, nil) },
		"GemmTN":     func() { GemmTN(2, 2, 2, make([]float32, 4), 2, make([]float32, 4), 2, make([]float32, 3), 2, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestUnpackHalf(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 4))
		for _, n := range lengths {
			x := make([]float32, (n+1)/2)
			for i := range x {
				x[i] = math.Float32frombits(r.Uint32()) // also NaN and what is below the normal numbers
			}
			dst, check := guarded(t, n)
			UnpackHalf(dst, x)
			check()
			for k, got := range dst {
				if want := math.Float32bits(x[k/2]) >> (16 * (k % 2)) << 16; math.Float32bits(got) != want {
					t.Fatalf("length %d: element %d is %#x, want %#x", n, k, math.Float32bits(got), want)
				}
			}
		}
	})
}

// TestMaxRows: every level takes the maxima and ranks of the rule that says, for one value,
// which of two stays, with ties, infinities and NaN among the values.
func TestMaxRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		inf, nan := float32(math.Inf(1)), float32(math.NaN())
		values := []float32{-inf, -1, 0, 0, 1, 1, 2, inf, nan}
		better := func(y, rank, a, of float32) bool {
			switch {
			case y != y && a != a || y == a:
				return rank < of
			case y != y || a != a:
				return y != y
			}
			return y > a
		}
		for _, cols := range lengths[1:] {
			for _, rows := range []int{0, 1, 2, 5, 40} {
				x := make([]float32, rows*cols)
				for i := range x {
					x[i] = values[r.IntN(len(values))]
				}
				rank := make([]float32, rows)
				for i := range rank {
					rank[i] = float32(r.IntN(rows))
				}
				wantMax, wantRank := make([]float32, cols), make([]float32, cols)
				for c := range wantMax { // of no edge, or of edges before
					wantMax[c], wantRank[c] = -inf, inf
					if r.IntN(2) == 0 {
						wantMax[c], wantRank[c] = values[r.IntN(len(values))], float32(r.IntN(4))
					}
				}
				acc, check := guarded(t, cols)
				arg, check2 := guarded(t, cols)
				copy(acc, wantMax)
				copy(arg, wantRank)
				for i, y := range x {
					if c := i % cols; better(y, rank[i/cols], wantMax[c], wantRank[c]) {
						wantMax[c], wantRank[c] = y, rank[i/cols]
					}
				}
				MaxRows(acc, arg, x, rank)
				check()
				check2()
				sameBits(t, fmt.Sprintf("maxima of %d×%d", rows, cols), acc, wantMax)
				sameBits(t, fmt.Sprintf("ranks of %d×%d", rows, cols), arg, wantRank)
			}
		}
	})
}

// TestGatherFour: on every level the four results, or those that are wanted, are those of MoreRows and MaxRows, for rows with ascending
// ranks above those that are held, or with nothing held, also past the caches.
func TestGatherFour(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 8))
		all := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
		for _, cols := range lengths[1:] {
			for k, rows := range []int{0, 1, 2, 5, 40, 1, 5, 40, 3, 20, 40} {
				special := all[:[]int{5, 2, 3}[(k+1)/4]] // all, zeros, zeros and an infinity
				draw := func(n int) []float32 {
					x := make([]float32, n)
					for i := range x {
						if x[i] = float32(r.NormFloat64()); r.IntN(30) == 0 {
							x[i] = special[r.IntN(len(special))]
						}
					}
					return x
				}
				x, rank, held, more := draw(rows*cols), make([]float32, rows), [6][]float32{}, k%2 == 0
				for i := range rank {
					rank[i] = float32(5 + i)
				}
				minus, squares := make([]float32, len(x)), make([]float32, len(x))
				Neg(minus, x)
				Square(squares, x)
				want := make([][]float32, 6)
				var checks []func()
				for i := range held {
					want[i] = draw(cols)
					if i == 3 || i == 5 {
						clear(want[i])
					}
					to, check := guardedLine(t, cols)
					if k%3 == 0 {
						to, check = guarded(t, cols)
					}
					copy(to, want[i])
					held[i], checks = to, append(checks, check)
					if r.IntN(8) == 0 || i%2 == 1 && i > 1 && held[i-1] == nil {
						held[i] = nil
					}
				}
				ld := cols + r.IntN(3)
				src, idx := draw((rows+2)*ld), make([]uint32, rows, rows+r.IntN(12))
				for i, j := range r.Perm(rows + 2)[:rows] {
					copy(src[j*ld:], x[i*cols:(i+1)*cols])
					idx[i] = uint32(j)
				}
				GatherFour(&held, cols, src, ld, idx, rank, more, k%2 == 1)
				Fence()
				if !more && rows > 0 {
					clear(want[0])
					clear(want[1])
					copy(want[2], x)
					copy(want[4], minus)
					Fill(want[3], rank[0])
					Fill(want[5], rank[0])
				}
				MoreRows(want[0], x, rows)
				MoreRows(want[1], squares, rows)
				MaxRows(want[2], want[3], x, rank)
				MaxRows(want[4], want[5], minus, rank)
				for i := range held {
					checks[i]()
					for c, y := range held[i] {
						if z := want[i][c]; math.Float32bits(y) != math.Float32bits(z) && (y == y || z == z) {
							t.Fatalf("%d×%d: result %d, column %d: %v, want %v", rows, cols, i, c, y, z)
						}
					}
				}
			}
		}
	})
}

// TestMatchRows: on every level a bit is set for each number of a row that is the wanted one, and for no other.
func TestMatchRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 7))
		for _, cols := range lengths[1:] {
			for _, rows := range []int{1, 2, 20} {
				ld := cols + r.IntN(3)
				src, idx, want := make([]float32, 9*ld), make([]uint32, rows), make([]float32, rows)
				for i := range src {
					src[i] = []float32{0, 1, 2, float32(math.Inf(1)), float32(math.NaN())}[r.IntN(5)]
				}
				for i := range idx {
					idx[i], want[i] = uint32(r.IntN(9)), float32(r.IntN(3))
				}
				words := (cols + 63) / 64
				found := make([]uint64, rows*words)
				for i := range found {
					found[i] = 1<<64 - 1
				}
				MatchRows(found, src, ld, idx, want, cols)
				for i := range found {
					row, at := i/words, i%words*64
					for b := range 64 {
						is := at+b < cols && src[int(idx[row])*ld+at+b] == want[row]
						if found[i]>>b&1 == 1 != is {
							t.Fatalf("%d×%d: row %d, column %d: %v is wrong", rows, cols, row, at+b, !is)
						}
					}
				}
			}
		}
	})
}

// TestGatherSums: on every level the sum of each group has the bits of GatherWMore from zeros, also of groups without rows.
func TestGatherSums(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 6))
		for _, cols := range lengths[1:] {
			for _, groups := range []int{1, 2, 20} {
				ld := cols + r.IntN(3)
				src, ends := normals(r, 9*ld), make([]uint32, groups)
				var idx []uint32
				for i := range ends {
					for range r.IntN(7) {
						idx = append(idx, uint32(r.IntN(9)))
					}
					ends[i] = uint32(len(idx))
				}
				w := normals(r, len(idx))
				dst, check := guarded(t, groups*cols)
				GatherSums(dst, cols, src, ld, idx, w, ends)
				check()
				lo := uint32(0)
				for i, hi := range ends {
					want := make([]float32, cols)
					GatherWMore(want, src, ld, idx[lo:hi], w[lo:hi])
					for c, y := range dst[i*cols : (i+1)*cols] {
						if y != want[c] {
							t.Fatalf("%d columns, group %d of %d: %v, want %v", cols, i, groups, y, want[c])
						}
					}
					lo = hi
				}
			}
		}
	})
}
