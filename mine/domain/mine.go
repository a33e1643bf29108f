package domain

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"sagann/mine/lattice"
	"sagann/mine/pattern"
)

// Question is what Mine looks for.
type Question struct {
	Least           int64 // support; the one that the Graph was made for
	Vertices, Edges int   // most of a pattern; Edges 0: any number
	Induced         bool
	AtLeast         bool // supports and domains need not be exact
	Workers         int
	// Begin is the frequent patterns of the largest size that an earlier search has found, canonical, if there was
	// one: the search goes on from there.
	Begin []pattern.Pattern
	// Domains keeps the domains of the largest patterns, too, which nothing grows from.
	Domains bool
	// Room bounds the bytes of the domains of two levels, 0: no bound. Domains for which there is no room are not
	// kept; larger patterns then begin with the ends of their edges, which takes longer.
	Room int64
	// Level, unless nil, is called before each level with about how many candidates it has, and how many
	// patterns they grow from. Report, unless nil, is told how many of these are done.
	Level  func(candidates, parents int)
	Report func(done, parents int)
}

// Found is a frequent pattern: canonical, with its support and the domain of each vertex. If the
// question is AtLeast, both are only bounds: the support is at least the one asked for, and domains
// may have vertices too many.
type Found struct {
	Pattern pattern.Pattern
	Support int64
	Domains []Set
}

// Mine finds the frequent patterns and calls yield with those of each size, from one edge on, in an
// order that does not depend on the number of workers. Sizes up to that of Begin are left out. A level is valid until yield returns, but for its sets.
func (g *Graph) Mine(ctx context.Context, q Question, yield func(level []Found) error) error {
	level := g.first()
	began := len(q.Begin) > 0
	if began {
		level = make([]Found, len(q.Begin))
		for i, p := range q.Begin {
			level[i].Pattern = p
		}
	}
	edges := make([]lattice.Edge, len(g.Edges))
	for i, e := range g.Edges {
		edges[i] = e.Edge
	}
	grower := lattice.NewGrower(edges, q.Vertices, q.Edges, q.Induced)
	for len(level) > 0 {
		var err error
		if !began {
			err = yield(level)
		}
		if err != nil {
			return err
		}
		began = false
		if level, err = g.next(ctx, q, grower, level); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// isLast reports whether the domains of a pattern are not needed: nothing grows from it.
func (q *Question) isLast(p pattern.Pattern) bool {
	return !q.Domains && (!q.Induced && p.Edges() == q.Edges || q.Induced && p.Vertices() == q.Vertices)
}

// left is the room beside the domains of a level.
func (q *Question) left(level []Found) *atomic.Int64 {
	if q.Room == 0 {
		return nil
	}
	left := &atomic.Int64{}
	left.Store(q.Room)
	for i := range level {
		if f := &level[i]; f.Pattern.Edges() > 1 {
			left.Add(-f.Bytes())
		}
	}
	return left
}

// Bytes is the memory of the domains. Vertices of one orbit share theirs.
func (f *Found) Bytes() (n int64) {
	if f.Domains == nil {
		return 0
	}
	orbit := f.Pattern.Orbits()
	for v, s := range f.Domains {
		if int(orbit[v]) == v {
			n += s.Bytes()
		}
	}
	return n
}

// first is the patterns of one edge. Their domains are those of the graph.
func (g *Graph) first() []Found {
	level := make([]Found, len(g.Edges))
	for i, e := range g.Edges {
		a, b := g.find(e.A), g.find(e.B)
		there := g.arcs[arcKey{a, b, e.Kind}]
		back := g.arcs[there.key.back()]
		f := Found{Pattern: e.Pattern(), Support: e.Support, Domains: []Set{there.set(), back.set()}}
		if f.Pattern.Label(0) != e.A {
			slices.Reverse(f.Domains)
		}
		level[i] = f
	}
	return level
}

// next is the frequent patterns that are one edge or vertex larger.
func (g *Graph) next(ctx context.Context, q Question, grower *lattice.Grower, level []Found) ([]Found, error) {
	patterns := make([]pattern.Pattern, len(level))
	for i := range level {
		patterns[i] = level[i].Pattern
	}
	d := &dealer{parents: lattice.NewLevel(patterns), report: q.Report}
	d.wake.L = &d.mu
	left := q.left(level)
	if q.Level != nil {
		q.Level(estimate(grower, d.parents), len(level))
	}
	quiet := context.AfterFunc(ctx, d.end)
	defer quiet()
	var wg sync.WaitGroup
	for range q.Workers {
		wg.Go(func() {
			w := &worker{g: g, least: uint32(min(q.Least, 1<<32-1)), exact: !q.AtLeast, induced: q.Induced, left: left, last: q.isLast}
			d.work(grower, w, level)
		})
	}
	wg.Wait()
	slices.SortFunc(d.found, func(a, b dealt) int { return cmp.Or(cmp.Compare(a.parent, b.parent), cmp.Compare(a.child, b.child)) })
	next := make([]Found, len(d.found))
	for i, f := range d.found {
		next[i] = f.Found
	}
	return next, ctx.Err()
}

// sampled is how many patterns estimate grows; all, if there are no more.
const sampled = 256

// estimate is about how many candidates grow from a level: exactly, if it is small.
func estimate(grower *lattice.Grower, l *lattice.Level) int {
	n := len(l.Patterns)
	take := min(n, sampled)
	var s lattice.Scratch
	children := 0
	for i := range take {
		children += len(grower.Children(l, i*n/take, &s))
	}
	if take < n {
		return int(float64(children) / float64(take) * float64(n))
	}
	return children
}

// Second is how many candidates grow from the frequent edges, and the most bytes that their domains take.
func (g *Graph) Second(q Question) (candidates int, bytes int64) {
	level := g.first()
	edges, patterns := make([]lattice.Edge, len(level)), make([]pattern.Pattern, len(level))
	for i, e := range g.Edges {
		edges[i], patterns[i] = e.Edge, level[i].Pattern
	}
	grower, l := lattice.NewGrower(edges, q.Vertices, q.Edges, q.Induced), lattice.NewLevel(patterns)
	var s lattice.Scratch
	for i := range patterns {
		for _, c := range grower.Children(l, i, &s) {
			candidates++
			for v := range c.Pattern.Vertices() {
				least := int64(-1)
				for _, p := range c.Parents {
					if n := level[p.Index].Domains[p.To[v]].Bytes(); v != int(p.Gone) && (least < 0 || n < least) {
						least = n
					}
				}
				bytes += max(least, 0)
			}
		}
	}
	return candidates, bytes
}

// dealer deals the candidates of a level out. Workers evaluate the candidates that are made; if there
// are none, they make those of the next parent.
type dealer struct {
	parents *lattice.Level
	report  func(done, parents int)

	mu     sync.Mutex
	wake   sync.Cond
	queue  []task
	next   int // parent
	making int // workers that make candidates
	found  []dealt
	ended  bool
}

// task is a candidate: the child of a number of a parent.
type task struct {
	parent, child int
	lattice.Candidate
}

// dealt is a frequent pattern with its place in the order of the level.
type dealt struct {
	parent, child int
	Found
}

// end has the workers leave.
func (d *dealer) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	d.wake.Broadcast()
}

// work evaluates candidates until there are no more.
func (d *dealer) work(grower *lattice.Grower, w *worker, level []Found) {
	var s lattice.Scratch
	d.mu.Lock()
	defer d.mu.Unlock()
	for !d.ended {
		switch n := len(d.queue); {
		case n > 0:
			t := d.queue[n-1]
			d.queue = d.queue[:n-1]
			d.mu.Unlock()
			f, ok := w.evaluate(&t.Candidate, level)
			d.mu.Lock()
			if ok {
				d.found = append(d.found, dealt{t.parent, t.child, f})
			}
		case d.next < len(level):
			i := d.next
			d.next++
			d.making++
			d.mu.Unlock()
			children := grower.Children(d.parents, i, &s)
			d.mu.Lock()
			d.making--
			for k, c := range children {
				d.queue = append(d.queue, task{i, k, c})
			}
			d.wake.Broadcast()
			if d.report != nil {
				d.report(d.next, len(level))
			}
		case d.making > 0:
			d.wake.Wait()
		default:
			return
		}
	}
}
