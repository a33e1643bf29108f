package backend

import (
	"sagann/device"
	"sagann/kernel"
	"sagann/kernel/cuda"
)

// Kind is a kind of device.
type Kind struct {
	Name  string // as a device's name begins: "cpu" in "cpu:4"
	Label string // its devices' name in topologies, without their number

	// Renderer renders kernels as text that GPUs compile; nil: kernels run on the host.
	Renderer kernel.Renderer
	// Chip is the facts that plans assume of a device; an open device knows its own (see ChipOf).
	Chip kernel.Chip
	// System asks the driver for its devices; nil: there is no driver.
	System func() (device.System, error)

	Model   string // machine model for one device
	Several string // machine model for several devices; "": none
	Most    int    // the most devices of that model
	Search  bool   // plans are searched on these models unless another is named
	Timed   bool   // copies take time that can be measured
	Host    bool   // devices are goroutines of this process and share its memory
	Two     string // an example of a name of two devices, for help texts
}

// kinds is the table.
var kinds = []Kind{
	{Name: "cpu", Label: "cpu", Model: "cpu", Timed: true, Host: true, Two: "cpu:2"},
	{Name: "null", Label: "null", Model: "cpu", Two: "null:2"}, // counts calls and computes nothing
	{Name: "cuda", Label: "gpu", Renderer: cuda.Backend{}, Chip: cuda.H200, System: device.CUDASystem,
		Model: "h200", Several: "h200x4", Most: 4, Search: true, Timed: true, Two: "cuda:0,1"},
}

// GPU reports whether devices of the kind have memory of their own and compile kernels.
func (k *Kind) GPU() bool { return k.Renderer != nil }

// Default is the kind of a device without a name.
func Default() *Kind { return &kinds[0] }

// Printed is the kind whose kernel text is printed if the user's device has no kernel text: the
// first kind of GPU.
func Printed() *Kind {
	for i := range kinds {
		if kinds[i].GPU() {
			return &kinds[i]
		}
	}
	return Default()
}

// ChipOf is the chip of an open device. What i does not say is taken from the table.
func (k *Kind) ChipOf(i device.Info) kernel.Chip {
	c := k.Chip
	if i.Processors > 0 {
		c.Processors = i.Processors
	}
	if i.Cache > 0 {
		c.Cache = i.Cache
	}
	c.Groups = c.Groups && i.Arch == 90
	return c
}
