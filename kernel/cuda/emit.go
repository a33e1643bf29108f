package cuda

import (
	"fmt"
	"strings"

	"sagann/kernel"
)

// emitter writes the body of one kernel: what a group of g lanes does for one row.
type emitter struct {
	c      *Program
	b      *strings.Builder
	g, v   int            // lanes of a group, neighbouring columns of a lane
	slice  int            // columns of a slice; 0: whole rows
	ptr    []string       // register -> pointer to its row in memory, "" without
	shared int            // floats of shared memory that a group needs
	heads  int            // columns of registers of a number a head, in the layout of heads.go; 0: none
	per    int            // columns of a head
	once   bool           // loads and stores are of what is used once: it need not stay in the cache
	few    bool           // pointers to whole rows of lanes begin at the lane's first column (short_rows.go)
	round  bool           // registers stand for those of one edge of a round (short_rows.go)
	held   []int          // which registers a round has
	nears  []*kernel.Leaf // which leaves have a pointer of their own
	tab    string
}

// move is the name of the device function that loads or stores.
func (t *emitter) move(what string) string {
	if t.once {
		return "saga_" + what + "_once"
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

// each is the loop over a lane's elements of a register of w columns; col is the
// column at hand.
func (t *emitter) each(w int, body string) {
	t.line("#pragma unroll")
	if t.isWidth(w) {
		t.line("for (int k = 0; k < %d; k++) { const int col = (base + (k * G + lane) * V) / %d; if (col < %d) { %s } }",
			t.elems(w), t.per, w, body)
		return
	}
	t.line("for (int k = 0; k < %d; k++) { const int col = base + (k / V * G + lane) * V + k %% V; if (col < %d) { %s } }",
		t.elems(w), w, body)
}

// vector tells whether rows of ld floats are read and written a lane's columns at a time.
func (t *emitter) vector(ld int) bool { return t.v%4 == 0 && ld%t.v == 0 }

// exact tells whether all lanes have columns of a row of w. In kernels of few edges the
// lane's first column is then part of the pointer, and no column is compared.
func (t *emitter) exact(w int) bool { return t.few && w > 1 && !t.isWidth(w) && w%(t.g*t.v) == 0 }

// place is where in the row of w columns at ptr a lane reads and writes; unit is how many
// columns stand in a float.
func (t *emitter) place(ptr string, w int, unit string) string {
	if t.exact(w) {
		return "off" + unit + " + " + ptr + ", 0, 0"
	}
	return ptr + ", base, lane"
}

// isWidth tells whether registers of w columns have the layout of heads.
func (t *emitter) isWidth(w int) bool { return t.heads > 0 && w == t.heads }

// slices is how many slices make a row.
func (t *emitter) slices(width int) int {
	if t.slice > 0 {
		return (width + t.slice - 1) / t.slice
	}
	return 1
}
