// Package layout decides what stays on the device and gives everything its place: a Choice that fits the
// budget, and a Layout, which is a plan without tasks.
//
// The files, in the order of the work. Each calls those below it:
//
//   - fit.go: a choice that fits: slots, what stays, more slots, in the order that the rule says.
//   - keep.go: what stays, by copies saved for each byte, and more slots. partial.go: the windows that could be.
//   - size.go: what a choice takes.
//   - layout.go, place.go, window.go, slots.go: where things lie in device memory.
//   - blocks.go: the same for sampled blocks, of which everything is resident.
//   - fitter.go: a buffer at the lowest address where it meets no other.
//   - host.go: values that share a place in host memory.
package layout
