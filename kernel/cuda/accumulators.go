package cuda

import (
	"fmt"
	"strings"

	"sagann/kernel"
)

// The accumulators of a gather kernel, which reduce the edges of a row. begin starts them, a step adds an edge, merge
// joins those of the groups of a warp, and end adds the state that earlier cells left in the own row, as on the CPU.

func (t *emitter) accum(name string, w int) { t.accumOf("float", name, w) }

func (t *emitter) accumOf(kind, name string, w int) {
	if w == 1 {
		t.line("%s %s;", kind, name)
	} else {
		t.line("%s %s[%d];", kind, name, t.elems(w))
	}
}

// all writes a statement for each element of an accumulator of w columns. # stands for [k], or for nothing if w is 1.
func (t *emitter) all(w int, format string, a ...any) {
	s := fmt.Sprintf(format, a...)
	if w == 1 {
		t.line("{ %s }", strings.ReplaceAll(s, "#", ""))
		return
	}
	t.line("#pragma unroll")
	t.line("for (int k = 0; k < %d; k++) { %s }", t.elems(w), strings.ReplaceAll(s, "#", "[k]"))
}

func outPtr(o *kernel.Out) string { return fmt.Sprintf("b%d + row * %d", o.Operand, o.LD) }
func auxPtr(o *kernel.Out) string { return fmt.Sprintf("b%d + row * %d", o.Aux, o.AuxLD) }

// first is the first element of accumulator name of w columns. It belongs to a column of the row, unless the lane has no
// column.
func first(name string, w int) string {
	if w == 1 {
		return name
	}
	return name + "[0]"
}

// second tells whether o has a second accumulator.
func second(o *kernel.Out) bool { return o.Acc == kernel.SumExp || o.Acc == kernel.Max && o.Aux >= 0 }

// inRegisters tells whether o is accumulated in registers.
func inRegisters(o *kernel.Out) bool { return o.Acc != kernel.Store && o.Key == kernel.NoKey }

// accumulator writes the code of the accumulators of one result of a gather kernel: a and its number and, if it has a second
// one, x and its number.
type accumulator struct {
	t *emitter
	i int // number of the result
	o *kernel.Out
	w int // its columns
}

func accumulatorOf(t *emitter, i int, o *kernel.Out) accumulator {
	return accumulator{t, i, o, t.c.p.Widths[o.Reg]}
}

// states is how many registers it has.
func (c accumulator) states() int {
	switch {
	case c.o.Acc == kernel.Store:
		return 0
	case second(c.o):
		return 2
	}
	return 1
}

// begin declares the accumulators and sets them to the result of no edges. some is a condition: whether the group
// has edges; at is the index of its first edge.
func (c accumulator) begin(some, at string) {
	t, i, o, w := c.t, c.i, c.o, c.w
	c.declare()
	c.init()
	if t.c.ascend(o) { // if all numbers are -Inf, none exceeds the initial value, and the first edge has the maximum
		t.line("const float first%d = %s ? rank[%s] : SAGA_INF;", i, some, at)
		t.all(w, "x%d# = first%d;", i, i)
	}
}

// ascend tells whether o is a maximum whose edges come in ascending order of rank, so that of equal numbers the first one
// wins.
func (c *Program) ascend(o *kernel.Out) bool { return c.p.Ascend && o.Acc == kernel.Max && second(o) }

func (c accumulator) declare() {
	t, i, o, w := c.t, c.i, c.o, c.w
	if !inRegisters(o) {
		return
	}
	t.accum(fmt.Sprintf("a%d", i), w)
	if second(o) {
		t.accum(fmt.Sprintf("x%d", i), w)
	}
}

func (c accumulator) init() {
	t, i, o, w := c.t, c.i, c.o, c.w
	if !inRegisters(o) {
		return
	}
	init := "0.f"
	if o.Acc == kernel.Max {
		init = "-SAGA_INF"
	}
	t.all(w, "a%d# = %s;", i, init)
	if second(o) {
		init := "SAGA_INF"
		if o.Acc == kernel.SumExp {
			init = "-SAGA_INF"
		}
		t.all(w, "x%d# = %s;", i, init)
	}
}

// addState adds the state in memory, if there is one yet, to the accumulators. For a maximum without ranks it also finds
// out whether the row has had an edge.
func (c accumulator) addState() {
	t, i, o, w := c.t, c.i, c.o, c.w
	a, x := fmt.Sprintf("p%d", i), fmt.Sprintf("q%d", i)
	plain := o.Acc == kernel.Max && !second(o)
	if plain {
		t.line("bool any%d = some;", i)
	}
	t.line("if (more) {")
	t.accum(a, w)
	t.state(a, outPtr(o), w, o.LD, false)
	if second(o) {
		t.accum(x, w)
		t.state(x, auxPtr(o), w, o.AuxLD, false)
	}
	if plain {
		t.line("if (!saga_nothing(%s)) {", first(a, w))
		t.line("any%d = true;", i)
	}
	c.add(a+"#", x+"#")
	if plain {
		t.line("}")
	}
	t.line("}")
}

func (c accumulator) step() {
	t, i, o, w := c.t, c.i, c.o, c.w
	switch {
	case o.Acc == kernel.Store:
		t.once = true
		t.store(o.Reg, fmt.Sprintf("b%d + e * %d", o.Operand, o.LD), t.vector(o.LD))
		t.once = false
	case o.Acc == kernel.Sum && o.Key == kernel.NoKey:
		t.all(w, "a%d# += r%d#;", i, o.Reg)
	case o.Acc == kernel.Sum:
		key := "type[e]"
		if o.Key == kernel.ByRank {
			key = "(unsigned)rank[e]"
		}
		t.line("if (%s < %du) {", key, o.Blocks)
		t.line("float *to = b%d + row * %d + %s * (size_t)%d;", o.Operand, o.LD, key, w)
		if w == 1 {
			t.line("if (lane == 0) to[0] += r%d;", o.Reg)
		} else {
			t.each(w, fmt.Sprintf("to[col] += r%d[k];", o.Reg))
		}
		t.line("}")
	case o.Acc == kernel.Max && o.Aux < 0:
		t.all(w, "a%d# = saga_maximum(a%d#, r%d#);", i, i, o.Reg)
	case t.c.ascend(o):
		t.all(w, "saga_arg_next(a%d#, x%d#, r%d#, rank[e]);", i, i, o.Reg)
	case o.Acc == kernel.Max: // ties go to the lowest rank, whatever the order of edges
		t.all(w, "saga_arg(a%d#, x%d#, r%d#, rank[e]);", i, i, o.Reg)
	case o.Acc == kernel.SumExp:
		t.all(w, "saga_lse(a%d#, x%d#, r%d#);", i, i, o.Reg)
	}
}

// merge joins the accumulators of the groups of a warp in every group.
func (c accumulator) merge() {
	t, i, o := c.t, c.i, c.o
	if t.g == 32 || o.Acc == kernel.Store || o.Key != kernel.NoKey {
		return
	}
	const from = "__shfl_xor_sync(0xffffffffu, "
	t.line("for (int d = G; d < 32; d *= 2) {")
	c.add(fmt.Sprintf(from+"a%d#, d)", i), fmt.Sprintf(from+"x%d#, d)", i))
	t.line("}")
}

// add joins another accumulator to accumulator i: its value a and, if o has a second part, x.
func (c accumulator) add(a, x string) {
	t, i, o, w := c.t, c.i, c.o, c.w
	switch {
	case o.Acc == kernel.Sum:
		t.all(w, "a%d# += %s;", i, a)
	case o.Acc == kernel.Max && o.Aux < 0:
		t.all(w, "a%d# = saga_maximum(a%d#, %s);", i, i, a)
	case o.Acc == kernel.Max:
		t.all(w, "const float y = %s, q = %s; saga_arg(a%d#, x%d#, y, q);", a, x, i, i)
	case o.Acc == kernel.SumExp:
		t.all(w, "const float y = %s, q = %s; saga_lse_merge(a%d#, x%d#, y, q);", a, x, i, i)
	}
}

func (c accumulator) end() {
	t, i, o, w := c.t, c.i, c.o, c.w
	if !inRegisters(o) {
		return
	}
	c.addState()
	switch {
	case o.Acc == kernel.Max && !second(o):
		t.all(w, "if (!any%d) a%d# = last ? 0.f : SAGA_NOTHING;", i, i)
	case o.Acc == kernel.Max:
		t.line("if (last) {")
		t.all(w, "if (x%d# == SAGA_INF) a%d# = 0.f;", i, i)
		t.line("}")
	case o.Acc == kernel.SumExp:
		t.line("if (last) {")
		t.all(w, "if (a%d# == 0.f) { a%d# = 1.f; x%d# = 0.f; }", i, i, i)
		t.line("}")
	}
	if o.Quiet { // rounds are added in memory
		t.line("if (!last) {")
	}
	t.state(fmt.Sprintf("a%d", i), outPtr(o), w, o.LD, true)
	if o.Quiet {
		t.line("}")
	}
	if second(o) {
		t.state(fmt.Sprintf("x%d", i), auxPtr(o), w, o.AuxLD, true)
	}
}

// startKernels renders the kernels that start and finish the accumulators of all own rows. They run for cells whose row
// list leaves rows out.
func (c *Program) startKernels(b *strings.Builder, outs []*kernel.Out) {
	loop := func(name string, body func()) {
		c.name(name)
		fmt.Fprintf(b, "extern \"C\" __global__ void %s(%s) {\n", name, c.params())
		b.WriteString("\tconst ll at = blockIdx.x * (ll)blockDim.x + threadIdx.x, all = gridDim.x * (ll)blockDim.x;\n")
		body()
		b.WriteString("}\n")
	}
	loop("start", func() {
		for _, o := range outs {
			init, aux := "0.f", ""
			switch o.Acc {
			case kernel.Store:
				continue
			case kernel.Max:
				init, aux = "-SAGA_INF", "SAGA_INF"
				if o.Aux < 0 {
					init = "SAGA_NOTHING"
				}
			case kernel.SumExp:
				aux = "-SAGA_INF"
			}
			fmt.Fprintf(b, "\tfor (ll i = at; i < n * %d; i += all) b%d[i] = %s;\n", o.LD, o.Operand, init)
			if o.Aux >= 0 {
				fmt.Fprintf(b, "\tfor (ll i = at; i < n * %d; i += all) b%d[i] = %s;\n", o.AuxLD, o.Aux, aux)
			}
		}
	})
	loop("finish", func() {
		for _, o := range outs {
			w := c.p.Widths[o.Reg]
			a := fmt.Sprintf("b%d[i / %d * %d + i %% %d]", o.Operand, w, o.LD, w)
			switch o.Acc {
			case kernel.Max:
				empty := "saga_nothing(" + a + ")"
				if o.Aux >= 0 {
					empty = fmt.Sprintf("b%d[i / %d * %d + i %% %d] == SAGA_INF", o.Aux, w, o.AuxLD, w)
				}
				fmt.Fprintf(b, "\tfor (ll i = at; i < n * %d; i += all) if (%s) %s = 0.f;\n", w, empty, a)
			case kernel.SumExp:
				x := fmt.Sprintf("b%d[i / %d * %d + i %% %d]", o.Aux, w, o.AuxLD, w)
				fmt.Fprintf(b, "\tfor (ll i = at; i < n * %d; i += all) if (%s == 0.f) { %s = 1.f; %s = 0.f; }\n", w, a, a, x)
			}
		}
	})
}

// ascendSource is saga_arg for an edge whose rank is higher than that of all edges before it.
const ascendSource = `
SAGA_INLINE void saga_arg_next(float &a, float &x, float y, float rank) {
	const float top = saga_maximum(a, y + 0.f);
	if (__float_as_uint(top) != __float_as_uint(a)) x = rank;
	a = top;
}
`
