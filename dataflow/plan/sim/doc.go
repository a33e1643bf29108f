// Package sim predicts how long a plan takes on a machine: discrete events over queues, links and kernel rates.
// A prediction is a pure function of the plan and the machine; LoadMachine alone opens files.
//
// The files, in the order of the work; each calls those below it:
//
//   - profile.go: what a search reads of a plan and its timeline.
//   - edf.go: the same events with loads that pass each other.
//   - simulate.go, timeline.go: the event loop, and its result.
//   - numa.go, bound.go: host memory in one socket; closed forms for rings of devices.
//   - kernel.go: the time of a kernel: a roofline with a machine's rates.
//   - batch.go: the time of a step over sampled blocks.
//   - network.go: links that copies share.
//   - topology.go: trees of links for package ring, and back.
//   - machine.go, machine_check.go: machine files. hosts.go: several hosts of one kind.
package sim
