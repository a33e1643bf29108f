package table

import "sagann/mine/pattern"

// Func is the value of an expression for whatever the row is when it is called. The numbers are those of Eval.
func (r *Row) Func(e *pattern.Expr) func() int64 {
	a, b := e.A, e.B
	switch e.Op {
	case pattern.Const:
		n := e.Value
		return func() int64 { return n }
	case pattern.Vertex:
		return func() int64 { return int64(r.at[a]) }
	case pattern.Label:
		if label := r.spec.Rows.Label; label != nil {
			return func() int64 { return int64(label[r.at[a]]) }
		}
		return func() int64 { return -1 }
	case pattern.Degree:
		return func() int64 { return r.Degree(a) }
	case pattern.EdgeLabel:
		return func() int64 { return r.EdgeLabel(a, b) }
	case pattern.Adjacent:
		return func() int64 { return number(r.Adjacent(a, b)) }
	case pattern.Not:
		f := r.Func(e.Args[0])
		return func() int64 { return 1 - f() }
	case pattern.And, pattern.Or:
		return r.each(e)
	}
	f, g := r.Func(e.Args[0]), r.Func(e.Args[1])
	switch e.Op {
	case pattern.Plus:
		return func() int64 { return f() + g() }
	case pattern.Minus:
		return func() int64 { return f() - g() }
	case pattern.Eq:
		return func() int64 { return number(f() == g()) }
	}
	return func() int64 { return number(f() < g()) }
}

// each is Func for And and Or.
func (r *Row) each(e *pattern.Expr) func() int64 {
	var list []func() int64
	for _, x := range e.Args {
		list = append(list, r.Func(x))
	}
	ends := number(e.Op == pattern.Or)
	return func() int64 {
		for _, f := range list {
			if f() == ends {
				return ends
			}
		}
		return 1 - ends
	}
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
