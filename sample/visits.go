package sample

import "slices"

// visits are walks from a strip of vertices, a walk from each at a time.
type visits struct {
	at    [][]uint32 // after each hop
	seen  []uint32   // the vertices that walks came to, a list for each that they are from,
	n     [width]int // of so many
	times []uint32   // how often each vertex of a list stands in it
}

// visits draws rows of the vertices that walks visit most, each with its share of their
// visits as weight. Of equal ones the lower id comes first. The vertex itself does not
// count, and rows are in the order of ids. Such edges have no numbers in the user's list.
func (p *Program) visits(t *tool, b *Block, vertices []uint32, s stream, step int) error {
	walks, hops, x := p.sizes[step], p.s.Length, &t.visits
	for len(x.at) < hops {
		x.at = append(x.at, make([]uint32, width))
	}
	most := walks * hops
	for lo := 0; lo < len(vertices); lo += width {
		some := vertices[lo:min(len(vertices), lo+width)]
		x.seen, x.n = slices.Grow(x.seen[:0], len(some)*most)[:len(some)*most], [width]int{}
		g := p.blockGroup(some, s)
		if p.tools.by == nil {
			g.plain = p.plainWalk()
		}
		for walk := range walks {
			w := s.words(place{of: uint32(walk), step: uint32(step), slot: ^uint32(0)})
			g.key, g.steps, g.widths = stream{w[0], w[1]}, g.steps[:1], g.widths[:1]
			if g.plain == nil {
				g.begin()
			}
			for hop := range hops {
				f := &frame{group: g, c: p.code, step: hop, per: 1, size: 1, transits: g.steps[hop]}
				out := x.at[hop][:len(some)]
				f.add(t.run, out)
				if f.err != nil {
					return f.err
				}
				for i, v := range out {
					if v != NoVertex && v != some[i] {
						x.seen[i*most+x.n[i]] = v
						x.n[i]++
					}
				}
				g.steps, g.widths = append(g.steps, out), append(g.widths, 1)
			}
		}
		for i := range some {
			p.mostVisited(x, b, x.seen[i*most:][:x.n[i]])
		}
	}
	return nil
}

// mostVisited adds a row of those vertices that are most often in list.
func (p *Program) mostVisited(x *visits, b *Block, list []uint32) {
	slices.Sort(list)
	x.times = x.times[:0]
	for i, v := range list {
		if n := len(x.times); i > 0 && list[n-1] == v {
			x.times[n-1]++
		} else {
			list[n], x.times = v, append(x.times, 1)
		}
	}
	above, left := uint32(0), 0 // all that are visited more often are taken, and so many of those that are visited so often
	if n := len(x.times); n > p.s.Top {
		above, left = cut(x.times, p.s.Top)
	}
	sum, from := uint32(0), len(b.Far)
	for i, n := range x.times {
		if n == above && left > 0 {
			left--
		} else if n <= above {
			continue
		}
		b.Far, b.Weight = append(b.Far, int32(list[i])), append(b.Weight, float32(n))
		sum += n
	}
	for i := from; i < len(b.Far); i++ {
		b.Weight[i] /= float32(sum)
	}
	b.Offsets = append(b.Offsets, int64(len(b.Far)))
}

// cut is the least number among the k largest of times, and how many of these are as small.
func cut(times []uint32, k int) (least uint32, n int) {
	above := 0 // are larger than least
	for bar := uint32(0); ; bar = least {
		least, n = ^uint32(0), 0
		above = 0
		for _, x := range times {
			if x <= bar {
				continue
			}
			above++
			if x < least {
				least, n = x, 0
			}
			if x == least {
				n++
			}
		}
		if above -= n; above < k {
			return least, k - above
		}
	}
}
