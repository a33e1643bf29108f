package cuda

import (
	_ "embed"
	"fmt"

	"sagann/mine/pattern"
	"sagann/mine/table"
)

// growText is what rows of a table are; growMake makes them in their order, growQuick has their codes, by which growFilter leaves some out, growCounts counts them by a key, growSums adds numbers up and finds places.
var (
	//go:embed grow.cu
	growText string
	//go:embed grow_make.cu
	growMake string
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
	near     int  // see table.Spec.NearBits
	narrow   bool // whole rows are written as numbers of two bytes
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

// make is the kernels that make rows of a size one longer, whole ones at last, where a condition holds, nil: always, and leave out some by their codes.
func (s growShape) make(size int, last bool, where *pattern.Expr, q *table.Quick) string {
	value := "u32"
	if last && s.narrow {
		value = "unsigned short"
	}
	text, n := s.head(size, q, s.words(size))+fmt.Sprintf("typedef %s Value;\n", value), s.places(size)
	if where != nil {
		ends := []string{"lo", "hi"}
		if s.vertices {
			ends = []string{"y"}
		}
		text += fmt.Sprintf("#define WHERE %s\n", exprText(where, func(i int) (v, row string) {
			v = fmt.Sprintf("own[%d]", 32*i)
			if i >= n {
				v = ends[i-n]
			}
			return v, fmt.Sprintf("rows[%s]", v)
		}))
	}
	if q != nil {
		text += growFilter
	}
	return text + growMake
}

// cacheBytes is the shared memory of a block for keys that it has met: CACHE of grow_count.cu, of 16 bytes each.
const cacheBytes = 16 << 9

// counted is the shared memory of a block that counts rows of a size.
func (s growShape) counted(size int) int { return cacheBytes + growWarps*4*32*s.places(size) }

// count is the kernel that counts rows of a size by key, of which the last edge or vertex is in slots.
func (s growShape) count(size int, by keyed, q *table.Quick) string {
	text := fmt.Sprintf("quick<%d>(rows, classes, off, kind, kinds, many_kinds, own)", s.places(size))
	if by.key != nil {
		text, q = exprText(by.key, func(i int) (v, row string) {
			v = fmt.Sprintf("own[%d]", 32*i)
			return v, fmt.Sprintf("rows[%s]", v)
		}), nil
	}
	return s.head(size-1, q, 32*s.places(size)) + "#define KEY " + text + "\n" + growCounts
}

func sums() string { return prelude + growSums }
