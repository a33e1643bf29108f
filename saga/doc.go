// Package saga is what users write: layers in the SAGA-NN form (Scatter, ApplyEdge,
// Gather, ApplyVertex), models, and training on whole graphs within a memory budget.
//
// A layer names two functions. ApplyEdge computes a message for every edge from the rows of its
// two ends. ApplyVertex computes a vertex's new row from the gathered messages. Both functions run
// on symbols while a model is compiled. The compiler differentiates them, moves work that depends
// on one end of the edge to the vertices, fuses the rest into gather kernels, and streams chunks
// of the graph through the device memory of the budget.
//
// # Writing a layer
//
// Only package ops makes tensors; x.Cols() is the width of x. The functions run several times (for
// training, for evaluation, for each number of slices that is tried) and must do the same each
// time. Loops and conditions in the functions are Go's: they are unrolled into the program and
// cannot depend on values of tensors.
//
// An edge goes from Src to Dst, and a vertex gathers over its in-edges. An undirected graph
// has each edge in both directions (chunk.Edges.Symmetric, --undirected). Degrees count the
// edges that the layer sees, with the self loops of Model.SelfLoops.
//
// A layer may gather its messages in several ways (Vertex.Gather), gather other messages (Vertex.GatherOf), and read
// the rows behind any earlier layer (Vertex.Rows, Edge.SrcRows, Edge.DstRows; 0 is the features). A last layer
// without ApplyEdge that reads them all is jumping knowledge:
//
//	ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
//		x := ops.Concat(v.Rows(1), v.Rows(2), v.Rows(3))
//		return ops.MatMul(x, p.Weight("W", x.Cols(), classes))
//	},
//
// Such a row costs memory, and is copied, only where it is read. If ApplyEdge slices the rows of its ends (ops.Slice), only
// the slice is gathered and streamed.
//
// The last layer's rows are the logits, one column per class. By default the loss is the mean
// cross-entropy over the training split: softmax cross-entropy, or binary cross-entropy if a
// vertex can have several labels.
//
// # Running it
//
// Compile plans a model for the data and a Config, and refuses wrong shapes and too small budgets
// before anything runs. Train runs all epochs with evaluation and checkpoints; Step runs one
// epoch. Evaluate and Predict use the current parameters. Close frees the memory. A program that
// uses this package lies in a folder of this module, as examples/gcn does, or in a module that
// replaces sagann by the path of a copy (go mod edit -replace).
package saga

// For contributors: the files of the package.
//
// The files are listed in the order of the work. What users write:
//
//	layer.go task.go      layers, labels, heads
//	gather.go             several gathers of a layer, rows of earlier layers
//	params.go             parameters
//	optimizer.go config.go
//	trace.go user.go      Model, and running its functions on symbols
//
// From a model to plans (compile.go is the chain of Compile, Plan and Predict):
//
//	compile.go            the steps in their order
//	program.go            Program, and the description of a model's data
//	shape.go spread.go    planning from a graph's statistics, without its data
//	choose.go             the choice of a program and its plan
//	lower.go              programs of training and evaluation
//	memory.go             how a device's budget is divided, and the smallest one
//	cards.go              what GPUs have
//	grid.go               vertex order, cells
//	precompute.go         values that are computed once, before the first epoch
//	host.go               what lies in host memory, and what in files
//
// Sampled training:
//
//	sampling.go levels.go   its configuration; levels of blocks
//	sampled.go sampled_*.go   programs, steps, evaluation, several devices and ranks (batches: package batches)
//
// Several processes: ranks.go, shard.go. Losses and tasks: loss.go, link.go, linkhead.go. Parts of
// training: batchnorm.go, schedule.go, learned.go, sparse.go.
//
// An open program:
//
//	open.go               Open, Close, Step
//	train.go              Train: epochs, evaluations, early stopping
//	savefull.go           room for checkpoints, and where they go if the disk is full
//	metrics.go            Evaluate
//	predict.go            Predict, Embed
//	resume.go checkpoint.go schema.go   checkpoints, and going on from them
//	values.go             parameters, gradients and outputs by name
//	finite.go             detection of NaN and infinities
//	gpu.go                the optimiser as device code
//	session.go            devices, their memory, and what runs there
//
// Reports:
//
//	view.go               the plan; package report writes it
//	tracing.go gpu_times.go kernels.go   measured tasks and kernels
//	digest.go             a hash of what the bits of training depend on
//	stages.go             times before the first epoch
//
// A file calls files that are listed below it in its part, and files of the parts above.
// Exceptions: precompute.go and predict.go run sessions of their own; trace.go, layer.go, task.go
// and params.go call each other through the user's functions; checkpoints call digest.go.
