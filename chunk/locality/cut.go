package locality

// Cut is the communication between hosts when each owns a part of the vertices.
type Cut struct {
	Edges, Cut int64 // all edges, and those whose ends are on different hosts
	Rows       int64 // rows of other hosts that hosts read along in-edges; a row counts once for each host
	Most       int   // most vertices of a host
	Work       int64 // most in-edges of a host
}

// Share is the share of edges whose ends are on different hosts.
func (c *Cut) Share() float64 {
	if c.Edges == 0 {
		return 0
	}
	return float64(c.Cut) / float64(c.Edges)
}

// CutOf computes the Cut when vertex v belongs to host[v], of so many hosts.
func CutOf(g *Near, host []uint16, hosts int) (Cut, error) {
	var c Cut
	seen, owns, work := make([]int, hosts), make([]int, hosts), make([]int64, hosts) // seen is the last vertex whose row a host reads, from 1
	err := g.Each(func(v int, in, out []uint32) {
		mine := host[v]
		owns[mine]++
		work[mine] += int64(len(in))
		c.Work = max(c.Work, work[mine])
		c.Most = max(c.Most, owns[mine])
		c.Edges += int64(len(out))
		for _, u := range out {
			h := host[u]
			if h == mine {
				continue
			}
			c.Cut++
			if seen[h] != v+1 {
				seen[h] = v + 1
				c.Rows++
			}
		}
	})
	return c, err
}
