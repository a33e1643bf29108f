package dataflow

import (
	"fmt"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/kernel"
)

// split is what happens without fusion: every instruction and every result of b becomes a kernel
// of its own. Values between them lie in memory, one row per vertex of the interval or per edge of
// the cell.
func (l *lowering) split(b *builder) []plan.Call {
	s := &splitter{l: l, b: b, temp: map[int]plan.Operand{}, leaf: map[int]kernel.Leaf{}}
	for _, f := range b.p.Leaves {
		s.leaf[f.Reg] = f
	}
	var calls []plan.Call
	for _, in := range b.p.Instrs {
		n := s.begin(in.Op)
		for k, r := range in.In {
			in.In = append(append([]int{}, in.In[:k]...), append([]int{s.load(n, r)}, in.In[k+1:]...)...)
		}
		cols := b.p.Widths[in.Dst]
		old := in.Dst
		in.Dst = n.newReg(cols)
		n.p.Instrs = []kernel.Instr{in}
		t, ld := s.newTemp(old, cols)
		n.p.Outs = []kernel.Out{{Acc: kernel.Store, Reg: in.Dst, Operand: n.operand(t.Kind, t.ID, true), LD: ld, Aux: -1}}
		calls = append(calls, l.kernelCall(n))
	}
	for _, o := range b.p.Outs {
		n := s.begin("gather")
		o.Reg = s.load(n, o.Reg)
		if o.Acc.Pair() {
			o.Reg2 = s.load(n, o.Reg2)
		}
		o.Operand = s.copy(n, o.Operand)
		if o.Aux >= 0 {
			o.Aux = s.copy(n, o.Aux)
		}
		n.p.Outs = []kernel.Out{o}
		calls = append(calls, l.kernelCall(n))
	}
	return calls
}

type splitter struct {
	l    *lowering
	b    *builder
	temp map[int]plan.Operand // by register of the fused program: its temporary
	leaf map[int]kernel.Leaf  // by register of the fused program
}

func (s *splitter) begin(what string) *builder {
	n := newBuilder(s.l, fmt.Sprintf("%s %s", s.b.p.Name, what), s.b.q, s.b.s)
	n.p.Edges, n.own, n.globals, n.rows = s.b.p.Edges, s.b.own, s.b.globals, s.b.rows
	return n
}

func (s *splitter) copy(n *builder, operand int) int {
	o := s.b.operands[operand]
	return n.operand(o.Kind, o.ID, o.Write)
}

// load brings register r of the fused program into n.
func (s *splitter) load(n *builder, r int) int {
	f, ok := s.leaf[r]
	if ok {
		if f.From != kernel.Cell {
			f.Operand = s.copy(n, f.Operand)
		}
	} else {
		t := s.temp[r]
		f = kernel.Leaf{From: kernel.Own, Cols: s.b.p.Widths[r], LD: s.ld(s.b.p.Widths[r]), Operand: n.operand(t.Kind, t.ID, false)}
		if n.p.Edges {
			f.From = kernel.EdgeBuf
		}
	}
	f.Reg = n.newReg(f.Cols)
	n.p.Leaves = append(n.p.Leaves, f)
	return f.Reg
}

func (s *splitter) ld(cols int) int {
	if s.b.p.Edges {
		return cols
	}
	return chunk.LD(cols)
}

func (s *splitter) newTemp(r, cols int) (plan.Operand, int) {
	var t plan.Operand
	if s.b.p.Edges {
		t = plan.Operand{Kind: plan.EdgeTemp, ID: len(s.l.out.Spec.EdgeTemps)}
		s.l.out.Spec.EdgeTemps = append(s.l.out.Spec.EdgeTemps, int64(cols)*4)
	} else {
		t = plan.Operand{Kind: plan.OwnValue, ID: s.l.addValue(plan.Value{Name: fmt.Sprintf("unfused %d", len(s.l.out.Spec.Values)),
			Kind: plan.Temp, Cols: cols, RowBytes: int64(chunk.LD(cols)) * 4, Set: s.l.number(s.b.rows), Type: s.b.rows.Type})}
	}
	s.temp[r] = t
	return t, s.ld(cols)
}
