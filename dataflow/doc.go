// Package dataflow is the compiler's intermediate representation: nodes over row sets, the
// registry of ops, automatic differentiation on whole tensors, the rewriting passes,
// the grouping of gathers into fused kernels, and the lowering to phases of kernel calls
// over chunks. Nothing in it computes numbers of a tensor.
//
// The files, in the order in which to read them:
//
//   - The graph: node.go (nodes, shapes), set.go (row sets), caller.go (the user's file and line),
//     def.go (what an op declares), move.go (leaves, scatters and gathers), algebra.go (the ops whose
//     algebra passes use), grad.go (gradients), learn.go (vertex rows that training changes),
//     products.go (features that only matrix products read).
//   - The passes: pass.go (their table, in order), rewrite.go (rules), weights.go, hoist.go, fold.go, factor.go,
//     commute.go, share.go, masks.go, base.go, shares.go, inside.go, bytype.go, slice.go and sliceable.go, storage.go, invariant.go.
//   - The lowering: phase.go (sweeps over intervals), kept.go (store a value or compute it again),
//     postpone.go and delay.go (which sweep computes a value), derive.go (values recomputed when a
//     chunk arrives), region.go (gathers of one direction become one kernel), split.go (the same
//     without fusion), builder.go (kernel programs), cost.go (their work), finish.go
//     (gathers over blocks compute what follows them), lower.go (all of it together).
package dataflow
