// Package tune chooses a plan by simulation. What is chosen is a Decision; the decoder (package
// plan/planner) turns it into a plan that fits, the simulator (plan/sim) says what a step takes, and Search changes
// decisions by the moves of a table while that makes the step shorter.
//
// The files, calls going down the list:
//
//   - search.go: rounds of moves. seed.go: the decisions they begin with.
//   - moves.go: the moves, in a table.
//   - evaluate.go: decisions lowered, planned and simulated, side by side, each once.
//   - decision.go: what is chosen.
package tune
