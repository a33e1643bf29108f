package cuda

import (
	"fmt"
	"slices"
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
	heads  int            // columns of registers of a number a head, in the layout of cuda_heads.go; 0: none
	per    int            // columns of a head
	once   bool           // loads and stores are of what is used once: it need not stay in the cache
	few    bool           // pointers to whole rows of lanes begin at the lane's first column (cuda_few.go)
	round  bool           // registers stand for those of one edge of a round (cuda_few.go)
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

// declare makes room for register r.
func (t *emitter) declare(r int) {
	if t.round {
		t.held = append(t.held, r)
		t.line("%s", t.alias(r))
	} else if w := t.c.p.Widths[r]; w == 1 {
		t.line("float r%d;", r)
	} else {
		t.line("float r%d[%d];", r, t.elems(w))
	}
}

// load reads register r from its row at ptr.
func (t *emitter) load(r int, ptr string, vec bool) {
	t.declare(r)
	t.fetch(r, ptr, vec)
}

func (t *emitter) fetch(r int, ptr string, vec bool) {
	if w := t.c.p.Widths[r]; w == 1 {
		t.line("r%d = (%s)[0];", r, ptr)
	} else if t.isWidth(w) {
		t.state(fmt.Sprintf("r%d", r), ptr, w, 0, false)
	} else {
		t.line("%s%s(%s, r%d);", t.move("load"), t.args(w, vec), t.place(ptr, w, ""), r)
	}
}

// store writes register r to its row at ptr. Lanes and slices that hold the same
// number leave it to the first.
func (t *emitter) store(r int, ptr string, vec bool) {
	if w := t.c.p.Widths[r]; w == 1 {
		t.line("if (lane == 0 && base == 0) (%s)[0] = r%d;", ptr, r)
	} else if t.isWidth(w) {
		t.state(fmt.Sprintf("r%d", r), ptr, w, 0, true)
	} else {
		t.line("%s%s(%s, r%d);", t.move("store"), t.args(w, vec), t.place(ptr, w, ""), r)
	}
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

// number gives register r of one column its value.
func (t *emitter) number(r int, value string) {
	if t.round {
		t.declare(r)
		t.line("r%d = %s;", r, value)
	} else {
		t.line("const float r%d = %s;", r, value)
	}
}

// leaf reads leaf l for the row (or edge) at hand.
func (t *emitter) leaf(l *kernel.Leaf) {
	b := fmt.Sprintf("b%d", l.Operand)
	vec := t.vector(l.LD)
	switch l.From {
	case kernel.Cell:
		switch l.Array {
		case kernel.Rank:
			t.number(l.Reg, "rank[e]")
		case kernel.Weight:
			t.number(l.Reg, "weight[e]")
		case kernel.Type:
			t.number(l.Reg, "(float)type[e]")
		case kernel.Data:
			t.ptr[l.Reg] = fmt.Sprintf("data + e * %d", l.Cols)
			t.load(l.Reg, t.ptr[l.Reg], vec)
		}
		return
	case kernel.EdgeBuf:
		t.ptr[l.Reg] = fmt.Sprintf("%s + e * %d", b, l.LD)
	case kernel.Own:
		t.ptr[l.Reg] = fmt.Sprintf("%s + row * %d", b, l.LD)
	case kernel.Other:
		t.ptr[l.Reg] = fmt.Sprintf("%s + (size_t)far * %d", b, l.LD)
	}
	if t.near(l) {
		t.fetchNear(l)
		if l.Half {
			t.ptr[l.Reg] = "" // not of floats
		}
		return
	}
	if l.Half && l.Key == kernel.NoKey {
		t.declare(l.Reg)
		t.fetchHalf(l, t.ptr[l.Reg])
		t.ptr[l.Reg] = "" // not of floats
		return
	}
	if l.Key == kernel.NoKey {
		t.once = l.From == kernel.EdgeBuf || t.few && fewOnce && l.From == kernel.Own
		t.load(l.Reg, t.ptr[l.Reg], vec)
		t.once = false
		return
	}
	p := t.ptr[l.Reg]
	t.ptr[l.Reg] = ""
	t.declare(l.Reg)
	vec = vec && l.Cols%t.v == 0
	key := "type[e]"
	if l.Key == kernel.ByRank {
		key = "(unsigned)rank[e]"
	}
	t.line("if (%s < %du) {", key, l.Blocks)
	if p = keyedRow(l, p, key); l.Half {
		t.fetchHalf(l, p)
	} else {
		t.fetch(l.Reg, p, vec)
	}
	if l.Cols == 1 {
		t.line("} else r%d = 0.f;", l.Reg)
	} else {
		t.line("} else saga_fill(r%d, 0.f);", l.Reg)
	}
}

// globals reads the rows that are the same for every row; once a kernel.
func (t *emitter) globals(regs []int) {
	for i := range t.c.p.Leaves {
		l := &t.c.p.Leaves[i]
		if l.From != kernel.Global || !slices.Contains(regs, l.Reg) {
			continue
		}
		t.ptr[l.Reg] = fmt.Sprintf("b%d", l.Operand)
		if l.Spread {
			t.load(l.Reg, t.ptr[l.Reg], t.v%4 == 0)
		}
	}
}
