package sample

import (
	"math/bits"
	"slices"
	"sort"
)

// drawVertices draws the vertices of a step in proportion to their scores, with
// replacement, and takes all edges from them into vertices. Everywhere draws among all vertices; those without such an edge are
// of no use to the block and do not stand in it. Collective draws edges into vertices by their scores, and so each
// source by the sum over its edges.
func (p *Program) drawVertices(t *tool, b *Block, vertices []uint32, s stream, step int) {
	k := p.sizes[step]
	total := uint64(0)
	if p.s.Over == Everywhere {
		total = p.everyone[len(p.everyone)-1]
	} else {
		t.sums = t.sums[:0]
		for _, v := range vertices {
			total += p.rowSums[v]
			t.sums = append(t.sums, total)
		}
	}
	if t.drawn == nil {
		t.drawn = make([]int32, p.g.Vertices())
	}
	t.columns = t.columns[:0]
	for j := 0; j < k && total > 0; j++ {
		w := s.words(place{step: uint32(step), slot: uint32(j)})
		at, _ := bits.Mul64(uint64(w[0])<<32|uint64(w[1]), total)
		v, own := p.column(t, vertices, at)
		if t.drawn[v] == 0 {
			t.columns = append(t.columns, column{vertex: v, own: own})
			t.drawn[v] = int32(len(t.columns))
		}
		t.columns[t.drawn[v]-1].times++
	}
	if p.s.Over != Everywhere {
		p.sumColumns(t, vertices)
	}
	var values []cell
	if p.edge != nil {
		values = make([]cell, len(p.edge.list))
	}
	for _, v := range vertices {
		for at := p.g.Offsets[v]; at < p.g.Offsets[v+1]; at++ {
			n := t.drawn[p.g.Far[at]]
			if n == 0 {
				continue
			}
			b.Far, b.Edge = append(b.Far, int32(p.g.Far[at])), append(b.Edge, p.g.Edge[at])
			if c := &t.columns[n-1]; p.edge != nil {
				share := float32(float64(c.own) / float64(total))
				b.Weight = append(b.Weight, p.value(p.edge, values, &drawn{at, v, share, float32(k), float32(c.times)}))
			}
		}
		b.Offsets = append(b.Offsets, int64(len(b.Far)))
	}
	for _, c := range t.columns {
		t.drawn[c.vertex] = 0
	}
}

// column is a vertex that was drawn: the sum of its scores, and how often.
type column struct {
	vertex uint32
	own    uint64
	times  uint32
}

// column finds the vertex at a place among the scores. Own is known Everywhere only.
func (p *Program) column(t *tool, vertices []uint32, at uint64) (v uint32, own uint64) {
	if p.s.Over == Everywhere {
		n := sort.Search(len(p.everyone), func(i int) bool { return p.everyone[i] > at })
		if own = p.everyone[n]; n > 0 {
			own -= p.everyone[n-1]
		}
		return uint32(n), own
	}
	r := sort.Search(len(t.sums), func(i int) bool { return t.sums[i] > at })
	left := at - (t.sums[r] - p.rowSums[vertices[r]])
	e := p.g.Offsets[vertices[r]]
	for ; ; e++ {
		x := p.fixed(p.scores[e])
		if left < x {
			break
		}
		left -= x
	}
	return p.g.Far[e], 0
}

// sumColumns sums the scores of edges from what was drawn.
func (p *Program) sumColumns(t *tool, vertices []uint32) {
	for _, v := range vertices {
		for at := p.g.Offsets[v]; at < p.g.Offsets[v+1]; at++ {
			if n := t.drawn[p.g.Far[at]]; n > 0 {
				t.columns[n-1].own += p.fixed(p.scores[at])
			}
		}
	}
}

// blockGroup is vertices that draw for a block, as samples that their ids name.
func (p *Program) blockGroup(vertices []uint32, s stream) *group {
	g := &group{p: p, key: s, of: vertices, n: len(vertices), steps: [][]uint32{vertices}, widths: []int{1}}
	g.begin()
	return g
}

// drawNext draws the edges of a step by Next.
func (p *Program) drawNext(t *tool, b *Block, vertices []uint32, s stream, step int) error {
	k := p.sizes[step]
	f := &frame{group: p.blockGroup(vertices, s), c: p.code, step: step, per: k, size: k, transits: vertices}
	places := make([]int64, k*len(vertices))
	f.all(t.run, func(i int, place int64) { places[i] = place })
	for i, v := range vertices {
		t.places = t.places[:0]
		for _, x := range places[i*k : (i+1)*k] {
			if x >= int64(p.g.Degree(v)) {
				f.fail(&p.code.list[p.code.result], "Next gave place %d of a row of %d edges", x, p.g.Degree(v))
			}
			if x >= 0 {
				t.places = append(t.places, uint32(x))
			}
		}
		if f.err != nil {
			return f.err
		}
		slices.Sort(t.places)
		if p.s.Unique != Repeats {
			t.places = slices.Compact(t.places)
		}
		p.place(b, v, t.places)
	}
	return f.err
}

// drawCombined draws vertices by Next from the rows of all vertices together, and takes
// all edges from what was drawn into them.
func (p *Program) drawCombined(t *tool, b *Block, vertices []uint32, s stream, step int) error {
	g := &group{p: p, key: s, n: 1, steps: make([][]uint32, step+1), widths: make([]int, step+1), length: []int32{int32(len(vertices))}}
	g.steps[step], g.widths[step] = vertices, len(vertices)
	g.combine(step)
	f := &frame{group: g, c: p.code, step: step, per: p.sizes[step], size: p.sizes[step]}
	drawn := map[uint32]bool{}
	pool := &g.combined[0]
	f.all(t.run, func(i int, place int64) {
		switch {
		case place >= pool.edges():
			f.fail(&p.code.list[p.code.result], "Next gave place %d of a neighbourhood of %d edges", place, pool.edges())
		case place >= 0:
			drawn[p.g.Far[pool.edge(p.g, place)]] = true
		}
	})
	for _, v := range vertices {
		t.places = t.places[:0]
		far, _ := p.g.row(v)
		for i, x := range far {
			if drawn[x] {
				t.places = append(t.places, uint32(i))
			}
		}
		p.place(b, v, t.places)
	}
	return f.err
}

// visits draws rows of the vertices that walks visit most, each with its share of their
// visits as weight. Of equal ones the lower id comes first. The vertex itself does not
// count, and rows are in the order of ids. Such edges have no numbers in the user's list.
func (p *Program) visits(t *tool, b *Block, vertices []uint32, s stream, step int) error {
	for lo := 0; lo < len(vertices); lo += width {
		some := vertices[lo:min(len(vertices), lo+width)]
		seen := make([][]uint32, len(some))
		for walk := range p.sizes[step] {
			w := s.words(place{of: uint32(walk), step: uint32(step), slot: ^uint32(0)})
			g := p.blockGroup(some, stream{w[0], w[1]})
			for hop := range p.s.Length {
				f := &frame{group: g, c: p.code, step: hop, per: 1, size: 1, transits: g.steps[hop]}
				out := make([]uint32, len(some))
				f.add(t.run, out)
				if f.err != nil {
					return f.err
				}
				for i, v := range out {
					if v != NoVertex && v != some[i] {
						seen[i] = append(seen[i], v)
					}
				}
				g.steps, g.widths = append(g.steps, out), append(g.widths, 1)
			}
		}
		for i := range some {
			p.mostVisited(b, seen[i])
		}
	}
	return nil
}

// visited is a vertex and how often walks came there.
type visited struct{ vertex, times uint32 }

// mostVisited adds a row of those vertices that are most often in list.
func (p *Program) mostVisited(b *Block, list []uint32) {
	slices.Sort(list)
	var all []visited
	for _, v := range list {
		if n := len(all); n > 0 && all[n-1].vertex == v {
			all[n-1].times++
		} else {
			all = append(all, visited{v, 1})
		}
	}
	slices.SortStableFunc(all, func(a, b visited) int { return int(b.times) - int(a.times) })
	all = all[:min(len(all), p.s.Top)]
	slices.SortFunc(all, func(a, b visited) int { return int(a.vertex) - int(b.vertex) })
	sum := uint32(0)
	for _, v := range all {
		sum += v.times
	}
	for _, v := range all {
		b.Far, b.Weight = append(b.Far, int32(v.vertex)), append(b.Weight, float32(v.times)/float32(sum))
	}
	b.Offsets = append(b.Offsets, int64(len(b.Far)))
}
