package dataflow

import (
	"fmt"
	"strings"
)

// Kind says what a row of a tensor stands for.
type Kind uint8

const (
	Global Kind = iota // one matrix, the same for every row of the graph
	Vertex             // one row per vertex
	Edge               // one row per edge
)

// Set names a row set. A full graph has a vertex set for each type of vertices and an edge set for each
// relation, all with ID 0; set.go has those of sampled blocks.
type Set struct {
	Kind     Kind
	ID       uint8
	Type     uint16 // of a vertex set: the number of the vertices' type; of an edge set: the number of the relation
	Src, Dst uint16 // of an edge set: the types of sources and of destinations
}

// V0 and E0 are the vertices and the edges of a full graph of one type and one relation.
var (
	V0 = Set{Kind: Vertex}
	E0 = Set{Kind: Edge}
)

// Shape of a tensor: its row set and its width in columns. Rows is set for a Global only; how
// many rows the other sets have is known when the program runs.
type Shape struct {
	Set        Set
	Rows, Cols int
}

// String prints [V×16], [E×1] or [32×16].
func (s Shape) String() string {
	if s.Set.Kind == Global {
		return fmt.Sprintf("[%d×%d]", s.Rows, s.Cols)
	}
	return fmt.Sprintf("[%v×%d]", s.Set, s.Cols)
}

// Attr holds an op's constants. It is comparable, as it is part of what makes two nodes equal.
type Attr struct {
	I, J int32
	F    float32
	S    string
	E    Set // of a scatter: its edges; the zero Set: those of the first relation, within the first type
}

// String prints the fields that are set, such as {type 3}; "" if none is.
func (a Attr) String() string {
	var p []string
	if a.S != "" {
		p = append(p, a.S)
	}
	if a.I != 0 {
		p = append(p, fmt.Sprint(a.I))
	}
	if a.J != 0 {
		p = append(p, fmt.Sprint(a.J))
	}
	if a.F != 0 {
		p = append(p, fmt.Sprint(a.F))
	}
	if len(p) == 0 {
		return ""
	}
	return "{" + strings.Join(p, " ") + "}"
}

// Node is one operation of a traced program: a tensor, not yet computed.
type Node struct {
	g     *Graph
	id    int
	op    Op
	def   *Def // of op
	attr  Attr
	in    []*Node
	shape Shape
	pos   string
	vary  bool // may change between epochs: depends on a parameter, the step, a sampled block or an Effect
	read  int  // while rules look at nodes: how many operands and results it was before them
}

// ID is the node's number in its graph; operands have smaller ones.
func (n *Node) ID() int { return n.id }

// Op is the operation.
func (n *Node) Op() Op { return n.op }

// Attr holds the operation's constants.
func (n *Node) Attr() Attr { return n.attr }

// In is operand i.
func (n *Node) In(i int) *Node { return n.in[i] }

// NumIn counts the operands.
func (n *Node) NumIn() int { return len(n.in) }

// Shape is the tensor's row set and width. For a nil node it is the zero Shape, so that
// the op which takes that node as operand reports it as missing.
func (n *Node) Shape() Shape {
	if n == nil {
		return Shape{}
	}
	return n.shape
}

// Cols is the tensor's width, 0 for a nil node.
func (n *Node) Cols() int { return n.Shape().Cols }

// Pos is the user's file:line that made the node; "grad of file:line" for gradients.
func (n *Node) Pos() string { return n.pos }

// Graph is the program the node belongs to.
func (n *Node) Graph() *Graph { return n.g }

// Def is the declaration of the node's op.
func (n *Node) Def() *Def { return n.def }

type nodeKey struct {
	op  Op
	a   Attr
	set Set // leaves only: one name may be used on several row sets
	in  [8]int32
}

// Graph is a program under construction. After tracing, passes merge equal nodes into one.
type Graph struct {
	nodes []*Node
	cse   map[nodeKey]*Node // common subexpressions; nil while tracing: merging would credit the wrong line
	at    string            // origin given to nodes made by autodiff and passes
}

// NewTrace makes a graph that keeps every node the user writes, equal ones too.
func NewTrace() *Graph { return &Graph{} }

func newMerged() *Graph { return &Graph{cse: map[nodeKey]*Node{}} }

// ShapeError is the value that Apply panics with inside a trace when operands do not fit
// the op; saga.Compile returns it as an error.
type ShapeError struct {
	Op  Op
	Pos string
	In  []Shape
	Err error
}

// Error gives file:line, the op, the operands' shapes and what is wrong.
func (e *ShapeError) Error() string {
	s := make([]string, len(e.In))
	for i, x := range e.In {
		s[i] = x.String()
	}
	return fmt.Sprintf("%s: %s(%s): %v", e.Pos, e.Op, strings.Join(s, ", "), e.Err)
}

// Unwrap is what is wrong.
func (e *ShapeError) Unwrap() error { return e.Err }

// Origin makes name the position of all nodes added from now on, in place of the user's
// file:line. "" ends it.
func (g *Graph) Origin(name string) { g.at = name }

func (g *Graph) origin() string {
	if g.at != "" {
		return g.at
	}
	return caller()
}

// Leaf adds an input of the program. op is InputOp (data), ParamOp or ConstOp.
func (g *Graph) Leaf(op Op, name string, s Shape) *Node {
	return g.add(op, Attr{S: name}, s)
}

// Variable adds an input that may change between steps, such as learned rows: passes do not
// treat it as constant, and gradients can be taken with respect to it.
func (g *Graph) Variable(name string, s Shape) *Node {
	return g.add(InputOp, Attr{S: name, J: 1}, s)
}

// Const is a 1×1 Global of value x.
func (g *Graph) Const(x float32) *Node {
	return g.add(ConstOp, Attr{F: x}, Shape{Rows: 1, Cols: 1})
}

// Apply adds an operation to the graph of its operands. It panics with a *ShapeError if an
// operand is missing, belongs to another graph, or has a shape that the op refuses.
func Apply(op Op, a Attr, in ...*Node) *Node {
	d := DefOf(op)
	if n := absentOf(op, in); n != nil {
		return n
	}
	for i, x := range in {
		if x == nil || x.g == nil {
			panic(&ShapeError{op, caller(), nil, fmt.Errorf("operand %d is missing: the graph or the layer does not have it", i)})
		}
	}
	g := in[0].g
	shapes := make([]Shape, len(in))
	for i, x := range in {
		if x.g != g {
			panic(&ShapeError{op, g.origin(), nil, fmt.Errorf("operand %d belongs to another program", i)})
		}
		shapes[i] = x.shape
	}
	s, err := d.Shape(a, shapes)
	if err != nil {
		panic(&ShapeError{op, g.origin(), shapes, err})
	}
	return g.add(op, a, s, in...)
}

// absentOp stands for a tensor that there is not, such as the sum of messages for vertices of a type that has no in-edges.
const absentOp Op = "absent"

// Absent stands for a tensor that there is not. A sum with it is the other operand (AddOp), unless that is one row for all rows, as a bias
// is; any other op of it is absent, too. Its width is 0.
func (g *Graph) Absent() *Node { return &Node{g: g, op: absentOp, pos: g.origin()} }

// IsAbsent tells whether n stands for a tensor that there is not.
func (n *Node) IsAbsent() bool { return n != nil && n.op == absentOp }

// absentOf is the result of op on operands of which some are absent; nil: none is.
func absentOf(op Op, in []*Node) *Node {
	for i, x := range in {
		if !x.IsAbsent() {
			continue
		}
		if op == AddOp && len(in) == 2 && in[1-i] != nil {
			if s := in[1-i].shape; s.Set.Kind != Global || s.Rows != 1 {
				return in[1-i]
			}
		}
		return x
	}
	return nil
}

func (g *Graph) add(op Op, a Attr, s Shape, in ...*Node) *Node {
	var k nodeKey
	if g.cse != nil {
		k = nodeKey{op: op, a: a}
		if len(in) == 0 {
			k.set = s.Set
		}
		for i, x := range in {
			k.in[i] = int32(x.id) + 1
		}
		if n := g.cse[k]; n != nil {
			return n
		}
	}
	n := &Node{g: g, id: len(g.nodes), op: op, def: DefOf(op), attr: a, in: in, shape: s, pos: g.origin()}
	n.vary = op == ParamOp || op == InputOp && (a.S == StepInput || a.J != 0 || s.Set.ID > 0) || n.def.Effect
	for _, x := range in {
		n.vary = n.vary || x.vary
	}
	g.nodes = append(g.nodes, n)
	if g.cse != nil {
		g.cse[k] = n
	}
	return n
}

// Varies tells whether the value may change between epochs. What does not vary
// depends on the graph and on constant features only.
func (n *Node) Varies() bool { return n.vary }

// nodeSet is a set of nodes of one graph, by their numbers: cheaper than a map of nodes.
type nodeSet []bool

func (s nodeSet) has(n *Node) bool { return n.id < len(s) && s[n.id] }

// add tells whether n is new.
func (s *nodeSet) add(n *Node) bool {
	if n.id >= len(*s) {
		*s = append(*s, make([]bool, max(n.id+1, len(n.g.nodes))-len(*s))...)
	}
	old := (*s)[n.id]
	(*s)[n.id] = true
	return !old
}

// numbered has a value for some nodes of one graph, by their numbers.
type numbered[T any] struct {
	at   []T
	some nodeSet
}

// get is the value of n, and whether it has been set.
func (m *numbered[T]) get(n *Node) (x T, ok bool) {
	if m.some.has(n) {
		return m.at[n.id], true
	}
	return x, false
}

// of is the value of n, the zero value if none has been set.
func (m *numbered[T]) of(n *Node) T {
	x, _ := m.get(n)
	return x
}

func (m *numbered[T]) set(n *Node, x T) {
	m.some.add(n)
	m.at = append(m.at, make([]T, len(m.some)-len(m.at))...)
	m.at[n.id] = x
}

// Live lists outs and all nodes that they depend on, operands first. Entries of outs may be nil.
func Live(outs []*Node) []*Node {
	var seen nodeSet
	var order []*Node
	var walk func(n *Node)
	walk = func(n *Node) {
		if !seen.add(n) {
			return
		}
		for _, x := range n.in {
			walk(x)
		}
		order = append(order, n)
	}
	for _, o := range outs {
		if o != nil {
			walk(o)
		}
	}
	return order
}
