package dataflow

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
)

// Options of compilation.
type Options struct {
	Lowering
	Without map[string]bool // passes to leave out, by name
	Storage string          // format of rows that gathers read at the far end: StorageF32 (also "") or StorageBF16
	// Slices is how many slices of columns gathers are split into, each with a phase of its
	// own; 0 or 1: none. LeastSlice is the least width of a slice in columns; 0: 16.
	Slices, LeastSlice int
	ByType             int          // products by so many edge types and more use bytype.go, which CPUs have kernels for; 0: none
	Bases              bool         // gathers that read multiples of one row read that row, and gradients are gathered before products (base.go)
	Sizes              *Sizes       // expected sizes of sampled blocks; nil: a full graph
	Dump               string       // print the program after this pass
	Print              func(string) // receives the printed program
}

// Lowering holds the options that only Optimized.Lower reads: one optimized program can be lowered
// with different ones.
type Lowering struct {
	Save string // what to store for later phases and what to compute again: SaveSome (default), SaveAll or SaveNone
	// Store names values of Lowered.Again that are stored whatever Save says, and values of
	// Lowered.Early, Arriving and Anew that are computed elsewhere: later, as chunks arrive, or at the own end again. Those of Far are not computed on arrival.
	Store  []string
	Packed bool // cells hold the far ends of edges packed (chunk.Want.Pack)
	Finish bool // gathers compute what the rows that follow make of their sums, column by column
	Inside bool // rows of gradients are multiplied on edges of the backward pass rather than with sums that the forward pass keeps (inside.go)
}

// state is what passes transform.
type state struct {
	outs []result
	loss int     // index of the loss in outs; -1: nothing is differentiated
	wrt  []*Node // leaves that the loss is differentiated by
	opt  Options

	learn func(w, grad *Node) []Next // Program.Learn

	notes  []Note
	inside *other // the program with own rows inside sums
}

// Note says what a pass did to one of the user's operations.
type Note struct {
	Pass string
	Op   Op
	Pos  string // the user's line
	What string
}

func (s *state) note(pass string, n *Node, what string) {
	k := Note{pass, n.op, n.pos, what}
	if !slices.Contains(s.notes, k) {
		s.notes = append(s.notes, k)
	}
}

// noted is rule r, and adds a note each time it applies. The note says what, unless the rule
// leaves a scatter: then it says which end computes the operation now.
func (s *state) noted(pass, what string, r Rule) Rule {
	return func(n *Node) *Node {
		m := r(n)
		if m != nil {
			w := what
			if isScatter(m.op) {
				w = map[Op]string{ScatterSrcOp: "once a source instead of once an edge", ScatterDstOp: "once a destination instead of once an edge"}[m.op]
			}
			s.note(pass, n, w)
		}
		return m
	}
}

func (s *state) has(pass string) bool { return !s.opt.Without[pass] }

// nodes are those of all results.
func (s *state) nodes() []*Node {
	nodes := make([]*Node, len(s.outs))
	for i, o := range s.outs {
		nodes[i] = o.node
	}
	return nodes
}

// rewrite applies rules to all results and to wrt.
func (s *state) rewrite(rules ...Rule) {
	nodes := Rewrite(append(s.nodes(), s.wrt...), rules...)
	for i := range s.outs {
		s.outs[i].node = nodes[i]
	}
	s.wrt = nodes[len(s.outs):]
}

// pass is one row of the table of passes.
type pass struct {
	name  string
	flag  string   // its name in Options.Without; "": cannot be left out
	after []string // passes that must come before it
	run   func(*state)
}

// passes run in this order. Hoisting comes before autodiff (paper, section 3.2): otherwise
// gradients would be taken of products of edge rows.
var passes = []pass{
	{"merge", "", nil, func(s *state) { s.rewrite(simplify, sumWeights) }},
	{"hoist", "hoist", []string{"merge"}, func(s *state) { s.rewrite(s.noted("hoist", "", hoist), keyed) }},
	{"factor forward", "factor", []string{"hoist"}, func(s *state) { s.rewrite(canon, factor, s.hoisting(), keyed) }},
	{"commute", "commute", []string{"hoist", "factor forward"}, func(s *state) {
		s.rewrite(s.noted("commute", "gathered before the product", s.slideOut),
			s.noted("commute", "gathered after the product", s.slideIn(s.has("invariant"))),
			s.noted("commute", "scaled after the product", unscale(s.has("invariant"))), s.hoisting(), keyed)
	}},
	{"fold", "commute", []string{"hoist", "commute"}, func(s *state) { s.rewrite(s.noted("commute", "a product of fewer columns", fold)) }},
	{"autodiff", "", []string{"hoist", "commute", "fold"}, autodiff},
	{"hoist gradients", "hoist", []string{"autodiff"}, func(s *state) { s.rewrite(simplify, hoist, keyed, transpose) }},
	{"commute gradients", "commute", []string{"hoist gradients"}, func(s *state) { s.rewrite(s.slideOut, s.gatherFirst, s.hoisting(), keyed) }},
	{"factor", "factor", []string{"hoist gradients"}, func(s *state) {
		s.rewrite(canon, s.noted("factor", "the own row leaves the edge", factor), s.hoisting(), keyed, simplify)
	}},
	{"share", "", []string{"autodiff", "factor"}, share},
	{"masks", "", []string{"autodiff", "factor"}, masks},
	{"views", "", []string{"autodiff", "factor"}, views},
	{"bases", "", []string{"commute gradients", "factor"}, bases},
	{"shares", "", []string{"factor"}, shares},
	{"inside", "", []string{"factor", "shares"}, sumsApart},
	{"slice", "slice", []string{"autodiff", "commute gradients", "factor"}, slice},
	{"by type", "", []string{"autodiff", "commute gradients", "factor", "slice"}, byType},
	{"storage", "", []string{"autodiff", "commute gradients", "factor", "slice"}, storage},
}

// hoisting is the rule hoist, or one that does nothing if pass hoist is left out. Other passes
// use it, as their rewriting often makes it possible to hoist more.
func (s *state) hoisting() Rule {
	if s.has("hoist") {
		return hoist
	}
	return func(*Node) *Node { return nil }
}

// Steps lists the names of the passes in the order in which they run: those that Options.Dump takes.
func Steps() []string {
	var names []string
	for _, p := range passes {
		names = append(names, p.name)
	}
	return names
}

// Passes lists the names that Options.Without takes.
func Passes() []string {
	set := map[string]bool{"fuse": true, "invariant": true, "recompute-on-load": true, "postpone": true}
	for _, p := range passes {
		if p.flag != "" {
			set[p.flag] = true
		}
	}
	out := make([]string, 0, len(set))
	for n := range set {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

func init() {
	seen := map[string]bool{}
	for _, p := range passes {
		for _, a := range p.after {
			if !seen[a] {
				panic(fmt.Sprintf("dataflow: pass %q must come after %q", p.name, a))
			}
		}
		seen[p.name] = true
	}
}

// Program is a traced model: results by name, a loss, and what to differentiate by.
type Program struct {
	Names []string // of Outs
	Outs  []*Node
	Loss  int     // index into Outs of a 1×1 Global; -1: nothing is differentiated
	Wrt   []*Node // leaves to differentiate by; the gradient of leaf w becomes result "grad:NAME"
	// Learn computes, from the gradient of vertex input w, the rows that w has in the next step and
	// those of the optimiser's state. If it is nil or returns nothing, the gradient is a result.
	Learn func(w, grad *Node) []Next
}

// Optimized is a program after the passes. It can be lowered several times with different options.
type Optimized struct {
	main, once []result
	notes      []Note
	opt        Options
	inside     *other // nil: the same
}

// Optimize runs the passes over p. Lower replaces opt.Lowering and keeps the other options.
func Optimize(p *Program, opt Options) *Optimized {
	s := &state{loss: p.Loss, wrt: p.Wrt, opt: opt, learn: p.Learn}
	for i, n := range p.Outs {
		s.outs = append(s.outs, result{name: p.Names[i], node: n})
	}
	return s.finished(0)
}

// finished runs the passes from one on.
func (s *state) finished(from int) *Optimized {
	opt := s.opt
	for _, ps := range passes[from:] {
		if ps.flag == "" || s.has(ps.flag) {
			ps.run(s)
			s.verify(ps.name)
		}
		if opt.Dump == ps.name && opt.Print != nil {
			opt.Print(Print(s.outs))
		}
	}
	inv := s.splitInvariant()
	for _, r := range inv {
		s.note("invariant", r.node, "computed once, before the first epoch")
	}
	return &Optimized{main: s.outs, once: inv, notes: s.notes, opt: opt, inside: s.inside}
}

// other makes, when it is asked for, the program with own rows inside sums.
type other struct {
	sync.Once
	from *state // before the passes that come after
	move func(*state) bool
	is   *Optimized // nil: there is nothing to move
}

// Inside tells whether Lowering.Inside makes a program another one.
func (o *Optimized) Inside() bool { return o.insideOf() != nil }

// insideOf is the program with own rows inside sums; nil: there is none.
func (o *Optimized) insideOf() *Optimized {
	x := o.inside
	if x == nil {
		return nil
	}
	x.Do(func() {
		if s := x.from; x.move(s) {
			s.verify("inside")
			x.is = s.finished(slices.IndexFunc(passes, func(p pass) bool { return p.name == "inside" }) + 1)
		}
		x.from = nil
	})
	return x.is
}

// Notes lists what the passes did to the user's operations.
func (o *Optimized) Notes() []Note { return o.notes }

// Lower turns the program into phases of kernel calls. main is what a step runs. once runs once,
// before the first step: its results "inv:HASH" are inputs of main of the same names. once is nil
// if nothing is invariant, or if pass invariant was left out and no features are packed. The
// error is that of a kernel that kernel.Program.Check refuses.
func (o *Optimized) Lower(l Lowering) (main, once *Lowered, err error) {
	opt := o.opt
	opt.Lowering = l
	if l.Inside && o.Inside() {
		return o.inside.is.Lower(l)
	}
	main = lower(o.main, opt)
	main.Notes = o.notes
	if len(o.once) > 0 {
		once = lower(o.once, opt)
	}
	for _, l := range []*Lowered{main, once} {
		if l == nil {
			continue
		}
		for _, k := range l.Kernels {
			if err := k.Check(); err != nil {
				return nil, nil, err
			}
		}
	}
	return main, once, nil
}

// Compile is Optimize and Lower.
func Compile(p *Program, opt Options) (main, once *Lowered, err error) {
	return Optimize(p, opt).Lower(opt.Lowering)
}

// autodiff adds a result "grad:NAME" for every leaf of wrt that the loss depends on, or, for
// learned vertex rows, the results that replace them in the next step.
func autodiff(s *state) {
	if s.loss < 0 {
		return
	}
	loss := s.outs[s.loss].node
	seed := loss.g.Const(1)
	for i, d := range Grad(loss, seed, s.wrt) {
		if d == nil || s.learned(s.wrt[i], d) {
			continue
		}
		s.outs = append(s.outs, result{name: "grad:" + s.wrt[i].attr.S, node: d})
	}
}

// simplify is a rule: 1·x = x, and a mask of ones is nonzero(x).
func simplify(n *Node) *Node {
	if n.op == MulOp {
		for i := range 2 {
			// The shapes differ if the ones have more rows than a Global, whose row they repeat.
			if isOne(n.in[i]) && n.in[1-i].shape == n.shape {
				return n.in[1-i]
			}
		}
	}
	if n.op == MaskOp && isOne(n.in[0]) && n.in[1].shape == n.shape {
		return Apply(NonzeroOp, Attr{}, n.in[1])
	}
	return nil
}

func isOne(n *Node) bool {
	for n.op == WidenOp || n.op == SpreadOp {
		n = n.in[0]
	}
	return n.op == ConstOp && n.attr.F == 1
}

// verify panics unless, after a pass, every node has the shape that its op's rule gives.
func (s *state) verify(pass string) {
	for _, n := range Live(s.nodes()) {
		d := n.Def()
		if len(n.in) == 0 {
			continue
		}
		in := make([]Shape, len(n.in))
		for i, x := range n.in {
			in[i] = x.shape
		}
		got, err := d.Shape(n.attr, in)
		if err != nil || got != n.shape {
			panic(fmt.Sprintf("dataflow: pass %s broke node %d (%s of %s): %v, want %v, got %v\n%s", pass, n.id, n.op, n.pos, err, n.shape, got, Print(s.outs)))
		}
		if d.Role.Product() && n.in[1].shape.Set.Kind != Global {
			panic(fmt.Sprintf("dataflow: pass %s: product %d of two row tensors", pass, n.id))
		}
	}
}

// Print writes a program as text, one node per line: number, op, operands, shape, file:line of
// the user, and the results' names.
func Print(outs []result) string {
	var b strings.Builder
	nodes := make([]*Node, len(outs))
	names := map[*Node][]string{}
	for i, o := range outs {
		nodes[i] = o.node
		names[o.node] = append(names[o.node], o.name)
	}
	number := map[*Node]int{}
	for i, n := range Live(nodes) {
		number[n] = i
		var in []string
		for _, x := range n.in {
			in = append(in, fmt.Sprintf("%%%d", number[x]))
		}
		fmt.Fprintf(&b, "%%%d = %s%s(%s) %v", i, n.op, n.attr, strings.Join(in, ", "), n.shape)
		if len(n.in) > 0 {
			fmt.Fprintf(&b, "  # %s", n.pos)
		}
		if names[n] != nil {
			fmt.Fprintf(&b, "  -> %s", strings.Join(names[n], ", "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
