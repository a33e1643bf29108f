package dataflow

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/kernel"
)

// Lowered is a program as the planner (Spec) and the backends (Kernels) take it.
type Lowered struct {
	Spec     *plan.Spec
	Kernels  []*kernel.Program
	Inputs   map[Input]int   // vertex inputs: index into Spec.Values
	Outputs  map[string]int  // vertex results by name: index into Spec.Values
	Globals  map[string]int  // parameters, inputs and results by name: index into Spec.Globals
	Consts   map[int]float32 // constants of the program, by index into Spec.Globals
	Want     chunk.Wants     // by relation: the arrays that cells must carry
	Again    []string        // values that later phases compute again; Options.Store may name them to be stored
	Early    []string        // "late:" and a value that could be computed in a later phase; Options.Store may name it
	Arriving []string        // "arrive:" and a value from which others could be computed on arrival; Options.Store may name it
	Anew     []string        // "anew:" and a stored value that later phases could compute at the own end; Options.Store may name it
	Far      []string        // "far:" and a value that is computed on arrival; Options.Store may name it to be stored
	Notes    []Note          // what the passes did, for explanations
	Regions  []RegionInfo    // the fused edge programs, for explanations
}

// Input is a vertex input: its name, and the vertex set that it has rows for.
type Input struct {
	Name string
	Set  Set
}

// Whole is input name over the vertices of a full graph.
func Whole(name string) Input { return Input{name, V0} }

// Input is the vertex input of this name, and its value: that of the first set in the order of sets. ok is false if there is none.
func (l *Lowered) Input(name string) (in Input, id int, ok bool) {
	for i, v := range l.Inputs {
		if i.Name == name && (!ok || v < id) {
			in, id, ok = i, v, true
		}
	}
	return in, id, ok
}

// Reads tells whether an input of this name is read, over any vertex set.
func (l *Lowered) Reads(name string) bool {
	for in := range l.Inputs {
		if in.Name == name {
			return true
		}
	}
	return false
}

// RegionInfo describes one fused edge program.
type RegionInfo struct {
	Kernel  int // index into Lowered.Kernels; of the last kernel without fusion
	Phase   int
	Dir     plan.Dir
	Gathers []*Node // its results
	Body    []*Node // its edge nodes, operands first
	Leaves  []*Node // what it reads: scatters, edge inputs and Globals
}

// lowering builds a Lowered.
type lowering struct {
	*phases
	out    *Lowered
	fuse   bool
	packed bool             // Options.Packed
	sizes  *Sizes           // Options.Sizes
	values map[valueKey]int // index into Spec.Values
	global map[*Node]int    // by Global node: index into Spec.Globals

	returned map[*Node]bool // sums that rows are computed from later in the step
}

// valueKey identifies a value of the plan. An input or a stored node is one value; a temporary
// node is one value in each phase.
type valueKey struct {
	n     *Node
	phase int // that of a temporary; or kept, or onArrival
}

const (
	kept      = -1 // an input or a stored value
	onArrival = -2 // a value derived on arrival
)

// lower turns a program (results by name) into phases of kernel calls.
func lower(outs []result, opt Options) *Lowered {
	l := &lowering{phases: assignPhases(outs, !opt.Without["recompute-on-load"], !opt.Without["postpone"], opt), fuse: !opt.Without["fuse"], values: map[valueKey]int{}, global: map[*Node]int{},
		out: &Lowered{Spec: &plan.Spec{}, Inputs: map[Input]int{}, Outputs: map[string]int{},
			Globals: map[string]int{}, Consts: map[int]float32{}}, packed: opt.Packed, sizes: opt.Sizes}
	l.returned = l.returning()
	l.out.Again, l.out.Early, l.out.Arriving, l.out.Anew, l.out.Far = l.computedAgain(), l.delayable(), l.arriving(), l.renewables(), l.toStore()
	for _, o := range outs {
		if x := l.old[o.node]; x != nil {
			id := l.value(x, kept)
			l.values[valueKey{o.node, kept}], l.out.Spec.Values[id].State = id, true
		}
	}
	for _, n := range l.live {
		if n.shape.Set.Kind == Global {
			l.addGlobal(n)
		}
	}
	for q := range l.count {
		ph := plan.Phase{Label: fmt.Sprintf("phase %d", q)}
		ph.Steps = append(l.tails(q), l.globalSteps(q)...)
		for s := 0; s <= l.maxSub(q); s++ {
			if s > 0 {
				ph.Steps = append(ph.Steps, l.regions(q, s)...)
			}
			for _, set := range l.rowSets(q, s) {
				ph.Steps = append(ph.Steps, l.rowStep(q, s, set)...)
			}
		}
		if len(ph.Steps) > 0 {
			l.out.Spec.Phases = append(l.out.Spec.Phases, ph)
		}
	}
	if opt.Finish && l.fuse {
		defer l.finish()
	}
	for _, o := range outs {
		switch kind := o.node.shape.Set.Kind; {
		case l.old[o.node] != nil:
		case kind == Global:
			l.out.Globals[o.name] = l.global[o.node]
		case kind == Vertex:
			id := l.value(o.node, kept)
			l.out.Spec.Values[id].Output = computed(o.node)
			l.out.Outputs[o.name] = id
		}
	}
	return l.out
}

// number is the number of a row set in the plan.
func (l *lowering) number(s Set) uint16 { return uint16(l.sizes.number(s)) }

func (l *lowering) maxSub(q int) int {
	m := 0
	for _, n := range l.live {
		if at, ok := l.phase.get(n); ok && at == q {
			m = max(m, l.sub.of(n))
		}
	}
	return m
}

// addGlobal gives a Global node its matrix.
func (l *lowering) addGlobal(n *Node) {
	g := plan.Global{Name: n.attr.S, Rows: n.shape.Rows, Cols: n.shape.Cols, Kind: plan.Made}
	switch {
	case n.op == ParamOp:
		g.Kind = plan.Param
	case len(n.in) == 0:
		g.Kind = plan.Const
	case n.Def().Class == Reduce:
		g.Kind, g.Carry = plan.Sum, !n.Def().Acc.KeyedRows()
	}
	if g.Name == "" || len(n.in) > 0 {
		g.Name = fmt.Sprintf("%s.%d", n.op, n.id)
	}
	id := len(l.out.Spec.Globals)
	l.out.Spec.Globals = append(l.out.Spec.Globals, g)
	l.global[n] = id
	if n.Def().Acc == kernel.MaxBy {
		l.out.Spec.Maxima = append(l.out.Spec.Maxima, id)
	}
	if n.op == ConstOp {
		l.out.Consts[id] = n.attr.F
	} else if len(n.in) == 0 {
		l.out.Globals[n.attr.S] = id
	}
}

// value is the planner's number of the value that node n is when read or computed in phase q. A
// view has the number of the node that it views.
func (l *lowering) value(n *Node, q int) int {
	n = viewed(n)
	k := valueKey{n, q}
	if !computed(n) || l.keep.has(n) && !l.remade(n, q) {
		k.phase = kept
	}
	if id, ok := l.values[k]; ok {
		return id
	}
	v := vertexValue(n)
	v.Set = l.number(n.shape.Set)
	switch {
	case !computed(n):
		v.Kind = plan.Input
	case k.phase == kept:
		v.Kind = plan.Stored
	default:
		v.Kind = plan.Temp
	}
	id := l.addValue(v)
	l.values[k] = id
	if v.Kind == plan.Input {
		l.out.Inputs[Input{v.Name, n.shape.Set}] = id
	}
	return id
}

// rowBytes is how many bytes a row of vertex node n takes in memory, padding included.
func rowBytes(n *Node) int64 { return int64(chunk.LD(n.shape.Cols)) * 4 }

// vertexValue describes node n to the planner.
func vertexValue(n *Node) plan.Value {
	v := plan.Value{Name: n.attr.S, Pos: n.pos, Cols: n.shape.Cols, RowBytes: rowBytes(n), Kind: plan.Temp, Type: n.shape.Set.Type}
	if computed(n) {
		v.Name = fmt.Sprintf("%s.%d", n.op, n.id)
	}
	return v
}

func (l *lowering) addValue(v plan.Value) int {
	l.out.Spec.Values = append(l.out.Spec.Values, v)
	return len(l.out.Spec.Values) - 1
}

// kernelCall adds a finished program to the kernels and returns a call of it.
func (l *lowering) kernelCall(b *builder) plan.Call {
	b.p.Operands, b.p.Packed = len(b.operands), b.p.Edges && l.packed
	l.out.Kernels = append(l.out.Kernels, b.p)
	c := plan.Call{Kernel: len(l.out.Kernels) - 1, Operands: b.operands, Cost: CostOf(b.p)}
	readings(&c, b.p)
	if b.returns {
		c.Cost.More.Sums = betweenSums(b.p)
	}
	return c
}

// globalSteps is the step that computes, from other Globals, those that phase q is the first to read.
func (l *lowering) globalSteps(q int) []plan.Step {
	var calls []plan.Call
	for _, n := range l.live {
		if n.shape.Set.Kind != Global || len(n.in) == 0 || l.avail.of(n) != q {
			continue
		}
		if n.Def().Class == Reduce && n.in[0].shape.Set.Kind != Global {
			continue
		}
		b := newBuilder(l, fmt.Sprintf("global %s", n.op), q, 0)
		b.globals = true
		b.emit(n)
		c := l.kernelCall(b)
		c.Rows = n.shape.Rows
		if n.Def().Class == Reduce {
			c.Rows = n.in[0].shape.Rows
		}
		calls = append(calls, c)
	}
	if calls == nil {
		return nil
	}
	return []plan.Step{{Kind: plan.Globals, Calls: calls, Label: "globals"}}
}

// tails are the steps that write zeros behind the rows that are padded in phase q.
func (l *lowering) tails(q int) []plan.Step {
	var steps []plan.Step
	for _, n := range l.live {
		if n.op == PadRowsOp && l.phase.of(n) == q {
			of := viewed(n)
			steps = append(steps, plan.Step{Kind: plan.Tail, Set: l.number(n.shape.Set), From: l.number(of.shape.Set), Value: l.value(n, q), Label: "zeros"})
		}
	}
	return steps
}

// rowSets lists the vertex sets whose rows sub-phase s of phase q may compute or, in sub-phase 0,
// prepare for the phase's gathers. Their order is ascending.
func (l *lowering) rowSets(q, s int) []Set {
	sets := []Set{V0}
	for _, n := range l.live {
		set := rowsOf(n)
		if at, ok := l.phase.get(n); ok && at == q && (l.sub.of(n) == s || s == 0) && set.Kind == Vertex && !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
		if s == 0 && root(n) && l.phase.of(n) == q { // own rows that gathers read
			src, dst := edgesOf(n).Ends()
			for _, set := range []Set{src, dst} {
				if !slices.Contains(sets, set) {
					sets = append(sets, set)
				}
			}
		}
	}
	slices.SortFunc(sets, func(a, b Set) int { return cmp.Or(int(a.ID)-int(b.ID), int(a.Type)-int(b.Type)) })
	return sets
}

// rowsOf is the row set over which n, a vertex node or a reduce, is computed.
func rowsOf(n *Node) Set {
	if n.shape.Set.Kind == Global && len(n.in) > 0 {
		return n.in[0].shape.Set
	}
	return n.shape.Set
}

// rowStep is the step over an interval's rows of set that follows the gathers of sub-phase s; nil if
// it has nothing to compute.
func (l *lowering) rowStep(q, s int, set Set) []plan.Step {
	var nodes []*Node
	for _, n := range l.live {
		if n.shape.Set.Kind == Edge || len(n.in) == 0 || root(n) || isView(n) || rowsOf(n) != set {
			continue
		}
		if n.shape.Set.Kind == Global && (n.Def().Class != Reduce || n.in[0].shape.Set.Kind == Global) {
			continue
		}
		if l.phase.of(n) == q && l.sub.of(n) == s {
			nodes = append(nodes, n)
		}
	}
	b := newBuilder(l, fmt.Sprintf("apply_vertex %d.%d", q, s), q, s)
	b.rows = set
	for _, n := range nodes { // storing a node also emits the nodes that it needs
		if n.shape.Set.Kind == Global {
			b.emit(n)
			b.returns = b.returns || l.returned[n]
		} else if l.keep.has(n) || l.readOutside(n, q, s) {
			b.store(n)
		}
	}
	if s == 0 { // compute again what gathers of this phase read as own rows
		for _, n := range l.ownLeaves(q) {
			if l.remade(n, q) && l.phase.of(n) != q && !isView(n) && n.shape.Set == set {
				b.emit(n)
				b.store(n)
			}
		}
	}
	if len(b.p.Outs) == 0 {
		return nil
	}
	var calls []plan.Call
	if l.fuse {
		calls = []plan.Call{l.kernelCall(b)}
	} else {
		calls = l.split(b)
	}
	return []plan.Step{{Kind: plan.Rows, Set: l.number(set), Type: set.Type, Calls: calls, Label: b.p.Name}}
}

// readOutside tells whether another kernel of phase q than that of sub-phase s reads n from memory.
func (l *lowering) readOutside(n *Node, q, s int) bool {
	for _, u := range l.uses.of(n) {
		if u.phase == q && (root(u.by) || u.sub != s && !l.again(n)) {
			return true
		}
	}
	return false
}

// ownLeaves lists the vertex nodes that gathers of phase q read as own rows.
func (l *lowering) ownLeaves(q int) []*Node {
	var out []*Node
	for _, n := range l.live {
		if slices.ContainsFunc(l.uses.of(n), func(u use) bool { return u.phase == q && !u.other && root(u.by) }) {
			out = append(out, n)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].id < out[j].id })
	return out
}
