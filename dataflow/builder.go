package dataflow

import (
	"fmt"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/kernel"
)

// builder assembles one kernel program and the operands of its call.
type builder struct {
	l        *lowering
	p        *kernel.Program
	q, s     int            // phase and sub-phase
	rows     Set            // the set of the own rows
	own      Op             // edge programs: the scatter that reads the visited interval
	returns  bool           // has sums over rows that rows are computed from later in the step
	globals  bool           // a program over the rows of Globals
	arrival  map[*Node]bool // programs that derive a value on arrival: the nodes that have arrived
	regs     map[regKey]int
	operands []plan.Operand
	index    map[plan.Operand]int
}

type regKey struct {
	n      *Node
	spread bool
}

func newBuilder(l *lowering, name string, q, s int) *builder {
	return &builder{l: l, p: &kernel.Program{Name: name}, q: q, s: s, rows: V0, regs: map[regKey]int{}, index: map[plan.Operand]int{}}
}

func (b *builder) operand(kind plan.OperandKind, id int, write bool) int {
	o := plan.Operand{Kind: kind, ID: id, Write: write}
	if i, ok := b.index[o]; ok {
		return i
	}
	b.operands = append(b.operands, o)
	b.index[o] = len(b.operands) - 1
	return len(b.operands) - 1
}

func (b *builder) newReg(cols int) int {
	b.p.Widths = append(b.p.Widths, cols)
	return len(b.p.Widths) - 1
}

// vertex is the operand of vertex node n in the visited interval, and its row length in floats.
func (b *builder) vertex(n *Node, write bool) (operand, ld int) {
	return b.operand(plan.OwnValue, b.l.value(n, b.q), write), chunk.LD(n.shape.Cols)
}

// scratch is a temporary of the visit that belongs to no node.
func (b *builder) scratch(name string, cols int) (operand, ld int) {
	id := b.l.addValue(plan.Value{Name: fmt.Sprintf("%s state %d", name, len(b.l.out.Spec.Values)),
		Kind: plan.Temp, Cols: cols, RowBytes: int64(chunk.LD(cols)) * 4, Set: b.l.number(b.rows), Type: b.rows.Type})
	return b.operand(plan.OwnValue, id, true), chunk.LD(cols)
}

// reg is the register that holds n. It loads or computes n first if no register does. With
// spread, the one row of a Global is repeated for every row of the strip.
func (b *builder) reg(n *Node, spread bool) int {
	k := regKey{n, spread && n.shape.Set.Kind == Global}
	if r, ok := b.regs[k]; ok {
		return r
	}
	if o := joined(n); o != nil && b.here(o) {
		b.regs[k] = b.reg(o, spread)
		return b.regs[k]
	}
	if b.mine(n) {
		b.emit(n)
		return b.regs[k]
	}
	r := b.leaf(n, k.spread)
	b.regs[k] = r
	return r
}

// mine tells whether n is computed inside this program.
func (b *builder) mine(n *Node) bool {
	switch {
	case len(n.in) == 0:
		return false
	case isView(n):
		return false
	case b.arrival != nil:
		return n.shape.Set.Kind == Vertex && !b.arrival[n]
	case b.globals:
		return false // operands of a Globals program are all in memory
	case b.p.Edges:
		return n.shape.Set.Kind == Edge && !isScatter(n.op)
	case n.shape.Set.Kind == Global || root(n):
		return false
	}
	l := b.l
	if l.phase.of(n) == b.q {
		return l.sub.of(n) == b.s || l.again(n)
	}
	return l.remade(n, b.q)
}

// here tells whether vertex node n is computed in this program for the first time.
func (b *builder) here(n *Node) bool {
	return b.mine(n) && b.arrival == nil && b.l.phase.of(n) == b.q && b.l.sub.of(n) == b.s
}

func (b *builder) leaf(n *Node, spread bool) int {
	f := kernel.Leaf{Cols: n.shape.Cols, Reg: b.newReg(n.shape.Cols)}
	switch {
	case n.shape.Set.Kind == Global && !b.globals || b.globals && spread:
		f.From, f.Operand = kernel.Global, b.operand(plan.GlobalRef, b.l.global[n], false)
		f.LD, f.Rows, f.Spread = n.shape.Cols, n.shape.Rows, spread
	case b.globals:
		f.From, f.Operand, f.LD = kernel.Own, b.operand(plan.GlobalRef, b.l.global[n], false), n.shape.Cols
	case isScatter(n.op):
		x := n.in[0]
		f.LD = chunk.LD(x.shape.Cols)
		if n.op == b.own {
			f.From, f.Operand = kernel.Own, b.operand(plan.OwnValue, b.l.value(x, b.q), false)
		} else {
			f.From, f.Operand = kernel.Other, b.operand(plan.OtherValue, b.l.arrived(x), false)
		}
		if n.attr.S != "" {
			f.Key, f.Blocks = b.key(n.attr.S, n.shape.Set), int(n.attr.I)
		}
	case n.shape.Set.Kind == Edge:
		f.From, f.Array = kernel.Cell, b.l.cellArray(n)
		f.LD = f.Cols
	case b.arrival != nil:
		f.From, f.LD = kernel.Own, chunk.LD(n.shape.Cols)
		f.Operand = b.operand(plan.OtherValue, b.l.arrived(n), false)
	default:
		f.From = kernel.Own
		f.Operand, f.LD = b.vertex(n, false)
	}
	b.p.Leaves = append(b.p.Leaves, f)
	return f.Reg
}

// want is what the cells of edge set e must carry.
func (l *lowering) want(e Set) *chunk.Want {
	for len(l.out.Want) <= int(e.Type) {
		l.out.Want = append(l.out.Want, chunk.Want{Pack: l.packed})
	}
	return &l.out.Want[e.Type]
}

// cellArray is the array of cells that has edge input n.
func (l *lowering) cellArray(n *Node) kernel.CellArray {
	w := l.want(n.shape.Set)
	switch n.attr.S {
	case RankInput:
		w.Rank = true
		return kernel.Rank
	case TypeInput:
		w.Type = true
		return kernel.Type
	case WeightInput:
		w.Weight = true
		return kernel.Weight
	case DataInput:
		w.Data = true
		return kernel.Data
	}
	panic("dataflow: unknown edge input " + n.attr.S)
}

// emit adds the instruction (or the reduce) of n.
func (b *builder) emit(n *Node) {
	if _, ok := b.regs[regKey{n, false}]; ok {
		return
	}
	d := n.Def()
	if d.Class == Reduce {
		b.reduce(n)
		return
	}
	in := kernel.Instr{Op: string(n.op), Role: d.Role, Fn: d.CPU, CUDA: d.CUDA, I: n.attr.I, J: n.attr.J, F: n.attr.F}
	elem := d.Class == Elem || d.Class == Group
	for i, x := range n.in {
		// An element-wise operand that is one row of a Global is repeated for every row.
		spread := elem && x.shape.Set.Kind == Global && (!b.globals || n.shape.Rows != x.shape.Rows)
		if b.globals && d.Role.Product() && i > 0 { // not by node: W·W reads W as rows and as a matrix
			in.In = append(in.In, b.matrix(x))
			continue
		}
		in.In = append(in.In, b.reg(x, spread))
	}
	in.Dst = b.newReg(n.shape.Cols)
	b.p.Instrs = append(b.p.Instrs, in)
	b.regs[regKey{n, false}] = in.Dst
	if b.globals {
		b.p.Outs = append(b.p.Outs, kernel.Out{Acc: kernel.Store, Reg: in.Dst, Aux: -1,
			Operand: b.operand(plan.GlobalRef, b.l.global[n], true), LD: n.shape.Cols})
	}
}

// matrix is a Global as a whole, in a program over the rows of other Globals.
func (b *builder) matrix(n *Node) int {
	f := kernel.Leaf{From: kernel.Global, Cols: n.shape.Cols, LD: n.shape.Cols, Rows: n.shape.Rows,
		Operand: b.operand(plan.GlobalRef, b.l.global[n], false), Reg: b.newReg(n.shape.Cols)}
	b.p.Leaves = append(b.p.Leaves, f)
	return f.Reg
}

// reduce adds a sum over all rows into a Global.
func (b *builder) reduce(n *Node) {
	o := kernel.Out{Acc: n.Def().Acc, Reg: b.reg(n.in[0], false), Aux: -1,
		Operand: b.operand(plan.GlobalRef, b.l.global[n], true)}
	if o.Acc.Pair() {
		o.Reg2 = b.reg(n.in[1], false)
	}
	if o.Acc.KeyedRows() {
		o.Blocks = n.shape.Rows
	} else if o.Acc == kernel.SumTNByType {
		o.Key, o.Blocks, o.Trans = b.key(n.attr.S, edgesOf(n)), int(n.attr.I), n.attr.J > 0
	}
	o.LD, o.Carry = n.shape.Cols, !o.Acc.KeyedRows()
	b.p.Outs = append(b.p.Outs, o)
}

// store writes vertex node n to memory.
func (b *builder) store(n *Node) {
	at, ld := b.vertex(n, true)
	b.p.Outs = append(b.p.Outs, kernel.Out{Acc: kernel.Store, Reg: b.reg(n, false), Operand: at, LD: ld, Aux: -1})
}

// arrived is the planner's number of the value that vertex node n has at the far end of an edge.
func (l *lowering) arrived(n *Node) int {
	if _, ok := l.derived[n]; ok {
		return l.derivedValue(n)
	}
	return l.value(n, kept)
}

// storeArrival writes derived node n, value id of the plan, into its slot.
func (b *builder) storeArrival(n *Node, id int) {
	b.p.Outs = append(b.p.Outs, kernel.Out{Acc: kernel.Store, Reg: b.reg(n, false), Aux: -1,
		Operand: b.operand(plan.OtherValue, id, true), LD: chunk.LD(n.shape.Cols)})
}
