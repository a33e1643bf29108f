package mine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"sagann/mine/cuda"
	"sagann/mine/pattern"
	"sagann/mine/plan"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// maps is a way to count a pattern's subgraphs as a sum of numbers of maps and other terms,
// divided by the pattern's number of automorphisms.
type maps struct {
	over     int64 // the number of automorphisms
	maps     []mapsTerm
	work     plan.MapsWork   // of all maps
	edges    pattern.Formula // sums that follow from the triangles at edges, which maps need too
	formula  pattern.Formula // sums that are computed on their own
	place    place           // where formula is computed
	rest     []restTerm      // patterns counted by other engines
	expected float64         // seconds
}

type mapsTerm struct {
	times int64
	maps  *plan.Maps
}

// restTerm is a multiple of a count of subgraphs, made by another engine.
type restTerm struct {
	times int64
	job   *job
}

// Bounds of the search for maps. If loops are expected to take less than soon, Auto takes
// them and does not look at maps. No more than mostRest other patterns are counted by loops, as
// planning each takes time.
const (
	soon     = 2e-3 // seconds
	mostRest = 6
)

// mapsJob makes the job of engine Maps. It is nil if maps cannot count the pattern. If
// Auto expects loops to be faster, it is the job of loops.
func (g *Graph) mapsJob(q *query) (*job, error) {
	p := q.pattern
	if !p.Free() || p.Labelled() || q.where != nil || !g.wants(Maps) {
		return nil, nil
	}
	var loops *job
	var small *BudgetError
	least := math.Inf(1)
	if g.opt.Engine == Auto {
		j, err := g.loopsJob(q)
		switch {
		case err == nil:
			loops = j
			if least, err = g.seconds(j, j.estimate); err != nil || least < soon {
				return j, err
			}
		case !errors.As(err, &small):
			return nil, err
		}
	}
	m, at, err := g.maps(p)
	switch {
	case loops != nil && (errors.As(err, &small) || err == nil && (m == nil || m.expected >= least)):
		return loops, nil
	case err != nil || m == nil:
		return nil, err
	}
	return &job{engine: Maps, query: q, maps: m, place: at}, nil
}

// maps finds a way to count a pattern by numbers of maps; m is nil if there is none.
func (g *Graph) maps(p Pattern) (m *maps, at place, err error) {
	r, err := g.ordered()
	if err != nil {
		return nil, at, err
	}
	d := g.degreesOf(r)
	m = &maps{over: int64(len(p.Automorphisms()))}
	all, rest := p.Injective(func(q Pattern) bool {
		if _, ok := q.Formula(); ok && q.Vertices() < p.Vertices() {
			return false
		}
		how, _ := plan.NewMaps(q, d)
		return how != nil
	})
	if len(all) == 0 {
		return nil, at, nil
	}
	var hows []*plan.Maps
	for _, t := range all {
		how, w := plan.NewMaps(t.Pattern, d)
		m.maps, hows = append(m.maps, mapsTerm{t.Times, how}), append(hows, how)
		m.work.Add(w)
	}
	var small *BudgetError // that of the part that needs the most memory
	at, err = g.mapsPlace(r, hows, m.work)
	if _, err := fits(err, &small); err != nil {
		return nil, at, err
	}
	ok, err := g.restOf(r, m, rest, &small)
	switch {
	case !ok || err != nil:
		return nil, at, err
	case small != nil:
		return nil, at, small
	}
	at.bytes = max(at.bytes, m.place.bytes)
	for _, t := range m.rest {
		at.bytes = max(at.bytes, t.job.bytes)
	}
	m.expected, err = g.mapsSeconds(m, at)
	return m, at, err
}

// restOf adds to m the terms that are not counts of maps. ok is false if they cannot run here,
// or would need too many plans. Parts that do not fit are recorded in small.
func (g *Graph) restOf(r *rows.Rows, m *maps, rest []pattern.Times, small **BudgetError) (ok bool, err error) {
	sum := map[pattern.Quantity]int64{}
	for _, t := range rest {
		times := t.Times * int64(len(t.Pattern.Automorphisms()))
		if f, ok := t.Pattern.Formula(); ok {
			for _, x := range f {
				sum[x.Of] += times * x.Times
			}
			continue
		}
		if len(m.rest) == mostRest {
			return false, nil
		}
		q := &query{pattern: t.Pattern}
		var j *job
		if t.Pattern.IsClique() {
			if j, err = g.bitsPlaced(q); err == nil && j == nil { // the GPUs cannot do it
				j, err = g.loopsPlanned(q)
			}
		} else {
			j, err = g.loopsPlanned(q)
		}
		if _, err := fits(err, small); err != nil {
			return false, err
		}
		m.rest = append(m.rest, restTerm{times, j})
	}
	for q := pattern.Triangles; q < pattern.Stars+pattern.MaxVertices; q++ {
		to := &m.formula
		if m.work.Closed && run.AtEdges(q) {
			to = &m.edges
		}
		if sum[q] != 0 {
			*to = append(*to, pattern.Term{Times: sum[q], Of: q})
		}
	}
	if len(m.formula) > 0 {
		m.place, ok, err = g.formulaPlace(cuda.Whole, r, m.formula, "counting by formula")
		if _, err := fits(err, small); err != nil {
			return false, err
		}
		return ok, nil
	}
	return true, nil
}

// mapsSeconds is how many seconds counting by m is expected to take.
func (g *Graph) mapsSeconds(m *maps, at place) (float64, error) {
	rates, workers := g.rates(at)
	t := rates.Maps(m.work, float64(g.Vertices()))/workers + float64(len(m.maps))*rates.Host(1, float64(g.Vertices())) + g.starting(rates, at)
	if m.work.Closed {
		s, err := g.seconds(&job{engine: Formula, formula: pattern.Formula{{Times: 1, Of: pattern.EdgePairs}}, place: place{workers: g.threads(at)}}, plan.Estimate{})
		if err != nil {
			return 0, err
		}
		t += s
	}
	if len(m.formula) > 0 {
		s, err := g.seconds(&job{engine: Formula, formula: m.formula, place: m.place}, plan.Estimate{})
		if err != nil {
			return 0, err
		}
		t += s
	}
	for _, x := range m.rest {
		e := x.job.estimate
		if x.job.engine == Bits {
			var err error
			if e, err = g.cliqueEstimate(x.job.query); err != nil {
				return 0, err
			}
		}
		s, err := g.seconds(x.job, e)
		if err != nil {
			return 0, err
		}
		t += s
	}
	return t, nil
}

// cliqueEstimate estimates how many cliques of each size there are.
func (g *Graph) cliqueEstimate(q *query) (plan.Estimate, error) {
	r, err := g.ordered()
	if err != nil {
		return plan.Estimate{}, err
	}
	_, e, err := plan.Choose(q.pattern, nil, r.Stats(), int64(len(r.Col)), run.Sampler{Rows: r, Seed: seed})
	return e, err
}

// threads is the number of CPU threads that count the triangles at edges. The CPU counts them
// for GPUs, too.
func (g *Graph) threads(at place) int {
	if at.gpu {
		return g.opt.Threads
	}
	return at.workers
}

// degreesOf returns the sums over degrees from which the work of maps is estimated. They are
// computed when they are first needed.
func (g *Graph) degreesOf(r *rows.Rows) plan.Degrees {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.degrees == nil {
		d := run.Degrees(r)
		g.degrees = &d
	}
	return *g.degrees
}

// countMaps counts all terms of the job's sum and adds them up.
func (g *Graph) countMaps(ctx context.Context, r *rows.Rows, j *job, report func(float64)) (Total, error) {
	m := j.maps
	parts := float64(len(m.maps) + len(m.rest) + 1)
	done := 0.0
	next := func() func(float64) {
		from := done
		done++
		if report == nil {
			return nil
		}
		return func(x float64) { report((from + x) / parts) }
	}
	x := new(big.Int)
	add := func(times int64, n Total) { x.Add(x, new(big.Int).Mul(big.NewInt(times), n.Big())) }
	w := run.Run{Rows: r, Workers: g.threads(j.place)}
	var closed run.Closed
	if m.work.Closed {
		var err error
		if closed, err = w.Closed(ctx); err != nil {
			return Total{}, err
		}
		sums, err := w.SumsOf(ctx, closed, m.edges)
		if err != nil {
			return Total{}, err
		}
		for _, t := range m.edges {
			add(t.Times, sums[t.Of])
		}
	}
	for _, t := range m.maps {
		w.Report = next()
		n, err := g.mapsTotal(ctx, &w, j, t.maps, closed)
		if err != nil {
			return Total{}, err
		}
		add(t.times, n)
	}
	closed = nil
	to := next()
	if len(m.formula) > 0 {
		sums, err := g.sums(ctx, r, m.formula, m.place, to)
		if err != nil {
			return Total{}, err
		}
		for _, t := range m.formula {
			add(t.Times, sums[t.Of])
		}
	}
	for _, t := range m.rest {
		n, err := g.count(ctx, t.job, next())
		if err != nil {
			return Total{}, err
		}
		add(t.times, n)
	}
	return run.FromBig(x.Div(x, big.NewInt(m.over)))
}

// mapsTotal is the number of maps of a pattern.
func (g *Graph) mapsTotal(ctx context.Context, w *run.Run, j *job, m *plan.Maps, closed run.Closed) (n Total, err error) {
	if !j.gpu {
		return w.Maps(ctx, m, closed)
	}
	shared := w.SharedMaps(m, closed)
	err = g.gpus.with(w.Rows, j.layout, false, func(on *cuda.Graph) (err error) {
		n, err = on.Maps(ctx, m, closed, shared, j.room, w.Report)
		return err
	})
	return n, err
}

// String is the sum as it is written, with maps(p) for the number of maps of p.
func (m *maps) String() string {
	var b strings.Builder
	term := func(times int64, of string) {
		sign := "+"
		if times < 0 {
			sign, times = "-", -times
		}
		if b.Len() > 0 || sign == "-" {
			b.WriteString(" " + sign + " ")
		}
		if times != 1 {
			fmt.Fprintf(&b, "%d·", times)
		}
		b.WriteString(of)
	}
	for _, t := range m.maps {
		term(t.times, "maps("+t.maps.Pattern.String()+")")
	}
	for _, t := range m.rest {
		term(t.times, string(t.job.engine)+"("+t.job.query.pattern.String()+")")
	}
	for _, t := range slices.Concat(m.edges, m.formula) {
		term(t.Times, t.Of.String())
	}
	if m.over == 1 {
		return strings.TrimSpace(b.String())
	}
	return fmt.Sprintf("(%s) / %d", strings.TrimSpace(b.String()), m.over)
}
