package exec

import (
	"fmt"
	"sync"

	"sagann/dataflow/plan"
	"sagann/device"
)

// Messages between GPUs through host memory, for a transport that cannot access GPU memory: a chunk is copied to a buffer on the host,
// sent, received into a buffer of the other rank, and copied to that rank's device. Each device has two buffers to send and two to receive,
// so that one message crosses while the one before it is copied, and messages cross in both directions at once.
//
// A goroutine sends. A receive blocks the goroutine that submits the device's tasks; tasks that were submitted before run
// on. Ranks cannot deadlock. Consider the first message in the global order that has not passed both its ends: all messages before it
// have arrived, so its sender has a free buffer, and its receiver gets to it.

// perWay is the number of buffers of a device in each direction: one message crosses while the one before it is copied.
const perWay = 2

// relay has the buffers of a device.
type relay struct {
	out, in [perWay]buffer
	turn    [2]int         // indices of the next buffer of out and of in
	send    chan sending   // to the goroutine that sends (run)
	under   sync.WaitGroup // messages in send or being sent

	mu  sync.Mutex
	err error // the first error of a send
}

// buffer is host memory for a message.
type buffer struct {
	b    []byte
	used device.Event  // recorded after the last copy between the buffer and the device
	free chan struct{} // buffers to send only: has an entry if the buffer is free
}

// sending is a message in a buffer that is to be sent.
type sending struct {
	*buffer
	b       []byte
	to, way int // rank and channel
	doing   func() string
}

// relays tells whether messages go through buffers in host memory.
func (a *Arena) relays() bool { return a.Relay || a.onGPU() }

// openRelay makes the buffers of each device at least as large as the plan's largest message on it. Runners of an arena share buffers.
func (m *messages) openRelay() error {
	if !m.arena.relays() {
		return nil
	}
	most := make([]int64, len(m.arena.devices))
	for i := range m.plan.Tasks {
		t := &m.plan.Tasks[i]
		if (t.Kind == plan.Send || t.Kind == plan.Receive) && (t.Is.Host || !m.arena.Direct) {
			d := m.arena.number(t.Device)
			most[d] = max(most[d], t.Bytes)
		}
	}
	for d, n := range most {
		if err := m.arena.devices[d].openRelay(m.arena, n); err != nil {
			return fmt.Errorf("buffers for messages: %w", err)
		}
	}
	return nil
}

// openRelay makes all buffers at least n bytes large.
func (p *part) openRelay(a *Arena, n int64) error {
	if n == 0 {
		return nil
	}
	if p.relay == nil {
		p.relay = &relay{send: make(chan sending, perWay)} // as many as buffers: a send has a buffer, so it never blocks
		go p.relay.run(a, p.dev)
	}
	for _, list := range [][]buffer{p.relay.out[:], p.relay.in[:]} {
		for i := range list {
			x := &list[i]
			if int64(len(x.b)) >= n {
				continue
			}
			if x.used == nil {
				var err error
				if x.used, err = p.dev.NewEvent(); err != nil {
					return err
				}
				x.free = make(chan struct{}, 1)
				x.free <- struct{}{}
			}
			x.b = make([]byte, n)
			if err := a.pin(x.b); err != nil {
				return err
			}
		}
	}
	return nil
}

// relay does this rank's end of a message: it receives and submits the copy to the device, or submits the copy to a buffer
// and leaves the rest to run.
func (m *messages) relay(t *plan.Task, q device.Queue) error {
	p, g, n := m.arena.on(t.Device), m.arena.ranks, t.Channel(m.plan.Devices)
	peer, x := m.arena.rankOf(int(t.From)), m.arena.on(t.Device).relay
	doing := func() string { return m.plan.DescribeTask(t) }
	if t.Kind == plan.Receive {
		at := &x.in[x.turn[1]]
		x.turn[1] = (x.turn[1] + 1) % len(x.in)
		if at.used.Recorded() > 0 {
			if err := device.Await(p.dev, at.used); err != nil {
				return err
			}
		}
		g.Doing(doing)
		if err := g.Recv(at.b[:t.Bytes], peer, n); err != nil {
			return err
		}
		if err := p.dev.CopyH2D(q, p.mem, t.Addr, at.b[:t.Bytes]); err != nil {
			return err
		}
		return p.dev.Record(q, at.used)
	}
	at := &x.out[x.turn[0]]
	x.turn[0] = (x.turn[0] + 1) % len(x.out)
	<-at.free
	if err := m.intoBuffer(t, q, p, at); err != nil {
		at.free <- struct{}{}
		return err
	}
	x.under.Add(1)
	x.send <- sending{at, at.b[:t.Bytes], peer, n, doing}
	return x.failed()
}

// intoBuffer copies what t sends to a buffer: from the device by a copy on queue q, or from host memory at once when the earlier
// tasks of q have ended, as later copies may overwrite that memory.
func (m *messages) intoBuffer(t *plan.Task, q device.Queue, p *part, at *buffer) error {
	if !t.Is.Host {
		if err := p.dev.CopyD2H(q, at.b[:t.Bytes], p.mem, t.FromAddr); err != nil {
			return err
		}
		return p.dev.Record(q, at.used)
	}
	rows, err := m.host.interval(int(t.Value), int(t.Own))
	if err == nil {
		err = p.dev.Record(q, at.used)
	}
	if err == nil {
		err = device.Await(p.dev, at.used)
	}
	copy(at.b, rows)
	return err
}

// run sends the messages of x.send, in order, until it is closed.
func (x *relay) run(a *Arena, dev device.Device) {
	for s := range x.send {
		err := device.Await(dev, s.used)
		if err == nil && x.failed() == nil {
			a.ranks.Doing(s.doing)
			err = a.ranks.Send(s.b, s.to, s.way)
		}
		if err != nil {
			x.mu.Lock()
			if x.err == nil {
				x.err = err
			}
			x.mu.Unlock()
		}
		s.free <- struct{}{}
		x.under.Done()
	}
}

func (x *relay) failed() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.err
}

// sent waits until all messages are sent, and returns the first error of a send.
func (a *Arena) sent() error {
	for i := range a.devices {
		if x := a.devices[i].relay; x != nil {
			x.under.Wait()
			if err := x.failed(); err != nil {
				return err
			}
		}
	}
	return nil
}
