package cuda

import (
	_ "embed"
	"fmt"

	"sagann/mine/pattern"
	"sagann/mine/table"
)

// growText is what rows of a table are; growMake makes them in their order, growBits finds which neighbours follow whole rows but for the last edge or vertex, growQuick has their codes, by which growFilter leaves some out, growCounts counts them by a key, growSums adds numbers up and finds places.
var (
	//go:embed grow.cu
	growText string
	//go:embed grow_make.cu
	growMake string
	//go:embed grow_bits.cu
	growBits string
	//go:embed grow_quick.cu
	growQuick string
	//go:embed grow_filter.cu
	growFilter string
	//go:embed grow_count.cu
	growCounts string
	//go:embed grow_sums.cu
	growSums string
)

const (
	growBlock = 128
	growWarps = growBlock / 32
	sumsTile  = 1024 // numbers of a block that adds up
)

// growShape is what rows of a table are.
type growShape struct {
	vertices bool
	near     int // see table.Spec.NearBits
}

// keyed is what rows are counted by: a key or, if it is nil, their quick codes.
type keyed struct{ key *pattern.Expr }

// places is the words of a row of a size.
func (s growShape) places(size int) int {
	if s.vertices {
		return size
	}
	return 2 * size
}

// words is the shared memory of a warp, in words, whose rows have a size.
func (s growShape) words(size int) int { return 3*32*max(s.places(size), 1) + 4*32 }

// head is what all texts for rows of a size begin with, of which a warp takes so many words. q is the codes of those that are one longer; nil: none.
func (s growShape) head(size int, q *table.Quick, words int) string {
	text := prelude + countersText + fmt.Sprintf("#define SIZE %d\n#define VERTICES %d\n#define WORDS %d\n#define NEAR %d\n#define id ((const u32 *)0)\n", size, btoi(s.vertices), words, s.near)
	if q == nil {
		return text + growText
	}
	return text + fmt.Sprintf("#define LABELBITS %d\n#define KINDBITS %d\n", q.LabelBits, q.KindBits) + growText + growQuick
}

// make is the kernels that make rows of a size one longer where a condition holds, nil: always, and leave out some by their codes: in their order or, with bits, as a bit for each
// neighbour that may follow.
func (s growShape) make(size int, bits bool, where *pattern.Expr, q *table.Quick) string {
	text := s.head(size, q, s.words(size)) + fmt.Sprintf("#define BITS %d\n", btoi(bits)) + s.where(size, where)
	if bits {
		text += growBits
	}
	if q != nil {
		text += growFilter
	}
	if bits {
		return text
	}
	return text + growMake
}

// where defines the condition of what follows rows of a size.
func (s growShape) where(size int, where *pattern.Expr) string {
	ends := []string{"lo", "hi"}
	if s.vertices {
		ends = []string{"y"}
	}
	return s.define("WHERE", size, where, ends...)
}

// define defines an expression of rows of a size and what follows, the last edge or vertex at ends; nil: nothing.
func (s growShape) define(name string, size int, e *pattern.Expr, ends ...string) string {
	if e == nil {
		return ""
	}
	n := s.places(size)
	return fmt.Sprintf("#define %s %s\n", name, exprText(e, func(i int) (v, row string) {
		v = fmt.Sprintf("own[%d]", 32*i)
		if i >= n {
			v = ends[i-n]
		}
		return v, fmt.Sprintf("rows[%s]", v)
	}))
}

// cacheBytes is the shared memory of a block for keys that it has met: CACHE of grow_count.cu, of 16 bytes each.
const cacheBytes = 16 << 9

// counted is the shared memory of a block that counts rows of a size.
func (s growShape) counted(size int) int { return cacheBytes + growWarps*4*s.words(size-1) }

// count is the kernel that counts rows of a size by key, where a condition holds; nil: always.
func (s growShape) count(size int, by keyed, where *pattern.Expr, q *table.Quick) string {
	key := fmt.Sprintf("#define KEY quick<%d>(rows, classes, off, kind, kinds, many_kinds, own, a, b)\n", s.places(size))
	if by.key != nil {
		key, q = s.define("KEY", size-1, by.key, "a", "b"), nil
	}
	text := s.head(size-1, q, s.words(size-1)) + s.where(size-1, where) + key
	if size > 1 {
		text += growBits
	}
	return text + growCounts
}

func sums() string { return prelude + growSums }
