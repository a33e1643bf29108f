package saga_test

import "slices"

// matrix is rows of float64.
type matrix struct {
	rows, cols int
	x          []float64
}

func newMatrix(rows, cols int) *matrix { return &matrix{rows, cols, make([]float64, rows*cols)} }

func (m *matrix) row(i int) []float64 { return m.x[i*m.cols:][:m.cols] }

func (m *matrix) times(w *matrix) *matrix {
	out := newMatrix(m.rows, w.cols)
	for i := range m.rows {
		for k, a := range m.row(i) {
			for j, b := range w.row(k) {
				out.x[i*w.cols+j] += a * b
			}
		}
	}
	return out
}

// each is f of every number and its place in the row; nil of nil.
func (m *matrix) each(f func(i, j int, x float64) float64) *matrix {
	if m == nil {
		return nil
	}
	out := newMatrix(m.rows, m.cols)
	for k, x := range m.x {
		out.x[k] = f(k/m.cols, k%m.cols, x)
	}
	return out
}

func (m *matrix) scaled(by []float64) *matrix {
	return m.each(func(i, _ int, x float64) float64 { return x * by[i] })
}

// plus leaves out what is absent.
func (m *matrix) plus(y *matrix) *matrix {
	if m == nil || y == nil {
		return max2(m, y)
	}
	return m.each(func(i, j int, x float64) float64 { return x + y.row(i)[j] })
}

// max2 is the one that is there.
func max2(a, b *matrix) *matrix {
	if a == nil {
		return b
	}
	return a
}

func (m *matrix) at(rows []int) *matrix {
	out := newMatrix(len(rows), m.cols)
	for i, v := range rows {
		copy(out.row(i), m.row(v))
	}
	return out
}

func stacked(a, b *matrix) *matrix {
	if a == nil {
		return b
	}
	return &matrix{a.rows + b.rows, a.cols, slices.Concat(a.x, b.x)}
}
