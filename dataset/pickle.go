package dataset

import (
	"fmt"
	"strings"

	"sagann/dataset/pickle"
	"sagann/internal/regular"
)

// maxPickle is the largest pickle that is read, in bytes. The largest public
// Planetoid file has 8 MB.
const maxPickle = 1 << 30

// readPickle reads the Python object in the file at path: arrays, sparse
// matrices, dictionaries and lists, and nothing else (see arrayClass).
func readPickle(path string) (any, error) {
	file, err := regular.ReadFile(path, maxPickle)
	if err != nil {
		return nil, err
	}
	x, err := unpickle(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

func unpickle(file []byte) (any, error) { return unpacked(file, int64(len(file))) }

// unpacked is unpickle of a pickle out of a compressed file of disk bytes.
func unpacked(file []byte, disk int64) (any, error) {
	x, _, err := pickle.ReadPacked(file, disk, arrayClass)
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

// publicNames replaces names of modules of versions of NumPy and SciPy by one for all.
var publicNames = strings.NewReplacer("numpy._core.", "numpy.", "numpy.core.", "numpy.", "scipy.sparse._", "scipy.sparse.")

// plainClass is a class's name without the differences between versions of NumPy and SciPy:
// the module is core or _core, and modules of scipy.sparse may begin with an underscore.
func plainClass(c pickle.Class) string {
	m := publicNames.Replace(c.Module)
	return m + "." + c.Name
}

func arrayClass(c pickle.Class) bool { return arrayClasses[plainClass(c)] }
