package cuda

import (
	"slices"

	"sagann/mine/rows"
)

// halves is how many of the last vertices are written in half a word. Vertices are in order of degree, so
// most neighbours above a vertex are among these, and rows take little more than half the bytes.
// Tests set fewer.
var halves = 1 << 16

// base is the first vertex that is written in half a word.
func base(r *rows.Rows) int { return max(0, r.V()-halves) }

// packing says how the neighbours above a vertex lie in memory. First come those before base, a
// 32-bit word each. Then come the others, minus base, two in a word, the lower one in the low half.
type packing struct {
	whole, half int // how many neighbours take a word, and half a word
}

// packed is the packing of the neighbours above v.
func packed(r *rows.Rows, v uint32) packing {
	above, b := r.Above(v), base(r)
	if int(v) >= b-1 {
		return packing{0, len(above)}
	}
	whole, _ := slices.BinarySearch(above, uint32(b))
	return packing{whole, len(above) - whole}
}

// words is the number of words of the row.
func (p packing) words() int { return p.whole + (p.half+1)/2 }

// pack writes the neighbours above v to the row to, which has p.words() words.
func (p packing) pack(to []uint32, r *rows.Rows, v uint32) {
	above, b := r.Above(v), uint32(base(r))
	copy(to, above[:p.whole])
	to = to[p.whole:]
	for i, w := range above[p.whole:] {
		if i%2 == 0 {
			to[i/2] = w - b
		} else {
			to[i/2] |= (w - b) << 16
		}
	}
}

// words is how many words the row of a vertex takes.
func (l Layout) words(r *rows.Rows, v uint32) int {
	if l.Part == Above {
		return packed(r, v).words()
	}
	return r.Degree(v)
}

// copyRow writes the row of v to to, which has l.words(r, v) words.
func (l Layout) copyRow(to []uint32, r *rows.Rows, v uint32) {
	if l.Part == Above {
		packed(r, v).pack(to, r, v)
	} else {
		copy(to, r.Of(v))
	}
}

// define is the text that tells kernels how rows lie, and how many words of them a lane reads at a
// time.
func (p Part) define() string {
	if p == Above {
		return "#define PACKED\n#define WORDS 2\n"
	}
	return "#define WORDS 4\n"
}
