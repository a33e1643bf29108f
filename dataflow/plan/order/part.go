package order

import (
	"fmt"

	"sagann/dataflow/plan"
)

// Part is the part of p that one of so many ranks runs: the tasks of its devices, in the global order of Turns.
// Every rank has the same number of devices, with consecutive numbers (RankOf). A copy between devices of two
// ranks becomes a Send on one and a Receive on the other. So does the load of a chunk that another rank has: a
// chunk of a vertex tensor lies on the host of the device that owns its interval.
//
// Dependences are found again, since one of p may be implied by the order of a queue that the rank does not
// have. Sends are in the queue D2H, which device-to-device copies do not use. Both ends of a message are in their
// queues in the global order, so the first task of that order that is not done can always run: ranks cannot
// deadlock.
//
// It is an error if rank is out of range, if ranks does not divide p.Devices, or if p is over sampled blocks
// and there are several ranks.
func Part(p *plan.Plan, rank, ranks int) (*plan.Plan, error) {
	switch {
	case ranks < 1 || rank < 0 || rank >= ranks:
		return nil, fmt.Errorf("plan: rank %d of %d", rank, ranks)
	case p.Devices%ranks != 0:
		return nil, fmt.Errorf("plan: %d devices cannot be dealt to %d ranks, as many to each", p.Devices, ranks)
	case ranks > 1 && p.Places.Sets != nil:
		return nil, fmt.Errorf("plan: sampled blocks have one device, not %d ranks", ranks)
	case ranks == 1:
		return p, nil
	}
	out := *p
	out.Tasks, out.Deps, out.Setup = nil, nil, nil
	out.H2D, out.D2H, out.D2D, out.Once = 0, 0, 0, 0
	for i := range p.Setup {
		if t := &p.Setup[i]; RankOf(int(t.Device), p.Devices, ranks) == rank {
			out.Setup = append(out.Setup, *t)
			out.Once += t.Bytes
		}
	}
	e := &emitter{p: &out, t: newTracker(&out, false, nil), uses: usesOf(&out, largestCell(p.Cells))}
	tasks, turn := Turns(p, ranks)
	last := make([]int32, p.Devices) // by device: the turn of its last message
	for _, i := range tasks {
		t := p.Tasks[i]
		from := source(p, &t)
		a, b := RankOf(from, p.Devices, ranks), RankOf(int(t.Device), p.Devices, ranks)
		if a != rank && b != rank {
			continue
		}
		t.Is.Event, t.Deps = false, [2]int32{}
		if a != b {
			cross(&t, from, a == rank, e.uses)
		}
		if n := turn[i]; n > 0 {
			t.Is.Joined, last[t.Device] = n == last[t.Device], n
		}
		e.add(t)
	}
	count(&out)
	return &out, nil
}

// cross turns t, which reads data of the rank of device from, into one end of a message: the Send if send is
// set, else the Receive. A load of some rows becomes a message with the whole chunk.
func cross(t *plan.Task, from int, send bool, u *uses) {
	t.Is.Host = t.Kind == plan.Load
	if t.Is.Gather {
		t.Is.Gather, t.Bytes, t.Other, t.Rows = false, u.rowBytes(int(t.Value), int(t.Own)), -1, 0
	}
	t.From = uint16(from)
	t.Kind = plan.Receive
	if send {
		t.Kind, t.Queue = plan.Send, plan.D2H
		t.Device, t.From = t.From, t.Device
	}
}

// largestCell is the number of edges of the largest cell.
func largestCell(c *plan.Cells) (n int64) {
	for _, side := range c.NNZ {
		for _, k := range side {
			n = max(n, k)
		}
	}
	return n
}

// count sets the bytes that a step of p, a rank's part, copies.
func count(p *plan.Plan) {
	for i := range p.Tasks {
		switch t := &p.Tasks[i]; t.Kind {
		case plan.Load:
			p.H2D += t.Bytes
		case plan.Save:
			p.D2H += t.Bytes
		case plan.Copy:
			p.D2D += t.Bytes
		}
	}
}

// Traffic is how many bytes a step of p sends from each rank to each other rank: sent[from][to]. Results and
// outputs are not included.
func Traffic(p *plan.Plan, ranks int) [][]int64 {
	sent, u := make([][]int64, ranks), usesOf(p, 0)
	for r := range sent {
		sent[r] = make([]int64, ranks)
	}
	for i := range p.Tasks {
		t := p.Tasks[i]
		from := source(p, &t)
		if a, b := RankOf(from, p.Devices, ranks), RankOf(int(t.Device), p.Devices, ranks); a != b {
			cross(&t, from, false, u)
			sent[a][b] += t.Bytes
		}
	}
	return sent
}
