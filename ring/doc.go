// Package ring plans how vertex chunks reach several GPUs of one host: which GPUs (the loaders) read
// chunks from host memory, in which order GPUs pass chunks on around a ring, and what
// every GPU does at every step (NGra, section 4.2 and Figures 7 and 8).
//
// A Tree is the links between host memory and the GPUs with their bandwidths. New
// finds in it the maximal bandwidth fat tree, whose GPUs are the loaders, and the ring whose
// slowest link is fastest. Ring.Steps is the schedule that follows.
//
// Trees come from a machine model (dataflow/plan/sim), from the PCI devices that the
// system lists (FromSystem), or from timing copies (Measure, Measured.Tree).
// All functions but Measure are pure functions of their arguments.
//
// The files, in the order of the work: tree.go, sysfs.go and measure.go (where trees come from), flow.go
// (rates of copies that run at the same time), loaders.go, order.go, steps.go, print.go.
package ring
