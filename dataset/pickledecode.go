package dataset

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"sagann/dataset/npy"
	"sagann/dataset/pickle"
)

// decodeArray turns a pickled numpy.ndarray into an array. Its state is
// (version, shape, dtype, is-Fortran, bytes).
func decodeArray(x any, path string) (*npy.Array, error) {
	p, ok := x.(*pickle.Record)
	if !ok {
		return nil, fmt.Errorf("%s: a %s where an array should be", path, pickle.Kind(x))
	}
	var size, dtype, order, data any
	switch s, isTuple := p.State.(pickle.Tuple); {
	case plainClass(p.Class) == "numpy.numeric._frombuffer" && len(p.Args) == 4: // protocol 5
		data, dtype, size, order = p.Args[0], p.Args[1], p.Args[2], p.Args[3] == "F"
	case plainClass(p.Class) != "numpy.multiarray._reconstruct":
		return nil, fmt.Errorf("%s: a %s where an array should be", path, pickle.Kind(x))
	case !isTuple || len(s) != 5:
		return nil, fmt.Errorf("%s: an array without its five parts", path)
	default:
		size, dtype, order, data = s[1], s[2], s[3], s[4]
	}
	shape, err := ints(size)
	if err != nil {
		return nil, fmt.Errorf("%s: shape of an array: %w", path, err)
	}
	descr, err := decodeDtype(dtype)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	fortran, isBool := order.(bool)
	if n, isInt := order.(int); isInt {
		fortran, isBool = n != 0, true
	}
	raw, ok := data.(string)
	if !isBool || !ok {
		return nil, fmt.Errorf("%s: an array whose order or bytes are missing", path)
	}
	return npy.FromBytes(descr, shape, fortran, []byte(raw), path)
}

// decodeDtype is a pickled numpy.dtype in the notation of .npy files. Its state is
// (version, byte order, …).
func decodeDtype(x any) (string, error) {
	p, ok := x.(*pickle.Record)
	if !ok || plainClass(p.Class) != "numpy.dtype" || len(p.Args) == 0 {
		return "", fmt.Errorf("a %s where an element type should be", pickle.Kind(x))
	}
	code, ok := p.Args[0].(string)
	if !ok {
		return "", errors.New("numpy.dtype: want the name of a type")
	}
	s, ok := p.State.(pickle.Tuple)
	if !ok || len(s) < 2 {
		return "", errors.New("an element type without its byte order")
	}
	order, _ := s[1].(string)
	if order == "=" { // native order; machines that write such files are little-endian
		order = "<"
	}
	return order + code, nil
}

func ints(x any) ([]int, error) {
	t, ok := x.(pickle.Tuple)
	if !ok {
		return nil, fmt.Errorf("a %s where a tuple should be", pickle.Kind(x))
	}
	out := make([]int, len(t))
	for i := range out {
		n, ok := t[i].(int)
		if !ok || n < 0 {
			return nil, fmt.Errorf("entry %d is not a length", i)
		}
		out[i] = n
	}
	return out, nil
}

// readCSR reads a pickled SciPy sparse matrix, whose values must be finite.
func readCSR(path string) (*csr, error) {
	x, err := readPickle(path)
	if err != nil {
		return nil, err
	}
	return decodeCSR(x, path)
}

// isSparse reports whether x is a pickled SciPy sparse matrix.
func isSparse(x any) bool {
	p, ok := x.(*pickle.Record)
	return ok && strings.HasPrefix(p.Class.Module, "scipy.sparse")
}

// decodeCSR turns a pickled matrix in CSR, CSC or COO format into CSR.
func decodeCSR(x any, path string) (*csr, error) {
	if !isSparse(x) {
		return nil, fmt.Errorf("%s: a %s where a csr_matrix should be", path, pickle.Kind(x))
	}
	p := x.(*pickle.Record)
	kind, _, _ := strings.Cut(p.Class.Name, "_")
	what := p.Class.Name
	dict, ok := pickle.AsDict(p.State)
	if !ok {
		return nil, fmt.Errorf("%s: a %s without its parts", path, what)
	}
	size, ok := dict.Get("_shape")
	if !ok {
		size, _ = dict.Get("shape")
	}
	shape, err := ints(size)
	if err == nil && (len(shape) != 2 || shape[0] > math.MaxInt32 || shape[1] > math.MaxInt32) {
		err = fmt.Errorf("%v", shape)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: shape of a %s: %w", path, what, err)
	}
	part := map[string]*npy.Array{}
	names := []string{"indptr", "indices", "data"}
	if kind == "coo" {
		names = []string{"row", "col", "data"}
		if both, ok := dict.Get("coords"); ok { // SciPy from 1.11 on
			if t, _ := both.(pickle.Tuple); len(t) == 2 {
				dict.Pairs = append(dict.Pairs, pickle.Pair{Key: "row", Value: t[0]}, pickle.Pair{Key: "col", Value: t[1]})
			}
		}
	}
	for _, name := range names {
		x, _ := dict.Get(name)
		a, err := decodeArray(x, path)
		if err != nil {
			return nil, fmt.Errorf("%w (%s)", err, name)
		}
		part[name] = a
	}
	m := &csr{rows: shape[0], cols: shape[1]}
	if m.data, err = finite(part["data"], 1); err != nil {
		return nil, err
	}
	a, err := part[names[0]].Int64s()
	if err != nil {
		return nil, err
	}
	b, err := part[names[1]].Int64s()
	if err != nil {
		return nil, err
	}
	m, err = m.from(kind, a, b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}
