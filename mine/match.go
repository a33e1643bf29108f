package mine

import (
	"context"
	"iter"

	"sagann/mine/plan"
	"sagann/mine/run"
)

// Match lists the subgraphs that match the pattern: rows of the user's vertex numbers, one
// for each pattern vertex, in the order that the package's comment describes. A row is
// valid until the next one. An error is the last thing that is yielded, with a nil row.
// Breaking off ends the search.
func (g *Graph) Match(ctx context.Context, p Pattern, options ...Option) iter.Seq2[[]uint32, error] {
	return func(yield func([]uint32, error) bool) {
		j, err := g.listing(p, options)
		if err != nil {
			yield(nil, err)
			return
		}
		r := &run.Run{Rows: g.byID, Workers: j.workers, Report: g.reporter(0, 1)}
		left, broken := j.query.limit, false
		err = r.List(ctx, j.plan, func(row []uint32) bool {
			broken = !yield(row, nil)
			left--
			return !broken && left != 0
		})
		if err != nil && !broken {
			yield(nil, err)
		}
	}
}

// listing is the job of Match. Only loops list.
func (g *Graph) listing(p Pattern, options []Option) (*job, error) {
	q, err := g.ask(p, options)
	if err != nil {
		return nil, err
	}
	pl, err := plan.Listing(q.pattern, q.where)
	if err != nil {
		return nil, err
	}
	n, bytes, err := g.workers(g.byID.Bytes(), run.NestNeed(pl, g.byID)+run.ListNeed(), "listing matches")
	return &job{asked: p, engine: Loops, query: q, plan: pl, workers: n, bytes: bytes}, err
}
