// Package sim predicts how long a plan takes on a machine, by a discrete-event simulation of queues, links and
// kernels. A prediction depends on nothing but the plan and the machine. Only LoadMachine opens files.
//
// The files, in the order of the work; each calls those below it:
//
//   - bound.go: closed-form bounds for several devices.
//   - profile.go: what a search needs to know of a plan and its timeline.
//   - edf.go: the simulation with loads in the order of their deadlines instead of the plan's order.
//   - numa.go: all host memory in one socket.
//   - simulate.go, timeline.go: the event loop, and its result. chooser.go: which load comes next where the plan's order does not say.
//     route.go: the links that a copy takes, and its size.
//   - batch.go: the time of a step over sampled blocks.
//   - kernel.go: the time of a kernel: a roofline with a machine's rates.
//   - network.go: links whose bandwidth concurrent copies share.
//   - topology.go: a machine's tree of links for package ring, and a machine from measured links.
//   - machine.go, machine_check.go: machine files. hosts.go: several equal hosts.
package sim
