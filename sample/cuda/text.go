package cuda

import _ "embed"

// prelude is what all kernels use. Arguments are eight bytes each.
//
//go:embed prelude.cu
var prelude string

// functions is what rendered functions use. WIDE entries of edges also say where the row of their far end
// begins and how long it is, so that a step along an edge reads nothing else.
//
//go:embed functions.cu
var functions string

// rowsText draws places in the row of a vertex.
//
//go:embed rows.cu
var rowsText string
