package sample

import (
	"fmt"
	"math"
	"strings"
)

// calls are operations that the text writes as function calls.
var calls = map[op]struct {
	name string
	args string // w, r or c each
}{
	opDiv: {"quotient", "ww"}, opMax: {"greater", "ww"}, opMin: {"lesser", "ww"}, opToReal: {"__ll2float_rn", "w"},
	opAdd + realOps: {"__fadd_rn", "rr"}, opSub + realOps: {"__fsub_rn", "rr"}, opMul + realOps: {"__fmul_rn", "rr"}, opDiv + realOps: {"__fdiv_rn", "rr"},
	opMax + realOps: {"greater_real", "rr"}, opMin + realOps: {"lesser_real", "rr"},
	opNeighbour: {"neighbour(g, ", "ww"}, opWeight: {"weight_of(g, ", "ww"}, opMost: {"most_of(g, ", "w"}, opBefore: {"weight_before(g, ", "ww"}, opHas: {"has(g, ", "ww"},
	opRoot: {"root(f, ", "w"},
}

// between are operations that the text writes as infix operators.
var between = map[op]struct {
	sign string
	of   form
}{
	opAdd: {"+", formWhole}, opSub: {"-", formWhole}, opMul: {"*", formWhole}, opLess: {"<", formWhole}, opEqual: {"==", formWhole},
	opAnd: {"&&", formTruth}, opOr: {"||", formTruth}, opLess + realOps: {"<", formReal}, opEqual + realOps: {"==", formReal},
}

// facts are operations without arguments: of a draw, and of an edge x that was drawn.
var facts = map[op]string{
	opStep: "(i64)f.step", opSlot: "(i64)(f.slot & 0xffffff)", // above it how often the draw was made before
	opLen: "(i64)f.length", opAt: "vertex(f.at)",
	opEdgeWeight: "(g.weight ? g.weight[x.at] : 1.0f)", opNorm: "norm_of(g, x)", opSource: "(i64)x.source", opTarget: "(i64)x.target",
	opProbability: "x.probability", opDraws: "x.draws", opTimes: "x.times",
}

// value is the expression of an instruction.
func (r *renderer) value(n int32) string {
	x := &r.c.list[n]
	if c, ok := calls[x.op]; ok {
		args := make([]string, len(c.args))
		for i, a := range x.args() {
			args[i] = r.arg(a, map[byte]form{'w': formWhole, 'r': formReal, 'c': formTruth}[c.args[i]])
		}
		name := c.name
		if !strings.HasSuffix(name, ", ") {
			name += "("
		}
		return name + strings.Join(args, ", ") + ")"
	}
	if text, ok := facts[x.op]; ok {
		return text
	}
	if x.op == opLess+realOps {
		if text, ok := r.lessThanChoice(x); ok {
			return text
		}
	}
	if o, ok := between[x.op]; ok {
		a, b := r.arg(x.a, o.of), r.arg(x.b, o.of)
		if o.of == formWhole && x.op <= opMul {
			return fmt.Sprintf("(i64)((u64)(%s) %s (u64)(%s))", a, o.sign, b) // wraps around
		}
		return fmt.Sprintf("(%s %s %s)", a, o.sign, b)
	}
	switch x.op {
	case opIf, opIf + realOps:
		of := r.form(n)
		return fmt.Sprintf("(%s ? %s : %s)", r.arg(x.a, formTruth), r.arg(x.b, of), r.arg(x.c, of))
	case opNot:
		return "!(" + r.arg(x.a, formTruth) + ")"
	case opPrev:
		if x.imm == 1 && !r.early && r.p.transits == nil {
			return "vertex(f.before)"
		}
		return fmt.Sprintf("past(f, (i64)f.step - %d)", x.imm-map[bool]int64{true: 1}[r.early])
	case opDegree:
		if r.at(x.a) {
			return "(i64)f.degree"
		}
		return "degree_of(g, " + r.arg(x.a, formWhole) + ")"
	case opBelow:
		if d := &r.c.list[x.a]; d.op == opDegree && r.at(d.a) {
			return fmt.Sprintf("below_degree(%s, f.degree)", r.word(x.imm))
		}
		return fmt.Sprintf("below(%s, %s)", r.word(x.imm), r.arg(x.a, formWhole))
	case opUniform:
		return fmt.Sprintf("uniform(%s)", r.word(x.imm))
	case opInverse:
		return fmt.Sprintf("inverse_of(g, %s, %s)", r.arg(x.a, formWhole), r.word(x.imm))
	case opAlias:
		return fmt.Sprintf("alias_of(g, %s, %s, %s)", r.arg(x.a, formWhole), r.word(x.imm), r.word(x.imm+1))
	}
	return "0"
}

// lessThanChoice is x < If(c, …) if the leaves of the If are literals. If x is below all of them, or
// below none, the text does not compute the conditions.
func (r *renderer) lessThanChoice(x *instruction) (string, bool) {
	y := &r.c.list[x.b]
	if y.op != opIf+realOps || r.uses[x.b] > 1 {
		return "", false
	}
	least, most, ok := r.literals(x.b)
	if !ok {
		return "", false
	}
	left := r.arg(x.a, formReal)
	if !r.named(x.a) {
		r.line("float a%d = %s;", x.b, left)
		left = fmt.Sprintf("a%d", x.b)
	}
	lit := func(v float32) string { return fmt.Sprintf("__int_as_float(0x%08x)", math.Float32bits(v)) }
	return fmt.Sprintf("(%s < %s || (%s < %s && %s))", left, lit(least), left, lit(most), r.choice(left, x.b)), true
}

// choice is left < value n, which is a literal or an If whose leaves are literals.
func (r *renderer) choice(left string, n int32) string {
	x := &r.c.list[n]
	if x.op == opLit {
		return fmt.Sprintf("%s < %s", left, r.arg(n, formReal))
	}
	least, _, _ := r.literals(n)
	return fmt.Sprintf("(%s < __int_as_float(0x%08x) || (%s ? %s : %s))", left, math.Float32bits(least), r.arg(x.a, formTruth), r.choice(left, x.b), r.choice(left, x.c))
}

// literals are the smallest and the largest of the literals that value n can be. ok is false if it can
// be another value.
func (r *renderer) literals(n int32) (least, most float32, ok bool) {
	x := &r.c.list[n]
	switch {
	case x.op == opLit && x.real == x.real:
		return x.real, x.real, true
	case x.op != opIf+realOps || r.uses[n] > 1:
		return 0, 0, false
	}
	a, b, ok1 := r.literals(x.b)
	c, d, ok2 := r.literals(x.c)
	return min(a, c), max(b, d), ok1 && ok2
}
