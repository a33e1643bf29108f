package cuda

import (
	_ "embed"
	"fmt"

	"sagann/mine/pattern"
)

// growText is what rows of a table are; growMake makes them in their order, growCount counts them by a key, growSums adds numbers up and finds places.
var (
	//go:embed grow.cu
	growText string
	//go:embed grow_make.cu
	growMake string
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
type growShape struct{ vertices bool }

// places is the words of a row of a size.
func (s growShape) places(size int) int {
	if s.vertices {
		return size
	}
	return 2 * size
}

// words is the shared memory of a warp, in words, whose rows have a size.
func (s growShape) words(size int) int { return 3*32*max(s.places(size), 1) + 2*32 }

// text is the kernels for rows of a size: to make them one longer, where a condition holds, nil: always, or, with a key, to count them by it.
func (s growShape) text(size int, where, key *pattern.Expr) string {
	text := prelude + countersText + fmt.Sprintf("#define SIZE %d\n#define VERTICES %d\n#define WORDS %d\n#define id ((const u32 *)0)\n", size, btoi(s.vertices), s.words(size))
	n := s.places(size)
	if where != nil {
		last := []string{"lo", "hi"}
		if s.vertices {
			last = []string{"y"}
		}
		text += fmt.Sprintf("#define WHERE %s\n", exprText(where, func(i int) (v, row string) {
			v = fmt.Sprintf("own[%d]", 32*i)
			if i >= n {
				v = last[i-n]
			}
			return v, fmt.Sprintf("rows[%s]", v)
		}))
	}
	if key != nil {
		text += fmt.Sprintf("#define KEY %s\n", exprText(key, func(i int) (v, row string) {
			v = fmt.Sprintf("own[%d]", 32*i)
			return v, fmt.Sprintf("rows[%s]", v)
		}))
	}
	if key != nil {
		return text + growText + growCounts
	}
	return text + growText + growMake
}

func sums() string { return prelude + growSums }
