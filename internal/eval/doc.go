// Package eval computes a program on whole tensors, one node after the other, in
// the simplest way. It is the reference that tests compare all faster ways
// with; nothing else should use it.
//
// Tensors are dense and row-major. Element-wise and row-wise ops use their
// declared strip code, with all rows in one strip. Scatters, gathers, products and reductions
// are loops of this package that add up in float64.
package eval
