// Package saga has what users write with: layers in the SAGA-NN form (Scatter, ApplyEdge,
// Gather, ApplyVertex), models, and training within a memory budget, on whole graphs or on sampled batches.
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
// cannot depend on values of tensors. No op makes constants: ops.Shift adds a number and ops.Scale
// multiplies by one, max(x, c) is ops.Shift(ops.ReLU(ops.Shift(x, -c)), c), and a number for each
// row multiplies by ops.RowScale(x, s) and divides by ops.Div(x, ops.Widen(s, x.Cols())). A learned
// number is p.Weight(name, 1, 1), and ops.Mul multiplies by it.
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
// before anything runs. CompileSampled is Compile for training on batches that a sampler draws (package sample), with the
// same layers. Train runs all epochs with evaluation and checkpoints; Step makes one update: an epoch over the whole graph,
// or a batch. Evaluate and Predict use the current parameters. Close frees the memory. A program that
// uses this package is in this module, as examples/gcn is, or in a module that
// replaces sagann by the path of a copy (go mod edit -replace).
package saga

// For contributors: the files of the package.
//
// The files are listed from the top: a file calls files that are listed below it.
//
// What users call:
//
//	train.go savefull.go  Train: epochs, evaluations, early stopping; room for checkpoints
//	some.go               PredictSome, PredictAdded, EmbedSome: rows of some vertices, by blocks
//	evaluate.go linkrank.go predict.go   Evaluate; RankLinks; Predict, Embed, ScoreLinks
//	moments.go            links by time: the rows of their ends, and their scores
//	answers.go            rows of vertices by blocks
//	sampled_eval.go       evaluation by sampling
//	resume.go checkpoint.go schema.go parts.go   checkpoints, and going on from them; types and relations in names of parameters
//	conditions.go         settings that must be the same to go on
//	gpu_times.go          the times of kernels
//	step.go linkstep.go   Step
//	sampled_step.go sampled_several.go sampled_ranks.go   steps over batches (package batches), on devices and ranks
//	values.go tracing.go  parameters, gradients and outputs by name; measured tasks
//
// Compiling:
//
//	sampling.go           CompileSampled
//	sampled_fit.go        a plan with more room for batches
//	sampled_scorer.go     the program that evaluates by sampling, or exactly over shards
//	compile.go            Compile and Plan: the steps in their order
//	smallest.go choose.go estimate.go the choice of a program and its plan; the smallest budgets
//	sampled_plan.go       programs and plans of batches
//	precompute.go         values that are computed once, before the first epoch
//
// An open program:
//
//	aside.go              frees the memory of an open program for another one, such as Predict, and takes it again
//	open.go               Open and Close
//	sampled_rows.go       learned rows of sampled training
//	finite.go             detection of NaN and infinities
//	reads.go              what is read from a session, and written to it, by name
//	session.go            devices, their memory, and what runs there
//	gpu.go                the optimiser as device code
//
// Reports:
//
//	ranks.go              processes that share a run
//	digest.go             a hash of what the bits of training depend on
//	view.go sampled_report.go kernels.go   the plan; package report writes it
//	metrics.go            scores of a split
//
// What is decided of a program:
//
//	host.go               what lies in host memory, and what in files
//	lower.go              programs of training and evaluation
//	memory.go             how a device's budget is divided
//	mode.go program.go sampled.go sampled_kinds.go   Program; how it works: over the full graph, over batches, or to evaluate
//	target.go cards.go    what plans are chosen for: options, machine, what GPUs have
//	grid.go kindgrid.go stages.go   vertex order, cells, of several types too; times
//	shard.go shape.go kindspread.go spread.go   data of which a rank has a part; statistics in place of data
//	definition.go         model, data and configuration of a program
//	reach.go              the part of a graph that rows of some vertices depend on
//
// From a model to tensors:
//
//	kindtrace.go trace.go   Model, and running its functions on symbols, over several vertex types or one
//	layer.go across.go gather.go batchnorm.go   what layers call
//	task.go loss.go link.go linkhead.go   labels, losses and heads
//	learned.go sparse.go  learned rows, sparse features
//	levels.go leaves.go   levels of blocks; inputs
//	user.go state.go kinds.go params.go   calls of users' functions; parameters, moments and gradients by name; vertex types and relations
//	config.go optimizer.go schedule.go   what users set
