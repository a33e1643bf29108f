// Package dataflow is the intermediate representation: nodes over row sets, the
// registry of ops, automatic differentiation on whole tensors, the rewriting passes
// of the compiler, the grouping of gathers into fused regions, and the lowering to
// a plan over chunks. Nothing in it computes a number.
package dataflow
