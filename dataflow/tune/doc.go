// Package tune searches for the fastest plan by simulation. A Decision has all choices. The decoder
// (package plan/planner) turns a Decision into a plan that fits, and the simulator (plan/sim) predicts
// how long a step of the plan takes. Search applies a table of moves to the best decisions as long as
// the step gets shorter.
//
// The files; each calls those below it:
//
//   - search.go: rounds of moves. seed.go: the decisions with which the rounds begin.
//   - moves.go: the table of moves.
//   - evaluate.go: plans and simulates decisions, several in parallel, each decision once.
//   - memo.go: what equal plans take, kept for a search or for several.
//   - decision.go: the choices.
package tune
