package backend

import (
	"sagann/device"
	"sagann/kernel"
	"sagann/kernel/cuda"
)

// Kind is a kind of device.
type Kind struct {
	Name  string // as a device's name begins: "cpu" in "cpu:4"
	Label string // of its devices in topologies, which a number follows

	// Renderer makes programs ready for the kind, of GPUs; nil: its kernels run on the host.
	Renderer kernel.Renderer
	// Chip is what plans take the devices for; one that is open tells of itself (device.Info).
	Chip kernel.Chip
	// System asks the driver for the devices; nil: there is no driver.
	System func() (device.System, error)

	Model   string // machine model that stands for one device
	Several string // for several; "": the kind has none
	Most    int    // so many at most
	Search  bool   // plans are searched on that model where no other is named
	Timed   bool   // copies take time that can be measured
	Host    bool   // devices are goroutines of this process and share its memory
	Two     string // the name of two devices, for help
}

// kinds is the table.
var kinds = []Kind{
	{Name: "cpu", Label: "cpu", Model: "cpu", Timed: true, Host: true, Two: "cpu:2"},
	{Name: "null", Label: "null", Model: "cpu", Two: "null:2"}, // counts, computes nothing
	{Name: "cuda", Label: "gpu", Renderer: cuda.Backend{}, Chip: cuda.H200, System: device.CUDASystem,
		Model: "h200", Several: "h200x4", Most: 4, Search: true, Timed: true, Two: "cuda:0,1"},
}

// GPU tells whether devices of the kind have memory of their own and compile kernels.
func (k *Kind) GPU() bool { return k.Renderer != nil }

// Default is the kind of a device without a name.
func Default() *Kind { return &kinds[0] }

// Printed is the kind whose text of kernels people look at where their device has none: the first
// kind of GPU.
func Printed() *Kind {
	for i := range kinds {
		if kinds[i].GPU() {
			return &kinds[i]
		}
	}
	return Default()
}

// ChipOf is the chip of an open device, as far as it tells.
func (k *Kind) ChipOf(i device.Info) kernel.Chip {
	c := k.Chip
	if i.Processors > 0 {
		c.Processors = i.Processors
	}
	if i.Cache > 0 {
		c.Cache = i.Cache
	}
	return c
}
