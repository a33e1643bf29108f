package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"sagann/kernel"
)

// A builder draws a random program together with its buffers.
type builder struct {
	t     *rapid.T
	r     *rand.Rand
	s     sizes
	p     *kernel.Program
	bufs  [][]float32
	guard []int // by operand: floats that the program may write; behind them nothing changes
	regs  []reg
	index []uint32 // where rows of tables lie
}

// reg is a register with bounds that keep its arithmetic exact.
type reg struct {
	id, cols int
	size     float64 // largest magnitude
	grain    int     // multiples of 2^-grain
}

var nan = float32(math.NaN())

func (b *builder) int(what string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(b.t, what) }

func (b *builder) width() int {
	return rapid.SampledFrom([]int{1, 2, 3, 4, 8, 12, 17, 32}).Draw(b.t, "width")
}

// buffer adds an operand of rows×cols random numbers, ld apart; padding is NaN.
func (b *builder) buffer(rows, cols, ld int, fill bool) int {
	x := make([]float32, rows*ld+5)
	for i := range x {
		if x[i] = nan; fill && i < rows*ld && i%ld < cols {
			x[i] = number(b.r)
		}
	}
	b.bufs, b.guard = append(b.bufs, x), append(b.guard, rows*ld)
	b.p.Operands = len(b.bufs)
	return len(b.bufs) - 1
}

func (b *builder) newReg(cols int, size float64, grain int) reg {
	b.p.Widths = append(b.p.Widths, cols)
	r := reg{id: len(b.p.Widths) - 1, cols: cols, size: size, grain: grain}
	b.regs = append(b.regs, r)
	return r
}

// draw makes a program over the sizes; edges says of which kind.
func drawKernel(t *rapid.T, r *rand.Rand, s sizes, edges bool) *builder {
	b := &builder{t: t, r: r, s: s, p: &kernel.Program{Name: "test", Edges: edges}}
	for range b.int("leaves", 1, 4) {
		b.leaf()
	}
	for range b.int("instructions", 0, 6) {
		b.instr()
	}
	if edges && b.int("weighted", 0, 2) == 0 {
		b.weighted()
	}
	for range b.int("results", 1, 4) {
		b.out()
	}
	return b
}

// tables has some operands be tables, of which a list names rows.
func (b *builder) tables() {
	b.p.Operands = len(b.bufs)
	for range max(b.s.own, b.s.other) {
		b.index = append(b.index, uint32(b.r.IntN(min(b.s.own, b.s.other))))
	}
	for k := range b.bufs {
		if b.p.Indexable(k) && b.int("table", 0, 2) == 0 {
			b.p = b.p.WithIndex(k)
		}
	}
}

// weighted adds what has a short cut: the sum of rows of the far end, each times a number
// of the edge. Others may use what is computed for it, which closes the short cut.
func (b *builder) weighted() {
	f := kernel.Leaf{From: kernel.Other, Cols: b.width()}
	f.LD = f.Cols + b.int("padding", 0, 2)
	f.Operand = b.buffer(b.s.other, f.Cols, f.LD, true)
	x := b.newReg(f.Cols, 1, 1)
	f.Reg = x.id
	b.p.Leaves = append(b.p.Leaves, f)
	scalar := b.newReg(1, 1, 1)
	b.p.Leaves = append(b.p.Leaves, kernel.Leaf{From: kernel.Cell, Array: kernel.Weight, Cols: 1, LD: 1, Reg: scalar.id})
	if b.int("computed", 0, 1) == 1 {
		scalar = b.apply("sub", 1, 2, 1, scalar, scalar)
	}
	if b.int("only the product", 0, 1) == 0 {
		b.regs = b.regs[:len(b.regs)-1] // nothing else reads the scalar
	}
	wide := scalar
	if f.Cols > 1 {
		wide = b.apply("widen", f.Cols, scalar.size, 1, scalar)
	}
	y := b.apply("mul", f.Cols, scalar.size, 2, wide, x)
	o := kernel.Out{Acc: kernel.Sum, Reg: y.id, Aux: -1, LD: f.Cols}
	o.Operand = b.buffer(b.s.own, f.Cols, o.LD, false)
	b.p.Outs = append(b.p.Outs, o)
	switch b.int("shared", 0, 4) {
	case 0: // two results of one product
		o.Operand = b.buffer(b.s.own, f.Cols, o.LD, false)
		b.p.Outs = append(b.p.Outs, o)
	case 1: // two products with one widened scalar
		z := b.apply("mul", f.Cols, scalar.size, 2, x, wide)
		o.Reg, o.Operand = z.id, b.buffer(b.s.own, f.Cols, o.LD, false)
		b.p.Outs = append(b.p.Outs, o)
	case 2, 3:
		b.regs = b.regs[:len(b.regs)-2] // nothing else reads the product
	}
}

func (b *builder) leaf() {
	l := kernel.Leaf{Cols: b.width()}
	kinds := []kernel.From{kernel.Own, kernel.Global}
	if b.p.Edges {
		kinds = append(kinds, kernel.Other, kernel.Other, kernel.EdgeBuf, kernel.Cell)
	}
	l.From = rapid.SampledFrom(kinds).Draw(b.t, "from")
	l.LD = l.Cols + b.int("padding", 0, 2)
	size := 1.0
	switch l.From {
	case kernel.Own, kernel.Other:
		rows := b.s.own
		if l.From == kernel.Other {
			rows = b.s.other
		}
		cols := l.Cols
		if b.p.Edges && b.int("keyed", 0, 3) == 0 {
			l.Key = rapid.SampledFrom([]kernel.Key{kernel.ByType, kernel.ByRank}).Draw(b.t, "key")
			l.Blocks = b.int("blocks", 2, 3)
			cols *= l.Blocks
			l.LD = cols + b.int("padding", 0, 2)
		}
		l.Operand = b.buffer(rows, cols, l.LD, true)
	case kernel.EdgeBuf:
		l.Operand = b.buffer(b.s.edges, l.Cols, l.LD, true)
	case kernel.Global:
		l.LD, l.Rows, l.Spread = l.Cols, 1, true
		l.Operand = b.buffer(1, l.Cols, l.LD, true)
	case kernel.Cell:
		l.Array = rapid.SampledFrom([]kernel.CellArray{kernel.Rank, kernel.Type, kernel.Weight, kernel.Data}).Draw(b.t, "array")
		l.Cols = 1
		switch l.Array {
		case kernel.Data:
			l.Cols = dataCols
		case kernel.Rank:
			size = float64(b.s.edges)
		case kernel.Type:
			size = types
		}
		l.LD = l.Cols
	}
	l.Reg = b.newReg(l.Cols, size, 1).id
	b.p.Leaves = append(b.p.Leaves, l)
}

// exact tells whether n numbers of the size and grain sum without rounding.
func exact(n int, size float64, grain int) bool {
	return float64(n)*size*math.Exp2(float64(grain)) < 1<<23
}

func (b *builder) pick() reg { return rapid.SampledFrom(b.regs).Draw(b.t, "register") }

func (b *builder) apply(op string, cols int, size float64, grain int, in ...reg) reg {
	i := kernel.Instr{Op: op, Role: roles[op], Fn: ops[op].strip}
	for _, r := range in {
		i.In = append(i.In, r.id)
	}
	out := b.newReg(cols, size, grain)
	i.Dst = out.id
	b.p.Instrs = append(b.p.Instrs, i)
	return out
}

// small brings x to a few bits.
func (b *builder) small(x reg) reg {
	if exact(64, x.size*x.size, 2*x.grain) {
		return x
	}
	return b.apply("snap", x.cols, 1, 1, x)
}

// fit makes x as wide as cols, or gives up.
func (b *builder) fit(x reg, cols int) (reg, bool) {
	switch {
	case x.cols == cols:
		return x, true
	case cols%x.cols == 0:
		return b.apply("widen", cols, x.size, x.grain, x), true
	case x.cols%cols == 0:
		return b.apply("group", cols, x.size*float64(x.cols/cols), x.grain, x), true
	}
	return x, false
}

func (b *builder) instr() {
	x := b.small(b.pick())
	switch op := rapid.SampledFrom([]string{"mul", "mul", "sub", "widen", "group", "reverse", "product"}).Draw(b.t, "op"); op {
	case "mul", "sub":
		y, ok := b.fit(b.small(b.pick()), x.cols)
		switch {
		case !ok:
		case b.int("swap", 0, 1) == 1:
			x, y = y, x
			fallthrough
		default:
			if op == "mul" {
				b.apply(op, x.cols, x.size*y.size, x.grain+y.grain, x, y)
			} else {
				b.apply(op, x.cols, x.size+y.size, max(x.grain, y.grain), x, y)
			}
		}
	case "widen":
		b.apply(op, 2*x.cols, x.size, x.grain, x)
	case "group":
		b.apply(op, 1, x.size*float64(x.cols), x.grain, x)
	case "reverse":
		b.apply(op, x.cols, x.size, x.grain, x)
	case "product":
		b.product(x)
	}
}

// product multiplies x with a matrix.
func (b *builder) product(x reg) {
	x = b.apply("snap", x.cols, 1, 1, x)
	cols := b.width()
	in := kernel.Instr{Op: "matmul", Role: kernel.MatMul}
	l := kernel.Leaf{From: kernel.Global, Rows: x.cols, Cols: cols}
	if b.int("transposed", 0, 1) == 1 {
		in.Role, l.Rows, l.Cols = kernel.MatMulNT, cols, x.cols
	}
	l.LD = l.Cols
	l.Operand = b.buffer(l.Rows, l.Cols, l.LD, true)
	b.p.Widths = append(b.p.Widths, l.Cols)
	l.Reg = len(b.p.Widths) - 1 // no operand of other instructions
	b.p.Leaves = append(b.p.Leaves, l)
	out := b.newReg(cols, float64(x.cols), 2)
	in.Dst, in.In = out.id, []int{x.id, l.Reg}
	b.p.Instrs = append(b.p.Instrs, in)
}

func (b *builder) out() {
	o := kernel.Out{Aux: -1}
	kinds := []kernel.Acc{kernel.Store, kernel.SumTN, kernel.SumRows}
	rows := b.s.own
	if b.p.Edges {
		kinds = append(kinds, kernel.Sum, kernel.Sum, kernel.Sum, kernel.Max, kernel.SumExp)
		rows = b.s.edges
	}
	o.Acc = rapid.SampledFrom(kinds).Draw(b.t, "accumulator")
	x := b.pick()
	if o.Acc != kernel.Store && !exact(rows, x.size, x.grain) || o.Acc == kernel.SumTN && !exact(rows, x.size*x.size, 2*x.grain) {
		x = b.apply("snap", x.cols, 1, 1, x)
	}
	o.Reg = x.id
	o.LD = x.cols + b.int("padding", 0, 2)
	switch o.Acc {
	case kernel.Store:
		o.Operand = b.buffer(rows, x.cols, o.LD, false)
	case kernel.SumRows:
		o.LD = x.cols
		o.Operand = b.buffer(1, x.cols, o.LD, true)
	case kernel.SumTN:
		y := b.pick()
		if !exact(rows, x.size*y.size, x.grain+y.grain) {
			y = b.apply("snap", y.cols, 1, 1, y)
		}
		o.Reg2, o.LD = y.id, y.cols
		o.Operand = b.buffer(x.cols, y.cols, o.LD, true)
	case kernel.Sum:
		cols := x.cols
		if b.int("keyed", 0, 3) == 0 {
			o.Key = rapid.SampledFrom([]kernel.Key{kernel.ByType, kernel.ByRank}).Draw(b.t, "key")
			o.Blocks = b.int("blocks", 1, 3)
			cols *= o.Blocks
			o.LD = cols + b.int("padding", 0, 2)
		}
		o.Operand = b.buffer(b.s.own, cols, o.LD, false)
	case kernel.Max, kernel.SumExp:
		o.Operand = b.buffer(b.s.own, x.cols, o.LD, false)
		if o.Acc == kernel.SumExp || b.int("arg", 0, 2) > 0 {
			o.AuxLD = x.cols + b.int("padding", 0, 2)
			o.Aux = b.buffer(b.s.own, x.cols, o.AuxLD, false)
		}
	}
	b.p.Outs = append(b.p.Outs, o)
}

// buffers are fresh copies of the operands.
func (b *builder) buffers() [][]float32 {
	var out [][]float32
	for _, x := range b.bufs {
		out = append(out, slices.Clone(x))
	}
	return out
}

// String prints the program.
func (b *builder) String() string {
	s := fmt.Sprintf("%+v\n", b.s)
	for _, l := range b.p.Leaves {
		s += fmt.Sprintf("leaf %+v\n", l)
	}
	for _, i := range b.p.Instrs {
		s += fmt.Sprintf("r%d = %s r%v\n", i.Dst, i.Op, i.In)
	}
	for _, o := range b.p.Outs {
		s += fmt.Sprintf("out %+v\n", o)
	}
	return s
}
