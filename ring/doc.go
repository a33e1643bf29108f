// Package ring says how vertex chunks reach several GPUs of one host: which GPUs read
// them from host memory (the loaders), in which order the GPUs hand them on, and what
// every GPU does at every step (NGra, section 4.2 and Figures 7 and 8).
//
// A Tree is the links between host memory and the GPUs with their bandwidths. New
// finds in it the maximal bandwidth fat tree, whose GPUs load, and the ring whose
// slowest link is fastest. Steps is the schedule that follows.
//
// Trees come from a machine model (dataflow/plan/sim), from the PCI devices that the
// system lists (FromSystem), or from copies that were timed (Measure, Measured.Tree).
// All but Measure are pure functions of their arguments.
//
// The files, in the order of the work: tree.go, sysfs.go and measure.go (where trees come from), flow.go
// (what copies side by side get), loaders.go, order.go, steps.go, print.go.
package ring
