package ops

import (
	"fmt"

	"sagann/dataflow"
)

// join is the row set of a result computed row by row from in. All operands must have
// the same row set, except Globals of one row. It does not check
// widths; the result has the width of in[0].
func join(in []shape) (shape, error) {
	s := in[0]
	for _, t := range in[1:] {
		a, b := s.Set.Kind, t.Set.Kind
		switch {
		case a == dataflow.Global && b == dataflow.Global:
			if s.Rows != t.Rows && s.Rows != 1 && t.Rows != 1 {
				return s, fmt.Errorf("matrices of %d and %d rows: both must have the same number", s.Rows, t.Rows)
			}
			s.Rows = max(s.Rows, t.Rows)
		case a == dataflow.Global:
			if s.Rows != 1 {
				return s, wholeMatrix(s, t)
			}
			s.Set, s.Rows = t.Set, t.Rows
		case b == dataflow.Global:
			if t.Rows != 1 {
				return s, wholeMatrix(t, s)
			}
		case a != b:
			return s, fmt.Errorf("%s and %s: rows of vertices have a row for each edge as Edge.Src or Edge.Dst, and rows of edges are added up for each vertex by Gather", rows(s), rows(t))
		case s.Set != t.Set:
			return s, fmt.Errorf("rows of different %s sets (%v and %v)", rows(s), s.Set, t.Set)
		}
	}
	return s, nil
}

func wholeMatrix(m, x shape) error {
	return fmt.Errorf("a matrix of %d rows meets %s: only a matrix of one row spreads over them", m.Rows, rows(x))
}

// rows describes the row set of s, for errors.
func rows(s shape) string {
	switch s.Set.Kind {
	case dataflow.Vertex:
		return "vertices"
	case dataflow.Edge:
		return "edges"
	}
	return fmt.Sprintf("a matrix of %d rows", s.Rows)
}

// same is the shape rule of element-wise ops: all operands have the same row set and width.
func same(_ attr, in []shape) (shape, error) {
	for _, t := range in[1:] {
		if t.Cols != in[0].Cols {
			return in[0], fmt.Errorf("widths %d and %d differ", in[0].Cols, t.Cols)
		}
	}
	return join(in)
}

// alike is the shape rule of Row ops whose operands are read row by row: all have the same row
// set, and Globals are not broadcast. The op checks the widths.
func alike(in []shape) error {
	for _, t := range in[1:] {
		if _, err := join([]shape{in[0], t}); err != nil {
			return err
		}
		if t.Set != in[0].Set || t.Rows != in[0].Rows {
			return fmt.Errorf("%s and %s: the rows must stand for the same things", rows(in[0]), rows(t))
		}
	}
	return nil
}

// column fails unless s has one column; what names the operand.
func column(what string, s shape) error {
	if s.Cols != 1 {
		return fmt.Errorf("%s must have one column, not %d", what, s.Cols)
	}
	return nil
}

// fit turns d, a gradient with the rows of a result, into a gradient of the
// operand x. If x is a Global that was broadcast, that is the sum over the rows.
func fit(x, d *Node) *Node {
	if x.Shape().Set.Kind == dataflow.Global && x.Shape() != d.Shape() {
		return SumRows(d)
	}
	return d
}
