package cuda

import (
	_ "embed"
	"fmt"
)

// walkWidths are bounds of a root's degree. The number of walks of two edges from a root to a vertex is
// at most the root's degree. So one byte counts them for roots of lower degree than the first bound, and two
// bytes below the second. Tests set smaller bounds.
var walkWidths = [2]int{1 << 8, 1 << 16}

// walks is the text of the kernel that counts cycles of four vertices or closed walks of five
// edges. Each is found from its highest vertex a, as in run.fourCycles and run.FiveWalks. A
// block does a root a, beginning with the highest. A warp reads the row of a neighbour below a. For each
// vertex it counts the walks of two edges from a that end there, x, and it lists the vertices with
// x > 0. Each pair of walks to a vertex below a is a cycle of four. For five edges, LANES threads take a
// vertex u of the list and add up x over the neighbours above u, up to a. This sum times x(u) is the
// number of walks whose third edge begins at u.
//
// The counters x of the last vertices up to a are in shared memory, from vertex base on, as many as fit. The
// others are in the block's part of device memory. All counters are 0 between roots. Walks that visit
// a twice are found twice: the second sum is twice their number.
func walks(edges int) string {
	return prelude + fmt.Sprintf("#define BYTE %d\n#define HALF %d\n#define EDGES %d\n", walkWidths[0], walkWidths[1], edges) + walksText
}

//go:embed walks.cu
var walksText string
