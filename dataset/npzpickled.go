package dataset

import (
	"errors"
	"fmt"
	"slices"

	"sagann/dataset/npy"
	"sagann/dataset/pickle"
)

// pickledNames maps our names to the names in archives of pickled matrices.
var pickledNames = map[string][]string{
	"features": {"node_attr", "attr_matrix", "features", "x"},
	"labels":   {"labels", "node_label", "node_labels", "y"},
	"train":    {"train_mask", "train_idx", "idx_train"},
	"val":      {"val_mask", "val_idx", "idx_val"},
	"test":     {"test_mask", "test_idx", "idx_test"},
}

// pickled reads SciPy matrices and NumPy arrays that are stored as Python objects.
func (n *named) pickled(z npyArchive) error {
	list := z.Names()
	adj := "adj_matrix"
	if !slices.Contains(list, adj) {
		adj = "adj"
	}
	m, a, err := readObject(z, adj)
	if err != nil {
		return err
	}
	if m == nil {
		return fmt.Errorf("%s: the adjacency is no sparse matrix", a.Where(0))
	}
	if err := n.adjacency(m, a); err != nil {
		return err
	}
	for ours, theirs := range pickledNames {
		i := slices.IndexFunc(theirs, func(name string) bool { return slices.Contains(list, name) })
		if i < 0 {
			continue
		}
		m, a, err := readObject(z, theirs[i])
		if err != nil {
			return err
		}
		if m != nil {
			if err := checkDense(m.rows, m.cols, z.size); err != nil {
				return fmt.Errorf("%s: %w", a.Where(0), err)
			}
			a = a.Derived([]int{m.rows, m.cols}, m.dense())
		}
		n.names[ours] = theirs[i]
		n.make(ours, a)
	}
	return nil
}

// readObject reads an array of numbers, or the one matrix or array that an array of
// objects holds. The matrix is nil when it is an array.
func readObject(z npyArchive, name string) (*csr, *npy.Array, error) {
	file, where, isObject, err := z.Object(name, maxPickle)
	if err != nil {
		return nil, nil, err
	}
	if !isObject {
		a, err := z.Archive.Read(name)
		return nil, a, err
	}
	x, err := unpacked(file, z.size)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", where, err)
	}
	// An array of one object is a list with that object.
	if p, ok := x.(*pickle.Record); ok && !isSparse(x) {
		if s, ok := p.State.(pickle.Tuple); ok && len(s) == 5 {
			if l, ok := s[4].(*pickle.List); ok {
				if len(l.Items) != 1 {
					return nil, nil, fmt.Errorf("%s: %d objects where one matrix should be", where, len(l.Items))
				}
				x = l.Items[0]
			}
		}
	}
	if isSparse(x) {
		m, err := decodeCSR(x, where)
		return m, npy.New(where, nil, []float32{}), err
	}
	a, err := decodeArray(x, where)
	if err != nil {
		err = errors.Join(err, errors.New("only matrices of SciPy and arrays of NumPy are read"))
	}
	return nil, a, err
}
