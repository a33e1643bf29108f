package dataflow

import (
	"fmt"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/kernel"
)

// regions groups the gathers of phase q, sub-phase s into fused edge programs, one per edge set
// and direction. None of these gathers depends on another: it would be in a later sub-phase.
func (l *lowering) regions(q, s int) []plan.Step {
	var steps []plan.Step
	for _, dir := range []Op{ScatterDstOp, ScatterSrcOp} {
		roots := map[Set][]*Node{}
		var sets []Set
		for _, n := range l.live {
			if root(n) && l.phase.of(n) == q && l.sub.of(n) == s && dirOf(n) == dir {
				e := edgesOf(n)
				if roots[e] == nil {
					sets = append(sets, e)
				}
				roots[e] = append(roots[e], n)
			}
		}
		for _, e := range sets {
			steps = append(steps, l.region(q, s, dir, e, roots[e]))
		}
	}
	return steps
}

// region is the step that computes roots, all of edge set e and one direction, in one fused
// program.
func (l *lowering) region(q, s int, dir Op, e Set, roots []*Node) plan.Step {
	src, dst := e.Ends()
	d := plan.CSC
	rows, want := dst, l.want(e)
	want.CSC = want.CSC || dir == ScatterDstOp
	if dir == ScatterSrcOp {
		d, rows = plan.CSR, src
		want.CSR = true
	}
	d = d.Of(int(e.Type))
	b := newBuilder(l, fmt.Sprintf("gather %s %d.%d", d, q, s), q, s)
	b.p.Edges, b.own, b.rows = true, dir, rows
	info := RegionInfo{Phase: q, Dir: d, Gathers: roots}
	var seen nodeSet
	for _, r := range roots {
		body, leaves := program(r)
		for _, n := range body {
			if seen.add(n) {
				info.Body = append(info.Body, n)
			}
			b.emit(n)
		}
		for _, n := range leaves {
			if seen.add(n) {
				info.Leaves = append(info.Leaves, n)
			}
		}
	}
	for _, r := range roots {
		b.gather(r, roots)
	}
	var calls []plan.Call
	if l.fuse {
		calls = []plan.Call{l.kernelCall(b)}
	} else {
		calls = l.split(b)
	}
	info.Kernel = calls[len(calls)-1].Kernel
	l.out.Regions = append(l.out.Regions, info)
	return plan.Step{Kind: plan.Stream, Dir: d, Set: l.number(e), Src: l.number(src), Dst: l.number(dst), Type: rows.Type, Calls: calls, Label: b.p.Name}
}

// Ascend sets Program.Ascend of the gathers over in-edges if in the cells of want the ranks of a
// row's edges ascend: of several equal maxima the first one found then has the lowest rank.
func (l *Lowered) Ascend(want chunk.Wants) {
	for _, ph := range l.Spec.Phases {
		for _, st := range ph.Steps {
			for _, c := range st.Calls {
				k := l.Kernels[c.Kernel]
				k.Ascend = k.Ascend || k.Edges && st.Kind == plan.Stream && st.Dir.Way() == plan.CSC && want.Of(st.Dir.Relation()).Ascend()
			}
		}
	}
}

// gather adds the result of root r to the program. roots are all of the region: a maximum and its
// rank become one result.
func (b *builder) gather(r *Node, roots []*Node) {
	d := r.Def()
	if d.Class == Reduce {
		b.reduce(r)
		return
	}
	o := kernel.Out{Acc: d.Acc, Reg: b.reg(r.in[0], false), Aux: -1}
	switch d.Acc {
	case kernel.Max:
		b.l.want(edgesOf(r)).Rank = true
		if r.op == ArgMaxOp { // if the region has the maximum too, its result writes the rank
			if beside(roots, r, GatherMaxOp) != nil {
				return
			}
			o.Aux, o.AuxLD = b.vertex(r, true)
			o.Operand, o.LD = b.scratch("max", r.shape.Cols)
			break
		}
		o.Operand, o.LD = b.vertex(r, true)
		if arg := beside(roots, r, ArgMaxOp); arg != nil {
			o.Aux, o.AuxLD = b.vertex(arg, true)
		}
	case kernel.SumExp: // as with a maximum and its rank
		if r.op == TopOp {
			if beside(roots, r, GatherExpOp) != nil {
				return
			}
			o.Operand, o.LD = b.scratch("exp", r.shape.Cols)
			o.Aux, o.AuxLD = b.vertex(r, true)
			break
		}
		o.Operand, o.LD = b.vertex(r, true)
		if top := beside(roots, r, TopOp); top != nil {
			o.Aux, o.AuxLD = b.vertex(top, true)
		} else {
			o.Aux, o.AuxLD = b.scratch("top", r.shape.Cols)
		}
	case kernel.SumByType:
		o.Operand, o.LD = b.vertex(r, true)
		o.Reg2, o.Trans = b.reg(r.in[1], false), r.attr.J > 0
		o.Key, o.Blocks = b.key(r.attr.S, edgesOf(r)), int(r.attr.I)
	default:
		o.Operand, o.LD = b.vertex(r, true)
		if r.attr.S != "" {
			o.Key, o.Blocks = b.key(r.attr.S, edgesOf(r)), int(r.attr.I)
		}
	}
	b.p.Outs = append(b.p.Outs, o)
}

// beside is the gather op among roots that gathers what r does; nil: there is none.
func beside(roots []*Node, r *Node, op Op) *Node {
	for _, x := range roots {
		if x.op == op && x.in[0] == r.in[0] {
			return x
		}
	}
	return nil
}

// key is the kernel's key for a key's name. It makes the cells of edge set e carry the array that the key reads.
func (b *builder) key(name string, e Set) kernel.Key {
	if name == "rank" {
		b.l.want(e).Rank = true
		return kernel.ByRank
	}
	b.l.want(e).Type = true
	return kernel.ByType
}
