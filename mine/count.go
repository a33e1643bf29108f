package mine

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"sagann/mine/cuda"
	"sagann/mine/pattern"
	"sagann/mine/plan"
	"sagann/mine/run"
)

// seed is the seed of all random walks, so that equal runs choose equal plans.
const seed = 1

// Prepared is a count whose engine and plan are chosen. It may be used several times.
type Prepared struct {
	g   *Graph
	job *job
}

// Prepare chooses the engine and the plan that will count the pattern, and counts nothing yet.
// Graph.Count is Prepare followed by Prepared.Count.
func (g *Graph) Prepare(p Pattern, options ...Option) (*Prepared, error) {
	j, err := g.job(p, options)
	if err != nil {
		return nil, err
	}
	return &Prepared{g, j}, nil
}

// Count counts the subgraphs that match; see Graph.Count.
func (p *Prepared) Count(ctx context.Context) (Total, error) {
	return p.g.count(ctx, p.job, p.g.reporter(0, 1))
}

// Engine is the engine that will count.
func (p *Prepared) Engine() Engine { return p.job.engine }

// Explain describes the engine, the plan and the expected time. It takes random walks over the
// graph to estimate them.
func (p *Prepared) Explain() (*Explanation, error) { return p.g.explain(p.job) }

// job is a count that is ready to run.
type job struct {
	asked    Pattern // without the marks of Induced
	engine   Engine
	query    *query
	formula  pattern.Formula
	maps     *maps
	plan     *plan.Plan
	estimate plan.Estimate
	listing  bool
	place
}

// Cliques counts the cliques of k vertices, 2 to 8.
func (g *Graph) Cliques(ctx context.Context, k int, options ...Option) (Total, error) {
	if k < 2 || k > pattern.MaxVertices {
		return Total{}, fmt.Errorf("mine: cliques of %d vertices: the number is 2 to %d", k, pattern.MaxVertices)
	}
	return g.Count(ctx, MustPattern(fmt.Sprintf("clique%d", k)), options...)
}

// Count counts the subgraphs that match the pattern. It ends early, with the error of ctx,
// when ctx is done.
func (g *Graph) Count(ctx context.Context, p Pattern, options ...Option) (Total, error) {
	prepared, err := g.Prepare(p, options...)
	if err != nil {
		return Total{}, err
	}
	return prepared.Count(ctx)
}

func (g *Graph) count(ctx context.Context, j *job, report func(float64)) (Total, error) {
	ordered, err := g.ordered()
	if err != nil {
		return Total{}, err
	}
	r := &run.Run{Rows: ordered, Kinds: j.query.kinds, Workers: j.workers, Report: report}
	switch {
	case j.engine == Formula:
		sums, err := g.sums(ctx, ordered, j.formula, j.place, report)
		if err != nil {
			return Total{}, err
		}
		return evaluate(j.formula, sums)
	case j.engine == Maps:
		return g.countMaps(ctx, ordered, j, report)
	case j.gpu:
		return g.onGPUs(ctx, ordered, j, report)
	case j.engine == Bits:
		return r.Cliques(ctx, j.query.pattern.Vertices())
	}
	if j.engine == Join {
		n, _, err := r.Joined(ctx, j.plan)
		return n, err
	}
	return r.Count(ctx, j.plan)
}

// evaluate computes the value of a formula from its sums.
func evaluate(f pattern.Formula, sums map[pattern.Quantity]Total) (Total, error) {
	x := new(big.Int)
	for _, t := range f {
		x.Add(x, new(big.Int).Mul(big.NewInt(t.Times), sums[t.Of].Big()))
	}
	return run.FromBig(x)
}

// job chooses the engine, the plan and the number of threads.
func (g *Graph) job(p Pattern, options []Option) (*job, error) {
	q, err := g.ask(p, options)
	if err != nil {
		return nil, err
	}
	var small *BudgetError // that of the engine that needs the least memory
	for _, try := range []func(*query) (*job, error){g.formulaJob, g.bitsJob, g.mapsJob, g.loopsJob, func(q *query) (*job, error) { return joinJob(g, q) }} {
		j, err := try(q)
		var budget *BudgetError
		switch {
		case err == nil && j != nil:
			j.asked = p
			return j, nil
		case errors.As(err, &budget):
			if small == nil || budget.Smallest < small.Smallest {
				small = budget
			}
		case err != nil:
			return nil, err
		}
	}
	if small != nil {
		return nil, small
	}
	return nil, &QuestionError{fmt.Sprintf("engine %s cannot count this pattern with these options; auto or loops can", g.opt.Engine)}
}

// wants reports whether Options.Engine allows engine e.
func (g *Graph) wants(e Engine) bool { return g.opt.Engine == Auto || g.opt.Engine == e }

func (g *Graph) formulaJob(q *query) (*job, error) {
	f, ok := q.pattern.Formula()
	if !ok || q.where != nil || !g.wants(Formula) {
		return nil, nil
	}
	if g.opt.Engine == Auto && len(f) == 1 && f[0].Of == pattern.FourCliques {
		return nil, nil // a clique: engine Bits does the same work
	}
	r, err := g.ordered()
	if err != nil {
		return nil, err
	}
	p, ok, err := g.formulaPlace(cuda.PartOf(f), r, f, "counting by formula")
	if !ok {
		return nil, err
	}
	return &job{engine: Formula, query: q, formula: f, place: p}, err
}

func (g *Graph) bitsJob(q *query) (*job, error) {
	k := q.pattern.Vertices()
	if !q.pattern.IsClique() || q.pattern.Labelled() || q.where != nil || k < 3 || !g.wants(Bits) {
		return nil, nil
	}
	return g.bitsPlaced(q)
}

// bitsPlaced makes the job of engine Bits. It is nil if the GPUs cannot do it.
func (g *Graph) bitsPlaced(q *query) (*job, error) {
	r, err := g.ordered()
	if err != nil {
		return nil, err
	}
	if g.gpus != nil {
		if wide, err := g.wide(r); err != nil || wide {
			return nil, err
		}
	}
	k := q.pattern.Vertices()
	p, err := g.place(need{what: "counting cliques in bit matrices", fixed: g.rowsNeed(), each: run.CliquesNeed(r, k), rows: r, part: cuda.Above, gpu: func(chip cuda.Chip) (int64, int64) {
		n := cuda.CliquesNeed(r, k, chip)
		return n, n
	}})
	return &job{engine: Bits, query: q, place: p}, err
}

func (g *Graph) loopsJob(q *query) (*job, error) {
	if !g.wants(Loops) {
		return nil, nil
	}
	return g.loopsPlanned(q)
}

// joinJob makes the job of engine Join, which auto never takes.
func joinJob(g *Graph, q *query) (*job, error) {
	if g.opt.Engine != Join || g.gpus != nil {
		return nil, nil
	}
	pl, e, err := planned(g, q)
	if err != nil {
		return nil, err
	}
	p, err := g.workers(g.rowsNeed()+g.kindsNeed(pl), run.JoinNeed(pl), "counting by joins")
	return &job{engine: Join, query: q, plan: pl, estimate: e, place: p}, err
}

// planned is the plan of a query for the graph in order of degree.
func planned(g *Graph, q *query) (*plan.Plan, plan.Estimate, error) {
	r, err := g.ordered()
	if err != nil {
		return nil, plan.Estimate{}, err
	}
	return plan.Choose(q.pattern, q.where, r.Stats(), int64(len(r.Col)), run.Sampler{Rows: r, Kinds: q.kinds, Seed: seed})
}

// loopsPlanned makes the job of engine Loops.
func (g *Graph) loopsPlanned(q *query) (*job, error) {
	pl, e, err := planned(g, q)
	if err != nil {
		return nil, err
	}
	if g.opt.NoReuse {
		if pl, err = pl.WithoutReuse(); err != nil {
			return nil, err
		}
	}
	r := g.byDegree
	p, err := g.place(need{what: "counting by loops", fixed: g.rowsNeed() + g.kindsNeed(pl), each: run.NestNeed(pl, r), rows: r, part: cuda.Whole,
		gpu: func(chip cuda.Chip) (int64, int64) { return cuda.NestNeed(pl, r, chip) }})
	if p.gpu && p.layout.Hot >= 0 {
		p.layout.Reads = run.Sampler{Rows: r, Seed: seed}.Sample(pl, walkWork).Reads
	}
	return &job{engine: Loops, query: q, plan: pl, estimate: e, place: p}, err
}
