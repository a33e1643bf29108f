// Package saga is what users write: layers in the SAGA-NN form (Scatter, ApplyEdge,
// Gather, ApplyVertex), models, and training on whole graphs within a memory budget.
//
// A layer names two functions. ApplyEdge computes a message for every edge from the
// rows of its two ends; ApplyVertex computes a vertex's new row from what was
// gathered. They run once, on symbols: the compiler differentiates them, moves what
// depends on one end of the edge to the vertices, fuses the rest into gather kernels,
// and streams chunks of the graph through the device memory it was given.
package saga
