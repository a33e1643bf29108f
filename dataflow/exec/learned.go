package exec

import (
	"fmt"

	"sagann/dataflow/plan"
)

// Inputs that steps write (plan.Value.State), between steps. Those that stream are in the memory that
// SetInput was given; those that stay on devices are newer there.

// blockBytes is about how much of such rows comes to the host at a time.
const blockBytes = 8 << 20

// EachRows calls f for all rows of input id, in blocks: rows from number first on, in new vertex order,
// RowBytes each, that hold until f returns. No step may be running.
func (r *Runner) EachRows(id int, f func(first int, rows []byte) error) error {
	v, c := &r.plan.Spec.Values[id], r.plan.Cells
	if err := r.gatherRows(id); err != nil {
		return err
	}
	if r.arena.ranks.Ranks() > 1 || !r.has.ahead || !r.plan.Places.Resident[id] {
		for i := range c.P {
			if c.Rows(i) == 0 {
				continue
			}
			at := int64(i) * int64(c.Width) * v.RowBytes
			if err := f(i*c.Width, r.host[id][at:at+int64(c.Rows(i))*v.RowBytes]); err != nil {
				return err
			}
		}
		return nil
	}
	room := make([]byte, max(1, blockBytes/v.RowBytes)*v.RowBytes)
	return r.eachStay(id, func(p *part, t *plan.Task) error {
		for at := int64(0); at < t.Bytes; at += int64(len(room)) {
			rows := room[:min(int64(len(room)), t.Bytes-at)]
			if err := p.dev.CopyD2H(p.queues[plan.D2H], rows, p.mem, t.Addr+at); err != nil {
				return fmt.Errorf("read rows of %s: %w", v.Name, err)
			}
			if err := r.arena.syncFor("read rows of " + v.Name); err != nil {
				return err
			}
			if err := f(int(t.Own)*c.Width+int(at/v.RowBytes), rows); err != nil {
				return err
			}
		}
		return nil
	})
}

// SendRows brings what was written to the memory that SetInput was given for input id to the
// devices, where they hold it. No step may be running.
func (r *Runner) SendRows(id int) error {
	v := &r.plan.Spec.Values[id]
	err := r.eachStay(id, func(p *part, t *plan.Task) error {
		at := int64(t.Own) * int64(r.plan.Cells.Width) * v.RowBytes
		return p.dev.CopyH2D(p.queues[plan.H2D], p.mem, t.Addr, r.host[id][at:at+t.Bytes])
	})
	if err != nil {
		return fmt.Errorf("send rows of %s: %w", v.Name, err)
	}
	return r.arena.syncFor("send rows of " + v.Name)
}

// eachStay calls f for every interval of input id that the setup has loaded, with the device that has it.
func (r *Runner) eachStay(id int, f func(p *part, t *plan.Task) error) error {
	for i := range r.plan.Setup {
		if t := &r.plan.Setup[i]; r.has.ahead && int(t.Value) == id {
			if err := f(r.arena.on(t.Device), t); err != nil {
				return err
			}
		}
	}
	return nil
}
