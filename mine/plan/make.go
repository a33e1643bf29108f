package plan

import (
	"fmt"
	"slices"

	"sagann/mine/pattern"
)

// Options say how a plan is made. Its matching order is the argument of New.
type Options struct {
	// Descending reverses the order constraints: the last match of each orbit is kept.
	Descending bool
	// ByID says that the graph's vertices are in the order of the user's numbers. Then conditions
	// that compare these numbers become windows.
	ByID bool
	// List asks for a plan that lists matches: the last two levels are loops, too.
	List bool
	// NoReuse has every level make all sets that it needs itself, right before its loop.
	NoReuse bool
}

// WithoutReuse is the same plan made with Options.NoReuse.
func (p *Plan) WithoutReuse() (*Plan, error) {
	opt := p.opt
	opt.NoReuse = true
	return New(p.Pattern, p.Where, p.Order, opt)
}

// New makes the plan that binds pattern vertices in the given order. Each vertex but the first
// must be adjacent to one before it. p must have passed Pattern.Check, and where, unless it is nil,
// Expr.Check.
func New(p pattern.Pattern, where *pattern.Expr, order []int, opt Options) (*Plan, error) {
	n := p.Vertices()
	pl := &Plan{Pattern: p, Where: where, Order: slices.Clone(order), At: make([]int, n), opt: opt}
	for i := range pl.At {
		pl.At[i] = slices.Index(order, i)
	}
	if len(order) != n || slices.Contains(pl.At, -1) {
		return nil, fmt.Errorf("plan: the order %v does not list the %d vertices of the pattern", order, n)
	}
	group := p.Group(where)
	pl.Group, pl.Less = len(group), pattern.Break(group, order)
	if opt.Descending {
		for i, l := range pl.Less {
			pl.Less[i] = pattern.Less{A: l.B, B: l.A}
		}
	}
	b := builder{Plan: pl, must: p}
	rest := b.absorb(where.Conjuncts())
	if err := b.levels(); err != nil {
		return nil, err
	}
	b.push(rest)
	b.sets()
	if !opt.List {
		pl.Pair = b.pair()
	}
	return pl, nil
}

// builder makes a plan.
type builder struct {
	*Plan
	must  pattern.Pattern // the pattern with edges and marks from conditions; for sets only
	extra []pattern.Less  // order constraints from conditions; for windows only
	chain [][]int         // by level: the sets it is made from, from a row of neighbours to the candidates
}

// absorb turns conjuncts into edges, marks and windows where it can, and returns the
// others. It does not change the group, which follows from the pattern as the user wrote it.
func (b *builder) absorb(all []*pattern.Expr) (rest []*pattern.Expr) {
	for _, e := range all {
		inner := e
		if e.Op == pattern.Not {
			inner = e.Args[0]
		}
		i, j := inner.A, inner.B
		switch {
		case inner.Op == pattern.Adjacent && i != j && e == inner && !b.must.Apart(i, j):
			b.must = b.must.WithEdge(i, j)
		case inner.Op == pattern.Adjacent && i != j && e != inner && !b.must.Adjacent(i, j):
			b.must = b.must.WithApart(i, j)
		case b.opt.ByID && e.Op == pattern.LessThan && e.Args[0].Op == pattern.Vertex && e.Args[1].Op == pattern.Vertex && e.Args[0].A != e.Args[1].A:
			b.extra = append(b.extra, pattern.Less{A: e.Args[0].A, B: e.Args[1].A})
		default:
			rest = append(rest, e)
		}
	}
	return rest
}

// levels makes the loops with their windows.
func (b *builder) levels() error {
	for l, v := range b.Order {
		level := Level{Vertex: v, From: None, Label: b.Pattern.Label(v)}
		if l == 0 {
			level.Degree = b.Pattern.Degree(v)
		}
		reached := l == 0
		for m, w := range b.Order[:l] {
			reached = reached || b.Pattern.Adjacent(v, w)
			ordered := false
			for _, less := range slices.Concat(b.Less, b.extra) {
				if less == (pattern.Less{A: w, B: v}) {
					level.Above, ordered = append(level.Above, m), true
				}
				if less == (pattern.Less{A: v, B: w}) {
					level.Below, ordered = append(level.Below, m), true
				}
			}
			if !ordered && !unlike(level.Label, b.Pattern.Label(w)) && !b.must.Adjacent(v, w) {
				level.Apart = append(level.Apart, m)
			}
		}
		if !reached {
			return fmt.Errorf("plan: in the order %v pattern vertex %d has no neighbour before it", b.Order, v)
		}
		level.Above, level.Below = slices.Compact(level.Above), slices.Compact(level.Below)
		b.Levels = append(b.Levels, level)
	}
	return nil
}

// unlike reports whether the two labels exclude each other.
func unlike(a, b int32) bool { return a != b && a != pattern.AnyLabel && b != pattern.AnyLabel }

// push puts each condition at the first level that binds all its vertices.
func (b *builder) push(rest []*pattern.Expr) {
	for _, e := range rest {
		l := 0
		for v, at := range b.At {
			if e.Vertices()>>v&1 == 1 {
				l = max(l, at)
			}
		}
		b.Levels[l].Where = append(b.Levels[l].Where, e)
	}
}

// pair decides how the last two levels can be counted together.
func (b *builder) pair() Pair {
	last := b.Last()
	if last < 2 {
		return NoPair
	}
	x, y := &b.Levels[last-1], &b.Levels[last]
	v, w := x.Vertex, y.Vertex
	if b.must.Adjacent(v, w) || b.must.Apart(v, w) || len(x.Where)+len(y.Where) > 0 || b.Sets[y.From].Level > last-2 {
		return NoPair
	}
	inOrder := slices.Contains(y.Above, last-1) || slices.Contains(y.Below, last-1)
	labelled := x.Label != pattern.AnyLabel || y.Label != pattern.AnyLabel
	switch {
	case !inOrder && !labelled:
		return Product
	case !inOrder && unlike(x.Label, y.Label):
		return Unlike
	case !inOrder || x.Label != y.Label:
		return NoPair
	}
	without := func(s []int) []int {
		return slices.DeleteFunc(slices.Clone(s), func(l int) bool { return l == last-1 })
	}
	if x.From == y.From && slices.Equal(x.Above, without(y.Above)) && slices.Equal(x.Below, without(y.Below)) && slices.Equal(x.Apart, y.Apart) {
		return Unordered
	}
	return NoPair
}
