// Package plan defines the input of planning, which is a program of phases over intervals (Spec)
// and the sizes of its grid (Cells), and the result, which is a flat list of tasks with addresses
// in device memory (Plan). The package knows neither nodes nor devices. The packages in its
// subfolders make plans. In the order of the work:
//
//   - layout: decides what stays on the device, and gives everything an address.
//   - order: makes the tasks and their order, and finds which task waits for which.
//   - sim: predicts how long a plan takes on a machine.
//   - planner: makes a plan of a program, with or without a search (package tune).
//   - view: draws a plan, also as an HTML page.
//
// The files:
//
//   - spec.go: a program as values, phases and calls with their costs.
//   - options.go, rule.go: what a caller asks of a plan, and the priorities by which values get
//     memory.
//   - sets.go: the row sets of sampled blocks, and the memory for them.
//   - cut.go: splits a program's phases for the schedules that need it.
//   - bytype.go: phases of one vertex type each, moved and joined as far as they can be.
//   - plan.go, window.go: the result: tasks, addresses, and intervals that stay for some phases.
//   - access.go: which phase reads and writes which value.
//   - work.go: the scratch memory of kernels, by phase.
//   - verify.go, describe.go: invariants of a plan; names of its tasks.
//   - reads.go, host.go, tenants.go: what a plan copies, and what it needs of host memory and files.
//
// # Words
//
//   - slot: a buffer that streamed chunks use in turn; with more slots, copies run farther ahead.
//   - window: some intervals of a value that stay on the device from one phase to a later one.
//   - group: intervals that a device visits together, so that a chunk is loaded once for all of them.
//   - slice: some of the columns of a value; each slice is gathered in a phase of its own.
//   - tile: the rows that a GPU's kernels work on at a time; strip: the rows that a CPU's kernels
//     work on at a time, few enough for the cache.
//   - sweep: a phase, seen as a walk over all intervals.
//   - rule: priorities by which values get memory (in package dataflow a rule is a rewrite of one
//     node).
//   - decoder: planner.Decoder turns any decision of the search, which includes a rule, into a plan
//     that fits.
package plan
