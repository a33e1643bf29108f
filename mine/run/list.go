package run

import (
	"context"
	"sync"
	"sync/atomic"

	"sagann/mine/pattern"
	"sagann/mine/plan"
	"sagann/mine/rows"
)

// Matches go from workers to the reader in blocks. A worker may be blockCount blocks
// ahead of the reader.
const (
	blockBytes = 64 << 10
	blockCount = 8
	listCost   = 1 << 14 // least cost of a piece of roots; see cost
	slice      = 1024    // most neighbours in a slice of a root
)

// ListNeed is the bytes that listing takes for each worker, in addition to NestNeed.
func ListNeed() int64 { return blockBytes * blockCount }

// block is some of the rows that a piece lists.
type block struct {
	rows []uint32
	last bool // the piece's last block
}

// lister lists the pieces of one worker.
type lister struct {
	*nest
	n          int // vertices of the pattern
	full, free chan block
	now        block
	done       <-chan struct{}
	over       bool // the reader has gone: now belongs to nobody, and nothing more is sent
}

// stretch is a piece of work in the order of the listing: the roots from lo up to hi, or one root
// with a slice of its neighbours.
type stretch struct {
	lo, hi uint32
	part   task
}

// stretches cuts the roots in ascending order.
func stretches(r *rows.Rows) []stretch {
	var out []stretch
	n := uint32(r.V())
	for lo := uint32(0); lo < n; {
		if d := r.Degree(lo); d > slice {
			for at := 0; at < d; at += slice {
				out = append(out, stretch{lo, lo + 1, task{lo, int32(at), int32(min(at+slice, d))}})
			}
			lo++
			continue
		}
		hi, sum := lo, int64(0)
		for hi < n && sum < listCost && r.Degree(hi) <= slice {
			sum += cost(r.Degree(hi))
			hi++
		}
		out = append(out, stretch{lo: lo, hi: hi})
		lo = hi
	}
	return out
}

// List calls yield with the matches of a plan for listing. A row holds the user's number of a vertex for
// each pattern vertex, and is only valid during the call. Rows come in ascending order of their
// vertices by level. List ends when yield returns false, all matches are listed or ctx is done.
//
// Pieces go to the workers in turn, and their rows are read in the same turn, so the order does not
// depend on the number of workers.
func (r *Run) List(ctx context.Context, p *plan.Plan, yield func(row []uint32) bool) error {
	pieces := stretches(r.Rows)
	var stop atomic.Bool
	ctx, cancel := context.WithCancel(ctx)
	quiet := context.AfterFunc(ctx, func() { stop.Store(true) })
	defer quiet()
	workers := max(1, min(r.Workers, len(pieces)))
	ls := make([]*lister, workers)
	for i := range ls {
		ls[i] = newLister(p, r.Rows, r.Kinds, &stop, ctx.Done())
	}
	var wg sync.WaitGroup
	for w, l := range ls {
		wg.Go(func() {
			for i := w; i < len(pieces) && !l.over && !stop.Load(); i += workers {
				l.piece(pieces[i])
			}
		})
	}
	defer wg.Wait()
	defer cancel() // before waiting
	n := p.Pattern.Vertices()
	for i := range pieces {
		for last := false; !last; {
			select {
			case b := <-ls[i%workers].full:
				for at := 0; at < len(b.rows); at += n {
					if !yield(b.rows[at : at+n : at+n]) {
						return nil
					}
				}
				last = b.last
				ls[i%workers].free <- block{rows: b.rows[:0]}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if r.Report != nil {
			r.Report(float64(i+1) / float64(len(pieces)))
		}
	}
	return nil
}

func newLister(p *plan.Plan, r *rows.Rows, kinds *rows.Kinds, stop *atomic.Bool, done <-chan struct{}) *lister {
	l := &lister{nest: newNest(p, r, kinds, stop), n: p.Pattern.Vertices(), done: done,
		full: make(chan block, blockCount), free: make(chan block, blockCount)}
	for range blockCount {
		l.free <- block{rows: make([]uint32, 0, blockBytes/4/l.n*l.n)}
	}
	l.emit = l.add
	return l
}

// piece lists one piece. One that is broken off has no last block, so that the reader does not take it for whole.
func (l *lister) piece(s stretch) {
	if !l.next() {
		return
	}
	if s.part.hi > 0 {
		l.root(s.part)
	} else {
		for v := s.lo; v < s.hi && !l.stop.Load(); v++ {
			l.root(task{root: v})
		}
	}
	if !l.over && !l.stop.Load() {
		l.send(true)
	}
}

// next waits for a free block.
func (l *lister) next() bool {
	select {
	case l.now = <-l.free:
	case <-l.done:
		l.over = true
	}
	return !l.over
}

// send hands the block to the reader.
func (l *lister) send(last bool) bool {
	l.now.last = last
	select {
	case l.full <- l.now:
	case <-l.done:
		l.over = true
	}
	return !l.over
}

// add puts a match into the block.
func (l *lister) add(m *[pattern.MaxVertices]uint32) bool {
	if len(l.now.rows)+l.n > cap(l.now.rows) && !(l.send(false) && l.next()) {
		return false
	}
	for _, at := range l.plan.At {
		l.now.rows = append(l.now.rows, l.rows.User(m[at]))
	}
	return true
}
