// Package backend is the table of the kinds of devices. The rest of the engine asks a row of the
// table for what differs between kinds; how a device's name is read is asked of package device (IsGPU, Count). A new kind needs a row here, an implementation
// of device.Device in package device, a machine file and, for a GPU, a kernel.Renderer in a package
// below kernel.
//
// The files: kind.go (the rows and their methods), spec.go (which row a device's name means),
// commands.go (steps of programs as commands of a GPU).
package backend
