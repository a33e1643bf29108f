package cuda

import (
	"fmt"
	"strings"

	"sagann/kernel"
)

// emitter writes the body of one kernel: the code of a group of g lanes for one row.
type emitter struct {
	c      *Program
	b      *strings.Builder
	g, v   int            // lanes per group; neighbouring columns of a lane
	slice  int            // columns per slice; 0: whole rows
	ptr    []string       // by register: pointer to its row in memory; "": none
	shared int            // floats of shared memory that a group needs
	heads  int            // number of heads, if registers with a number per head have the layout of heads.go; else 0
	per    int            // columns per head
	once   bool           // loads and stores are of data used once, which need not stay in the cache
	few    bool           // pointers to rows that fill all lanes start at the lane's first column (short_rows.go)
	round  bool           // loads are for an edge of a round (short_rows.go)
	held   []int          // registers of which a round holds one per edge
	nears  []*kernel.Leaf // leaves with a pointer of their own (near)
	paired bool           // the rows of a pair are read (pairs.go)
	side   int            // columns that a lane has side by side in a tile of a product, two or four (products.go); 0: no tile
	tab    string
}

// move is the name of the device function that loads or stores.
func (t *emitter) move(what string) string {
	switch {
	case t.once:
		return "saga_" + what + "_once"
	case t.side > 0:
		return map[int]string{2: "saga_two_", 4: "saga_four_"}[t.side] + what
	}
	return "saga_" + what
}

func (t *emitter) line(format string, a ...any) {
	t.b.WriteString(t.tab)
	fmt.Fprintf(t.b, format, a...)
	t.b.WriteByte('\n')
}

// shape chooses lanes and columns for registers that are at most width wide.
func (t *emitter) shape(width int) {
	t.v, t.g = 1, 1
	if width > 1 {
		t.v = 4
	}
	for t.g < 32 && t.g*t.v < width {
		t.g *= 2
	}
}

// elems is the length of the array of a register of w columns.
func (t *emitter) elems(w int) int {
	if t.isWidth(w) {
		return t.elems(t.heads*t.per) / t.v
	}
	if t.slice > 0 {
		w = t.slice
	}
	each := t.g * t.v
	return (w + each - 1) / each * t.v
}

func (t *emitter) args(w int, vec bool) string {
	return fmt.Sprintf("<G, V, %d, %d, %v>", t.elems(w), w, vec)
}

// each writes the loop over a lane's elements of a register of w columns. In body, k is the element and col its column.
func (t *emitter) each(w int, body string) {
	t.line("#pragma unroll")
	if t.isWidth(w) {
		t.line("for (int k = 0; k < %d; k++) { const int col = (base + (k * G + lane) * V) / %d; if (col < %d) { %s } }",
			t.elems(w), t.per, w, body)
		return
	}
	within := fmt.Sprintf("if (col < %d) ", w)
	if t.side > 0 && w%t.slice == 0 { // a warp has all columns of its slice, or none
		within = ""
	}
	t.line("for (int k = 0; k < %d; k++) { const int col = base + (k / V * G + lane) * V + k %% V; %s{ %s } }",
		t.elems(w), within, body)
}

// vector tells whether a lane reads and writes its v columns of rows of ld floats as vectors.
func (t *emitter) vector(ld int) bool { return (t.v%4 == 0 || t.side > 0) && ld%t.v == 0 }

// exact tells, in kernels for rows of few edges, whether the w columns of a row fill all lanes. Pointers then include the
// lane's first column, and no column is compared with w.
func (t *emitter) exact(w int) bool { return t.few && w > 1 && !t.isWidth(w) && w%(t.g*t.v) == 0 }

// place is the arguments that tell a load or store where a lane's part of the row of w columns at ptr is. unit divides a
// column's number if a float holds several columns.
func (t *emitter) place(ptr string, w int, unit string) string {
	if t.exact(w) {
		return "off" + unit + " + " + ptr + ", 0, 0"
	}
	return ptr + ", base, lane"
}

// isWidth tells whether registers of w columns have the layout of heads.go.
func (t *emitter) isWidth(w int) bool { return t.heads > 0 && w == t.heads }

// slices is how many slices a row of width columns has.
func (t *emitter) slices(width int) int {
	if t.slice > 0 {
		return (width + t.slice - 1) / t.slice
	}
	return 1
}

// pairCols is the number of columns of a slice of pairs: a line has as many of each row.
const pairCols = kernel.PairLine / 8

// ofPairs tells whether a gather over slices of so many columns is of pairs.
func ofPairs(slice int) bool { return slice == pairCols }
