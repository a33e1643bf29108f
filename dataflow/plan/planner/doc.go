// Package planner makes plans: New for options alone, a Decoder for a rule that a search has found.
//
// The files:
//
//   - planner.go: numbers of intervals, until a plan fits; what does not fit host memory goes to files.
//   - decode.go: a rule becomes a choice that fits (package layout), and that a plan (order, sim).
package planner
