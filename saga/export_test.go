package saga

import (
	"errors"

	"sagann/chunk"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/device"
)

// OpenOn is Open on devices of a test's own. Close, or an error, closes them.
func (p *Program) OpenOn(devices []device.Device) error {
	arena, err := exec.NewArena(devices, p.PlannedPeak())
	if err != nil {
		return errors.Join(err, closeAll(devices, nil))
	}
	p.closed = false
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

// HostHeld is what p holds on the host, by counting it: bytes of memory, and of files.
func (p *Program) HostHeld() (memory, disk int64) {
	for _, d := range p.session.devices {
		memory += d.Counters().HostUsed
	}
	for _, side := range []*chunk.Side{p.grid.grid.CSC, p.grid.grid.CSR} {
		if side != nil {
			memory += int64(len(side.Mem))
		}
	}
	for _, rows := range p.inv {
		memory += int64(len(rows))
	}
	for _, f := range p.files {
		memory -= int64(len(f.Bytes()))
		disk += int64(len(f.Bytes()))
	}
	for name, x := range p.in.extra {
		if p.extraFiles[name] != nil {
			disk += int64(4 * len(x))
		} else {
			memory += int64(4 * len(x))
		}
	}
	for _, u := range []*unit{p.train, p.eval} {
		for id := range u.plan.Spec.Values {
			if u.plan.OnHost(id) && u.plan.OnDisk(id) {
				disk += int64(len(u.run.Output(id)))
			}
		}
	}
	return memory, disk
}

// InputOnDisk tells whether input name of training lies in a file.
func (p *Program) InputOnDisk(name string) bool {
	return p.train.plan.OnDisk(p.train.low.Inputs[name])
}

// ExtraFiles is the bytes of the files that live as long as p, closed or not.
func (p *Program) ExtraFiles() (bytes int64) {
	for _, f := range p.extraFiles {
		bytes += int64(len(f.Bytes()))
	}
	return bytes
}

// KernelNeeds is what the kernels of training and evaluation take beside their plans.
func (p *Program) KernelNeeds() (int64, error) {
	rows, edges := p.Totals()
	return exec.Scratch(rows, int(edges), p.train.low.Kernels, p.eval.low.Kernels)
}

// PlannedTiles calls f for every call of the training plan: the tile that it was planned with and its kernel's.
func (p *Program) PlannedTiles(f func(planned, tile int)) {
	l := p.train.low
	each := func(c *plan.Call) { f(c.Cost.Tile, l.Kernels[c.Kernel].Tile) }
	for i := range p.train.plan.Spec.Phases {
		for _, st := range p.train.plan.Spec.Phases[i].Steps {
			for n := range st.Calls {
				each(&st.Calls[n])
			}
		}
	}
	for _, v := range p.train.plan.Spec.Values {
		if v.Derive != nil {
			each(v.Derive)
		}
	}
}
