package exec

import (
	"fmt"
	"sync"

	"sagann/dataflow/plan"
	"sagann/device"
)

// Messages of GPUs through host memory, where the transport cannot reach their own: a chunk is copied to a room, sent, received into a
// room of the other rank, and copied to its device. Each device has two rooms for each way, so that a message crosses
// while the one before it is copied, and both ways at once.
//
// A send is handed to a goroutine; a receive is waited for while the device's tasks are submitted, which does not hold up those
// that were submitted before. No rank waits in a circle: look at the first message in the global order that one of its ends has not
// got through. All before it have arrived, so its sender has a room, and its receiver comes to it.

// rooms is how many there are for each way: a message crosses while the one before it is copied.
const rooms = 2

// relay is the rooms of a device.
type relay struct {
	out, in [rooms]room
	turn    [2]int       // of out and in: which room is next
	send    chan sending // to the goroutine that sends
	under   sync.WaitGroup

	mu  sync.Mutex
	err error // of a send
}

// room is host memory for a message.
type room struct {
	b    []byte
	used device.Event  // recorded behind the copy from it or to it
	free chan struct{} // of those that are sent: has an entry when it is
}

// sending is a room on its way to a rank.
type sending struct {
	*room
	b       []byte
	to, way int // rank and channel
	doing   func() string
}

// relays tells whether messages go through host memory that the executor copies from and to devices, as the transport cannot
// reach the memory of a GPU.
func (a *Arena) relays() bool { return a.Relay || a.onGPU() }

// openRelay takes the rooms of each device, as large as its largest message. Runners of an arena share them.
func (r *Runner) openRelay() error {
	if !r.arena.relays() {
		return nil
	}
	most := make([]int64, len(r.arena.devices))
	for i := range r.plan.Tasks {
		t := &r.plan.Tasks[i]
		if (t.Kind == plan.Send || t.Kind == plan.Receive) && (t.Is.Host || !r.arena.Direct) {
			d := int(t.Device) - r.arena.first
			most[d] = max(most[d], t.Bytes)
		}
	}
	for d, n := range most {
		if err := r.arena.devices[d].openRelay(r.arena, n); err != nil {
			return fmt.Errorf("rooms for messages: %w", err)
		}
	}
	return nil
}

// openRelay has rooms of n bytes at least.
func (p *part) openRelay(a *Arena, n int64) error {
	if n == 0 {
		return nil
	}
	if p.relay == nil {
		p.relay = &relay{send: make(chan sending, rooms)} // a send has a room: to hand it over never waits
		go p.relay.run(a, p.dev)
	}
	for _, list := range [][]room{p.relay.out[:], p.relay.in[:]} {
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

// relay does this rank's end of a message.
func (r *Runner) relay(t *plan.Task, q device.Queue) error {
	p, g, n := r.arena.on(t.Device), r.arena.ranks, t.Channel(r.plan.Devices)
	peer, x := r.rankOf(int(t.From)), r.arena.on(t.Device).relay
	doing := func() string { return r.plan.DescribeTask(t) }
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
	if err := r.intoRoom(t, q, p, at); err != nil {
		at.free <- struct{}{}
		return err
	}
	x.under.Add(1)
	x.send <- sending{at, at.b[:t.Bytes], peer, n, doing}
	return x.failed()
}

// intoRoom has what t sends copied to a room: from the device, or from host memory, which later copies of the device may change.
func (r *Runner) intoRoom(t *plan.Task, q device.Queue, p *part, at *room) error {
	if !t.Is.Host {
		if err := p.dev.CopyD2H(q, at.b[:t.Bytes], p.mem, t.FromAddr); err != nil {
			return err
		}
		return p.dev.Record(q, at.used)
	}
	rows, err := r.chunk(int(t.Value), int(t.Own))
	if err == nil {
		err = p.dev.Record(q, at.used)
	}
	if err == nil {
		err = device.Await(p.dev, at.used)
	}
	copy(at.b, rows)
	return err
}

// run sends what comes.
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

// sent waits until all messages have left.
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
