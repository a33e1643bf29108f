package domain

import (
	"cmp"
	"context"
	"slices"
	"sync"

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
	// Room bounds the bytes of patterns and of the domains of two levels, 0: no bound. Domains for which there is no room are not
	// kept; larger patterns then begin with the ends of their edges, which takes longer. Patterns for which there is none are
	// an error, a *run.RoomError. Held is the bytes that the caller holds in this room when Mine begins, and Keeps what
	// it will hold of a pattern that is yielded, apart from domains; nil: nothing.
	Room, Held int64
	// Peers are the ranks that share the search; nil: this process is alone.
	Peers Peers
	// Cards find the domains, if there are any; Workers then make the candidates.
	Cards []Card
	Keeps func(p pattern.Pattern) int64
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
	held, turn := q.Held, 0
	for len(level) > 0 {
		var err error
		if !began {
			for i := range level {
				held += q.keeps(&level[i])
			}
			err = yield(level)
		}
		if err != nil {
			return err
		}
		began = false
		if !grower.Grows(level[0].Pattern) {
			break
		}
		if level, err = g.next(ctx, q, grower, level, held, &turn); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// isLast reports whether the domains of a pattern are not needed: nothing grows from it.
func (q *Question) isLast(p pattern.Pattern) bool {
	return !q.Domains && (!q.Induced && p.Edges() == q.Edges || q.Induced && p.Vertices() == q.Vertices)
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

// next is the frequent patterns that are one edge or vertex larger. held is the bytes that the caller holds, turn the number of
// the next level that ranks share.
func (g *Graph) next(ctx context.Context, q Question, grower *lattice.Grower, level []Found, held int64, turn *int) ([]Found, error) {
	patterns := make([]pattern.Pattern, len(level))
	for i := range level {
		patterns[i] = level[i].Pattern
	}
	parents := lattice.NewLevel(patterns)
	if q.Level != nil {
		q.Level(estimate(grower, parents), len(level))
	}
	d := &dealer{parents: parents, report: q.Report, budget: q.budget(level, held), limit: len(level), dealt: true, words: g.MostWords()}
	d.wake.L = &d.mu
	if q.Peers != nil {
		d.turn, d.limit, d.dealt = *turn, 0, false
		*turn++
	}
	var failed error
	for again := true; again; {
		quiet := context.AfterFunc(ctx, d.end)
		if len(q.Cards) > 0 {
			failed = d.onCards(ctx, g, &q, grower, level)
		} else {
			var wg sync.WaitGroup
			for range q.Workers {
				wg.Go(func() { d.work(grower, g.worker(&q), level) })
			}
			wg.Wait()
		}
		quiet()
		again = ctx.Err() == nil && d.resume()
	}
	failed = cmp.Or(d.failed, failed)
	if q.Peers != nil {
		failed = d.exchange(ctx, failed)
	}
	switch err := d.budget.err(); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case failed != nil:
		return nil, failed
	case err != nil:
		return nil, err
	}
	return d.sorted(), nil
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
