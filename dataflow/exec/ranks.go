package exec

import (
	"fmt"

	"sagann/dataflow/plan"
	"sagann/device"
)

// Several ranks. Each rank's runner runs a part of the plan (order.Part): the tasks of the rank's devices. A copy to a device of
// another rank is a message. After the step all ranks have the results and outputs.

// message is this rank's end of a message, as a kernel on the host.
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

// isDirect tells whether t is an end of a message that goes directly from GPU memory to GPU memory.
func (r *Runner) isDirect(t *plan.Task) bool {
	return (t.Kind == plan.Send || t.Kind == plan.Receive) && r.arena.Direct && !t.Is.Host
}

// submitMessage submits this rank's end of a message to queue q. With relay, a receive blocks until the message is there.
func (r *Runner) submitMessage(t *plan.Task, q device.Queue) error {
	if r.arena.relays() {
		return r.relay(t, q)
	}
	return r.arena.on(t.Device).dev.Launch(q, r.message(t))
}

// turn collects the messages of a device that cross at the same time, directly between GPUs. All direct messages of the device go
// through the queue net, in the global order. Events make each message run after the earlier tasks of its own queue and before
// the later ones.
type turn struct {
	net  device.Queue    // nil until the first message
	tied [2]device.Event // make net wait for a message's queue, and message queues wait for net
	list []device.Message
	of   []*task // the tasks of list
}

func (x *turn) open(dev device.Device) (err error) {
	if x.net != nil {
		return nil
	}
	if x.net, err = dev.NewQueue("net"); err != nil {
		return err
	}
	for i := range x.tied {
		if x.tied[i], err = dev.NewEvent(); err != nil {
			return err
		}
	}
	return nil
}

// direct adds message k of queue q to the device's turn. If k is the turn's last message, direct submits the turn and records
// the events of all its tasks. A trace shows a turn as its last message.
func (r *Runner) direct(k *task, q device.Queue) error {
	p, t := r.arena.on(k.t.Device), k.t
	dev, ok := p.dev.(device.Messenger)
	if !ok {
		return fmt.Errorf("%v cannot exchange messages", p.dev.Info())
	}
	x := &p.turn
	if err := x.open(dev); err != nil {
		return err
	}
	at := t.Addr
	if t.Kind == plan.Send {
		at = t.FromAddr
	}
	x.list = append(x.list, device.Message{Send: t.Kind == plan.Send, Peer: int(t.From), Mem: p.mem, Off: at, Bytes: t.Bytes})
	x.of = append(x.of, k)
	err := after(dev, x.net, q, x.tied[0])
	if k.more || err != nil {
		return err
	}
	x.net.SetTag(q.Tag())
	if err := dev.Exchange(x.net, x.list); err != nil {
		return err
	}
	if err := dev.Record(x.net, x.tied[1]); err != nil {
		return err
	}
	for _, k := range x.of {
		q := p.queues[k.t.Queue]
		if err := dev.Wait(q, x.tied[1]); err != nil {
			return err
		}
		if k.event != nil {
			if err := dev.Record(q, k.event); err != nil {
				return err
			}
		}
	}
	x.list, x.of = x.list[:0], x.of[:0]
	return nil
}

// after makes queue q wait for all tasks submitted to queue before so far, by event e.
func after(dev device.Device, q, before device.Queue, e device.Event) error {
	if err := dev.Record(before, e); err != nil {
		return err
	}
	return dev.Wait(q, e)
}

// rankOf is the rank of a plan's device d.
func (r *Runner) rankOf(d int) int { return d / len(r.arena.devices) }

// chunk is the rows of interval i of value id in host memory; for a value with a table, the whole table.
func (r *Runner) chunk(id, i int) ([]byte, error) {
	v := &r.plan.Spec.Values[id]
	if r.host[id] == nil {
		return nil, fmt.Errorf("input %s was not set", v.Name)
	}
	if z := r.plan.Places.Sets; z != nil && z.TableOf(id) != nil { // tables are not divided into intervals
		return r.host[id], nil
	}
	at := int64(r.slot(id, i)) * int64(r.plan.Cells.Width) * v.RowBytes
	return r.host[id][at : at+int64(r.plan.Cells.Rows(i))*v.RowBytes], nil
}

// Owns tells whether this rank needs only the rows of its own intervals of value id in host memory (plan.Plan.Apart).
func (r *Runner) Owns(id int) bool {
	return r.arena.ranks.Ranks() > 1 && r.plan.Apart(id)
}

// slot is the place of interval i among the intervals of value id in this rank's host memory.
func (r *Runner) slot(id, i int) int {
	if !r.owns[id] {
		return i
	}
	n := len(r.arena.devices)
	return i/r.plan.Devices*n + r.plan.Owner(i) - r.arena.first
}

// ownedRows is the number of rows in the rank's own intervals.
func (r *Runner) ownedRows() (n int64) {
	for i := range r.plan.Cells.P {
		if r.rankOf(r.plan.Owner(i)) == r.arena.ranks.Rank() {
			n += int64(r.plan.Cells.Rows(i))
		}
	}
	return n
}

// share sends all ranks what a step leaves on one of them: the results, which rank 0 has, and the outputs, of which each
// rank has its own intervals.
func (r *Runner) share() error {
	g := r.arena.ranks
	if g.Ranks() == 1 {
		return nil
	}
	for _, x := range r.results {
		if err := g.Bcast("results", bytesOf(x), 0); err != nil {
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

// shareRows sends all ranks the rows of value id that each rank has in host memory for its own intervals.
func (r *Runner) shareRows(id int) error {
	for j := range r.plan.Cells.P {
		if r.plan.Cells.Rows(j) == 0 {
			continue
		}
		rows, err := r.chunk(id, j)
		if err == nil {
			err = r.arena.ranks.Bcast("rows of an output", rows, r.rankOf(r.plan.Owner(j)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// gatherRows updates the host memory of all ranks to the current rows of input id, also if it is resident on devices.
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
