// Package planner makes plans: New for options alone, a Decoder for a rule that a search has found.
//
// The files:
//
//   - planner.go: numbers of intervals, until a plan fits; its places and tasks (packages layout, order, sim);
//     what does not fit host memory goes to files.
//   - decode.go: a rule becomes a choice of what stays that fits (package layout).
//   - blocks.go: a plan over sampled blocks.
package planner
