package locality

import (
	"cmp"
	"slices"
)

// How often label propagation goes over the graph, how often hosts then trade vertices, how many communities there are
// to a host at least, and how many hundredths a host may have above its share.
const (
	rounds = 8
	trades = 8
	finer  = 4
	above  = 3
)

// byLabels lets vertices take the label that most of their neighbours have, as long as its community is small enough.
// Communities stand in the order of their first vertices, and hosts take equal shares of that; then a vertex moves
// to the host that has most of its neighbours, while it has room.
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

// labels are communities of at most so many vertices, each named by one of them.
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
