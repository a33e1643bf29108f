// Package layers has ready-made SAGA-NN layers, one in each file, and New, which makes
// models of them by name.
//
// Layers are written as a user would write them, close to the formulas. A
// product that a formula has on edges is written in ApplyEdge, and the compiler moves
// it to the vertices if possible. In the formulas u is the source of an
// edge, v its destination, x a vertex's row before the layer, x' the row after it, and a the result of the
// gather at v.
//
// A layer is a file of its name, and a row of the table in stack.go, which models.go reads.
// activation.go, head.go, hidden.go and option.go have what layers have in common.
//
// Parameters belong to the layer's scope, "layer1" for the first layer of a model.
package layers
