// Package report says what a compiled program will do and what its epochs have done: the text and
// the page that explain a plan, traces and their totals, the times of kernels, and the facts that
// a digest is made of. It changes nothing: package saga fills a Run and hands on what it
// asks for.
//
// In the order of the work:
//
//	run.go      what reports read
//	explain.go  the plan as text: graph, memory, what the compiler did with the user's lines
//	page.go     the plan as a page, with the timeline of its queues
//	sampled.go  what is told of sampled training
//	scopes.go   which layer of the model a kernel call works for
//	tasks.go    the tasks of a plan in words, and the trace of epochs
//	totals.go   traced tasks of a kind, summed up
//	kernels.go  the times of a GPU's commands beside their work
//	facts.go    what the bits of a run depend on, as text
//
// Calls go down the list, but page.go calls explain.go.
package report
