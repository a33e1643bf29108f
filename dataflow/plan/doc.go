// Package plan turns what lowering found (phases of work over intervals) into a flat
// list of tasks for a given number of intervals and a memory budget: what is
// resident, what streams through which slot, in which order, and what waits for what.
// Everything here is a pure function; it knows neither nodes nor devices.
//
// The files, in the order in which a plan comes to be:
//
//   - What is planned: spec.go (a program as values, phases and calls, with the cost of each
//     call), staged.go (the schedules stage and dest-order as cuts of its phases), access.go and
//     reads.go (who touches what), plan.go (the result: tasks, places, bytes).
//   - What stays: choose.go (Options and New), fit.go (which choice is the best that fits), size.go
//     and fitter.go (what a choice takes), keep.go (the greedy residency policy), slots.go and slot_ring.go (buffers of what
//     streams), window.go and windows.go (parts that stay for some phases), balance.go,
//     gain.go and deal.go (memory dealt out by the kernels of the phases).
//   - Where it lies: place.go (device memory), host.go, hosts.go and tenants.go (host memory,
//     and files beyond it).
//   - In which order: schedule.go (the tasks of every visit), fetch.go and rows.go (how a chunk
//     comes: from the host, a neighbour, as a whole or by rows), ring_order.go (around a ring of
//     devices), deps.go (what waits for what), early.go (loads pass each other), verify.go.
//   - How long it takes: machine.go and machine_check.go (a machine model), simulate.go (the
//     discrete events), timeline.go, timeline_kernel.go and timeline_links.go (their times),
//     ring_bound.go, ring_machine.go and ring_numa.go (closed forms and topologies for rings).
//   - By which rule: decode.go (Rule and Decoder: every rule leads to a plan that fits; package
//     tune searches among them).
//   - What it looks like: describe.go, dot.go, html.go.
package plan
