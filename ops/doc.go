// Package ops has the ops of which users and layers make programs. Every op is one declaration
// next to its constructor: class, shape rule, gradient, CPU code over strips of rows and, if the
// op is element-wise or row-wise, a CUDA expression. A new op needs such a declaration and an
// entry in the table of table_test.go.
//
// The files: op.go and shape.go have the parts of declarations. Element-wise ops are in arith.go,
// math.go, activation.go and dropout.go (hash.go); ops on rows in rowwise.go, norm.go, columns.go,
// group.go, matmul.go; ops that move rows in gather.go and place.go; sums over rows in reduce.go
// and graphs.go; losses and scores in xent.go, xent_weighted.go, regress.go, column_loss.go and metric.go; ops on
// sparse, learned and standardised rows in sparse.go, learn.go and standardize.go. slices.go and
// pack.go have ops that only passes use.
//
// # Shapes
//
// A tensor is [V×c] (a row for each vertex), [E×c] (a row for each edge) or a Global matrix [r×c].
// In comments [·×c] is any of the three, and [S×c] is one of the first two. Operands of an
// element-wise op have the same width and the same row set; a Global of one row can be combined
// with any row set and is broadcast over its rows. An op cannot combine vertex and edge tensors:
// in a layer an edge gets the rows of its ends as Edge.Src and Edge.Dst. Heads are groups of
// neighbouring columns of equal width (see Widen). With heads, GroupSum of a product is a score
// for each head, and RowScale weighs a head's columns by its score.
//
// A constructor whose operands do not fit panics with a *dataflow.ShapeError that
// names the user's file and line; compiling a model turns it into an error.
//
// # Gradients
//
// Gradients are programs over whole tensors, built from ops. Where possible, a gradient reads the
// op's result instead of its operand, so that a backward pass needs fewer saved values. An op
// without a gradient treats its operands as constants.
//
// # CPU code
//
// A strip function gets dense rows and computes each row independently, so that results do not
// depend on how rows are cut into strips. Out overlaps no operand. An element-wise op gets a
// Global operand repeated for every row; a row-wise op gets the whole Global.
package ops
