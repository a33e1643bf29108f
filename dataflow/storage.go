package dataflow

import (
	"fmt"

	"sagann/chunk"
)

// Storage. With Options.Storage "bf16", rows that gathers read at the far end of their edges are
// stored, copied and gathered as bfloat16. Tensors have no dtype for that. Op pack puts the F
// columns of a row into ceil(F/2) words of 32 bits, two columns per word, and op unpack restores
// the columns on the edge. So placement, copies and budgets just see narrower rows.
// Own rows, sums and accumulators stay float32.

// Storages of Options.Storage.
const (
	StorageF32  = "f32" // or "": rows as they are computed
	StorageBF16 = "bf16"
)

// The two ops; package ops declares them.
const (
	PackOp   Op = "pack"   // [V×F] to [V×ceil(F/2)] words: the even column in the low half
	UnpackOp Op = "unpack" // words to the columns that they hold, Attr.I of them
)

// leastPacked is the smallest width, in columns, at which rows are packed. A row of 8 floats
// already is one sector of a GPU's memory, and attention scores and scalars are that narrow.
const leastPacked = 16

// keyedBlock must divide the width of a block if edges pick blocks of columns by key from packed
// rows: every block then begins at a multiple of 16 bytes.
const keyedBlock = 8

// packing rewrites a program for packed rows.
type packing struct {
	s       *state
	g       *Graph
	derived map[*Node]recipe
	plain   map[*Node]bool // never packed
	memo    map[seen]*Node
	far     map[*Node]*Node // what edges scatter from the far end in place of a vertex node
}

// seen is node n within an edge program whose far end is read by scatter end; "" outside of edge
// programs. One node may be in several programs.
type seen struct {
	n   *Node
	end Op
}

// storage is the pass. It puts a pack before and an unpack after every scatter that reads the far
// end of a gather's edges. Values that recompute-on-load makes when a chunk arrives are made from
// the packed rows. Gathers that are computed once (pass invariant) stay as they are.
func storage(s *state) {
	if s.opt.Storage != StorageBF16 {
		return
	}
	p := &packing{s: s, g: newMerged(), plain: map[*Node]bool{}, memo: map[seen]*Node{}, far: map[*Node]*Node{}}
	nodes := s.nodes()
	ph := &phases{live: Live(nodes), derived: map[*Node]recipe{}}
	if s.has("recompute-on-load") {
		ph.chooseDerived()
	}
	p.derived = ph.derived
	for _, n := range ph.live {
		if isScatter(n.op) && n.attr.S != "" && n.shape.Cols%keyedBlock != 0 {
			p.plain[n.in[0]] = true
		}
	}
	for i := range s.outs {
		s.outs[i].node = p.walk(s.outs[i].node, "")
	}
	p.g.at = ""
}

// walk is n in the new graph.
func (p *packing) walk(n *Node, end Op) *Node {
	switch {
	case n.shape.Set.Kind == Edge:
	case root(n) && (n.vary || !p.s.has("invariant")):
		if end = ScatterSrcOp; dirOf(n) == ScatterSrcOp {
			end = ScatterDstOp
		}
	default:
		end = ""
	}
	k := seen{n, end}
	if m := p.memo[k]; m != nil {
		return m
	}
	var m *Node
	if isScatter(n.op) && n.op == end {
		m = p.scatter(n)
	} else {
		m = p.copy(n, func(x *Node) *Node { return p.walk(x, end) })
	}
	p.memo[k] = m
	return m
}

// copy is n over other operands.
func (p *packing) copy(n *Node, operand func(*Node) *Node) *Node {
	in := make([]*Node, len(n.in))
	for i, x := range n.in {
		in[i] = operand(x)
	}
	p.g.at = n.pos
	return p.g.add(n.op, n.attr, n.shape, in...)
}

// scatter is n, which reads the far end of edges.
func (p *packing) scatter(n *Node) *Node {
	x := p.arriving(n.in[0])
	p.g.at = n.pos
	m := Apply(n.op, n.attr, x)
	if x.op == PackOp {
		m = unpack(m, n.shape.Cols)
	}
	return m
}

// arriving is vertex node x as edges read it at the far end, packed or not.
func (p *packing) arriving(x *Node) *Node {
	if m := p.far[x]; m != nil {
		return m
	}
	var m *Node
	if r, ok := p.derived[x]; ok {
		base := map[*Node]bool{}
		for _, y := range r.bases {
			base[y] = true
		}
		m = p.remake(x, base)
	} else {
		m = p.walk(x, "")
	}
	if p.packs(x) {
		p.g.at = x.pos
		m = Apply(PackOp, Attr{}, m)
	}
	p.far[x] = m
	return m
}

// remake computes x, which is derived on arrival, from its bases as they arrive.
func (p *packing) remake(x *Node, base map[*Node]bool) *Node {
	return p.copy(x, func(y *Node) *Node {
		switch {
		case base[y]:
			m := p.arriving(y)
			if m.op == PackOp {
				p.g.at = y.pos
				m = unpack(m, y.shape.Cols)
			}
			return m
		case y.shape.Set.Kind == Global:
			return p.walk(y, "")
		}
		return p.remake(y, base)
	})
}

// packs tells whether x is packed where edges read it at the far end, and notes it.
func (p *packing) packs(x *Node) bool {
	f := x.shape.Cols
	if f < leastPacked {
		return false
	}
	what := fmt.Sprintf("gathered as bfloat16: %d bytes a row instead of %d", 4*chunk.LD((f+1)/2), 4*chunk.LD(f))
	switch {
	case x.Def().Exact:
		what = "gathered as float32: its numbers are compared or exponents"
	case p.plain[x]:
		what = fmt.Sprintf("gathered as float32: edges pick blocks of it whose width is no multiple of %d", keyedBlock)
	}
	named := *x
	if x.op == InputOp { // an input that the engine provides has no line of the user's: name it
		named.op += Op(" " + x.attr.S)
	}
	p.s.note("storage", &named, what)
	return !x.Def().Exact && !p.plain[x]
}

func unpack(x *Node, cols int) *Node { return Apply(UnpackOp, Attr{I: int32(cols)}, x) }
