package sample

import (
	"math/bits"
	"slices"
	"sort"
)

// drawVertices draws vertices of a step in proportion to their scores, with replacement, and takes
// all edges from them into the given vertices. Everywhere draws among all vertices of the graph;
// drawn vertices without such an edge are not in the block. Collective draws edges into the given
// vertices by their scores and takes their sources, so a source's probability is in proportion to
// the sum of its edges' scores.
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
	defer t.undraw()
	t.drawing(k, p.g.Vertices())
	for j := 0; j < k && total > 0; j++ {
		if j%looked == 0 {
			p.aim(t, vertices, s, step, j, total)
		}
		v, own := p.column(&t.aims[j%looked])
		c := t.enter(v)
		c.own = own
		c.times++
	}
	for i, v := range vertices {
		t.look(p, vertices, i)
		t.wanted = t.filter.edges(t.wanted, p.g, v, t.drawn)
		b.Offsets = append(b.Offsets, int64(len(t.wanted)))
	}
	if p.s.Over != Everywhere {
		for _, at := range t.wanted {
			t.columns[t.drawn[p.g.Far[at]]-1].own += p.fixed(p.scores[at])
		}
	}
	if p.edge != nil {
		values := make([]cell, len(p.edge.list))
		for i, v := range vertices {
			for _, at := range t.wanted[b.Offsets[i]:b.Offsets[i+1]] {
				c := &t.columns[t.drawn[p.g.Far[at]]-1]
				share := float32(float64(c.own) / float64(total))
				b.Weight = append(b.Weight, p.value(p.edge, values, &drawn{at, v, share, float32(k), float32(c.times)}))
			}
		}
	}
	p.copyWanted(t, b)
}

// drawing prepares the tool for a step that draws at most most vertices, of a graph with so many
// vertices.
func (t *tool) drawing(most, vertices int) {
	if t.drawn == nil {
		t.drawn = make([]int32, vertices)
	}
	t.filter.room(most, vertices)
}

// enter returns the column of v, a drawn vertex. It adds the column if there is none.
func (t *tool) enter(v uint32) *column {
	if t.drawn[v] == 0 {
		t.columns = append(t.columns, column{vertex: v})
		t.drawn[v] = int32(len(t.columns))
		t.filter.add(v)
	}
	return &t.columns[t.drawn[v]-1]
}

// undraw removes all columns.
func (t *tool) undraw() {
	for _, c := range t.columns {
		t.drawn[c.vertex] = 0
		t.filter.clear(c.vertex)
	}
	t.columns = t.columns[:0]
}

// column is a drawn vertex. Its edges are a column of the adjacency matrix.
type column struct {
	vertex uint32
	own    uint64 // sum of the scores of its edges: the probability of one draw, over the total
	times  uint32 // how often it was drawn
}

// aim is the random position of a draw in the prefix sums of scores.
type aim struct {
	left uint64 // distance from the beginning of the row at edge; Everywhere: from the beginning of p.everyone
	edge int64  // index in Graph.Far where the row begins; Everywhere: 0
}

// aim computes the positions of the draws from number from on, at most looked of them. Then it reads
// the memory at all these positions, so that the cache misses overlap.
func (p *Program) aim(t *tool, vertices []uint32, s stream, step, from int, total uint64) {
	aims := t.aims[:min(looked, p.sizes[step]-from)]
	for i := range aims {
		w := s.words(place{step: uint32(step), slot: uint32(from + i)})
		left, _ := bits.Mul64(uint64(w[0])<<32|uint64(w[1]), total)
		edge := int64(0)
		if p.s.Over != Everywhere {
			r := sort.Search(len(t.sums), func(i int) bool { return t.sums[i] > left })
			left -= t.sums[r] - p.rowSums[vertices[r]]
			edge = p.g.Offsets[vertices[r]]
		}
		aims[i] = aim{left, edge}
	}
	for i, a := range aims {
		t.begin[i] = int64(p.g.Far[a.edge]) + int64(p.scores[a.edge])
	}
}

// column finds the vertex at the position of a draw. own is the sum of its scores for Everywhere,
// else 0.
func (p *Program) column(a *aim) (v uint32, own uint64) {
	if p.s.Over == Everywhere {
		n := sort.Search(len(p.everyone), func(i int) bool { return p.everyone[i] > a.left })
		if own = p.everyone[n]; n > 0 {
			own -= p.everyone[n-1]
		}
		return uint32(n), own
	}
	left, e := a.left, a.edge
	for ; ; e++ {
		x := p.fixed(p.scores[e])
		if left < x {
			break
		}
		left -= x
	}
	return p.g.Far[e], 0
}

// blockGroup is a group with one sample per vertex. Its draws depend on the vertex's id.
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

// drawCombined draws edges by Next from the rows of all vertices together. The block has all edges
// from the sources of the drawn edges into vertices.
func (p *Program) drawCombined(t *tool, b *Block, vertices []uint32, s stream, step int) error {
	g := &group{p: p, key: s, n: 1, steps: make([][]uint32, step+1), widths: make([]int, step+1), length: []int32{int32(len(vertices))}}
	g.steps[step], g.widths[step] = vertices, len(vertices)
	g.combine(step)
	f := &frame{group: g, c: p.code, step: step, per: p.sizes[step], size: p.sizes[step]}
	defer t.undraw()
	t.drawing(p.sizes[step], p.g.Vertices())
	pool := &g.combined[0]
	f.all(t.run, func(i int, place int64) {
		switch {
		case place >= pool.edges():
			f.fail(&p.code.list[p.code.result], "Next gave place %d of a neighbourhood of %d edges", place, pool.edges())
		case place >= 0:
			t.enter(p.g.Far[pool.edge(p.g, place)])
		}
	})
	if f.err != nil {
		return f.err
	}
	for i, v := range vertices {
		t.look(p, vertices, i)
		t.places = t.places[:0]
		t.wanted = t.filter.edges(t.wanted[:0], p.g, v, t.drawn)
		for _, at := range t.wanted {
			t.places = append(t.places, uint32(at-p.g.Offsets[v]))
		}
		p.place(b, v, t.places)
	}
	t.wanted = t.wanted[:0]
	return nil
}
