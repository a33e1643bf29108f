// Package rows has the rows of vertices: for every vertex input, such as features, labels, weights in the loss or degrees,
// the row of vertex v. It is made for a data set, its edges (with the self loops that a model adds), and what the labels
// mean. Rows are in the user's order of vertices until they are laid out in the order of a plan. Inputs that a program
// learns or computes are added by name (Make, Keep).
//
//	layout.go    rows in the order of a plan, in memory or in a file
//	checksum.go  a checksum of all data that training reads
//	sparse.go    sparse rows of features
//	inputs.go    Inputs, the names of inputs, where the rows of each come from
//	owned.go     the rows of a layout that a rank owns
//	globals.go   inputs with one row per graph, and weights of classes
//	targets.go   weights and targets of the rows of labels
//	degrees.go   degrees and sums of weights, also of a graph in shards
//
// A file calls files that are listed below it.
package rows
