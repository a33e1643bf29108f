// Package tune chooses a plan by simulation. A Decision has all choices. The decoder (package
// plan/planner) turns a Decision into a plan that fits, and the simulator (plan/sim) says how long
// a step of the plan takes. Search changes decisions by the moves of a table as long as the step
// gets shorter.
//
// The files, calls going down the list:
//
//   - search.go: rounds of moves. seed.go: the decisions with which the rounds begin.
//   - moves.go: the moves, in a table.
//   - evaluate.go: lowers, plans and simulates decisions, several at a time, each decision once.
//   - decision.go: what is chosen.
package tune
