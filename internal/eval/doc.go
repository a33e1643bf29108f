// Package eval computes a program on whole tensors, one node after the other, in
// the plainest way there is. It is what every faster way of running a program is
// tested against; nothing else should use it.
//
// Tensors are dense and row-major. Element-wise and row-wise ops run through their
// declared strip code, all rows in one strip; movements, products and reductions
// are loops of this package that add up in float64.
package eval
