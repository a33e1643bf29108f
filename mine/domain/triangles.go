package domain

import (
	"context"
	"maps"
	"slices"
	"sync"

	"sagann/mine/pattern"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// excess is, by the middle edge of paths, how many closed paths there are by the types of their ends, seen from
// the middle.
type excess map[arcKey][]closedPaths

type closedPaths struct {
	a, b uint32
	n    run.Total
}

// corners is a class of triangles: labels, as indices, of the vertices 0, 1 and 2, and the labels of the edges
// opposite to each.
type corners struct{ label, edge [3]int32 }

// triangles counts the triangles by their labels, and notes the closed paths that go round them.
func (c *census) triangles(ctx context.Context, r *rows.Rows, kinds *rows.Kinds, workers int) error {
	index := indexOf(c.g, r)
	var mu sync.Mutex
	all := map[corners]uint64{}
	const grain = 256
	each(ctx, (r.V()+grain-1)/grain, workers, func(i int) {
		t := finding{rows: r, index: index, kinds: kinds, found: map[corners]uint64{}, count: make([]uint32, len(c.g.Labels)), meter: c.meter}
		for u := i * grain; u < min((i+1)*grain, r.V()); u++ {
			t.from(uint32(u))
		}
		mu.Lock()
		defer mu.Unlock()
		for k, n := range t.found {
			if _, ok := all[k]; ok || t.room(closedBytes) {
				all[k] += n
			}
		}
		c.meter.Give(classBytes * int64(len(t.found)))
	})
	byPattern := map[pattern.Pattern]uint64{}
	c.excess = excess{}
	for t, n := range all {
		p := pattern.New(3)
		for i := range 3 {
			p = p.WithLabel(i, c.g.Labels[t.label[i]].Value).WithEdgeLabel((i+1)%3, (i+2)%3, t.edge[i])
			for j := range 3 {
				if i == j {
					continue
				}
				z := 3 - i - j
				if key := (arcKey{t.label[i], t.label[j], t.edge[z]}); key.from <= key.to {
					c.excess[key] = append(c.excess[key], closedPaths{c.typeNumber(t.edge[j], t.label[z]), c.typeNumber(t.edge[i], t.label[z]), run.Total{Lo: n}})
				}
			}
		}
		byPattern[p.Canonical()] += n
	}
	for _, p := range slices.SortedFunc(maps.Keys(byPattern), pattern.Compare) {
		c.report(p, run.Total{Lo: byPattern[p]})
	}
	return ctx.Err()
}

// indexOf is the index of each vertex's label, -1 if it is none of the graph's.
func indexOf(g *Graph, r *rows.Rows) []int32 {
	index := make([]int32, r.V())
	for v := range index {
		index[v] = g.find(labelOf(r, v))
		if i := int(index[v]); i == len(g.Labels) || g.Labels[i].Value != labelOf(r, v) {
			index[v] = -1
		}
	}
	return index
}

// add counts n triangles of a class. Where there is no room for another class, they are lost.
func (t *finding) add(key corners, n uint64) {
	if _, ok := t.found[key]; ok || t.room(classBytes) {
		t.found[key] += n
	}
}

func (t *finding) room(bytes int64) bool {
	ok := t.meter.Take(bytes)
	if !ok {
		t.meter.Give(bytes)
		t.meter.Stop()
	}
	return ok
}

// finding finds triangles from their first vertex in order of degree.
type finding struct {
	rows  *rows.Rows
	index []int32
	kinds *rows.Kinds
	found map[corners]uint64
	count []uint32 // by label of the last vertex
	seen  []int32
	meter *run.Meter
}

// from finds the triangles whose first vertex is u.
func (t *finding) from(u uint32) {
	above := t.rows.Above(u)
	if t.index[u] < 0 || len(above) < 2 {
		return
	}
	for _, v := range above {
		if t.index[v] < 0 {
			continue
		}
		common(above, t.rows.Above(v), func(w uint32) {
			l := t.index[w]
			switch {
			case l < 0:
			case t.kinds != nil:
				t.add(corners{[3]int32{t.index[u], t.index[v], l}, [3]int32{t.kind(v, w), t.kind(u, w), t.kind(u, v)}}, 1)
			default:
				if t.count[l] == 0 {
					t.seen = append(t.seen, l)
				}
				t.count[l]++
			}
		})
		for _, l := range t.seen {
			key := corners{[3]int32{t.index[u], t.index[v], l}, [3]int32{pattern.AnyLabel, pattern.AnyLabel, pattern.AnyLabel}}
			slices.Sort(key.label[:])
			t.add(key, uint64(t.count[l]))
			t.count[l] = 0
		}
		t.seen = t.seen[:0]
	}
}

func (t *finding) kind(u, v uint32) int32 { return t.kinds.Of(t.rows.User(u), t.rows.User(v)) }

// common calls yield with what two ascending lists have in common.
func common(a, b []uint32, yield func(uint32)) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch x, y := a[i], b[j]; {
		case x == y:
			yield(x)
			i++
			j++
		case x < y:
			i++
		default:
			j++
		}
	}
}
