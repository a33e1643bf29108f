package cuda

import _ "embed"

// twoHopText is the kernels of an embedding by two layers over sampled trees. Before it stand
//
//	CHILDREN, LEAVES  draws of a source, and of each child
//	PF, PA            columns of x·Wf1 and x·Wa1, multiples of 4; a row of first has both
//	OUT               columns of the result
//	TILE              draws of one child that a warp works on together
//	DENSE             rows of so many edges at most are read whole
//	BLOCKS            of saga_leaves on a processor
//	SELF              a vertex without edges is its own neighbour
//	HALF              rows of products, and means of leaves, are bfloat16
//
// A child is drawn by many sources, and each time draws leaves of its own. So its draws are
// grouped by vertex: where the row is short, a warp counts how often each of TILE draws takes each
// neighbour, and then reads every neighbour once; where it is long it reads what is drawn. Which of both it
// does follows from the row alone, and so does the order of sums.
//
//go:embed two_hop.cu
var twoHopText string

// hopGroupsText draws children and groups the draws by vertex, TILE together. What stands before it is twoHopText's.
//
//go:embed hop_groups.cu
var hopGroupsText string
