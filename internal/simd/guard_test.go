//go:build linux

package simd

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"
)

// fence gives operands that end right before a page that cannot be read, or with low begin right behind one.
type fence struct {
	memory []byte
	low    bool
	used   int // operands that were given
}

const (
	fencePage  = 1 << 16 // whole pages of any machine
	fenceSlot  = 1 << 20 // bytes of the largest operand
	fenceSlots = 9
)

func newFence(t *testing.T) *fence {
	t.Helper()
	m, err := syscall.Mmap(-1, 0, fenceSlots*(fencePage+fenceSlot)+fencePage, syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(m); err != nil {
			t.Error(err)
		}
	})
	f := &fence{memory: m}
	for i := range fenceSlots {
		if err := syscall.Mprotect(f.slot(i), syscall.PROT_READ|syscall.PROT_WRITE); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func (f *fence) slot(i int) []byte {
	at := fencePage + i*(fencePage+fenceSlot)
	return f.memory[at : at+fenceSlot : at+fenceSlot]
}

// fenced is an operand of n elements. It has the memory of its slot until f.used is set back.
func fenced[T bool | float32 | uint32 | int64 | uint64](f *fence, n int) []T {
	slot := f.slot(f.used)
	f.used++
	if n == 0 {
		return nil
	}
	size := n * int(unsafe.Sizeof(*new(T)))
	if !f.low {
		slot = slot[len(slot)-size:]
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&slot[0])), n)
}

// floats are n of them, random.
func (f *fence) floats(r *rand.Rand, n int) []float32 {
	x := fenced[float32](f, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// below are n numbers below most, the largest one among them.
func (f *fence) below(r *rand.Rand, n, most int) []uint32 {
	x := fenced[uint32](f, n)
	for i := range x {
		x[i] = uint32(r.IntN(most))
	}
	if n > 0 {
		x[r.IntN(n)] = uint32(most - 1)
	}
	return x
}

// guardCases are the functions with operands from f; n and m are sizes.
func guardCases() map[string]func(f *fence, r *rand.Rand, n, m int) {
	list := map[string]func(f *fence, r *rand.Rand, n, m int){
		"GatherSum": func(f *fence, r *rand.Rand, n, m int) {
			ld := n + r.IntN(9)
			GatherSum(f.floats(r, n), f.floats(r, (m-1)*ld+n), ld, f.below(r, m, m))
		},
		"GatherWSum": func(f *fence, r *rand.Rand, n, m int) {
			ld := n + r.IntN(9)
			GatherWSum(f.floats(r, n), f.floats(r, (m-1)*ld+n), ld, f.below(r, m, m), f.floats(r, m))
		},
		"GatherWMore": func(f *fence, r *rand.Rand, n, m int) {
			ld := n + r.IntN(9)
			GatherWMore(f.floats(r, n), f.floats(r, (m-1)*ld+n), ld, f.below(r, m, m), f.floats(r, m))
		},
		"GatherRows": func(f *fence, r *rand.Rand, n, m int) {
			ld := n + r.IntN(9)
			GatherRows(f.floats(r, m*n), f.floats(r, (m-1)*ld+n), ld, f.below(r, m, m), n)
		},
		"GatherSums": func(f *fence, r *rand.Rand, n, m int) {
			ld, ends := n+r.IntN(9), fenced[uint32](f, m)
			idx := f.below(r, 2*m, m)
			for i := range ends {
				ends[i] = uint32(min(i+1, m/2) + i + 1)
			}
			ends[m-1] = uint32(2 * m)
			GatherSums(f.floats(r, m*n), n, f.floats(r, (m-1)*ld+n), ld, idx, f.floats(r, 2*m), ends)
		},
		"MatchRows": func(f *fence, r *rand.Rand, n, m int) {
			ld := n + r.IntN(9)
			MatchRows(fenced[uint64](f, m*((n+63)/64)), f.floats(r, (m-1)*ld+n), ld, f.below(r, m, m), f.floats(r, m), n)
		},
		"RepeatRow": func(f *fence, r *rand.Rand, n, m int) { RepeatRow(f.floats(r, n*m), f.floats(r, n), m) },
		"SumRows":   func(f *fence, r *rand.Rand, n, m int) { SumRows(f.floats(r, n), f.floats(r, n*m), m) },
		"MoreRows":  func(f *fence, r *rand.Rand, n, m int) { MoreRows(f.floats(r, n), f.floats(r, n*m), m) },
		"MaxRows": func(f *fence, r *rand.Rand, n, m int) {
			MaxRows(f.floats(r, n), f.floats(r, n), f.floats(r, n*m), f.floats(r, m))
		},
		"GatherFour": func(f *fence, r *rand.Rand, n, m int) {
			ld := n + r.IntN(9)
			to := [6][]float32{f.floats(r, n), f.floats(r, n), f.floats(r, n), f.floats(r, n), f.floats(r, n), f.floats(r, n)}
			GatherFour(&to, n, f.floats(r, (m-1)*ld+n), ld, f.below(r, m, m), f.floats(r, m), m%2 == 0, n%2 == 0)
		},
		"RowScale": func(f *fence, r *rand.Rand, n, m int) {
			RowScale(f.floats(r, n*m), f.floats(r, n*m), f.floats(r, m), n)
		},
		"UnpackHalf": func(f *fence, r *rand.Rand, n, m int) { UnpackHalf(f.floats(r, n), f.floats(r, (n+1)/2)) },
		"Widen": func(f *fence, r *rand.Rand, n, m int) {
			h := 1 + r.IntN(5)
			Widen(f.floats(r, m*h*n), f.floats(r, m*h), m, h, h*n)
		},
		"GroupSum": func(f *fence, r *rand.Rand, n, m int) {
			h := 1 + r.IntN(5)
			GroupSum(f.floats(r, m*h), f.floats(r, m*h*n), m, h*n, h)
		},
		"GemmPacked": func(f *fence, r *rand.Rand, n, m int) {
			k, lda, ldb, ldc, trans := 1+r.IntN(300), r.IntN(5), r.IntN(5), r.IntN(5), r.IntN(2) == 0
			rows, cols := k, n
			if trans {
				rows, cols = n, k
			}
			b := PackB(f.floats(r, (rows-1)*(cols+ldb)+cols), cols+ldb, k, n, trans, fenced[float32](f, PackedBSize(k, n)))
			GemmPacked(m, f.floats(r, (m-1)*(k+lda)+k), k+lda, &b, f.floats(r, (m-1)*(n+ldc)+n), n+ldc, r.IntN(2) == 0, nil)
		},
		"GemmTN": func(f *fence, r *rand.Rand, n, m int) {
			k, lda, ldb, ldc := 1+r.IntN(300), m+r.IntN(5), n+r.IntN(5), n+r.IntN(5)
			GemmTN(k, m, n, f.floats(r, (k-1)*lda+m), lda, f.floats(r, (k-1)*ldb+n), ldb, f.floats(r, (m-1)*ldc+n), ldc,
				fenced[float32](f, GemmTNScratch(k, m, n)))
		},
		"Holds": func(f *fence, r *rand.Rand, n, m int) {
			list, begins, counts := fenced[uint32](f, 4*m), fenced[int64](f, n), fenced[uint32](f, n)
			for i := range list {
				list[i] = uint32(2 * i)
			}
			for i := range begins {
				begins[i] = int64(r.IntN(len(list) + 1))
				counts[i] = uint32(r.IntN(len(list) + 1 - int(begins[i])))
			}
			Holds(fenced[bool](f, n), list, begins, counts, f.below(r, n, 10*m))
		},
		"Pairs": func(f *fence, r *rand.Rand, n, m int) {
			words := 4 * (1 + min(m, 28)/4)
			set, rows := fenced[uint64](f, words), fenced[uint64](f, 64*words*words)
			for i := range set {
				set[i] = r.Uint64()
			}
			Pairs(set, rows)
		},
		"Philox": func(f *fence, r *rand.Rand, n, m int) {
			var w [4][]uint32
			for i := range w {
				w[i] = fenced[uint32](f, n)
			}
			Philox(w[0], w[1], w[2], w[3], f.below(r, n, 100), 1, 2, 3, 4, 5)
		},
	}
	for _, c := range elemCases() {
		list[c.name] = func(f *fence, r *rand.Rand, n, m int) { c.run(f.floats(r, n), f.floats(r, n), f.floats(r, n), 0.5) }
	}
	return list
}

// TestGuardPages: no function touches a byte before or behind its operands. Right before and behind them are pages that
// cannot be read.
func TestGuardPages(t *testing.T) {
	f := newFence(t)
	eachLevel(t, func(t *testing.T) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		r := rand.New(rand.NewPCG(5, uint64(active)))
		for name, c := range guardCases() {
			for _, n := range lengths {
				if n == 0 || n > 200 {
					continue
				}
				m := 1 + r.IntN(40)
				for _, f.low = range []bool{false, true} {
					func() {
						defer func() {
							if x := recover(); x != nil {
								t.Errorf("%s of %d, %d: %v", name, n, m, fmt.Sprint(x))
							}
						}()
						f.used = 0
						c(f, r, n, m)
					}()
				}
			}
		}
	})
}
