package dataset

import (
	"fmt"
	"math"
	"strings"

	"sagann/dataset/npy"
	"sagann/dataset/pickle"
)

// sparseOf reads a sparse tensor with two dimensions: its layout, and its parts, which are dense tensors. ok is
// false when x is something else.
func (f *torchFile) sparseOf(x any, name string) (m *csr, ok bool, err error) {
	r, isRecord := x.(*pickle.Record)
	if !isRecord || r.Class.Name != "_rebuild_sparse_tensor" {
		return nil, false, nil
	}
	fail := func(format string, args ...any) (*csr, bool, error) {
		return nil, true, fmt.Errorf("%s: sparse tensor %s: %w", f.pkl, name, fmt.Errorf(format, args...))
	}
	if len(r.Args) < 2 {
		return fail("%d arguments", len(r.Args))
	}
	parts, isTuple := r.Args[1].(pickle.Tuple)
	layout, _ := r.Args[0].(*pickle.Record)
	if !isTuple || layout == nil || len(layout.Args) == 0 {
		return fail("no layout and parts")
	}
	kind, _ := layout.Args[0].(string)
	kind = strings.TrimPrefix(kind, "torch.sparse_")
	want := map[string]int{"coo": 3, "csr": 4, "csc": 4}[kind]
	if want == 0 {
		return fail("layout %.40q: only coo, csr and csc are read", kind)
	}
	if len(parts) < want {
		return fail("%d parts", len(parts))
	}
	shape, err := sizes(parts[want-1])
	if err == nil && (len(shape) != 2 || shape[0] > math.MaxInt32 || shape[1] > math.MaxInt32) {
		err = fmt.Errorf("shape %.5v: want two dimensions", shape)
	}
	if err != nil {
		return fail("%w", err)
	}
	arrays := make([]*npy.Array, want-1)
	for i := range arrays {
		if arrays[i], err = f.array(parts[i], name); err != nil {
			return nil, true, err
		}
	}
	m = &csr{rows: shape[0], cols: shape[1]}
	if m.data, err = finite(arrays[want-2], 1); err != nil {
		return nil, true, err
	}
	a, err := arrays[0].Int64s()
	if err != nil {
		return nil, true, err
	}
	var b []int64
	if kind == "coo" { // both are rows of one tensor
		n := len(m.data)
		if len(a) != 2*n {
			return fail("%d indices for %d values", len(a), n)
		}
		a, b = a[:n], a[n:]
	} else if b, err = arrays[1].Int64s(); err != nil {
		return nil, true, err
	}
	if m, err = m.from(kind, a, b); err != nil {
		return fail("%w", err)
	}
	return m, true, nil
}

// transposed is m with rows and columns exchanged.
func (m *csr) transposed() (*csr, error) {
	row := make([]int64, len(m.indices))
	for r := range m.rows {
		for i := m.indptr[r]; i < m.indptr[r+1]; i++ {
			row[i] = int64(r)
		}
	}
	return (&csr{rows: m.cols, cols: m.rows, data: m.data}).from("coo", m.indices, row)
}
