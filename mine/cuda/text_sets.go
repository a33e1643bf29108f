package cuda

import _ "embed"

// nestSets is what the loops of plans use: sorted lists, and operations of a warp on them.
//
//go:embed sets.cu
var nestSets string
