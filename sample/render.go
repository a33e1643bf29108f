package sample

import (
	"fmt"
	"math"
	"strings"
)

// renderer writes a traced function as CUDA text, with the same results. A value that is used once
// is inlined where it is used, so the GPU skips the side of an If, or the second half of an Or, that
// does not matter. This is safe: values have no side effects, and draws do not depend on the order of
// evaluation.
type renderer struct {
	c     *code
	p     *Program
	early bool // Transits: there is no transit yet
	uses  []int
	ends  map[int32]bool // places whose far ends have variables: e0, e1, …
	b     strings.Builder
	depth int
}

// render returns the text of a function: of transits, which returns a vertex, or of next, which
// returns the End of the edge that it chose.
func (p *Program) render(c *code, transits bool) string {
	r := &renderer{c: c, p: p, early: transits, uses: make([]int, len(c.list)), ends: map[int32]bool{}, depth: 1}
	for _, x := range c.list {
		for _, a := range x.args() {
			r.uses[a]++
		}
	}
	r.uses[c.result] += 2 // its place and its end
	if transits {
		r.b.WriteString("static __device__ __forceinline__ i64 transits(const G &g, F &f) {\n")
	} else {
		r.b.WriteString("template <int TURN> static __device__ __forceinline__ End next(const G &g, F &f, const Words &shared) {\n")
	}
	if c.pack == 1 {
		r.words(0, len(c.list), "0")
	}
	r.statements(0, len(c.list))
	if transits {
		r.line("return %s;", r.arg(c.result, formWhole))
	} else {
		r.line("i64 place = %s;", r.arg(c.result, formWhole))
		r.line("return chosen(f, place, %s);", r.end(c.result, "place"))
	}
	r.b.WriteString("}\n")
	return r.b.String()
}

// renderEdge is the text of a function of an edge, such as EdgeWeight.
func (p *Program) renderEdge(c *code) string {
	r := &renderer{c: c, p: p, uses: make([]int, len(c.list)), ends: map[int32]bool{}, depth: 1}
	for _, x := range c.list {
		for _, a := range x.args() {
			r.uses[a]++
		}
	}
	r.b.WriteString("static __device__ __forceinline__ float edge_weight(const Rowed &g, const Edged &x) {\n")
	r.statements(0, len(c.list))
	r.line("return %s;", r.arg(c.result, formReal))
	r.b.WriteString("}\n")
	return r.b.String()
}

// args are the numbers of an instruction's arguments.
func (x *instruction) args() []int32 {
	switch {
	case x.op == opIf || x.op == opIf+realOps:
		return []int32{x.a, x.b, x.c}
	case x.op == opSet || x.op == opAccept || x.op == opNeighbour || x.op == opWeight || x.op == opTime || x.op == opNumber || x.op == opBefore || x.op == opHas:
		return []int32{x.a, x.b}
	case x.op == opRoot || x.op == opGet || x.op == opDegree || x.op == opMost || x.op == opToReal || x.op == opNot || x.op == opBelow || x.op == opAlias || x.op == opInverse:
		return []int32{x.a}
	case x.op >= opAdd && x.op <= opOr || x.op > realOps:
		return []int32{x.a, x.b}
	}
	return nil
}

// form is the type of a value in the text.
type form uint8

const (
	formWhole form = iota
	formReal
	formTruth
)

var formNames = [...]string{"i64", "float", "bool"}

// form is that of an instruction's value.
func (r *renderer) form(n int32) form {
	x := &r.c.list[n]
	switch x.op {
	case opLess, opEqual, opLess + realOps, opEqual + realOps, opAnd, opOr, opNot, opHas:
		return formTruth
	case opIf:
		if r.c.list[x.b].op != opLit {
			return r.form(x.b)
		}
		return r.form(x.c)
	}
	if isReal(x.op) {
		return formReal
	}
	return formWhole
}

func (r *renderer) line(format string, args ...any) {
	r.b.WriteString(strings.Repeat("\t", r.depth))
	fmt.Fprintf(&r.b, format+"\n", args...)
}

// blocks lists the Philox counters, each for four sites, that draws of instructions from to end-1 use,
// without draws in loops.
func (r *renderer) blocks(from, end int) (list []int64) {
	for n := from; n < end; n++ {
		x := &r.c.list[n]
		if x.op == opReject {
			n = int(x.imm)
			continue
		}
		if x.op < opBelow || x.op > opInverse {
			continue
		}
		sites := []int64{x.imm}
		if x.op == opAlias {
			sites = append(sites, x.imm+1)
		}
		for _, s := range sites {
			if len(list) == 0 || list[len(list)-1] < s>>2 {
				list = append(list, s>>2)
			}
		}
	}
	return list
}

// words writes the computation of the random words of instructions from to end-1.
func (r *renderer) words(from, end int, try string) {
	for _, b := range r.blocks(from, end) {
		r.line("Words b%d = philox(f.k0, f.k1, f.of, f.step, f.slot, counter(%d, %s));", b, b, try)
	}
}

// word is the random word of a site.
func (r *renderer) word(site int64) string {
	if r.c.pack == 1 {
		return fmt.Sprintf("b%d.w%d", site>>2, site&3)
	}
	return fmt.Sprintf("word<TURN * %d + %d>(shared)", r.c.sites, site)
}

// statements writes the values that are used several times, or whose order matters.
func (r *renderer) statements(from, end int) {
	for n := from; n < end; n++ {
		x := &r.c.list[n]
		switch {
		case x.op == opReject:
			r.reject(int32(n), x)
			n = int(x.imm)
		case x.op == opSet:
			r.line("*%s = %s;", r.number(x), r.arg(x.b, formWhole))
		case x.op == opGet:
			r.line("i64 v%d = *%s;", n, r.number(x))
		case x.op == opAlias && r.at(x.a):
			r.line("End e%d;", n)
			r.line("i64 v%d = alias_in(g, f.lo, f.degree, %s, %s, &e%d);", n, r.word(x.imm), r.word(x.imm+1), n)
			r.ends[int32(n)] = true
		case x.op == opNeighbour && r.at(x.a) && r.ends[x.b]:
			r.line("i64 v%d = vertex(e%d.far);", n, x.b)
		case x.op == opNeighbour && r.at(x.a):
			r.line("End e%d = end_of(g, f, %s);", n, r.arg(x.b, formWhole))
			r.line("i64 v%d = vertex(e%d.far);", n, n)
		case r.named(int32(n)):
			r.line("%s v%d = %s;", formNames[r.form(int32(n))], n, r.value(int32(n)))
		}
	}
}

// named tells whether a value has a variable.
func (r *renderer) named(n int32) bool {
	x := &r.c.list[n]
	switch x.op {
	case opLit, opAccept, opAt:
		return false
	case opReject, opGet, opSet:
		return true
	case opAlias, opNeighbour:
		return r.at(x.a) || r.uses[n] > 1
	}
	return r.uses[n] > 1
}

// at tells whether a value is the transit.
func (r *renderer) at(n int32) bool { return r.c.list[n].op == opAt && !r.early }

// reject writes the loop of a Reject.
func (r *renderer) reject(n int32, x *instruction) {
	accept := &r.c.list[x.imm]
	r.line("i64 v%d = -1;", n)
	r.line("End e%d = no_end();", n)
	r.line("for (u32 again = 0;; again++) {")
	r.depth++
	r.line("if (again == %d) { *f.wrong = 1; break; }", maxTries)
	r.words(int(n)+1, int(x.imm), "again")
	r.statements(int(n)+1, int(x.imm))
	r.line("if (%s) {", r.arg(accept.b, formTruth))
	r.depth++
	r.line("v%d = %s;", n, r.arg(accept.a, formWhole))
	r.line("e%d = %s;", n, r.end(accept.a, fmt.Sprintf("v%d", n)))
	r.line("break;")
	r.depth--
	r.line("}")
	r.depth--
	r.line("}")
	r.ends[n] = true
}

// end is the far end of the transit's edge at a place. The place is value n and is in the variable
// place.
func (r *renderer) end(n int32, place string) string {
	x := &r.c.list[n]
	if r.early {
		return "no_end()"
	}
	if r.ends[n] {
		return fmt.Sprintf("e%d", n)
	}
	for m := range r.c.list {
		if y := &r.c.list[m]; y.op == opNeighbour && r.at(y.a) && y.b == n && !r.inLoop(int32(m), n) {
			return fmt.Sprintf("e%d", m)
		}
	}
	if x.op == opIf && (r.ends[x.b] || r.none(x.b)) && (r.ends[x.c] || r.none(x.c)) {
		return fmt.Sprintf("(%s ? %s : %s)", r.arg(x.a, formTruth), r.end(x.b, place), r.end(x.c, place))
	}
	if r.none(n) {
		return "no_end()"
	}
	return "end_of(g, f, " + place + ")"
}

// inLoop tells whether m is in the body of a Reject and n is not: the variable of m does not exist
// outside of the body.
func (r *renderer) inLoop(m, n int32) bool {
	for l := range r.c.list {
		x := &r.c.list[l]
		in := func(k int32) bool { return int(k) > l && int64(k) < x.imm }
		if x.op == opReject && in(m) && !in(n) {
			return true
		}
	}
	return false
}

func (r *renderer) none(n int32) bool { x := &r.c.list[n]; return x.op == opLit && x.imm == -1 }

// arg is the expression of value n, converted to the form want.
func (r *renderer) arg(n int32, want form) string {
	x := &r.c.list[n]
	if x.op == opLit {
		switch want {
		case formReal:
			return fmt.Sprintf("__int_as_float(0x%08x)", math.Float32bits(x.real))
		case formTruth:
			return fmt.Sprint(x.imm != 0)
		}
		if x.imm == math.MinInt64 {
			return "(-9223372036854775807LL - 1)"
		}
		return fmt.Sprintf("(i64)%dLL", x.imm)
	}
	text := fmt.Sprintf("v%d", n)
	if !r.named(n) {
		text = r.value(n)
	}
	switch have := r.form(n); {
	case have == formTruth && want == formWhole:
		return "(i64)(" + text + ")"
	case have == formWhole && want == formTruth:
		return "(" + text + " != 0)"
	}
	return text
}

// number is the address of a number of the state.
func (r *renderer) number(x *instruction) string {
	first := 0
	for _, f := range r.p.s.State[:x.imm] {
		first += f.Len
	}
	return fmt.Sprintf("number(f, %d, %d, %s)", first, r.p.s.State[x.imm].Len, r.arg(x.a, formWhole))
}
