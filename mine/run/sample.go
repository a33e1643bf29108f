package run

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"sagann/mine/pattern"
	"sagann/mine/plan"
	"sagann/mine/rows"
)

// Sampler measures plans by random walks down their loops.
type Sampler struct {
	Rows  *rows.Rows
	Kinds *rows.Kinds // nil: edges have no labels
	Seed  uint64
}

// maxWalks bounds the walks of a sample, for plans whose walks read very little.
const maxWalks = 1 << 14

// Sample takes random walks down the loops. A walk draws a root in proportion to its degree, then at
// each level one of the candidates that fit. The product of the numbers of choices is an
// unbiased estimate of how often the loops bind a vertex (Knuth's method).
func (s Sampler) Sample(p *plan.Plan, work int64) plan.Estimate {
	e := plan.Estimate{Nodes: make([]float64, len(p.Levels)), Loops: p.Loops()}
	if len(s.Rows.Col) == 0 {
		return e
	}
	w := walker{nest: newNest(p, s.Rows, s.Kinds, new(atomic.Bool)), random: rand.New(rand.NewPCG(s.Seed, 7)), e: &e}
	squares, read := 0.0, int64(0)
	for e.Walks < maxWalks && (read < work || e.Walks < 16) {
		before := e.Nodes[p.Last()]
		w.read = 0
		w.walk()
		e.Walks++
		read += int64(w.read) + 8
		x := e.Nodes[p.Last()] - before
		squares += x * x
	}
	k := float64(e.Walks)
	mean := e.Nodes[p.Last()] / k
	if mean > 0 && k > 1 {
		e.Error = math.Sqrt(max(0, squares/k-mean*mean)/(k-1)) / mean
	}
	for i := range e.Nodes {
		e.Nodes[i] /= k
	}
	e.Work /= k
	e.Merged /= k
	for i := range e.Reads {
		e.Reads[i] /= k * max(float64(s.Rows.InClass(i)), 1)
	}
	return e
}

// walker walks down the loops of a plan.
type walker struct {
	*nest
	random *rand.Rand
	e      *plan.Estimate
	fit    []uint32
}

func (w *walker) walk() {
	g := w.rows
	entry := w.random.Int64N(int64(len(g.Col)))
	root, _ := slices.BinarySearchFunc(g.Off, entry, func(off, x int64) int {
		if off <= x {
			return -1
		}
		return 1
	})
	v := uint32(root - 1) // the last row that begins at or before the entry
	if !w.fits(0, v) {
		return
	}
	weight := float64(len(g.Col)) / float64(g.Degree(v))
	w.e.Nodes[0] += weight
	w.bind(0, v)
	for l := 1; l < len(w.plan.Levels); l++ {
		level := &w.plan.Levels[l]
		list := within(w.set[level.From], w.span(level.Above, level.Below))
		w.fit = w.fit[:0]
		for _, v := range list {
			if w.fits(l, v) {
				w.fit = append(w.fit, v)
			}
		}
		w.read += len(list)
		if l == w.e.Loops { // the last two levels: add the sets that counting them reads
			switch w.plan.Pair {
			case plan.Product, plan.Unlike:
				w.e.Work += weight * float64(len(list)+len(w.set[w.plan.Levels[l+1].From]))
			case plan.Unordered:
				if level.Label != pattern.AnyLabel {
					w.e.Work += weight * float64(len(list))
				}
			}
		}
		weight *= float64(len(w.fit))
		w.e.Nodes[l] += weight
		if len(w.fit) == 0 {
			return
		}
		v := w.fit[w.random.IntN(len(w.fit))]
		w.bind(l, v)
		if l == len(w.plan.Levels)-1 {
			return
		}
		w.enter(l, len(list))
		w.rowsRead(l, weight)
		read, merge := w.read, w.merge
		ok := w.makeSets(l)
		if l < w.e.Loops {
			w.e.Work += weight * float64(w.read-read)
			w.e.Merged += weight * float64(w.merge-merge)
		}
		w.leave(l)
		if !ok {
			return
		}
	}
}

// rowsRead counts the rows that are read to make the sets of a level.
func (w *walker) rowsRead(l int, weight float64) {
	for _, o := range w.ops[l] {
		s := &w.plan.Sets[o.set]
		w.e.Reads[w.rows.Class(w.bound[s.Of])] += weight
		if b := &w.plan.Sets[s.Base]; b.Base == plan.None {
			w.e.Reads[w.rows.Class(w.bound[b.Of])] += weight
		}
	}
}
