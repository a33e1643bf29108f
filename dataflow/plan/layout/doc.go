// Package layout decides what stays on the device and gives everything an address. It makes a Choice that fits
// the budget, and from the choice a Layout, which is a plan without tasks.
//
// The files, in the order of the work. Each calls those below it:
//
//   - fit.go: finds a choice that fits. The rule says what gets memory first: values, windows or slots.
//   - keep.go: keeps values and windows on the device, by the copies that each saves, and adds slots.
//   - weigh.go: tells of most of what does not fit that it does not, without measuring it.
//   - partial.go: lists the possible windows.
//   - size.go: the bytes that a choice takes.
//   - blocks.go: addresses for sampled blocks, where everything is resident.
//   - place.go, slots.go, window.go, layout.go: addresses in device memory.
//   - moments.go: what is in use when, chunk by chunk.
//   - fitter.go: places a buffer at the lowest free address.
//   - host.go: values that share host memory.
package layout
