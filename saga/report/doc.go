// Package report describes what a compiled program will do and what its epochs have done: the text and
// the HTML page that explain a plan, traces and their totals, the times of kernels, and the facts that
// a digest hashes. It changes nothing. Package saga fills a Run and calls its methods.
//
// In the order of the work:
//
//	run.go      what reports read
//	explain.go  the plan as text: graph, memory, what the compiler did with the user's lines
//	page.go     the plan as an HTML page, with the timeline of its queues
//	sampled.go  the plan of sampled training as text
//	scopes.go   which layer of the model a kernel call belongs to
//	tasks.go    descriptions of a plan's tasks, and the trace of epochs
//	totals.go   traced tasks, summed by kind
//	kernels.go  the times of a GPU's commands with their work
//	facts.go    what the bits of a run depend on, as text
//
// Calls go down the list, but page.go calls explain.go.
package report
