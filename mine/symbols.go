package mine

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"sagann/mine/pattern"
)

// Match stands for any match, in the condition given to Where. Its methods take the numbers of
// pattern vertices and return symbols. The condition runs once, before the search, and builds an
// expression. The search evaluates each part of the expression as soon as the vertices in it are
// bound. So Go's own if and for inside a condition cannot depend on the graph.
type Match struct{ n int }

// Int is an integer of 64 bits that depends on the match; sums wrap around, as Go's. Make it with the methods of
// Match and Const.
type Int struct{ e *pattern.Expr }

// Bool is a truth value that depends on the match. Make it with Adjacent and comparisons.
type Bool struct{ e *pattern.Expr }

// Vertices is the number of vertices of the pattern.
func (m Match) Vertices() int { return m.n }

// Vertex is the number, in the user's graph, of the vertex that i is mapped to.
func (m Match) Vertex(i int) Int { return m.leaf(pattern.Vertex, i) }

// Label is the label of the vertex that i is mapped to, -1 without one.
func (m Match) Label(i int) Int { return m.leaf(pattern.Label, i) }

// Degree is the number of neighbours in the graph of the vertex that i is mapped to.
func (m Match) Degree(i int) Int { return m.leaf(pattern.Degree, i) }

// EdgeLabel is the label of the edge between the vertices that i and j are mapped to, -1 if they
// are not neighbours. The graph must have labels of edges.
func (m Match) EdgeLabel(i, j int) Int {
	m.check(i)
	m.check(j)
	return Int{&pattern.Expr{Op: pattern.EdgeLabel, A: i, B: j}}
}

// Adjacent reports whether the vertices that i and j are mapped to are neighbours.
func (m Match) Adjacent(i, j int) Bool {
	m.check(i)
	m.check(j)
	return Bool{&pattern.Expr{Op: pattern.Adjacent, A: i, B: j}}
}

func (m Match) leaf(op pattern.Op, i int) Int {
	m.check(i)
	return Int{&pattern.Expr{Op: op, A: i}}
}

// check raises a conditionError if the pattern has no vertex i.
func (m Match) check(i int) {
	if i < 0 || i >= m.n {
		raise("pattern vertex %d: the pattern has 0 to %d", i, m.n-1)
	}
}

// Const is a number.
func Const(n int64) Int { return Int{&pattern.Expr{Op: pattern.Const, Value: n}} }

// Plus is a + b; it wraps around as Go's int64 does.
func (a Int) Plus(b Int) Int { return Int{node(pattern.Plus, a.e, b.e)} }

// Minus is a - b; it wraps around as Go's int64 does.
func (a Int) Minus(b Int) Int { return Int{node(pattern.Minus, a.e, b.e)} }

// Eq is a = b.
func (a Int) Eq(b Int) Bool { return Bool{node(pattern.Eq, a.e, b.e)} }

// Ne is a ≠ b.
func (a Int) Ne(b Int) Bool { return a.Eq(b).Not() }

// Less is a < b.
func (a Int) Less(b Int) Bool { return Bool{node(pattern.LessThan, a.e, b.e)} }

// More is a > b.
func (a Int) More(b Int) Bool { return b.Less(a) }

// AtMost is a ≤ b.
func (a Int) AtMost(b Int) Bool { return b.Less(a).Not() }

// AtLeast is a ≥ b.
func (a Int) AtLeast(b Int) Bool { return a.Less(b).Not() }

// And holds if both do.
func (a Bool) And(b Bool) Bool { return Bool{node(pattern.And, a.e, b.e)} }

// Or holds if at least one of the two does.
func (a Bool) Or(b Bool) Bool { return Bool{node(pattern.Or, a.e, b.e)} }

// Not holds if a does not.
func (a Bool) Not() Bool { return Bool{node(pattern.Not, a.e)} }

func node(op pattern.Op, args ...*pattern.Expr) *pattern.Expr {
	for _, x := range args {
		if x == nil {
			raise("the zero value of Int or Bool was used: make values with the methods of Match and with Const")
		}
	}
	return &pattern.Expr{Op: op, Args: args}
}

// conditionError is what the methods of symbols panic with; trace recovers it.
type conditionError struct{ text string }

// raise panics with the place in the user's code.
func raise(format string, a ...any) {
	where := ""
	pc := make([]uintptr, 16)
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "sagann/mine.") {
			where = fmt.Sprintf(" (%s:%d)", f.File, f.Line)
			break
		}
		if !more {
			break
		}
	}
	panic(conditionError{fmt.Sprintf(format, a...) + where})
}

// trace runs a condition, or what else it is, on symbols.
func trace(what string, f func(Match) Bool, n int) (e *pattern.Expr, err error) {
	if f == nil {
		return nil, nil
	}
	defer func() {
		if r := recover(); r != nil {
			c, ok := r.(conditionError)
			if !ok {
				err = fmt.Errorf("mine: the %s panicked: %v", what, r)
				return
			}
			err = fmt.Errorf("mine: in the %s: %s", what, c.text)
		}
	}()
	b := f(Match{n})
	if b.e == nil {
		return nil, errors.New("mine: the condition returned the zero Bool")
	}
	return b.e, nil
}
