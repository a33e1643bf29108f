package run

import (
	"errors"
	"math/big"
	"math/bits"
)

// Total is a count of up to 128 bits.
type Total struct{ Hi, Lo uint64 }

// ErrOverflow says that a count needs more than 128 bits.
var ErrOverflow = errors.New("the count is 2^128 or more and cannot be given")

// Add adds n. It does not check for overflow: sums that are made by adding 64-bit numbers one by one
// would need more than 2^64 additions to reach 2^128.
func (t *Total) Add(n uint64) {
	var carry uint64
	t.Lo, carry = bits.Add64(t.Lo, n, 0)
	t.Hi += carry
}

// AddProduct adds a·b.
func (t *Total) AddProduct(a, b uint64) {
	hi, lo := bits.Mul64(a, b)
	var carry uint64
	t.Lo, carry = bits.Add64(t.Lo, lo, 0)
	t.Hi, _ = bits.Add64(t.Hi, hi, carry)
}

// sub subtracts n. The total may wrap around below 0 for a time, but not in the end.
func (t *Total) sub(n uint64) {
	var borrow uint64
	t.Lo, borrow = bits.Sub64(t.Lo, n, 0)
	t.Hi -= borrow
}

// Minus is the difference; u must not be larger than t.
func (t Total) Minus(u Total) Total {
	lo, borrow := bits.Sub64(t.Lo, u.Lo, 0)
	hi, _ := bits.Sub64(t.Hi, u.Hi, borrow)
	return Total{hi, lo}
}

// Half is half of an even count.
func (t Total) Half() Total { return Total{t.Hi >> 1, t.Lo>>1 | t.Hi<<63} }

// Third is a third of a count that is a multiple of three.
func (t Total) Third() Total {
	hi, rest := bits.Div64(0, t.Hi, 3)
	lo, _ := bits.Div64(rest, t.Lo, 3)
	return Total{hi, lo}
}

// AddTotal adds another count.
func (t *Total) AddTotal(u Total) {
	t.Add(u.Lo)
	t.Hi += u.Hi
}

// Big is the count as a big integer.
func (t Total) Big() *big.Int {
	x := new(big.Int).SetUint64(t.Hi)
	return x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(t.Lo))
}

// FromBig is x as a count, or ErrOverflow. x is not negative.
func FromBig(x *big.Int) (Total, error) {
	if x.BitLen() > 128 {
		return Total{}, ErrOverflow
	}
	lo := new(big.Int).And(x, new(big.Int).SetUint64(^uint64(0))).Uint64()
	return Total{new(big.Int).Rsh(x, 64).Uint64(), lo}, nil
}

// Uint64 is the count, and whether it fits into 64 bits.
func (t Total) Uint64() (n uint64, fits bool) { return t.Lo, t.Hi == 0 }

// String is the count in decimal digits.
func (t Total) String() string { return t.Big().String() }

// MarshalText is String, so that JSON has the digits of any size.
func (t Total) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Less reports whether t is less than u.
func (t Total) Less(u Total) bool { return t.Hi < u.Hi || t.Hi == u.Hi && t.Lo < u.Lo }
