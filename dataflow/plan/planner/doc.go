// Package planner makes plans. New makes one without a search. A Decoder makes one from a rule, as the search
// (package tune) does.
//
// The files:
//
//   - planner.go: tries numbers of intervals until a plan fits, and makes its tasks (packages layout, order,
//     sim). Values that do not fit host memory go to files.
//   - decode.go: decides by a rule what stays on the device (package layout).
//   - blocks.go: plans over sampled blocks.
package planner
