package exec

import (
	"fmt"

	"sagann/dataflow/plan"
	"sagann/device"
)

// Several ranks. Each rank's runner runs a part of the plan (order.Part): the tasks of the rank's devices. A copy to a device of
// another rank is a message. After the step all ranks have the results and outputs.

// messages are this rank's ends of the copies between devices of different ranks, and what the ranks send each other after a step.
type messages struct {
	plan  *plan.Plan
	arena *Arena
	host  *hosted
}

// message is this rank's end of a message, as a kernel on the host.
func (m *messages) message(t *plan.Task) device.HostKernel {
	return device.HostFunc(m.plan.DescribeTask(t), func(arena []byte) error {
		g, n := m.arena.ranks, t.Channel(m.plan.Devices)
		peer := m.arena.rankOf(int(t.From))
		mem := m.arena.on(t.Device).mem.In(arena)
		g.Doing(func() string { return m.plan.DescribeTask(t) })
		switch {
		case t.Kind == plan.Receive:
			return g.Recv(mem[t.Addr:t.Addr+t.Bytes], peer, n)
		case t.Is.Host:
			rows, err := m.host.interval(int(t.Value), int(t.Own))
			if err != nil {
				return err
			}
			return g.Send(rows, peer, n)
		}
		return g.Send(mem[t.FromAddr:t.FromAddr+t.Bytes], peer, n)
	})
}

// isDirect tells whether t is an end of a message that goes directly from GPU memory to GPU memory.
func (m *messages) isDirect(t *plan.Task) bool {
	return (t.Kind == plan.Send || t.Kind == plan.Receive) && m.arena.Direct && !t.Is.Host
}

// submit submits this rank's end of a message to queue q. With relay, a receive blocks until the message is there.
func (m *messages) submit(t *plan.Task, q device.Queue) error {
	if m.arena.relays() {
		return m.relay(t, q)
	}
	return m.arena.on(t.Device).dev.Launch(q, m.message(t))
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

// exchange adds message k of queue q to the device's turn. If k is the turn's last message, exchange submits the turn and records
// the events of all its tasks. A trace shows a turn as its last message.
func (m *messages) exchange(k *task, q device.Queue) error {
	p, t := m.arena.on(k.t.Device), k.t
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

// share sends all ranks what a step leaves on one of them: the results, which rank 0 has, and the outputs, of which each
// rank has its own intervals.
func (m *messages) share() error {
	g := m.arena.ranks
	if g.Ranks() == 1 {
		return nil
	}
	for _, x := range m.host.results {
		if err := g.Bcast("results", device.Bytes(x), 0); err != nil {
			return fmt.Errorf("results: %w", err)
		}
	}
	for id := range m.plan.Spec.Values {
		if v := &m.plan.Spec.Values[id]; !v.Output {
			continue
		} else if err := m.shareRows(id); err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	return nil
}

// shareRows sends all ranks the rows of value id that each rank has in host memory for its own intervals.
func (m *messages) shareRows(id int) error {
	s := m.plan.Span(id)
	for j := s.First; j < s.First+s.N; j++ {
		if s.Rows(j) == 0 {
			continue
		}
		rows, err := m.host.interval(id, j)
		if err == nil {
			err = m.arena.ranks.Bcast("rows of an output", rows, m.arena.rankOf(m.plan.Owner(j)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
