package cuda

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// guideBits is the logarithm of the entries of the table that says where to search for a draw among all vertices: about one for each.
func (c *Crowd) guideBits() int { return max(1, min(bits.Len(uint(c.g.vertices)), 24)) }

// The kernel's words of shared memory that are not for vertices and rows: of a block, and of a warp that scans.
const (
	roomOfBlock = 64
	roomOfWarp  = 144
)

// tables are the places of a batch's table, and the words of its filter: 128 bits for each drawn vertex pass 1 of 128 of the others.
func (c *Crowd) tables() (slots, filter int) {
	vertices, most := c.rows[len(c.l.Sizes)], slices.Max(c.l.Sizes)
	if c.l.Kind == Everywhere { // those stand there, too, that are of no use
		vertices = c.size + total(c.l.Sizes)
	}
	for filter = 32; filter < min(4*most, 2048) && c.l.Kind != RowsAlone; filter *= 2 {
	}
	return powerOver(vertices), filter
}

// fit chooses the threads of a block: few, as much of a batch is waiting and other batches work meanwhile, but a multiprocessor has 1024 at work
// where tables leave room for that.
func (c *Crowd) fit() {
	slots, filter := c.tables()
	rows := c.rows[len(c.l.Sizes)-1] + 1
	each := 3
	if c.l.Kind == Everywhere || c.l.Kind == Columns {
		each = 6
	}
	words := each*slots + 4*rows + filter
	if c.l.Kind == Columns {
		words += 2 * rows
	}
	warp := roomOfWarp
	if c.l.Kind == RowsAlone {
		warp = (slices.Max(c.l.Sizes) + 1) &^ 1
	}
	for c.threads = 128; ; c.threads *= 2 {
		c.work = roomOfBlock + c.threads/32*warp
		c.shared = 4 * (words + c.work)
		if c.threads == 512 || mostShared/(c.shared+sharedOfBlock)*c.threads >= 1024 {
			return
		}
	}
}

// text is the kernel's source.
func (c *Crowd) text() string {
	c.fit()
	steps := len(c.l.Sizes)
	slots, filter := c.tables()
	flag := map[bool]int{true: 1}
	var b strings.Builder
	for _, x := range []struct {
		name  string
		value int
	}{{"THREADS", c.threads}, {"BLOCKS", 1024 / c.threads}, {"STEPS", steps}, {"KIND", int(c.l.Kind)}, {"SLOTS", slots}, {"FILTER", filter}, {"GUIDE", 32 - c.guideBits()},
		{"VERTICES", c.rows[steps]}, {"ROWS", c.rows[steps-1]}, {"BEGINS", c.begins()}, {"EDGES_MOST", total(c.edges)}, {"MOST_DRAWS", (slices.Max(c.l.Sizes) + 1) &^ 1},
		{"ROOM", c.work}, {"WEIGHTS", flag[c.l.EdgeWeight != ""]}, {"ROW_NORMAL", flag[c.l.RowNormal]}} {
		fmt.Fprintf(&b, "#define %s %d\n", x.name, x.value)
	}
	b.WriteString(prelude + scanText)
	at := make([]int, steps)
	for i := range steps {
		at[i] = total(c.edges[:i])
	}
	for _, x := range []struct {
		name string
		list []int
	}{{"sizes", c.l.Sizes}, {"rows_most", c.rows[:steps]}, {"edges_most", c.edges}, {"edges_at", at}} {
		fmt.Fprintf(&b, "static __device__ const u32 %s[STEPS] = {%s};\n", x.name, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(x.list)), ", "), "[]"))
	}
	b.WriteString(levelsText)
	if c.l.Kind == RowsAlone {
		b.WriteString(rowsText + "static __device__ __forceinline__ void draw_row(const Level &s, const Row &row, u32 *room, u32 *to) {\n")
		for step, k := range c.l.Sizes {
			fmt.Fprintf(&b, "\tif (s.step == %d)\n\t\tChosen<%d, false>::warp(s.k0, s.k1, s.step, row, room, to);\n", step, k)
		}
		b.WriteString("}\n")
	}
	b.WriteString(levelsDraws)
	if c.l.Kind != RowsAlone {
		b.WriteString(c.l.EdgeWeight + levelsScan)
	}
	b.WriteString(levelsHead)
	return b.String()
}
