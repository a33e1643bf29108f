package sample

import (
	"math/bits"
	"slices"
)

// visits is the memory for walks from a strip of vertices, one walk from each vertex at a time.
type visits struct {
	at    [][]uint32 // the vertices of the current walks after each hop
	seen  []uint32   // the vertices visited, one list for each start vertex,
	n     [width]int // and the lengths of these lists
	strip *plainStrip

	slots []int32   // hash table: by hash of a vertex its index + 1 in found, 0 for none
	found []visited // the different vertices of one list of seen
	best  []uint64  // the most visited of them: by visits, descending, then by id; later by id
}

// visits draws the rows of Sampler.Top: for each vertex the Top vertices that Size walks from it
// visit most. A weight is the share of the visits to the vertices of the row. If two vertices have
// equally many visits, the lower id is taken first. Visits to the start vertex do not count. Rows
// are sorted by id. The edges have no numbers in the user's list.
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
			g.plain, g.strip = p.plainWalk(), x.strip
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
		x.strip = g.strip
		for i := range some {
			p.mostVisited(x, b, x.seen[i*most:][:x.n[i]])
		}
	}
	return nil
}

// visited is a vertex and its number of visits.
type visited struct{ vertex, times uint32 }

// mostVisited adds to b the row of the Top most frequent vertices of list.
func (p *Program) mostVisited(x *visits, b *Block, list []uint32) {
	x.count(list)
	x.best = x.best[:0]
	for _, v := range x.found {
		key := uint64(^v.times)<<32 | uint64(v.vertex)
		n := len(x.best)
		if n == p.s.Top {
			if n--; key > x.best[n] {
				continue
			}
		}
		at, _ := slices.BinarySearch(x.best[:n], key)
		x.best = slices.Insert(x.best[:n], at, key)
	}
	sum := uint32(0)
	for i, key := range x.best {
		sum += ^uint32(key >> 32)
		x.best[i] = key<<32 | key>>32
	}
	slices.Sort(x.best)
	for _, key := range x.best {
		b.Far, b.Weight = append(b.Far, int32(key>>32)), append(b.Weight, float32(^uint32(key))/float32(sum))
	}
	b.Offsets = append(b.Offsets, int64(len(b.Far)))
}

// count sets found to the different vertices of list and how often each occurs.
func (x *visits) count(list []uint32) {
	size := 1 << bits.Len(uint(2*len(list)))
	if size > len(x.slots) {
		x.slots = make([]int32, size)
	}
	slots, shift := x.slots[:size], 33-bits.Len(uint(size))
	clear(slots)
	x.found = x.found[:0]
	for _, v := range list {
		at := int(v * 2654435769 >> shift)
		for slots[at] != 0 && x.found[slots[at]-1].vertex != v {
			at = (at + 1) & (size - 1)
		}
		if slots[at] == 0 {
			x.found = append(x.found, visited{vertex: v})
			slots[at] = int32(len(x.found))
		}
		x.found[slots[at]-1].times++
	}
}
