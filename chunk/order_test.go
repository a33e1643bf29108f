package chunk

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sagann/internal/draw"
)

func TestIntervals(t *testing.T) {
	in, err := NewIntervals(50, 7)
	if err != nil {
		t.Fatal(err)
	}
	if lo, hi := in.Bounds(6); in.Width != 8 || lo != 48 || hi != 50 || in.Rows(6) != 2 {
		t.Errorf("V=50, P=7: width %d, last interval %d..%d", in.Width, lo, hi)
	}
	for v := range 40 {
		for p := 1; p <= 50; p++ {
			in, err := NewIntervals(v, p)
			if err != nil {
				t.Fatal(err)
			}
			end := 0
			for i := range p {
				lo, hi := in.Bounds(i)
				if lo != end || hi < lo || in.Rows(i) != hi-lo {
					t.Fatalf("V=%d P=%d: interval %d is %d..%d after %d", v, p, i, lo, hi, end)
				}
				for x := lo; x < hi; x++ {
					if in.Of(x) != i {
						t.Fatalf("V=%d P=%d: vertex %d in interval %d, not %d", v, p, x, in.Of(x), i)
					}
				}
				end = hi
			}
			if end != v {
				t.Fatalf("V=%d P=%d: intervals end at %d", v, p, end)
			}
		}
	}
	for _, bad := range [][2]int{{-1, 1}, {1, 0}, {1, -3}, {1, MaxIntervals + 1}, {MaxVertices + 1, 1}} {
		if _, err := NewIntervals(bad[0], bad[1]); err == nil {
			t.Errorf("NewIntervals(%d, %d) gives no error", bad[0], bad[1])
		}
	}
}

func TestDivider(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		w := rapid.IntRange(1, MaxVertices).Draw(t, "width")
		id := rapid.Uint32().Draw(t, "id")
		if q, r := newDivider(w).split(id); q != int(id)/w || int(r) != int(id)%w {
			t.Fatalf("%d by %d gives %d rest %d", id, w, q, r)
		}
		near := uint32(int(id) / w * w) // the first of an interval, and the one before
		if q, r := newDivider(w).split(near); q != int(near)/w || r != 0 {
			t.Fatalf("%d by %d gives %d rest %d", near, w, q, r)
		}
		if q, _ := newDivider(w).split(near - 1); q != int(near-1)/w {
			t.Fatalf("%d by %d gives %d", near-1, w, q)
		}
	})
}

func TestBalanceIsAnOrder(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		e := drawEdges(t)
		base := rapid.IntRange(1, 80).Draw(t, "base")
		o := Balance(e, base)
		if err := o.Validate(e.V); err != nil {
			t.Fatal(err)
		}
		in, _ := NewIntervals(e.V, base)
		for i := range base {
			lo, hi := in.Bounds(i)
			if want := inside(e, o.Old[lo:hi], base); !slices.Equal(o.Old[lo:hi], want) {
				t.Fatalf("interval %d is %v, want %v", i, o.Old[lo:hi], want)
			}
		}
		most, mean := CellSkew(e, o, base)
		if float64(most) < mean || int(most) > e.E() {
			t.Fatalf("skew %d, mean %g of %d edges", most, mean, e.E())
		}
	})
}

func TestPermute(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		v, cols := rapid.IntRange(1, 20).Draw(t, "v"), rapid.IntRange(1, 70).Draw(t, "cols")
		var o *Order
		if rapid.Bool().Draw(t, "permuted") {
			var err error
			if o, err = OrderOf(rapid.Permutation(Identity(v).New).Draw(t, "perm")); err != nil {
				t.Fatal(err)
			}
		}
		ld := LD(cols)
		src := make([]float32, v*cols)
		for i := range src {
			src[i] = float32(i + 1)
		}
		dst := make([]float32, v*ld)
		for i := range dst {
			dst[i] = -1
		}
		Permute(dst, src, cols, ld, o)
		for x := range v {
			n := x
			if o != nil {
				n = int(o.New[x])
			}
			row := dst[n*ld : (n+1)*ld]
			if !slices.Equal(row[:cols], src[x*cols:(x+1)*cols]) || !slices.Equal(row[cols:], make([]float32, ld-cols)) {
				t.Fatalf("row %d at %d is %v", x, n, row)
			}
		}
		back := make([]float32, v*cols)
		Unpermute(back, dst, cols, ld, o)
		if !slices.Equal(back, src) {
			t.Fatalf("came back as %v", back)
		}
	})
}

func TestLD(t *testing.T) {
	for cols, want := range map[int]int{0: 0, 1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 8: 8, 9: 16, 32: 32, 33: 64, 41: 64, 64: 64, 65: 96, 96: 96, 128: 128, 602: 608} {
		if got := LD(cols); got != want {
			t.Errorf("LD(%d) = %d, want %d", cols, got, want)
		}
	}
}

func TestOrderOf(t *testing.T) {
	for _, bad := range [][]uint32{{0, 0}, {1}, {2, 1, 3}} {
		if _, err := OrderOf(bad); err == nil {
			t.Errorf("OrderOf(%v) gives no error", bad)
		}
	}
}

// TestBalanceDegrees: degrees are all that Balance reads of edges.
func TestBalanceDegrees(t *testing.T) {
	for _, base := range []int{1, 3, 16} {
		e := skewed(500, 4000, 9)
		if got := BalanceDegrees(e.InDegrees(), e.OutDegrees(), e.E(), base); !slices.Equal(got.New, Balance(e, base).New) {
			t.Errorf("base %d: another order", base)
		}
	}
}
