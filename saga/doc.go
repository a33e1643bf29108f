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
// several times (for training, for evaluation, for each number of slices that is tried), so they
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
//
// # Its files
//
// In the order of the work. What users write:
//
//	layer.go task.go      layers, labels, heads
//	params.go             parameters
//	optimizer.go config.go
//	trace.go user.go      Model, and running its functions on symbols
//
// From a model to plans (compile.go is the chain of Compile, Plan and Predict):
//
//	compile.go            the steps in their order
//	program.go            Program, and what is asked of it
//	shape.go spread.go    graphs of which only statistics are known
//	choose.go             which program, with which plan
//	lower.go              programs of training and evaluation
//	memory.go             how a device's budget is divided, and the smallest one
//	grid.go inputs.go     vertex order, cells, vertex tensors
//	precompute.go         what is computed once, before the first epoch
//	host.go               what lies in host memory, and what in files
//
// Sampled training, beside that of whole graphs:
//
//	sampling.go levels.go presample.go   what is asked; levels of blocks; rooms by drawing some batches
//	sampled.go sampled_*.go   programs, batches, steps, evaluation, on several devices and ranks
//
// Several processes: ranks.go, shard.go, owned.go. Beside labels of vertices: loss.go, link.go, linkhead.go;
// batchnorm.go, schedule.go, learned.go, sparse.go.
//
// What is open:
//
//	open.go               Open, Close, Step
//	train.go              Train: epochs, evaluations, early stopping
//	metrics.go            Evaluate
//	predict.go            Predict, Embed
//	resume.go checkpoint.go   checkpoints, and going on from them
//	values.go             parameters, gradients and outputs by name
//	finite.go             numbers that are not finite
//	gpu.go                the optimiser as device code
//	session.go            devices, their memory, and what runs there
//
// What is told:
//
//	view.go               the plan; package report writes it
//	tracing.go gpu_times.go kernels.go   measured tasks and kernels
//	digest.go             what the bits of training depend on
//	stages.go             times before the first epoch
//
// Calls go down within each part and to the parts above, but for these: precompute.go and predict.go
// run sessions of their own, trace.go, layer.go, task.go and params.go call each other through the
// user's functions, and checkpoints ask for the digest.
package saga
