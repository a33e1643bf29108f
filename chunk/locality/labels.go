package locality

import (
	"cmp"
	"slices"
)

// The number of passes of label propagation, the number of passes of trade, the least number of
// communities for each host, and how much larger than its share a host may be, in percent.
const (
	rounds = 8
	trades = 8
	finer  = 4
	above  = 3
)

// byLabels finds communities by label propagation: a vertex takes the label that most of its neighbours
// have, as long as that community is small enough. Communities are ordered by their first vertices,
// and hosts take equal shares of this order. Then vertices move to the host that has most of
// their neighbours, while it has room.
func byLabels(g *Near, hosts int) ([]uint16, error) {
	label, err := labels(g, max(1, g.V/(finer*hosts)))
	if err != nil {
		return nil, err
	}
	first := make([]uint32, g.V) // by label: its first vertex, from 1
	for v, l := range label {
		if first[l] == 0 {
			first[l] = uint32(v) + 1
		}
	}
	order := ids(g.V)
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(first[label[a]], first[label[b]]) })
	host := blocks(g.V, hosts, order)
	return host, trade(g, host, hosts)
}

// labels returns the community of each vertex. Communities have at most most vertices, and are named by one
// of them.
func labels(g *Near, most int) ([]uint32, error) {
	label, size := ids(g.V), make([]uint32, g.V)
	for i := range size {
		size[i] = 1
	}
	var near []uint32
	for range rounds {
		moved := 0
		err := g.Each(func(v int, in, out []uint32) {
			near = near[:0]
			for _, list := range [2][]uint32{in, out} {
				for _, u := range list {
					if int(u) != v {
						near = append(near, label[u])
					}
				}
			}
			slices.Sort(near)
			mine := label[v]
			best, count := mine, 0
			for i := 0; i < len(near); {
				j := i
				for j < len(near) && near[j] == near[i] {
					j++
				}
				if l := near[i]; (l == mine || int(size[l]) < most) && (j-i > count || j-i == count && l == mine) {
					best, count = l, j-i
				}
				i = j
			}
			if best != mine {
				label[v] = best
				size[mine]--
				size[best]++
				moved++
			}
		})
		if err != nil || moved == 0 {
			return label, err
		}
	}
	return label, nil
}

// trade moves vertices to the hosts that have most of their neighbours.
func trade(g *Near, host []uint16, hosts int) error {
	room := (g.V*(100+above)/100 + hosts - 1) / hosts
	owns, near := make([]int, hosts), make([]int, hosts)
	for _, h := range host {
		owns[h]++
	}
	for range trades {
		moved := 0
		err := g.Each(func(v int, in, out []uint32) {
			count(near, host, v, in, out)
			mine := host[v]
			best := int(mine)
			for h, n := range near {
				if n > near[best] && owns[h] < room {
					best = h
				}
			}
			if best != int(mine) {
				host[v] = uint16(best)
				owns[mine]--
				owns[best]++
				moved++
			}
		})
		if err != nil || moved == 0 {
			return err
		}
	}
	return nil
}
