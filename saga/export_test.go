package saga

import (
	"errors"

	"sagann/dataflow/exec"
	"sagann/device"
)

// OpenOn is Open on devices of a test's own. Close, or an error, closes them.
func (p *Program) OpenOn(devices []device.Device) error {
	arena, err := exec.NewArena(devices, p.PlannedPeak())
	if err != nil {
		return errors.Join(err, closeAll(devices, nil))
	}
	return p.begin(devices, arena)
}

// DeviceBytes is what OpenOn takes of each device.
func (p *Program) DeviceBytes() int64 { return p.PlannedPeak() + p.reserve }

// EstimateFrom lets statistics choose from so many edges; the result puts it back.
func EstimateFrom(edges int) (restore func()) {
	was := estimateFrom
	estimateFrom = edges
	return func() { estimateFrom = was }
}

// Measured is for how many numbers of intervals the edges were gone through.
func (p *Program) Measured() int { return len(p.sizes) }
