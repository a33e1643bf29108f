package dataset

import (
	"fmt"
	"os"
	"strings"

	"sagann/dataset/pickle"
)

// maxPickle is the largest pickle that is read, in bytes. The largest public
// Planetoid file has 8 MB.
const maxPickle = 1 << 30

// readPickle reads the Python object in the file at path: arrays, sparse
// matrices, dictionaries and lists, and nothing else (see arrayClass).
func readPickle(path string) (any, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxPickle {
		return nil, fmt.Errorf("%s: not a file of at most 1 GiB", path)
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

func unpickle(file []byte) (any, error) {
	x, _, err := pickle.Read(file, arrayClass)
	return x, err
}

// arrayClasses are the classes that arrays and containers need, as "module.name".
var arrayClasses = map[string]bool{
	"collections.defaultdict":       true,
	"__builtin__.list":              true,
	"__builtin__.dict":              true,
	"__builtin__.object":            true,
	"__builtin__.bytes":             true,
	"builtins.bytearray":            true,
	"copy_reg._reconstructor":       true,
	"copyreg._reconstructor":        true,
	"_codecs.encode":                true,
	"numpy.ndarray":                 true,
	"numpy.dtype":                   true,
	"numpy.multiarray._reconstruct": true,
	"numpy.multiarray.scalar":       true,
	"numpy.numeric._frombuffer":     true,
	"scipy.sparse.csr.csr_matrix":   true,
	"scipy.sparse.csc.csc_matrix":   true,
	"scipy.sparse.coo.coo_matrix":   true,
	"scipy.sparse.csr.csr_array":    true,
	"scipy.sparse.csc.csc_array":    true,
	"scipy.sparse.coo.coo_array":    true,
}

// plainClass is a class's name without the differences between versions of NumPy and SciPy:
// the module is core or _core, and modules of scipy.sparse may begin with an underscore.
func plainClass(c pickle.Class) string {
	m := strings.NewReplacer("numpy._core.", "numpy.", "numpy.core.", "numpy.", "scipy.sparse._", "scipy.sparse.").Replace(c.Module)
	return m + "." + c.Name
}

func arrayClass(c pickle.Class) bool { return arrayClasses[plainClass(c)] }
