package saga

import (
	"slices"
	"time"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
)

// Which rows of vertices come over the link, where host memory has them: those that neither of the two batches before has. The batches that are
// drawn to plan tell which vertices that befalls most often. A vertex that nearly every batch has comes seldom, as one of them has it, too:
// so degrees alone would choose badly what stays on a GPU.

// arrivals counts, of the batches that were drawn to plan, those that a vertex is in, and not in the two before.
type arrivals struct {
	times   []uint8
	late    []uint8     // of the second half of them
	of      int         // how many are drawn
	batches int         // the first is not counted: it has none before
	last    [2][]uint64 // the vertices of the one before, and of the one before that
	alone   bool        // rows that these have come, too
}

// add counts the next batch.
func (a *arrivals) add(vertices []uint32, of int) {
	now := make([]uint64, (of+63)/64)
	for _, v := range vertices {
		now[v/64] |= 1 << (v % 64)
	}
	had := func(v uint32) bool {
		for _, set := range a.last {
			if set != nil && set[v/64]>>(v%64)&1 == 1 {
				return !a.alone
			}
		}
		return false
	}
	if a.last[0] != nil {
		a.batches++
		for _, v := range vertices {
			if !had(v) && a.times[v] < 255 {
				a.times[v]++
				if a.batches > a.of/2 {
					a.late[v]++
				}
			}
		}
	} else {
		a.times, a.late = make([]uint8, of), make([]uint8, of)
	}
	a.last = [2][]uint64{now, a.last[0]}
}

// hotRows are n vertices whose rows come most often; of equal ones those with most out-edges, and then the first.
func (p *Program) hotRows(n int) []uint32 { return p.mostOften(n, p.sampled.filling.came.times) }

func (p *Program) mostOften(n int, times []uint8) (list []uint32) {
	var count [256]int
	for _, t := range times {
		count[t]++
	}
	least, left := 255, n // as often come the last of them, of whom there are so many
	for ; least > 0 && count[least] < left; least-- {
		left -= count[least]
	}
	var last []uint64
	degrees := p.in.edges.OutDegrees()
	for v, t := range times {
		if int(t) > least {
			list = append(list, uint32(v))
		} else if int(t) == least {
			last = append(last, uint64(^degrees[v])<<32|uint64(v))
		}
	}
	slices.Sort(last)
	for _, x := range last[:left] {
		list = append(list, uint32(x))
	}
	return list
}

// linkBytes is what is expected to come over the link for a batch, without what pads rows; 0 where they stay on the device.
func (p *Program) linkBytes() (bytes float64) {
	for i := range p.train.plan.Places.Sets.Ahead.Tables {
		t := &p.train.plan.Places.Sets.Ahead.Tables[i]
		bytes += p.linkRows(t) * float64(4*p.train.low.Spec.Values[t.Value].Cols)
	}
	return bytes
}

// linkRows is how many rows of a table are expected to come for a batch. The hot rows are those of the first half of
// the batches, and what they save is seen in the second: in those that chose them it would be more.
func (p *Program) linkRows(t *plan.Table) float64 {
	a := &p.sampled.filling.came
	if !t.Host || a.batches == 0 {
		return 0
	}
	all, early, late, hot := 0, make([]uint8, len(a.times)), 0, 0
	for v, n := range a.times {
		all += int(n)
		late += int(a.late[v])
		early[v] = n - a.late[v]
	}
	for _, v := range p.mostOften(t.Hot, early) {
		hot += int(a.late[v])
	}
	return float64(all) / float64(a.batches) * (1 - float64(hot)/float64(max(1, late)))
}

// bringing is how long a device of a kind is expected to find for a batch which rows come over the link, and to copy the others.
func (p *Program) bringing(k *sim.DeviceKind) (all time.Duration) {
	list := p.sampled.expected.Vertices
	for i := range p.train.plan.Places.Sets.Ahead.Tables {
		if t := &p.train.plan.Places.Sets.Ahead.Tables[i]; t.Host {
			n := list[len(list)-1]
			all += k.Bring(n, max(0, n-int(p.linkRows(t))), p.train.low.Spec.Values[t.Value].RowBytes)
		}
	}
	return all
}
