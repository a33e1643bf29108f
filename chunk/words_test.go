package chunk

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

// TestWords: words of 32 and 64 bits and records make the same sides.
func TestWords(t *testing.T) {
	given := 0
	m := Memory{Scratch: func(n int) ([]byte, func()) {
		given++
		b := bytes.Repeat([]byte{0xa5}, n)
		return b, func() { given--; clear(b) }
	}}
	for _, tc := range []struct{ v, e, p int }{
		{1, 1, 1}, {2, 5, 1}, {2, 5, 2}, {9, 40, 3}, {1000, 300, 1}, {1000, 10_000, 7},
		{70_000, 400_000, 1}, {131_073, 262_200, 1}, {100_000, 400_000, 4}, {3000, 2_000_000, 1}, {3000, 2_000_000, 5},
	} {
		e := skewed(tc.v, tc.e, 7)
		o := Balance(e, 8)
		in, err := NewIntervals(tc.v, tc.p)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range []Want{{CSC: true, CSR: true}, {CSC: true}, {CSR: true}, {CSC: true, CSR: true, Pack: true}} {
			name := fmt.Sprintf("%+v CSC %v CSR %v pack %v", tc, w.CSC, w.CSR, w.Pack)
			want, err := recorded(e, o, in, w, m)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := asWords(e, o, in, w, m)
			if !ok {
				t.Fatalf("%s: no words", name)
			}
			sameSides(t, name, got, want)
			far := uint(0)
			for 1<<far < in.Width {
				far++
			}
			sameSides(t, name+" 64 bits", dealWords[uint64](e, o.newIDs(), bucketsFor(e, in), w, m, far), want)
		}
	}
	if given != 0 {
		t.Errorf("%d blocks of scratch are not given back", given)
	}
}

func sameSides(t *testing.T, name string, got, want []built) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d sides, want %d", name, len(got), len(want))
	}
	for i := range got {
		if !slices.Equal(got[i].side.Cells, want[i].side.Cells) || !slices.Equal(got[i].nonEmpty, want[i].nonEmpty) {
			t.Errorf("%s: cells of side %d differ", name, i)
		} else if !bytes.Equal(got[i].side.Mem, want[i].side.Mem) {
			t.Errorf("%s: bytes of side %d differ", name, i)
		}
	}
}

// TestPackedNot: what needs more of an edge than its ends, or has mostly empty rows, is
// made of records.
func TestPackedNot(t *testing.T) {
	e := skewed(1000, 2000, 3)
	e.Weight = make([]float32, e.E())
	in := Intervals{V: 1000, P: 1, Width: 1000}
	both := Want{CSC: true, CSR: true}
	if _, ok := asWords(e, nil, in, both, Memory{}); !ok {
		t.Error("plain edges: no words")
	}
	weighted := both
	weighted.Weight = true
	if _, ok := asWords(e, nil, in, weighted, Memory{}); ok {
		t.Error("weights come from words")
	}
	for _, in := range []Intervals{{V: 100_000, P: 1, Width: 100_000}, {V: 2000, P: 50, Width: 40}} {
		if _, ok := asWords(skewed(in.V, 2000, 3), nil, in, both, Memory{}); ok {
			t.Errorf("words for rows without edges in %d intervals", in.P)
		}
	}
}
