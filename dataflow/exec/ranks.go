package exec

import (
	"fmt"

	"sagann/dataflow/plan"
	"sagann/device"
)

// Ranks. A runner over several ranks runs a part of a plan (order.Part): its own devices' tasks. What crosses to
// another rank is a message; after the step all ranks have its results and outputs.

// message is this rank's end of a message, as a kernel of the host.
func (r *Runner) message(t *plan.Task) device.HostKernel {
	return device.HostFunc(r.plan.DescribeTask(t), func(arena []byte) error {
		g, n := r.arena.ranks, t.Channel(r.plan.Devices)
		peer := r.rankOf(int(t.From))
		mem := r.arena.on(t.Device).mem.In(arena)
		g.Doing(func() string { return r.plan.DescribeTask(t) })
		switch {
		case t.Kind == plan.Receive:
			return g.Recv(mem[t.Addr:t.Addr+t.Bytes], peer, n)
		case t.Is.Host:
			rows, err := r.chunk(int(t.Value), int(t.Own))
			if err != nil {
				return err
			}
			return g.Send(rows, peer, n)
		}
		return g.Send(mem[t.FromAddr:t.FromAddr+t.Bytes], peer, n)
	})
}

// rankOf is the rank of a plan's device d.
func (r *Runner) rankOf(d int) int { return d / len(r.arena.devices) }

// chunk is interval i of value id in host memory.
func (r *Runner) chunk(id, i int) ([]byte, error) {
	v := &r.plan.Spec.Values[id]
	if r.host[id] == nil {
		return nil, fmt.Errorf("input %s was not set", v.Name)
	}
	at := int64(i) * int64(r.plan.Cells.Width) * v.RowBytes
	return r.host[id][at : at+int64(r.plan.Cells.Rows(i))*v.RowBytes], nil
}

// share gives all ranks what a step leaves on one of them: results, which are the first's, and outputs, of
// which each has its intervals.
func (r *Runner) share() error {
	g := r.arena.ranks
	if g.Ranks() == 1 {
		return nil
	}
	for _, x := range r.results {
		if err := g.Bcast(bytesOf(x), 0); err != nil {
			return fmt.Errorf("results: %w", err)
		}
	}
	for id := range r.plan.Spec.Values {
		if v := &r.plan.Spec.Values[id]; !v.Output {
			continue
		} else if err := r.shareRows(id); err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	return nil
}

// shareRows gives all ranks the rows of value id that each has on its host.
func (r *Runner) shareRows(id int) error {
	for j := range r.plan.Cells.P {
		if r.plan.Cells.Rows(j) == 0 {
			continue
		}
		rows, err := r.chunk(id, j)
		if err == nil {
			err = r.arena.ranks.Bcast(rows, r.rankOf(r.plan.Owner(j)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// gatherRows gives all ranks the rows of input id as they are now: those that stay on devices, too.
func (r *Runner) gatherRows(id int) error {
	if r.arena.ranks.Ranks() == 1 {
		return nil
	}
	v := &r.plan.Spec.Values[id]
	if r.plan.Places.Resident[id] {
		err := r.eachStay(id, func(p *part, t *plan.Task) error {
			rows, err := r.chunk(id, int(t.Own))
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
	return r.shareRows(id)
}
