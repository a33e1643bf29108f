package exec

import (
	"fmt"
	"maps"
	"slices"

	"sagann/dataflow/plan"
	"sagann/device"
)

// globals are the Globals of a plan as callers set and read them.
type globals struct {
	plan   *plan.Plan
	arena  *Arena
	names  names
	consts map[int]*constant // by Global of kind Const
}

// constant is a Global of kind Const. The caller sets it, and a step of another runner overwrites it on the device.
type constant struct {
	x       []float32
	written bool // x is on the device
}

// set writes a Global of kind Param to every device, and keeps one of kind Const for submit.
func (g *globals) set(id int, x []float32) error {
	to := g.plan.Spec.Globals[id]
	if len(x) != to.Rows*to.Cols {
		return fmt.Errorf("exec: %s has %d×%d numbers, not %d", to.Name, to.Rows, to.Cols, len(x))
	}
	switch to.Kind {
	case plan.Param:
		for i := range g.arena.devices {
			p := &g.arena.devices[i]
			if err := g.write(p, p.queues[plan.H2D], id, x); err != nil {
				return err
			}
		}
		return g.arena.syncFor("set " + to.Name)
	case plan.Const:
		g.consts[id] = &constant{x: slices.Clone(x)}
		return nil
	}
	return fmt.Errorf("exec: %s is computed by a step and cannot be set", to.Name)
}

// submit submits copies of the constants that are not on the devices, before the kernels of the next step. It does not wait for
// them, as a wait for the device would also wait for rows of the next batch.
func (g *globals) submit() error {
	for _, id := range slices.Sorted(maps.Keys(g.consts)) {
		c := g.consts[id]
		if c.written {
			continue
		}
		for i := range g.arena.devices {
			p := &g.arena.devices[i]
			q := p.queues[plan.Compute]
			q.SetTag(g.names.constant(id))
			if err := g.write(p, q, id, c.x); err != nil {
				return err
			}
		}
		c.written = true
	}
	return nil
}

// lose notes that the devices have no constants any more.
func (g *globals) lose() {
	for _, c := range g.consts {
		c.written = false
	}
}

// write submits a copy of x to Global id on a device.
func (g *globals) write(p *part, q device.Queue, id int, x []float32) error {
	if err := p.dev.CopyH2D(q, p.mem, g.plan.Globals[id], device.Bytes(x)); err != nil {
		return fmt.Errorf("set %s: %w", g.plan.Spec.Globals[id].Name, err)
	}
	return nil
}

// read copies a Global from the first device to x.
func (g *globals) read(id int, x []float32) error {
	p := &g.arena.devices[0]
	if err := p.dev.CopyD2H(p.queues[plan.D2H], device.Bytes(x), p.mem, g.plan.Globals[id]); err != nil {
		return err
	}
	return p.dev.Sync()
}
