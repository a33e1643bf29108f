package saga

import (
	"sagann/chunk"
	"sagann/dataflow/exec"
	"sagann/device"
)

// OpenOn is Open on devices of a test's own. Close closes them.
func (p *Program) OpenOn(devices []device.Device) error {
	p.devices = devices
	arena, err := exec.NewArena(devices, max(p.train.plan.Peak, p.eval.plan.Peak))
	if err != nil {
		return err
	}
	p.arena = arena
	for _, u := range []*unit{p.train, p.eval} {
		if err := p.start(u, arena); err != nil {
			return err
		}
	}
	p.train.run.OnUpdate(p.update)
	for i := range p.params {
		q := &p.params[i]
		if err := p.SetParam(q.Name, q.initial(p.cfg.Seed)); err != nil {
			return err
		}
	}
	return nil
}

// HostHeld is what p holds on the host, by counting it: bytes of memory, and of files.
func (p *Program) HostHeld() (memory, disk int64) {
	for _, d := range p.devices {
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

// ExtraFiles is the bytes of the files that live as long as p, closed or not.
func (p *Program) ExtraFiles() (bytes int64) {
	for _, f := range p.extraFiles {
		bytes += int64(len(f.Bytes()))
	}
	return bytes
}
