package cuda

import (
	_ "embed"
	"fmt"
)

// tableBlock is the threads of a block, tableBlocks how many blocks there are for each processor.
const tableBlock, tableBlocks, tableWarps = 128, 16, tableBlock / 32

// tableCheck is how many times 32 rows a warp counts before it looks again whether there is room for more counters.
const tableCheck = 4

// tableWords is the words of shared memory of a warp.
func tableWords(edges int, kinds bool) int {
	n := min(edges+1, mostVertices)*32*4 + 32
	if kinds {
		n += min(edges+1, mostVertices) * 32 * 2
	}
	return n
}

// tableOf is the text of the kernel that extends rows of so many edges, and with last counts them.
func tableOf(edges int, last, kinds bool) string {
	text := prelude + fmt.Sprintf("#define EDGES %d\n#define WORDS %d\n#define CHECK %d\n#define LAST %d\n", edges, tableWords(edges, kinds), tableCheck, btoi(last))
	if kinds {
		text += "#define KINDS\n"
	}
	return text + countersText + tableText
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tableText makes and counts rows of edges. Codes come from package table.
//
//go:embed tables.cu
var tableText string

// countersText is tables of keys.
//
//go:embed counters.cu
var countersText string
