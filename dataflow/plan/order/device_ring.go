package order

import (
	"slices"

	"sagann/dataflow/plan"
	topology "sagann/ring"
)

// Several devices visit intervals at the same time. Chunks come to them in the order of the ring
// (package ring, forward mode): a chunk enters at a loader and is passed on, one device per turn, up
// to the last device that uses it. Without the ring every device loads for itself, in the same
// order, so that results have the same bits.

// topologyOf is the ring for k devices: that of o if it is for k devices, else one in which all load.
func topologyOf(o *plan.Options, k int) *plan.Topology {
	if o.Topology != nil && len(o.Topology.Order) == k {
		return o.Topology
	}
	return topology.Only(k)
}

// turn is what one device does with one chunk of a stream step.
type turn struct {
	n, k int // the device uses chunk orders[n][k] for own interval js[n]
	pass int // n < 0: the device only passes this chunk on
	on   int // the device
}

// turns lists by own interval of js the chunks that it streams, in its order, and the turns of all
// devices in the global order.
func (e *emitter) turns(dir plan.Dir, js []int) (orders [][]int, all []turn) {
	c, p := e.p.Cells, e.p
	orders = make([][]int, len(js))
	uses := func(n, i int) bool { return c.NNZ[dir][js[n]*c.P+i] > 0 }
	_, far := c.Side(dir)
	for n, j := range js {
		// Accumulators of an interval without edges must still be initialised and finished.
		if empty := !slices.ContainsFunc(c.NNZ[dir][j*c.P:(j+1)*c.P], func(x int64) bool { return x > 0 }); empty {
			before, with := uses, j
			if c.Wide > 0 || !far.Has(j) {
				with = far.First
			}
			uses = func(m, i int) bool { return m == n && i == with || before(m, i) }
		}
	}
	of := make([][]int, p.Devices) // by device: its intervals, as numbers in js
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
	if p.Devices == 1 { // the same as the steps of a ring of one
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

// source is the k-th source interval of the visit of j. Every other visit of a device goes backwards.
func (e *emitter) source(j, k int) int {
	if int(e.p.Local(j))/e.p.Groups[e.phase]%2 == 1 && !e.opt.Straight {
		return e.p.Cells.P - 1 - k
	}
	return k
}

// pass brings what st reads of interval i to device d, which only passes it on. Values that are
// resident somewhere need not pass: devices that use them copy them from there.
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
