// Package backend is the table of the kinds of devices: what the rest of the engine asks of a
// kind, it asks its row. A further kind adds a row here, an implementation of device.Device
// below device, a machine file and, for a GPU, a kernel.Renderer in a package below kernel.
//
// The files: kind.go (the rows and what they say), spec.go (which row a device's name means).
package backend
