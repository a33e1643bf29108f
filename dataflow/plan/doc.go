// Package plan says what a plan is: a program of phases over intervals (Spec), the sizes of its grid
// (Cells), and a flat list of tasks with their places in memory (Plan). It knows neither nodes nor
// devices. What makes plans lies in the packages in its subfolders, in the order of the work:
//
//   - layout: what stays on the device, and where everything lies.
//   - order: the tasks, in which order, and what waits for what.
//   - sim: how long a plan takes on a machine.
//   - planner: the chain from a program to a plan, with or without a search (package tune).
//   - view: a plan as a drawing or a page.
//
// The files:
//
//   - spec.go: a program as values, phases and calls with their costs.
//   - options.go, rule.go: what is asked of a plan, and by which priorities memory is given away.
//   - sets.go: the row sets of sampled blocks, and room for them.
//   - cut.go: a program's phases cut as the schedule that is asked for wants them.
//   - plan.go, window.go: the result: tasks, places, what stays for some phases.
//   - access.go: which phase touches what.
//   - verify.go, describe.go: invariants of a plan; names of its tasks.
//   - reads.go, host.go, tenants.go: what can be read off a plan: bytes, host memory and files.
//
// # Words
//
//   - slot: a buffer that streamed chunks take in turn; more slots load farther ahead.
//   - window: some intervals of a value that stay from one phase to a later one.
//   - group: intervals that a device visits together, so that a chunk comes once for all of them.
//   - slice: some of the columns of a value, gathered in a phase of their own.
//   - tile: the rows that a GPU's kernels work on at a time; strip: those of the CPU's, which stay in cache.
//   - sweep: a phase, as a walk over all intervals.
//   - rule: priorities by which memory is given away (in dataflow: a rewrite of one node). The decoder
//     (planner.Decoder) turns any decision of the search, of which the rule is a part, into a plan that fits.
package plan
