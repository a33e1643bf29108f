package sample

import (
	"slices"
	"sort"
)

// add draws a step: out[i] is the vertex that draw i adds, or NoVertex. The result is 0 if no draw
// adds a vertex, which ends a sampler with unbounded steps; otherwise its value does not matter.
func (f *frame) add(by run, out []uint32) (added int) {
	if f.plain != nil {
		return f.addPlain(out)
	}
	lanes, places := &f.lanes, &f.places
	for base := 0; base < len(out) && f.err == nil; base += width {
		k := f.choose(base, out)
		by(f, base, lanes[:k], places[:])
		f.vertices(base, lanes[:k], places[:], out)
		added += k
	}
	if f.p.s.Unique == Repeats && f.p.s.Most == 0 {
		if f.p.counts {
			f.count(out)
		}
		return f.left(out, added)
	}
	for i := range f.n {
		f.unique(by, i, out)
	}
	return f.left(out, added)
}

// choose stores in f.lanes the draws of a strip whose pools have edges, and returns their number. It
// sets the strip's part of out to NoVertex.
func (f *frame) choose(base int, out []uint32) (k int) {
	n := min(width, len(out)-base)
	for j := range n {
		out[base+j] = NoVertex
	}
	single := f.p.s.Steps == Unbounded && f.per == 1 && f.n <= width
	asked := f.lanes[:n]
	if single && f.step > 0 { // walks that have ended are not in f.live
		asked = f.lanes[:copy(f.lanes[:], f.live)]
	} else {
		for j := range asked {
			asked[j] = int32(j)
		}
	}
	f.find(base, asked)
	for _, j := range asked {
		if f.lengths[j] > 0 {
			f.lanes[k] = j
			k++
		}
	}
	if single {
		f.live = append(f.live[:0], f.lanes[:k]...)
	}
	return k
}

// find sets begins and lengths of the rows of the transits of a strip. For Collective it sets only
// lengths: 1 if the pool has an edge, else 0. In a loop that does nothing else the cache misses
// overlap.
func (f *frame) find(base int, lanes []int32) {
	if f.combined != nil {
		for _, j := range lanes {
			f.lengths[j] = uint32(min(1, f.combined[(base+int(j))/f.per].edges()))
		}
		return
	}
	offsets := f.p.g.Offsets
	for _, j := range lanes {
		f.lengths[j] = 0
		if v := f.transits[part(base+int(j), f.size)]; v != NoVertex {
			lo := offsets[v]
			f.begins[j], f.lengths[j] = lo, uint32(offsets[v+1]-lo)
		}
	}
}

// left is the result of add: for unbounded steps 1 if a draw added a vertex, else 0; for bounded
// steps the number of draws that had a pool with edges.
func (f *frame) left(out []uint32, asked int) int {
	if asked == 0 || f.p.s.Steps != Unbounded {
		return asked
	}
	if slices.ContainsFunc(out, func(v uint32) bool { return v != NoVertex }) {
		return 1
	}
	return 0
}

// count adds the vertices of a step to the lengths of samples.
func (f *frame) count(out []uint32) {
	for i, v := range out {
		if v != NoVertex {
			f.length[i/f.per]++
		}
	}
}

// vertices sets out to the far ends of the edges at the places that draws chose.
func (f *frame) vertices(base int, lanes []int32, places []int64, out []uint32) {
	if f.combined == nil {
		far := f.p.g.Far
		for _, j := range lanes {
			if places[j] < 0 {
				continue
			}
			if places[j] >= int64(f.lengths[j]) {
				f.fail(&f.c.list[f.c.result], "Next gave place %d of a row of %d edges", places[j], f.lengths[j])
				return
			}
			out[base+int(j)] = far[f.begins[j]+places[j]]
		}
		return
	}
	for _, j := range lanes {
		i := base + int(j)
		if places[j] < 0 {
			continue
		}
		c := &f.combined[i/f.per]
		if places[j] >= c.edges() {
			f.fail(&f.c.list[f.c.result], "Next gave place %d of a neighbourhood of %d edges", places[j], c.edges())
			return
		}
		out[i] = f.p.g.Far[c.edge(f.p.g, places[j])]
	}
}

// unique repeats the draws of sample i that give a vertex which the sample may not add twice (see
// Unique), and drops draws beyond Most.
func (f *frame) unique(by run, i int, out []uint32) {
	mine := out[i*f.per : (i+1)*f.per]
	seen := map[uint32]bool{}
	if f.p.s.Unique == InSample {
		for k := range f.step + 1 {
			for _, v := range f.steps[k][i*f.widths[k] : (i+1)*f.widths[k]] {
				seen[v] = true
			}
		}
	}
	again := *f
	for slot := range mine {
		if f.p.s.Most > 0 && int(f.length[i]) >= f.p.s.Most {
			mine[slot] = NoVertex
		}
		draw := i*f.per + slot
		for again.redraw = 1; f.p.s.Unique != Repeats && mine[slot] != NoVertex && seen[mine[slot]]; again.redraw++ {
			if mine[slot] = NoVertex; again.redraw > maxRedraws {
				break
			}
			var place [width]int64
			base := draw / width * width
			lane := []int32{int32(draw - base)}
			f.find(base, lane)
			by(&again, base, lane, place[:])
			again.vertices(base, lane, place[:], out)
		}
		if mine[slot] != NoVertex {
			seen[mine[slot]] = true
			f.length[i]++
		}
	}
	f.err = again.err
}

// pool is the rows of all transits of a sample, one after the other.
type pool struct {
	rows  []uint32 // the transits
	after []int64  // prefix sums of the lengths of their rows
}

// combine makes the pools of all samples at a step.
func (g *group) combine(step int) {
	g.combined = make([]pool, g.n)
	w := g.widths[step]
	for i := range g.combined {
		c := &g.combined[i]
		for _, v := range g.steps[step][i*w : (i+1)*w] {
			if v != NoVertex {
				c.rows, c.after = append(c.rows, v), append(c.after, c.edges()+int64(g.p.g.Degree(v)))
			}
		}
	}
}

func (c *pool) edges() int64 {
	if len(c.after) == 0 {
		return 0
	}
	return c.after[len(c.after)-1]
}

// edge is the index in Graph.Far of the edge at a place, from 0 to edges()-1.
func (c *pool) edge(g *Graph, place int64) int64 {
	r := sort.Search(len(c.after), func(i int) bool { return c.after[i] > place })
	return g.Offsets[c.rows[r]+1] - (c.after[r] - place)
}

// read computes an operation on the pool.
func (c *pool) read(p *Program, o op, place int64) cell {
	there := place >= 0 && place < c.edges()
	switch {
	case o == opDegree:
		return cell{i: c.edges()}
	case o == opNeighbour && there:
		return cell{i: int64(p.g.Far[c.edge(p.g, place)])}
	case o == opNeighbour:
		return cell{i: -1}
	case there:
		return cell{f: p.weight(c.edge(p.g, place), true)}
	}
	return cell{}
}
