// Package dataflow is the intermediate representation: nodes over row sets, the
// registry of ops, automatic differentiation on whole tensors, the rewriting passes
// of the compiler, the grouping of gathers into fused regions, and the lowering to
// a plan over chunks. Nothing in it computes a number.
//
// The files, in reading order:
//
//   - The graph: node.go (nodes, shapes), set.go (row sets), caller.go (the user's line), def.go (what an op declares), algebra.go
//     (the ops whose algebra passes use), grad.go (gradients), learn.go (rows that steps change),
//     products.go (features that are read by products only).
//   - The passes: pass.go (their table, in order), rewrite.go (rules), hoist.go, factor.go,
//     commute.go, slice.go and sliceable.go, storage.go, invariant.go.
//   - The lowering: phase.go (sweeps over intervals), kept.go (stored or computed again),
//     postpone.go and delay.go (in which sweep), derive.go (made when a chunk arrives), region.go
//     (gathers of one direction become one program), split.go (without fusion), builder.go and
//     move.go (kernel programs), cost.go (their work), lower.go (all of it together).
package dataflow
