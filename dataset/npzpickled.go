package dataset

import (
	"fmt"
	"slices"

	"sagann/dataset/npy"
	"sagann/dataset/pickle"
)

// pickledNames maps our names to the names in archives of sparse matrices.
var pickledNames = map[string][]string{
	"features": {"node_attr", "attr_matrix", "features", "x"},
	"labels":   {"labels", "node_label", "node_labels", "y"},
	"train":    {"train_mask", "train_idx", "idx_train"},
	"val":      {"val_mask", "val_idx", "idx_val"},
	"test":     {"test_mask", "test_idx", "idx_test"},
}

// pickled reads the adjacency matrix, a SciPy matrix that is stored as a Python object, and names the other arrays.
func (n *named) pickled(z npyArchive) error {
	list := z.Names()
	adj := "adj_matrix"
	if !slices.Contains(list, adj) {
		adj = "adj"
	}
	m, a, isObject, err := readObject(z, adj)
	if err != nil {
		return err
	}
	if !isObject || m == nil {
		return fmt.Errorf("%s: %s: the adjacency is no sparse matrix; scipy.sparse.save_npz(\"graph.npz\", scipy.sparse.csr_matrix(a)) makes one of an array a", n.arrays.(reopened).path, adj)
	}
	if err := n.adjacency(m, a); err != nil {
		return err
	}
	n.names = otherwise(list, pickledNames)
	for ours, theirs := range pickledNames {
		if slices.Contains(list, ours) {
			n.names[ours] = theirs[slices.IndexFunc(theirs, func(name string) bool { return slices.Contains(list, name) })]
		}
	}
	return nil
}

// objects reads those of the arrays that are stored as Python objects: SciPy matrices and NumPy arrays. Features
// stay sparse.
func (n *named) objects(z npyArchive) error {
	list := z.Names()
	for _, ours := range ourNames {
		theirs := n.theirs(ours)
		if n.made[ours] != nil || !slices.Contains(list, theirs) {
			continue
		}
		m, a, isObject, err := readObject(z, theirs)
		if err != nil {
			return err
		}
		switch {
		case !isObject:
		case m == nil:
			n.make(ours, a)
		case ours == "features":
			n.attr, n.attrName = m, a.Name()
		default:
			x, err := m.spread(a.Name())
			if err != nil {
				return err
			}
			n.make(ours, a.Derived([]int{m.rows, m.cols}, x))
		}
	}
	return nil
}

// readObject reads the one matrix or array that an array of objects holds. The matrix is nil when it is an array.
// isObject is false for an array of numbers, which is not read.
func readObject(z npyArchive, name string) (m *csr, a *npy.Array, isObject bool, err error) {
	file, where, isObject, err := z.Object(name, maxPickle)
	if err != nil || !isObject {
		return nil, nil, isObject, err
	}
	x, err := unpacked(file, z.size)
	if err != nil {
		return nil, nil, true, fmt.Errorf("%s: %w", where, err)
	}
	// An array of one object is a list with that object.
	if p, ok := x.(*pickle.Record); ok && !isSparse(x) {
		if s, ok := p.State.(pickle.Tuple); ok && len(s) == 5 {
			if l, ok := s[4].(*pickle.List); ok {
				if texts := textsOf(l.Items); texts != nil {
					return nil, npy.New(where, []int{len(texts)}, texts), true, nil
				}
				if len(l.Items) != 1 {
					return nil, nil, true, fmt.Errorf("%s: an array of %d Python objects where one matrix or an array of numbers should be: x.astype(float) or, of labels, x.astype(int) makes one", where, len(l.Items))
				}
				x = l.Items[0]
			}
		}
	}
	if isSparse(x) {
		m, err := decodeCSR(x, where)
		return m, npy.New(where, nil, []float32{}), true, err
	}
	a, err = decodeArray(x, where)
	if err != nil {
		err = fmt.Errorf("%w: of Python objects only matrices of SciPy, arrays of NumPy and lists of texts are read", err)
	}
	return nil, a, true, err
}

// textsOf is the items if all of them are texts, or else nil.
func textsOf(items []any) []string {
	var out []string
	for _, x := range items {
		text, ok := x.(string)
		if !ok {
			return nil
		}
		out = append(out, text)
	}
	return out
}
