package dataset

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/nlpodyssey/gopickle/pickle"
	"github.com/nlpodyssey/gopickle/types"
)

// maxPickle is the largest pickle that is read, in bytes. The largest public
// Planetoid file has 8 MB.
const maxPickle = 1 << 30

// readPickle reads the Python object in the file at path: arrays, sparse
// matrices, dictionaries and lists, and nothing else (see pickleClasses). The
// program in the file is checked as a whole before a step of it is run.
func readPickle(path string) (any, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxPickle {
		return nil, fmt.Errorf("%s: not a file of at most %d bytes", path, maxPickle)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	x, err := unpickle(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

func unpickle(file []byte) (x any, err error) {
	program, err := scanPickle(file)
	if err != nil {
		return nil, err
	}
	// The scan leaves only steps of bounded cost, but a stack that does not fit
	// them can still trip the interpreter.
	defer func() {
		if r := recover(); r != nil {
			x, err = nil, fmt.Errorf("malformed pickle: %v", r)
		}
	}()
	u := pickle.NewUnpickler(bytes.NewReader(program))
	u.FindClass = func(module, name string) (any, error) {
		if c := pickleClasses[module+" "+name]; c != nil { // nil: never asked for here
			return c, nil
		}
		return nil, fmt.Errorf("class %.80q is not allowed", module+"."+name)
	}
	if x, err = u.Load(); err != nil {
		return nil, fmt.Errorf("malformed pickle: %w", err)
	}
	return x, nil
}

// pickleClasses are the classes that a pickle may name, as "module name". Those
// with a nil value are the interpreter's own.
var pickleClasses = map[string]any{
	"collections defaultdict":             dictClass{},
	"__builtin__ list":                    listClass{},
	"__builtin__ dict":                    dictClass{},
	"__builtin__ object":                  nil,
	"copy_reg _reconstructor":             nil,
	"_codecs encode":                      latin1Encode{},
	"numpy ndarray":                       arrayClass{},
	"numpy dtype":                         dtypeClass{},
	"numpy.core.multiarray _reconstruct":  arrayClass{},
	"numpy._core.multiarray _reconstruct": arrayClass{},
	"scipy.sparse.csr csr_matrix":         csrClass{},
	"scipy.sparse._csr csr_matrix":        csrClass{},
}

// listClass makes an empty list.
type listClass struct{}

func (listClass) Call(...any) (any, error) { return types.NewList(), nil }

// dictClass makes a dictionary and forgets the factory of a defaultdict.
type dictClass struct{}

func (dictClass) Call(...any) (any, error) { return types.NewDict(), nil }

// latin1Encode is how Python 3 writes a byte string in protocols 0 to 2.
type latin1Encode struct{}

func (latin1Encode) Call(args ...any) (any, error) {
	if len(args) != 2 || args[1] != "latin1" {
		return nil, fmt.Errorf("_codecs.encode: want a string and \"latin1\"")
	}
	s, ok := args[0].(string)
	if !ok {
		return nil, fmt.Errorf("_codecs.encode: %T is not a string", args[0])
	}
	var out strings.Builder
	for _, r := range s {
		if r > 0xff {
			return nil, fmt.Errorf("_codecs.encode: U+%04X is not in latin1", r)
		}
		out.WriteByte(byte(r))
	}
	return out.String(), nil
}

// state is an object whose content comes with its BUILD step; it is looked at
// only when the whole pickle has been read, so that a step costs constant time.
type state struct{ value any }

func (s *state) PySetState(value any) error {
	s.value = value
	return nil
}

type (
	arrayClass struct{}
	dtypeClass struct{}
	csrClass   struct{}

	pickledArray struct{ state }
	pickledDtype struct {
		state
		code string
	}
	pickledCSR struct{ state }
)

// Call makes an empty array: numpy's _reconstruct(ndarray, (0,), 'b').
func (arrayClass) Call(...any) (any, error) { return &pickledArray{}, nil }

// Call makes dtype(code, align, copy).
func (dtypeClass) Call(args ...any) (any, error) {
	if len(args) > 0 {
		if code, ok := args[0].(string); ok {
			return &pickledDtype{code: code}, nil
		}
	}
	return nil, fmt.Errorf("numpy.dtype: want the name of a type")
}

// PyNew makes an empty csr_matrix.
func (csrClass) PyNew(...any) (any, error) { return &pickledCSR{}, nil }
