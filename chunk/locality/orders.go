package locality

import (
	"cmp"
	"slices"
)

// Way is a way to divide vertices among hosts: a function that returns the host of each vertex.
type Way struct {
	Name string
	Deal func(g *Near, hosts int) ([]uint16, error)
}

// Ways lists all ways by name: blocks of the input's order, blocks by degree, communities, streaming.
func Ways() []Way {
	return []Way{{"input order", input}, {"degree order", byDegree}, {"label propagation", byLabels}, {"LDG", ldg}}
}

// blocks divides an order into equal shares, one for each host. A nil order is that of the ids.
func blocks(v, hosts int, order []uint32) []uint16 {
	host := make([]uint16, v)
	for k := range v {
		u := k
		if order != nil {
			u = int(order[k])
		}
		host[u] = uint16(k * hosts / v)
	}
	return host
}

func input(g *Near, hosts int) ([]uint16, error) { return blocks(g.V, hosts, nil), nil }

// byDegree gives hosts equal shares of the vertices sorted by descending degree.
func byDegree(g *Near, hosts int) ([]uint16, error) {
	degree, order := make([]uint32, g.V), ids(g.V)
	err := g.Each(func(v int, in, out []uint32) { degree[v] = uint32(len(in) + len(out)) })
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(degree[b], degree[a]) })
	return blocks(g.V, hosts, order), err
}

func ids(n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(i)
	}
	return list
}

// none marks a vertex that has no host yet.
const none = ^uint16(0)

// streams is the number of passes of ldg over the graph.
const streams = 2

// ldg is linear deterministic greedy partitioning (Stanton and Kliot, 2012), in the order of the ids. A
// vertex goes to the host with the largest score: the number of its neighbours there, times the share of the
// host that is free. Later passes use the hosts of the pass before (Nishimura and Ugander, 2013).
func ldg(g *Near, hosts int) ([]uint16, error) {
	host := slices.Repeat([]uint16{none}, g.V)
	room := (g.V + hosts - 1) / hosts
	near := make([]int, hosts)
	for range streams {
		owns := make([]int, hosts) // in this pass
		err := g.Each(func(v int, in, out []uint32) {
			count(near, host, v, in, out)
			best, most := -1, -1.0
			for h, n := range near {
				free := room - owns[h]
				if free <= 0 {
					continue
				}
				score := float64(n) * float64(free) / float64(room)
				if score > most || score == most && owns[h] < owns[best] {
					best, most = h, score
				}
			}
			host[v] = uint16(best)
			owns[best]++
		})
		if err != nil {
			return nil, err
		}
	}
	return host, nil
}

// count sets near to the number of v's neighbours on each host.
func count(near []int, host []uint16, v int, in, out []uint32) {
	clear(near)
	for _, list := range [2][]uint32{in, out} {
		for _, u := range list {
			if h := host[u]; h != none && int(u) != v {
				near[h]++
			}
		}
	}
}
