package run

import (
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"sagann/internal/draw"

	"sagann/mine/rows"
)

func TestTotal(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		a, b, c := rapid.Uint64().Draw(t, "a"), rapid.Uint64().Draw(t, "b"), rapid.Uint64().Draw(t, "c")
		var s Total
		s.AddProduct(a, b>>1)
		s.Add(c)
		s.AddTotal(Total{Lo: a})
		u := func(x uint64) *big.Int { return new(big.Int).SetUint64(x) }
		want := new(big.Int).Mul(u(a), u(b>>1))
		want.Add(want, u(c)).Add(want, u(a))
		if s.Big().Cmp(want) != 0 || s.String() != want.String() {
			t.Fatalf("%v, want %v", s, want)
		}
		if back, err := FromBig(want); err != nil || back != s {
			t.Fatalf("%v, %v", back, err)
		}
		if n, fits := s.Uint64(); fits != want.IsUint64() || fits && n != want.Uint64() {
			t.Fatalf("%d, %v", n, fits)
		}
		if want.Rsh(want, 1); s.Half().Big().Cmp(want) != 0 {
			t.Fatalf("half %v, want %v", s.Half(), want)
		}
	})
	if _, err := FromBig(new(big.Int).Lsh(big.NewInt(1), 128)); !errors.Is(err, ErrOverflow) {
		t.Errorf("2^128: error %v", err)
	}
}

func TestChoose(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		n, k := rapid.Int64Range(0, 1<<33).Draw(t, "n"), rapid.Int64Range(0, 7).Draw(t, "k")
		want := new(big.Int).Binomial(n, k)
		got, ok := choose(uint64(n), int(k))
		if ok != (want.BitLen() <= 128) && ok { // near the limit an intermediate may be too large
			t.Fatalf("C(%d, %d) = %v fits", n, k, want)
		}
		if ok && got.Big().Cmp(want) != 0 || !ok && want.BitLen() < 125 {
			t.Fatalf("C(%d, %d) = %v, want %v", n, k, got, want)
		}
	})
}

// TestStarsOverflow: a sum of stars beyond 128 bits is an error. Degrees alone count, so
// rows without columns stand for a graph that would not fit here.
func TestStarsOverflow(t *testing.T) {
	d := int64(1 << 22)
	r := &Run{Rows: &rows.Rows{Off: []int64{0, d, 2 * d, 3 * d}}}
	want := new(big.Int).Mul(big.NewInt(3), new(big.Int).Binomial(d, 6))
	if n, err := Stars(r.Rows, 6); err != nil || n.Big().Cmp(want) != 0 || want.BitLen() < 65 {
		t.Errorf("%v, %v; want %v", n, err, want)
	}
	if n, err := Stars(r.Rows, 7); !errors.Is(err, ErrOverflow) {
		t.Errorf("%v, %v", n, err)
	}
}
