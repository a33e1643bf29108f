package order

import (
	"slices"

	"sagann/dataflow/plan"
	topology "sagann/ring"
)

// Several devices visit intervals side by side. The order in which chunks come to each
// is that of the ring (package ring, forward mode): a chunk enters at a loader and is
// handed on, one device a turn, to the last that uses it. Without the ring every device
// loads for itself in the same order, so that results have the same bits.

// topologyOf is the ring of a plan for k devices.
func topologyOf(o *plan.Options, k int) *plan.Topology {
	if o.Topology != nil && len(o.Topology.Order) == k {
		return o.Topology
	}
	return topology.Only(k)
}

// turn is what one device does with one chunk of a stream step.
type turn struct {
	n, k int // order[k] of the n-th own interval
	pass int // n < 0: this interval only passes through the device
	on   int // that device
}

// turns lists the intervals that each of js streams, in its order, and the turns of all
// of them in the global order.
func (e *emitter) turns(dir plan.Dir, js []int) (orders [][]int, all []turn) {
	c, p := e.p.Cells, e.p
	orders = make([][]int, len(js))
	uses := func(n, i int) bool { return c.NNZ[dir][js[n]*c.P+i] > 0 }
	for n, j := range js {
		// The accumulators of an interval without edges still start and finish.
		if empty := !slices.ContainsFunc(c.NNZ[dir][j*c.P:(j+1)*c.P], func(x int64) bool { return x > 0 }); empty {
			before := uses
			uses = func(m, i int) bool { return m == n && i == js[n] || before(m, i) }
		}
	}
	of := make([][]int, p.Devices) // own intervals of a device
	for n, j := range js {
		of[p.Owner(j)] = append(of[p.Owner(j)], n)
	}
	chunks := make([]int, 0, c.P)
	for k := range c.P {
		i := e.source(js[0], k)
		for n := range js {
			if uses(n, i) {
				chunks = append(chunks, i)
				break
			}
		}
	}
	all = make([]turn, 0, len(chunks)*len(js))
	used := func(k, d int) bool {
		return slices.ContainsFunc(of[d], func(n int) bool { return uses(n, chunks[k]) })
	}
	arrives := func(k, d int) {
		for _, n := range of[d] {
			if uses(n, chunks[k]) {
				all = append(all, turn{n: n, k: len(orders[n]), on: d})
				orders[n] = append(orders[n], chunks[k])
			}
		}
	}
	if p.Devices == 1 { // as the steps of a ring of one are
		for k := range chunks {
			arrives(k, 0)
		}
		return orders, all
	}
	for _, step := range e.top.Steps(len(chunks), used) {
		for _, d := range e.top.Order {
			switch k := step[d].Arrives(); {
			case k == topology.None:
			case used(k, d):
				arrives(k, d)
			case e.opt.Ring:
				all = append(all, turn{n: -1, pass: chunks[k], on: d})
			}
		}
	}
	return orders, all
}

// pass brings what st reads of interval i to device d, which only hands it on. What is
// resident somewhere need not pass: who wants it copies from there.
func (e *emitter) pass(st *plan.Step, i, d int) {
	for id := range e.p.Spec.Values {
		v := &e.p.Spec.Values[id]
		if !st.Reads(id) {
			continue
		}
		if v.Derive == nil {
			if !e.p.Places.Resident[id] {
				e.fetch(id, i, d)
			}
			continue
		}
		for _, o := range v.Derive.Operands {
			if o.Kind == plan.OtherValue && !o.Write && e.p.Spec.Values[o.ID].Derive == nil && !e.p.Places.Resident[o.ID] {
				e.fetch(o.ID, i, d)
			}
		}
	}
}

// neighbour finds a device that has interval i of value id: the one before d in the
// ring first, then those before that. -1 when the ring is off or none does.
func (e *emitter) neighbour(id, i, d int) (device int, at int64) {
	if !e.opt.Ring {
		return -1, 0
	}
	order := e.top.Order
	here := slices.Index(order, d)
	for k := 1; k < len(order); k++ {
		from := order[(here+len(order)-k)%len(order)]
		if e.p.Places.Resident[id] && e.p.Owner(i) == from {
			return from, e.ownAddr(id, i)
		}
		if r := e.state[from].ring(id); r != nil {
			if s := slices.Index(r.holds, i); s >= 0 && s != r.part {
				return from, e.ps.Other[id].Addr(s)
			}
		}
	}
	return -1, 0
}

// turnOf keeps what comes to device d around the ring in turn where copies from the host
// and from the device before share a link: a chunk that was loaded ahead of its turn
// would hold up the ring. It is a span that all those copies write.
func (e *emitter) turnOf(d int) []span {
	if !e.opt.Ring {
		return nil
	}
	if e.shared == nil {
		for d := range e.p.Devices {
			e.shared = append(e.shared, e.top.Shared(d))
		}
	}
	if !e.shared[d] {
		return nil
	}
	return []span{{-1, int64(-1 - d), int64(-d)}}
}
