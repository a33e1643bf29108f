package run

import (
	"context"
	"slices"
	"sync/atomic"

	"sagann/mine/pattern"
	"sagann/mine/plan"
	"sagann/mine/rows"
)

// A binary join puts one edge of the pattern after the other beside a table of partial matches, where loops intersect all
// neighbour lists of a vertex at once. The first edge to a vertex makes a row for each neighbour; each further
// edge, and each pair that must not be adjacent, then drops rows from that table. So a table holds what loops never make:
// paths whose ends are not adjacent, for a triangle.

// joinRows is how many rows a table has at most. Where more follow, the tables after it are made several times.
const joinRows = 1 << 13

// JoinNeed is the bytes of the tables of a worker.
func JoinNeed(p *plan.Plan) int64 {
	words := 0
	for l := range p.Levels {
		words += joinRows * (l + 1)
	}
	return 4 * int64(words)
}

// join is one worker that joins.
type join struct {
	nest   // the row that is looked at, and conditions on it
	steps  []joining
	tables [][]uint32 // by level: rows of level+1 vertices
	made   []int64    // by level: rows
}

// joining is how a level is joined.
type joining struct {
	of           int // level whose neighbours are taken
	above, below []int
	with         []filter
}

// filter drops rows whose last vertex is not, or is, a neighbour of that of a level.
type filter struct {
	of    int
	minus bool
}

func newJoin(p *plan.Plan, r *rows.Rows, kinds *rows.Kinds, stop *atomic.Bool) *join {
	j := &join{nest: nest{plan: p, rows: r, kinds: kinds, size: plan.None, stop: stop}, made: make([]int64, len(p.Levels))}
	for l, level := range p.Levels {
		j.tables = append(j.tables, make([]uint32, 0, joinRows*(l+1)))
		if l == 0 {
			j.steps = append(j.steps, joining{})
			continue
		}
		step := joining{above: slices.Clone(level.Above), below: slices.Clone(level.Below)}
		s := &p.Sets[level.From]
		for ; s.Base != plan.None; s = &p.Sets[s.Base] {
			step.with = append(step.with, filter{s.Of, s.Minus})
			step.above, step.below = append(step.above, s.Above...), append(step.below, s.Below...)
		}
		step.of = s.Of
		step.above, step.below = append(step.above, s.Above...), append(step.below, s.Below...)
		j.steps = append(j.steps, step)
	}
	return j
}

// Joined counts by binary joins what Count counts. made is the rows of all tables, by level, before filters.
func (r *Run) Joined(ctx context.Context, p *plan.Plan) (sum Total, made []int64, err error) {
	tasks := newPool(r.Rows, loopSlice)
	ws := make([]*join, r.Workers)
	err = r.each(ctx, tasks, func(w int) func(task) {
		ws[w] = newJoin(p, r.Rows, r.Kinds, &tasks.stop)
		return ws[w].root
	})
	made = make([]int64, len(p.Levels))
	for _, w := range ws {
		sum.AddTotal(w.total)
		for l, n := range w.made {
			made[l] += n
		}
	}
	return sum, made, err
}

// root joins what begins with a root, or with a slice of its neighbours.
func (j *join) root(t task) {
	if !j.fits(0, t.root) {
		return
	}
	if t.lo == 0 {
		j.made[0]++
	}
	j.tables[0] = append(j.tables[0][:0], t.root)
	list := j.rows.Of(t.root)
	if t.hi > 0 {
		list = list[t.lo:t.hi]
	}
	j.level(1, list)
}

// level joins the table of the level before. list, unless nil, is the neighbours that are taken.
func (j *join) level(l int, list []uint32) {
	step, level := &j.steps[l], &j.plan.Levels[l]
	table := j.tables[l-1]
	out := j.tables[l][:0]
	for at := 0; at < len(table); at += l {
		row := table[at : at+l]
		copy(j.bound[:], row)
		from := list
		if from == nil {
			from = j.rows.Of(row[step.of])
		}
		from = within(from, j.span(step.above, step.below))
		for _, y := range from {
			if len(out) == cap(out) {
				out = j.next(l, out)
				copy(j.bound[:], row)
			}
			if level.Label != pattern.AnyLabel && (j.rows.Label == nil || j.rows.Label[y] != level.Label) {
				continue
			}
			out = append(append(out, row...), y)
		}
		if j.stop.Load() {
			return
		}
	}
	j.next(l, out)
}

// next filters a table and joins it on. It returns the empty table.
func (j *join) next(l int, table []uint32) []uint32 {
	width := l + 1
	j.made[l] += int64(len(table) / width)
	keep := func(wanted func(row []uint32) bool) {
		to := table[:0]
		for at := 0; at < len(table); at += width {
			if row := table[at : at+width]; wanted(row) {
				to = append(to, row...)
			}
		}
		table = to
	}
	for _, f := range j.steps[l].with {
		keep(func(row []uint32) bool { return j.rows.Has(row[f.of], row[l]) != f.minus })
	}
	keep(func(row []uint32) bool {
		copy(j.bound[:], row)
		for _, x := range row[:l] {
			if x == row[l] {
				return false
			}
		}
		return j.fits(l, row[l])
	})
	switch {
	case l == j.plan.Last():
		j.total.Add(uint64(len(table) / width))
	case len(table) > 0:
		j.tables[l] = table
		j.level(l+1, nil)
	}
	return table[:0]
}
