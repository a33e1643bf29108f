package table

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"sagann/mine/pattern"
	"sagann/mine/run"
)

// Part is a part of the rows: of those whose first vertex is From or comes after it.
type Part struct {
	From int
	// Enough, unless nil, is asked before vertices are dealt, by several workers. True ends the part.
	Enough func() bool
	// Deal, unless nil, gives the first vertices of the part, from one up to another, in place of From, as often as it is called: none at the end. One goroutine calls it
	// at a time.
	Deal func() (from, to int, err error)
}

// Span is the first vertices of a part that are still to be dealt out.
type Span struct {
	Next, End int
	part      Part
	over      bool
	err       error
}

// Span begins to deal out the first vertices of a part, of so many in all.
func (p Part) Span(vertices int) *Span {
	if p.Deal != nil {
		return &Span{part: p}
	}
	return &Span{Next: p.From, End: vertices, part: p}
}

// More reports whether there are first vertices from Next to End. It must not be called by several goroutines at a time.
func (s *Span) More() bool {
	for s.Next >= s.End && s.part.Deal != nil && !s.over {
		from, to, err := s.part.Deal()
		if s.over = err != nil || from >= to; s.over {
			s.err = err
			return false
		}
		s.Next, s.End = from, to
	}
	return s.Next < s.End
}

// Err is why no more were dealt.
func (s *Span) Err() error { return s.err }

// worker makes rows and counts them by quick code.
type worker interface {
	from(u uint32)                            // makes the rows that begin with u
	each(f func(p pattern.Pattern, n uint64)) // gives the counters up: patterns come in any numbering, and more than once
	take(bytes int64) bool
	give()
}

// Count adds the connected sets of k edges of a part to their counts by canonical pattern, or with induced the sets of k vertices, from 2 on, to their counts
// by the canonical pattern that they induce. Patterns have no more than most vertices. The part ends before vertex end.
func (g *Graph) Count(ctx context.Context, k, workers int, induced bool, part Part, counts map[pattern.Pattern]run.Total) (end int, err error) {
	const grain = 16
	c := classify(g)
	var stop atomic.Bool
	out := &totals{of: counts, meter: g.Meter, stop: &stop}
	span := part.Span(g.Rows.V())
	var mu sync.Mutex
	take := func() (from, to int) {
		mu.Lock()
		defer mu.Unlock()
		if span.More() {
			from, to = span.Next, min(span.Next+grain, span.End)
			span.Next = to
		}
		return from, to
	}
	quiet := context.AfterFunc(ctx, func() { stop.Store(true) })
	defer quiet()
	list := make([]worker, workers)
	for i := range list {
		if induced {
			list[i] = newVisit(g, c, k, out)
		} else {
			list[i] = newWalk(g, c, k, out)
		}
		defer list[i].give()
	}
	together(list, func(w worker) {
		for !stop.Load() && (part.Enough == nil || !part.Enough()) {
			from, to := take()
			if from == to {
				break
			}
			for u := from; u < to && !stop.Load(); u++ {
				w.from(uint32(u))
			}
		}
	})
	if !stop.Load() {
		out.gatherAll(list)
	}
	return span.Next, cmp.Or(out.err(ctx.Err()), span.Err())
}

// together calls f for all workers at the same time.
func together(list []worker, f func(w worker)) {
	var wg sync.WaitGroup
	for _, w := range list {
		wg.Go(func() { f(w) })
	}
	wg.Wait()
}
