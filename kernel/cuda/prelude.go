package cuda

import _ "embed"

// preludeSource is the device code that rendered kernels call. A group of G lanes of a
// warp holds a row: lane l has columns (q·G + l)·V + t of it, t < V, as element
// q·V + t of an array of N. A register of one column is a scalar that every lane has.
//
//go:embed prelude.cu
var preludeSource string
