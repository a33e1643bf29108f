// Package layers has ready-made SAGA-NN layers, one in each file, and New, which makes
// models of them by name.
//
// Layers are written as a user would write them, close to the formulas. If a formula has a product
// on edges, ApplyEdge has this product, and the compiler moves it to the vertices if possible. In
// the formulas u is the source of an edge, v its destination, x a vertex's row before the layer,
// x' the row after the layer, and a the result of the gather at v.
//
// Every layer has a file of its name and a row of the table in stack.go, which models.go reads; steps.go has models of other forms.
// activation.go, head.go, hidden.go and option.go have code that layers share. Tables in the files of layers say what PyTorch Geometric
// calls their parameters: pyg.go, over several types pygtyped.go, by which weights.go and weightsfit.go give and write weights; weightfiles.go reads them.
//
// The names of parameters begin with the layer's scope, which is "layer1" for the first layer of a
// model.
package layers
