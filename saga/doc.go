// Package saga is what users write: layers in the SAGA-NN form (Scatter, ApplyEdge,
// Gather, ApplyVertex), models, and training on whole graphs within a memory budget.
//
// A layer names two functions. ApplyEdge computes a message for every edge from the
// rows of its two ends; ApplyVertex computes a vertex's new row from what was
// gathered. They run on symbols while a model is compiled: the compiler differentiates
// them, moves what depends on one end of the edge to the vertices, fuses the rest into
// gather kernels, and streams chunks of the graph through the device memory it was given.
//
// # Writing a layer
//
// Tensors are made by package ops alone; x.Cols() is the width of x. The functions run
// several times (for training, for evaluation, for each plan that is compared), so they
// must do the same each time. Loops and conditions in them are those of Go: they
// unroll into the program and cannot depend on numbers of the graph.
//
// An edge goes from Src to Dst, and a vertex gathers over its in-edges: a graph that is
// meant without directions has both (chunk.Edges.Symmetric, --undirected). Degrees are
// those of the edges that the layer sees, self loops of Model.SelfLoops included.
//
// A layer sees the rows of the layer before it. What a later layer needs of an earlier one
// (the first prediction of APPNP, the term before the last of a Chebyshev filter, a
// residual) travels in the rows: ops.Concat puts it beside them, ops.Slice takes it off
// again. An ApplyEdge that slices its ends gathers and streams the slice only:
//
//	// z' = (1-α)·Σ n_uv·z_u + α·h, in rows [z, h] of 2·c columns
//	ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor {
//		return ops.RowScale(ops.Slice(e.Src, 0, c), e.SymNorm())
//	},
//	ApplyVertex: func(v saga.Vertex, _ saga.Params) saga.Tensor {
//		h := ops.Slice(v.Self, c, c)
//		return ops.Concat(ops.Add(ops.Scale(v.Accum, 1-alpha), ops.Scale(h, alpha)), h)
//	},
//
// The last layer's rows are the logits, as wide as there are classes; the loss is the mean
// cross-entropy over the training split, for several labels a vertex the binary one.
//
// # Running it
//
// Compile plans a model for the data and a Config, and refuses wrong shapes and budgets
// that are too small before anything runs. Train runs all epochs with evaluation and
// checkpoints, Step one epoch; Evaluate and Predict use the parameters as they are, and
// Close gives the memory back. A program of one's own stands in a folder of this module,
// as examples/gcn does, or in a module that replaces sagann by the path of a copy
// (go mod edit -replace).
package saga
