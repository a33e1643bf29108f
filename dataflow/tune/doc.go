// Package tune searches for the fastest plan by simulation. A Decision has all choices. The decoder
// (package plan/planner) turns a Decision into a plan that fits, and the simulator (plan/sim) predicts
// how long a step of the plan takes. Search draws changes of the best decisions from a table of moves as long as
// the step gets shorter.
//
// The files; each calls those below it:
//
//   - search.go: walks from several decisions, and then all moves in turn. seed.go: the decisions with which that begins.
//   - walk.go: changes drawn at random.
//   - moves.go: the table of moves.
//   - evaluate.go: plans and simulates decisions, several in parallel, each decision once.
//   - memo.go: what equal plans take, kept for a search or for several.
//   - decision.go: the choices.
package tune
