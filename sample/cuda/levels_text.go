package cuda

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// guideBits is the base-2 logarithm of the number of parts of guide: about one part per vertex.
func (c *Crowd) guideBits() int { return max(1, min(bits.Len(uint(c.g.vertices)), 24)) }

// The kernels' words of shared memory that are not for vertices and rows: of a block, and of a warp that scans.
const (
	roomOfBlock = 64
	roomOfScan  = 144
	foundOfPart = 96 // edges that a warp finds until all write theirs
	roomOfPart  = 8 + 31 + 4*32 + 1 + 2*foundOfPart
)

// fours rounds up to a multiple of four: kernels fill lists 16 bytes at a time.
func fours(n int) int { return (n + 3) &^ 3 }

// slotsAndFilter are the size of a batch's hash table, and the words of its filter of drawn vertices. The
// filter has 128 bits per drawn vertex, so it passes about 1 of 128 other vertices.
func (c *Crowd) slotsAndFilter() (slots, filter int) {
	vertices, most := c.rows[len(c.l.Sizes)], slices.Max(c.l.Sizes)
	if c.l.Kind == Everywhere { // the table also has drawn vertices without an edge into the level below
		vertices = c.size + total(c.l.Sizes)
	}
	if c.once() { // the filter has the draws of all steps, and few rows are read
		most = total(c.l.Sizes) / 2
	}
	for filter = 32; filter < min(4*most, 2048); filter *= 2 {
	}
	return powerOver(vertices), filter
}

// once tells whether a batch reads each row only once, for all steps. This is possible if draws do not depend
// on rows. Edges of all steps are kept in the room of the last step, which must not be much too small.
func (c *Crowd) once() bool {
	last := len(c.l.Sizes) - 1
	return c.l.Kind == Everywhere && last < 255 && 8*c.l.Sizes[last] >= total(c.l.Sizes)
}

// parts tells whether warps read parts of a level of equal length, which takes more shared memory.
func (c *Crowd) parts() bool { return c.l.Kind == Pool || c.l.Kind == Everywhere }

// newRoom is the room in words for the rows that a step adds.
func (c *Crowd) newRoom() int { return fours(max(c.size, slices.Max(c.l.Sizes)) + 1) }

// room is the size of a batch's hash table and, for RowsAlone, the number of edges of a step.
type room struct{ slots, edges int }

// sharedWords are the words of shared memory that a block needs, and the words per warp in addition.
func (c *Crowd) sharedWords(r room) (block, warp int) {
	steps := len(c.l.Sizes)
	if c.l.Kind == RowsAlone {
		most := fours(slices.Max(c.l.Sizes))
		return 2*r.slots + 3*fours(c.rows[steps-1]+1) + roomOfBlock + r.edges/32 + r.edges/2, most
	}
	slots, filter := c.slotsAndFilter()
	if c.once() {
		return 4*slots + slots/4 + filter + 3*c.newRoom() + fours(c.rows[steps-1]+1) + roomOfBlock, roomOfPart
	}
	rows, each := c.rows[steps-1]+1, 3
	if c.l.Kind == Everywhere || c.l.Kind == Columns {
		each = 6
	}
	block = each*slots + 4*rows + filter + roomOfBlock
	if c.l.Kind == Columns {
		block += 2 * rows
	}
	if c.parts() {
		return block, roomOfPart
	}
	return block, roomOfScan
}

// shared is the bytes of a block's shared memory.
func (c *Crowd) shared(r room) int {
	block, warp := c.sharedWords(r)
	return 4 * (block + c.threads/32*warp)
}

// fit chooses the threads of a block, from 128 to 512. A batch often waits for memory, so small blocks are
// better: other batches run meanwhile. But a multiprocessor should hold 1024 threads, if shared memory
// allows it.
func (c *Crowd) fit(r room) {
	for c.threads = 128; c.threads < 512 && c.g.shared()/(c.shared(r)+sharedOfBlock)*c.threads < 1024; c.threads *= 2 {
	}
}

// text is the kernel's source.
func (c *Crowd) text() string {
	steps := len(c.l.Sizes)
	slots, filter := c.slotsAndFilter()
	_, warp := c.sharedWords(c.usual)
	rows := c.rows[steps-1]
	flag := map[bool]int{true: 1}
	var b strings.Builder
	for _, x := range []struct {
		name  string
		value int
	}{{"THREADS", c.threads}, {"BLOCKS", 1024 / c.threads}, {"STEPS", steps}, {"ONCE", flag[c.once()]}, {"DRAWS", total(c.l.Sizes)}, {"NEW_ROOM", c.newRoom()}, {"KIND", int(c.l.Kind)}, {"SLOTS", slots}, {"FILTER", filter}, {"GUIDE", 32 - c.guideBits()},
		{"VERTICES", c.rows[steps]}, {"ROWS", rows}, {"ROWS_HALF", 1 << bits.Len(uint(rows)) >> 1}, {"ROW_ROOM", fours(rows + 1)}, {"BEGINS", c.begins()}, {"EDGES_MOST", total(c.edges)},
		{"ROOM", roomOfBlock + c.threads/32*warp}, {"ROOM_OF_BLOCK", roomOfBlock}, {"ROOM_OF_WARP", warp}, {"FOUND", foundOfPart}, {"WEIGHTS", flag[c.l.EdgeWeight != ""]}, {"ROW_NORMAL", flag[c.l.RowNormal]}} {
		fmt.Fprintf(&b, "#define %s %d\n", x.name, x.value)
	}
	b.WriteString(prelude + scanText)
	at, draws := make([]int, steps), make([]int, steps)
	for i := range steps {
		at[i], draws[i] = total(c.edges[:i]), total(c.l.Sizes[:i])
	}
	for _, x := range []struct {
		name string
		list []int
	}{{"sizes", c.l.Sizes}, {"rows_most", c.rows[:steps]}, {"edges_most", c.edges}, {"edges_at", at}, {"draws_at", draws}} {
		fmt.Fprintf(&b, "static __device__ const u32 %s[STEPS] = {%s};\n", x.name, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(x.list)), ", "), "[]"))
	}
	b.WriteString(levelsCommon)
	if c.l.Kind == RowsAlone {
		b.WriteString(rowsText + c.drawRow() + levelsRows)
	} else {
		b.WriteString(levelsText + levelsDraws + c.l.EdgeWeight)
		if c.parts() {
			b.WriteString(levelsParts + levelsEdges)
		} else {
			b.WriteString(levelsScan + levelsEdges)
		}
		if c.once() {
			b.WriteString(levelsOnce)
		} else {
			b.WriteString(levelsHead)
		}
		b.WriteString(levelsKernel)
	}
	return strings.Replace(b.String(), "LEVELS_ARGUMENTS", levelsArguments, 1)
}

// drawRow is the CUDA text that draws the edges of a row.
func (c *Crowd) drawRow() string {
	var b strings.Builder
	b.WriteString("static __device__ __forceinline__ void draw_row(u32 k0, u32 k1, u32 step, const Row &row, u32 *room, u32 *to) {\n")
	for step, k := range c.l.Sizes {
		fmt.Fprintf(&b, "\tif (step == %d)\n\t\tChosen<%d, false>::warp(k0, k1, step, row, room, to);\n", step, k)
	}
	return b.String() + "}\n"
}
