package cuda

import (
	"fmt"
	"slices"

	"sagann/kernel"
)

// Registers: how they are declared, read and written.

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

// store writes register r to its row at ptr. If several lanes or slices hold the same number, the first one writes it.
func (t *emitter) store(r int, ptr string, vec bool) {
	if w := t.c.p.Widths[r]; w == 1 {
		t.line("if (lane == 0 && base == 0) (%s)[0] = r%d;", ptr, r)
	} else if t.isWidth(w) {
		t.state(fmt.Sprintf("r%d", r), ptr, w, 0, true)
	} else {
		t.line("%s%s(%s, r%d);", t.move("store"), t.args(w, vec), t.place(ptr, w, ""), r)
	}
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

// leaf reads leaf l for the current row (or edge).
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
	case kernel.Own, kernel.Other:
		if l.From == kernel.Other && ofPairs(t.slice) {
			fetchPair(t, l)
			return
		}
		t.ptr[l.Reg] = fmt.Sprintf("%s + %s * %d", b, rowAt(l), l.LD)
	}
	if l.Padded {
		padded(t, l, vec)
		return
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
	otherwise(t, l)
}

// padded reads leaf l, whose rows are zeros from a number of them on.
func padded(t *emitter, l *kernel.Leaf, vec bool) {
	p := t.ptr[l.Reg]
	t.ptr[l.Reg] = ""
	t.declare(l.Reg)
	t.line("if (row < live%d) {", l.Operand)
	if t.once = t.few && fewOnce; l.Half {
		t.fetchHalf(l, p)
	} else {
		t.fetch(l.Reg, p, vec)
	}
	t.once = false
	otherwise(t, l)
}

// otherwise ends a condition on which leaf l is read: it is zero if it is not.
func otherwise(t *emitter, l *kernel.Leaf) {
	if l.Cols == 1 {
		t.line("} else r%d = 0.f;", l.Reg)
	} else {
		t.line("} else saga_fill(r%d, 0.f);", l.Reg)
	}
}

// globals reads, once per kernel, the rows that are the same for every row.
func (t *emitter) globals(regs []int) {
	for i := range t.c.p.Leaves {
		l := &t.c.p.Leaves[i]
		if l.From != kernel.Global || !slices.Contains(regs, l.Reg) {
			continue
		}
		t.ptr[l.Reg] = fmt.Sprintf("b%d", l.Operand)
		if l.Spread {
			t.load(l.Reg, t.ptr[l.Reg], t.vector(t.v))
		}
	}
}

// state reads (or writes) accumulator name of w columns.
func (t *emitter) state(name, ptr string, w, ld int, write bool) {
	vec := t.vector(ld)
	switch {
	case w == 1 && write:
		t.line("if (lane == 0 && base == 0) (%s)[0] = %s;", ptr, name)
	case w == 1:
		t.line("%s = (%s)[0];", name, ptr)
	case t.isWidth(w) && write:
		t.line("saga_store_heads<G, V, %d, %d, %d>(%s, base, lane, %s);", t.elems(w), t.heads*t.per, t.per, ptr, name)
	case t.isWidth(w):
		t.line("saga_load_heads<G, V, %d, %d, %d>(%s, base, lane, %s);", t.elems(w), t.heads*t.per, t.per, ptr, name)
	case write:
		t.line("%s%s(%s, %s);", t.move("store"), t.args(w, vec), t.place(ptr, w, ""), name)
	default:
		t.line("%s%s(%s, %s);", t.move("load"), t.args(w, vec), t.place(ptr, w, ""), name)
	}
}

// near tells whether leaf l gets a pointer of its own, to the lane's first column of row 0. The compiler then computes the
// address of a row in one instruction.
func (t *emitter) near(l *kernel.Leaf) bool {
	writes := slices.ContainsFunc(t.c.p.Outs, func(o kernel.Out) bool { return o.Operand == l.Operand || o.Aux == l.Operand })
	return t.round && l.From == kernel.Other && l.Key == kernel.NoKey && !writes && (t.exact(l.Cols) || t.filled(l)) && (l.Half || t.vector(l.LD))
}

// filled tells whether the padded rows of leaf l are whole slices, so that lanes may read the padding as columns. The
// padding changes no result: with slices no column depends on another, and padding columns are not stored.
func (t *emitter) filled(l *kernel.Leaf) bool {
	columns := l.LD
	if l.Half {
		columns *= 2
	}
	return t.slice > 0 && t.heads == 0 && l.Cols > t.slice && columns%t.slice == 0
}

// fetchNear reads leaf l.
func (t *emitter) fetchNear(l *kernel.Leaf) {
	t.declare(l.Reg)
	t.nears = append(t.nears, l)
	half := ""
	if l.Half {
		half = "_half"
	}
	t.line("saga_near%s<G, V>(near%d + %s * %d, r%d);", half, l.Reg, rowAt(l), l.LD, l.Reg)
}

// alias declares register r as a reference to what the round holds for edge u.
func (t *emitter) alias(r int) string {
	if n := t.index(r); n != "" {
		return fmt.Sprintf("float (&r%d)%s = h%d[u];", r, n, r)
	}
	return fmt.Sprintf("float &r%d = h%d[u];", r, r)
}

// index is the array bound in the declaration of register r; "" for a scalar.
func (t *emitter) index(r int) string {
	if w := t.c.p.Widths[r]; w > 1 {
		return fmt.Sprintf("[%d]", t.elems(w))
	}
	return ""
}

// fetchHalf reads leaf l, whose rows are of bfloat16, from its row at ptr.
func (t *emitter) fetchHalf(l *kernel.Leaf, ptr string) {
	t.line("saga_load_half%s(%s, r%d);", t.args(l.Cols, false), t.place(ptr, l.Cols, " / 2"), l.Reg)
}

// keyedRow is the address of the block of keyed leaf l, in the row at ptr.
func keyedRow(l *kernel.Leaf, ptr, key string) string {
	words := l.Cols
	if l.Half {
		words /= 2
	}
	return fmt.Sprintf("%s + %s * (size_t)%d", ptr, key, words)
}

// fetchPair reads both rows of the current far end when the first of them is wanted.
func fetchPair(t *emitter, l *kernel.Leaf) {
	t.ptr[l.Reg] = "" // in no operand
	if t.paired {
		return
	}
	t.paired = true
	of := t.c.laid.Leaves
	a, b := t.c.p.Leaves[of[0]].Reg, t.c.p.Leaves[of[1]].Reg
	t.declare(a)
	t.declare(b)
	t.line("saga_pair(side + %s * 32, r%d, r%d);", rowAt(l), a, b)
}
