package cuda

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// guideBits is the logarithm of the entries of the table that says where to search for a draw among all vertices: about one for each.
func (c *Crowd) guideBits() int { return max(1, min(bits.Len(uint(c.g.vertices)), 24)) }

// The kernels' words of shared memory that are not for vertices and rows: of a block, and of a warp that scans.
const (
	roomOfBlock = 64
	roomOfWarp  = 8 + 4 + 128 + 256
)

// found is how many edges of a step lie in shared memory, where a step that draws 64 vertices has about as many, and one that draws none half as many as vertices.
// More are found twice.
func (c *Crowd) found() int {
	if c.l.Kind == Among {
		return fours(min(c.size, 1024))
	}
	return 256
}

// fours is a number rounded up to a multiple of four: kernels fill lists 16 bytes at a time.
func fours(n int) int { return (n + 3) &^ 3 }

// filter is the bytes of a batch's filter. A drawn vertex has a byte in 32 to 64, or where many are drawn a bit in 64 to 128.
func (c *Crowd) filter() (bytes int, inBits bool) {
	most := slices.Max(c.l.Sizes)
	inBits = most > 128
	want := 32 * most
	if inBits {
		want = min(8*most, 16<<10)
	}
	for bytes = 64; bytes < want; bytes *= 2 {
	}
	return bytes, inBits
}

// draws are those of a step at most, and of all.
func (c *Crowd) draws() (most, all int) {
	if c.l.Kind == Among {
		return 4, 4
	}
	return fours(slices.Max(c.l.Sizes)), fours(total(c.l.Sizes))
}

// slots are the places of the table of a batch of levels that draw together: those stand there, too, that were drawn and are of no use.
func (c *Crowd) slots() int {
	vertices := c.rows[len(c.l.Sizes)]
	if c.l.Kind != Among {
		vertices = c.size + total(c.l.Sizes)
	}
	return powerOver(vertices)
}

// sharedWords are those of shared memory that a block needs whatever its threads, and each warp.
func (c *Crowd) sharedWords(r room) (block, warp int) {
	rows := fours(c.rows[len(c.l.Sizes)-1] + 1)
	if c.l.Kind == RowsAlone {
		return 2*r.slots + 3*rows + roomOfBlock + r.edges/32 + r.edges/2, fours(slices.Max(c.l.Sizes))
	}
	most, all := c.draws()
	bytes, _ := c.filter()
	block = roomOfBlock + 4*c.found() + 4 + bytes/4 + 3*r.slots + 4*most + 4 + 4*rows
	switch c.l.Kind {
	case Columns:
		block += 2*most + 2*rows
	case Everywhere:
		block += all
	case Among:
		block -= r.slots
	}
	return block, roomOfWarp
}

// room is what a batch has: places of its table and, where rows draw by themselves, edges of a step.
type room struct{ slots, edges int }

// shared is the bytes of a block's shared memory.
func (c *Crowd) shared(r room) int {
	block, warp := c.sharedWords(r)
	return 4 * (block + c.threads/32*warp)
}

// fit chooses the threads of a block: few, as much of a batch is waiting and other batches work meanwhile, but a multiprocessor has at least 640 at work
// where tables leave room for that.
func (c *Crowd) fit(r room) {
	for c.threads = 64; ; c.threads *= 2 {
		if c.threads == 512 || mostShared/(c.shared(r)+sharedOfBlock)*c.threads >= 640 {
			return
		}
	}
}

// text is the kernel's source.
func (c *Crowd) text() string {
	steps := len(c.l.Sizes)
	bytes, inBits := c.filter()
	most, all := c.draws()
	_, warp := c.sharedWords(c.usual)
	flag := map[bool]int{true: 1}
	var b strings.Builder
	for _, x := range []struct {
		name  string
		value int
	}{{"THREADS", c.threads}, {"BLOCKS", 1024 / c.threads}, {"STEPS", steps}, {"KIND", int(c.l.Kind)}, {"SLOTS", c.usual.slots}, {"FILTER", bytes}, {"FILTER_BITS", flag[inBits]}, {"GUIDE", 32 - c.guideBits()},
		{"VERTICES", c.rows[steps]}, {"ROWS", c.rows[steps-1]}, {"ROWS_HALF", 1 << bits.Len(uint(c.rows[steps-1])) >> 1}, {"ROW_ROOM", fours(c.rows[steps-1] + 1)}, {"BEGINS", c.begins()}, {"EDGES_MOST", total(c.edges)}, {"MOST_DRAWS", most}, {"ALL_DRAWS", all},
		{"ROOM_OF_BLOCK", roomOfBlock}, {"ROOM_OF_WARP", warp}, {"FOUND", c.found()}, {"WEIGHTS", flag[c.l.EdgeWeight != ""]}, {"ROW_NORMAL", flag[c.l.RowNormal]}} {
		fmt.Fprintf(&b, "#define %s %d\n", x.name, x.value)
	}
	b.WriteString(prelude + scanText)
	edgesAt, drawsAt := make([]int, steps), make([]int, steps)
	for i := range steps {
		edgesAt[i], drawsAt[i] = total(c.edges[:i]), total(c.l.Sizes[:i])
	}
	for _, x := range []struct {
		name string
		list []int
	}{{"sizes", c.l.Sizes}, {"rows_most", c.rows[:steps]}, {"edges_most", c.edges}, {"edges_at", edgesAt}, {"draws_at", drawsAt}} {
		fmt.Fprintf(&b, "static __device__ const u32 %s[STEPS] = {%s};\n", x.name, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(x.list)), ", "), "[]"))
	}
	b.WriteString(levelsText)
	if c.l.Kind == RowsAlone {
		b.WriteString(rowsText + c.drawRow() + levelsRows)
	} else {
		b.WriteString(levelsState + levelsDraws + levelsScan + c.l.EdgeWeight + levelsTake)
	}
	return strings.Replace(b.String(), "LEVELS_ARGUMENTS", levelsArguments, 1)
}

// drawRow is the text that draws the edges of a row.
func (c *Crowd) drawRow() string {
	var b strings.Builder
	b.WriteString("static __device__ __forceinline__ void draw_row(u32 k0, u32 k1, u32 step, const Row &row, u32 *room, u32 *to) {\n")
	for step, k := range c.l.Sizes {
		fmt.Fprintf(&b, "\tif (step == %d)\n\t\tChosen<%d, false>::warp(k0, k1, step, row, room, to);\n", step, k)
	}
	return b.String() + "}\n"
}
