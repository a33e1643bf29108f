package dataset

import (
	"errors"
	"fmt"
	"math"

	"github.com/nlpodyssey/gopickle/types"

	"sagann/dataset/npy"
)

// decodeArray turns a pickled numpy.ndarray into an array. Its state is
// (version, shape, dtype, is-Fortran, bytes).
func decodeArray(x any, path string) (*npy.Array, error) {
	p, ok := x.(*pickledArray)
	if !ok {
		return nil, fmt.Errorf("%s: a %T where an array should be", path, x)
	}
	s, ok := p.value.(*types.Tuple)
	if !ok || s.Len() != 5 {
		return nil, fmt.Errorf("%s: an array without its five parts", path)
	}
	shape, err := ints(s.Get(1))
	if err != nil {
		return nil, fmt.Errorf("%s: shape of an array: %w", path, err)
	}
	descr, err := decodeDtype(s.Get(2))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	fortran, isBool := s.Get(3).(bool)
	if n, isInt := s.Get(3).(int); isInt {
		fortran, isBool = n != 0, true
	}
	var raw []byte
	switch b := s.Get(4).(type) {
	case string:
		raw = []byte(b)
	case []byte:
		raw = b
	default:
		isBool = false
	}
	if !isBool {
		return nil, fmt.Errorf("%s: an array whose order or bytes are missing", path)
	}
	return npy.FromBytes(descr, shape, fortran, raw, path)
}

// decodeDtype spells a pickled numpy.dtype as .npy files do. Its state is
// (version, byte order, …).
func decodeDtype(x any) (string, error) {
	p, ok := x.(*pickledDtype)
	if !ok {
		return "", fmt.Errorf("a %T where an element type should be", x)
	}
	s, ok := p.value.(*types.Tuple)
	if !ok || s.Len() < 2 {
		return "", errors.New("an element type without its byte order")
	}
	order, _ := s.Get(1).(string)
	if order == "=" { // native, on the machines that wrote such files
		order = "<"
	}
	return order + p.code, nil
}

func ints(x any) ([]int, error) {
	t, ok := x.(*types.Tuple)
	if !ok {
		return nil, fmt.Errorf("a %T where a tuple should be", x)
	}
	out := make([]int, t.Len())
	for i := range out {
		n, ok := t.Get(i).(int)
		if !ok || n < 0 {
			return nil, fmt.Errorf("entry %d is not a length", i)
		}
		out[i] = n
	}
	return out, nil
}

// readCSR reads a pickled scipy.sparse.csr_matrix of finite values.
func readCSR(path string) (*csr, error) {
	x, err := readPickle(path)
	if err != nil {
		return nil, err
	}
	return decodeCSR(x, path)
}

func decodeCSR(x any, path string) (*csr, error) {
	p, ok := x.(*pickledCSR)
	if !ok {
		return nil, fmt.Errorf("%s: a %T where a csr_matrix should be", path, x)
	}
	dict, ok := p.value.(*types.Dict)
	if !ok {
		return nil, fmt.Errorf("%s: a csr_matrix without its parts", path)
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
		return nil, fmt.Errorf("%s: shape of a csr_matrix: %w", path, err)
	}
	part := map[string]*npy.Array{}
	for _, name := range []string{"indptr", "indices", "data"} {
		x, _ := dict.Get(name)
		a, err := decodeArray(x, path)
		if err != nil {
			return nil, fmt.Errorf("%w (%s)", err, name)
		}
		part[name] = a
	}
	m := &csr{rows: shape[0], cols: shape[1]}
	if m.indptr, err = part["indptr"].Int64s(); err != nil {
		return nil, err
	}
	if m.indices, err = part["indices"].Int64s(); err != nil {
		return nil, err
	}
	if m.data, err = finite(part["data"], 1); err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}
