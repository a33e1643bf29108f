package cuda

import _ "embed"

// prelude is what all kernels use. Arguments are eight bytes each. The first word of a
// block's shared memory and the next three are for what its threads tell each other.
//
//go:embed prelude.cu
var prelude string

// hashing is a table of vertices with their places in a list, in shared memory: slots are
// a power of two, a third of them taken at most.
//
//go:embed hashing.cu
var hashing string
