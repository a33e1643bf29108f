// Package layers holds ready-made SAGA-NN layers, one a file, and New, which stacks
// them into models by name.
//
// They are written as a user would write them, in the form of the formulas: a
// product that a formula has on the edge stands in ApplyEdge, and the compiler moves
// it to the vertices where that is possible. In the formulas u is the source of an
// edge, v its destination, x a vertex's row before the layer and a what v gathered.
//
// A layer is a file of its name, and a row of the table in stack.go, which models.go reads.
// activation.go and head.go are what several have in common.
//
// Parameters belong to the layer's scope, "layer1" for the first layer of a model.
package layers
