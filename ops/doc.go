// Package ops is the arithmetic that users and layers write programs with. Every
// op is one declaration that stands next to its constructor: class, shape rule,
// gradient, CPU code over strips of rows and, where it is element-wise or row-wise, its CUDA
// expression. Adding an op means adding such a declaration and an entry in the
// table of table_test.go.
//
// The files: op.go and shape.go are what declarations are made with. Element-wise ops stand in
// arith.go, math.go, activation.go and dropout.go (hash.go); ops on rows in rowwise.go, norm.go,
// columns.go, group.go, matmul.go; movements in gather.go and place.go; sums over rows in
// reduce.go and graphs.go; losses and scores in xent.go, xent_weighted.go, regress.go and metric.go; rows
// that are sparse, learned or standardised in sparse.go, learn.go and standardize.go. What passes put in:
// slices.go, pack.go.
//
// # Shapes
//
// A tensor is [V×c] (a row a vertex), [E×c] (a row an edge) or a Global matrix
// [r×c]. Operands of an element-wise op have the same width and the same row set;
// a Global of one row joins any row set and is spread over its rows. Vertex and
// edge tensors never meet: in a layer an edge sees its ends as Edge.Src and Edge.Dst.
// Columns fall into h heads as h groups of neighbours (see Widen). With heads, GroupSum
// of a product is a score a head, and RowScale weighs a head's columns by its score.
//
// A constructor whose operands do not fit panics with a *dataflow.ShapeError that
// names the user's file and line; compiling a model turns it into an error.
//
// # Gradients
//
// Gradients are programs over whole tensors, built from ops. Where it is possible
// they read the result instead of the operand, so that a backward pass needs fewer
// saved values. An op without a gradient treats its operands as constants.
//
// # CPU code
//
// Strip functions see dense rows and treat each row by itself, so that results do
// not depend on how rows are cut into strips. Out overlaps no operand. A Global
// operand of an element-wise op arrives repeated for every row; a Row op gets it
// whole.
package ops
