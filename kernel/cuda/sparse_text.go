package cuda

import _ "embed"

// sparseSource is the kernels of sparse rows: k columns, ascending, then k values. Behind the last
// column stands one that is no row of the matrix.
//
//go:embed sparse.cu
var sparseSource string

// sparseDropSource drops entries as dropout of dense rows does.
//
//go:embed sparse_dropout.cu
var sparseDropSource string
