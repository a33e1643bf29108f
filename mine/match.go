package mine

import (
	"context"
	"fmt"
	"iter"

	"sagann/mine/cuda"
	"sagann/mine/plan"
	"sagann/mine/run"
)

// Match lists the subgraphs that match the pattern: rows of the user's vertex numbers, one
// for each pattern vertex, in the order that the package's comment describes. A row is
// valid until the next one. An error is yielded last, with a nil row. Leaving the loop ends the
// search. Only engine Loops can list: any Options.Engine other than Loops and Auto is an error.
func (g *Graph) Match(ctx context.Context, p Pattern, options ...Option) iter.Seq2[[]uint32, error] {
	return func(yield func([]uint32, error) bool) {
		j, err := g.listing(p, options)
		if err != nil {
			yield(nil, err)
			return
		}
		left, broken := j.query.limit, false
		err = g.list(ctx, j, func(row []uint32) bool {
			broken = !yield(row, nil)
			left--
			return !broken && left != 0
		})
		if err != nil && !broken {
			yield(nil, err)
		}
	}
}

// listing makes the job of Match.
func (g *Graph) listing(p Pattern, options []Option) (*job, error) {
	if e := g.opt.Engine; e != Auto && e != Loops {
		return nil, &QuestionError{fmt.Sprintf("engine %s only counts: listings are made by loops", e)}
	}
	q, err := g.ask(p, options)
	if err != nil {
		return nil, err
	}
	pl, err := plan.Listing(q.pattern, q.where)
	if err != nil {
		return nil, err
	}
	if g.opt.NoReuse {
		if pl, err = pl.WithoutReuse(); err != nil {
			return nil, err
		}
	}
	at, err := g.place(need{what: "listing matches", fixed: g.byID.Bytes() + g.kindsNeed(pl), each: run.NestNeed(pl, g.byID) + run.ListNeed(), rows: g.byID, part: cuda.Whole,
		gpu: func(chip cuda.Chip) (int64, int64) { return cuda.ListNeed(pl, g.byID, chip) }})
	return &job{asked: p, engine: Loops, query: q, plan: pl, place: at, listing: true}, err
}

// list calls yield with the rows of a listing.
func (g *Graph) list(ctx context.Context, j *job, yield func(row []uint32) bool) error {
	report := g.reporter(0, 1)
	if !j.gpu {
		return (&run.Run{Rows: g.byID, Kinds: j.query.kinds, Workers: j.workers, Report: report}).List(ctx, j.plan, yield)
	}
	return g.gpus.with(g.byID, j.layout, true, func(on *cuda.Graph) error { return on.List(ctx, j.plan, !g.opt.NoPool, j.room, report, yield) })
}
