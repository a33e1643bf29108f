package batches

import (
	"slices"

	"sagann/dataflow/plan"
)

// Which rows come over the link when tables of vertices are in host memory. A batch reads a row over the link if the row
// is not hot, that is kept on the GPU, and none of the two or three previous batches has it. The batches drawn for planning
// show for which vertices this happens most often; their rows become the hot ones. The degree alone is a bad measure: a
// vertex that is in nearly every batch comes seldom, since one of the previous two batches has it, too.

// arrivals counts, for each vertex, the batches drawn for planning that have it while neither of the two previous
// batches has it.
type arrivals struct {
	times      []uint8                // by vertex, at most 255
	late       []uint8                // by vertex: the same for the second half of the batches
	of         int                    // number of batches that are drawn
	batches    int                    // batches counted so far; the first is not, since no batch precedes it
	last       [plan.FarKept][]uint64 // bit sets of the vertices of the batches before, the previous one first
	two, three int                    // rows that neither of the two batches before has, and those that none of three has
	alone      bool                   // rows come even if the previous batches have them
}

// add counts the next batch, with these vertices out of of.
func (a *arrivals) add(vertices []uint32, of int) {
	now := make([]uint64, (of+63)/64)
	for _, v := range vertices {
		now[v/64] |= 1 << (v % 64)
	}
	had := func(v uint32, batches int) bool {
		for _, set := range a.last[:batches] {
			if set != nil && set[v/64]>>(v%64)&1 == 1 {
				return !a.alone
			}
		}
		return false
	}
	if a.last[0] != nil {
		a.batches++
		for _, v := range vertices {
			if a.last[2] != nil && !had(v, 2) {
				a.two++
				if !had(v, 3) {
					a.three++
				}
			}
			if !had(v, 2) && a.times[v] < 255 {
				a.times[v]++
				if a.batches > a.of/2 {
					a.late[v]++
				}
			}
		}
	} else {
		a.times, a.late = make([]uint8, of), make([]uint8, of)
	}
	a.last = [...][]uint64{now, a.last[0], a.last[1]}
}

// mostOften lists the n vertices with the largest times. Among equals, vertices of a larger degree precede, and then
// those of lower number.
func mostOften(n int, times []uint8, degrees []uint32) (list []uint32) {
	var count [256]int
	for _, t := range times {
		count[t]++
	}
	least, left := 255, n // all vertices that come more than least times are hot, and left of those that come as often
	for ; least > 0 && count[least] < left; least-- {
		left -= count[least]
	}
	var last []uint64
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

// rows is how many rows are expected to come over the link for a batch if so many are hot. To estimate what hot rows save,
// it chooses them by the first half of the batches and counts in the second half. Counted in the batches that chose
// them, the saving would look larger than it is. Where rows of three batches before are copied, as many fewer come as in all those batches.
func (a *arrivals) rows(hot, kept int, degrees []uint32) float64 {
	if a.batches == 0 {
		return 0
	}
	all, early, late, saved := 0, make([]uint8, len(a.times)), 0, 0
	for v, n := range a.times {
		all += int(n)
		late += int(a.late[v])
		early[v] = n - a.late[v]
	}
	for _, v := range mostOften(hot, early, degrees) {
		saved += int(a.late[v])
	}
	rows := float64(all) / float64(a.batches) * (1 - float64(saved)/float64(max(1, late)))
	if kept > 2 && a.two > 0 {
		rows *= float64(a.three) / float64(a.two)
	}
	return rows
}
