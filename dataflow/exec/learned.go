package exec

import (
	"fmt"

	"sagann/dataflow/plan"
)

// Inputs that steps write (plan.Value.State), read and written between steps. If such an input streams, its current rows are in the
// memory that was given to SetInput. If it is resident, they are on the devices, and that memory has older ones.

// blockBytes is about the number of bytes that EachRows copies to the host at a time.
const blockBytes = 8 << 20

// EachRows calls f for all current rows of input id, in blocks: rows has consecutive rows from number first on, in new
// vertex order, RowBytes each. It is valid until f returns. An error of f ends EachRows. No step may be running.
func (r *Runner) EachRows(id int, f func(first int, rows []byte) error) error {
	v, s := &r.plan.Spec.Values[id], r.plan.Span(id)
	if err := r.gatherRows(id); err != nil {
		return err
	}
	if r.arena.ranks.Ranks() > 1 || !r.has.ahead || !r.plan.Places.Resident[id] {
		for i := s.First; i < s.First+s.N; i++ {
			if s.Rows(i) == 0 {
				continue
			}
			first := r.plan.FirstRow(id, i)
			at := int64(first) * v.RowBytes
			if err := f(first, r.host.rows[id][at:at+int64(s.Rows(i))*v.RowBytes]); err != nil {
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
			if err := f(r.plan.FirstRow(id, int(t.Own))+int(at/v.RowBytes), rows); err != nil {
				return err
			}
		}
		return nil
	})
}

// gatherRows updates the host memory of all ranks to the current rows of input id, also if it is resident on devices.
func (r *Runner) gatherRows(id int) error {
	if r.arena.ranks.Ranks() == 1 {
		return nil
	}
	v := &r.plan.Spec.Values[id]
	if r.plan.Places.Resident[id] {
		err := r.eachStay(id, func(p *part, t *plan.Task) error {
			rows, err := r.host.interval(id, int(t.Own))
			if err == nil {
				err = p.dev.CopyD2H(p.queues[plan.D2H], rows, p.mem, t.Addr)
			}
			return err
		})
		if err == nil {
			err = r.arena.sync()
		}
		if err != nil {
			return fmt.Errorf("read rows of %s: %w", v.Name, err)
		}
	}
	return r.ranks.shareRows(id)
}

// SendRows copies the rows of input id from the memory that was given to SetInput to the devices, if
// they are resident there. Call it after writing to that memory. No step may be running.
func (r *Runner) SendRows(id int) error {
	v := &r.plan.Spec.Values[id]
	err := r.eachStay(id, func(p *part, t *plan.Task) error {
		rows, err := r.host.interval(id, int(t.Own))
		if err == nil {
			err = p.dev.CopyH2D(p.queues[plan.H2D], p.mem, t.Addr, rows[:t.Bytes])
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("send rows of %s: %w", v.Name, err)
	}
	return r.arena.syncFor("send rows of " + v.Name)
}

// eachStay calls f for every setup task that has loaded an interval of input id, with the part of the interval's device.
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
