package mine

import (
	"context"
	"errors"
	"slices"

	"sagann/device"
	"sagann/mine/cuda"
	"sagann/mine/domain"
	"sagann/mine/pattern"
	"sagann/mine/rows"
	"sagann/mine/table"
)

// domainsPlace divides the memory of each GPU: how the arcs of the graph by labels lie, and room for
// everything else. bytes is both, and resident the share of the arcs that lies on the GPUs.
func (f *frequent) domainsPlace(by *domain.Graph) (l cuda.ArcLayout, room int64, p place, err error) {
	g := f.g
	if err := g.gpus.open(g.opt.Mem); err != nil {
		return l, 0, p, err
	}
	least, most := cuda.DomainsNeed(by, f.whole(), f.Vertices)
	limit, arcs, dense := g.gpus.limit-g.gpus.keeps(0), cuda.ArcBytes(by, false), cuda.ArcBytes(by, true)
	switch {
	case limit < least+cuda.LeastArcs:
		return l, 0, p, &BudgetError{Mem: limit, Smallest: least + cuda.LeastArcs, What: finding}
	case limit-dense >= most:
		return cuda.ArcLayout{Hot: -1, Dense: true}, most, place{gpu: true, bytes: dense + most, resident: 1}, nil
	case limit-arcs >= least:
		room = min(most, limit-arcs)
		return cuda.ArcLayout{Hot: -1}, room, place{gpu: true, bytes: arcs + room, resident: 1}, nil
	}
	room = max(least, min(most, limit/4/device.Align*device.Align))
	l.Hot = limit - room
	return l, room, place{gpu: true, bytes: limit, resident: float64(l.Hot) / float64(arcs)}, nil
}

// whole is the rows that induced patterns need.
func (f *frequent) whole() *rows.Rows {
	if f.Induced {
		return f.g.byID
	}
	return nil
}

// onCards calls work with the question's cards, if the graph has GPUs. Ranks begin together.
func (f *frequent) onCards(by *domain.Graph, q *domain.Question, work func() error) error {
	x := f.g.gpus
	if x == nil {
		return work()
	}
	layout, room, _, err := f.domainsPlace(by)
	if err == nil && x.busy() {
		err = ErrBusy
	}
	if err := f.agree("the memory of GPUs", err); err != nil {
		return err
	}
	return x.alone(func() (err error) {
		d, err := cuda.NewDomains(x.list, by, f.whole(), f.Support, layout, room)
		if err := f.agree("the graph on GPUs", err); err != nil {
			if d != nil { // another rank has failed
				err = errors.Join(err, d.Free())
			}
			return err
		}
		defer func() { err = errors.Join(err, d.Free()) }()
		q.Cards = d.Cards()
		return work()
	})
}

// agree is err, or that of another rank.
func (f *frequent) agree(what string, err error) error {
	if f.peers == nil {
		return err
	}
	return f.g.opt.Net.Agree(what, err)
}

// rowsOnGPUs is the memory for counting rows.
func (f *frequent) rowsOnGPUs() need {
	if f.Induced {
		return need{what: finding, rows: f.g.byID, part: cuda.Whole, gpu: func(cuda.Chip) (least, most int64) { return cuda.GrowNeed(f.induced(f.Vertices), cuda.ForCodes) }}
	}
	return need{what: finding, rows: f.g.byID, part: cuda.Whole, gpu: func(chip cuda.Chip) (least, most int64) {
		return cuda.TablesNeed(f.g.byID, max(f.largest(), 2), f.kinds != nil, chip)
	}}
}

// countOnGPUs counts rows of so many edges, or vertices; see table.Graph.Count. Patterns with fewer than least rows are left out.
func (f *frequent) countOnGPUs(ctx context.Context, at place, t *table.Graph, edges int, part table.Part, least Total) (list []table.Sum, end int, err error) {
	if f.Induced {
		return f.countInduced(ctx, at, edges, part, least)
	}
	sums := table.NewCounts()
	err = f.g.gpus.with(t.Rows, at.layout, false, func(on *cuda.Graph) (err error) {
		end, err = cuda.CountRows(ctx, on, t, edges, part, sums, f.g.opt.Threads, at.room)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return sums.Sums(least, f.g.opt.Threads), end, nil
}

// induced is the rows of so many vertices, all of which take part.
func (f *frequent) induced(vertices int) *cuda.Making {
	return &cuda.Making{Spec: f.rowsOf(vertices)}
}

// rowsOf is the rows of so many edges or, with induced, vertices, all of whose vertices take part.
func (f *frequent) rowsOf(size int) *table.Spec {
	s := &table.Spec{Rows: f.g.byID, Kinds: f.kinds, Vertices: f.Induced, Size: size}
	if !slices.ContainsFunc(f.g.byID.Label, func(l int32) bool { return l < 0 }) {
		return s
	}
	takes := func(at int) *pattern.Expr {
		return &pattern.Expr{Op: pattern.LessThan, Args: []*pattern.Expr{{Op: pattern.Const, Value: -1}, {Op: pattern.Label, A: at}}}
	}
	s.Where = make([]*pattern.Expr, size+1)
	for i := range size {
		if s.Where[i+1] = takes(i); !f.Induced {
			s.Where[i+1] = &pattern.Expr{Op: pattern.And, Args: []*pattern.Expr{takes(2 * i), takes(2*i + 1)}}
		}
	}
	return s
}

// quick reports whether GPUs can tell the induced patterns apart.
func (f *frequent) quick() bool {
	_, ok := table.QuickOf(f.induced(f.Vertices).Spec, f.Vertices)
	return ok
}

// countInduced counts rows of so many vertices.
func (f *frequent) countInduced(ctx context.Context, at place, vertices int, part table.Part, least Total) (list []table.Sum, end int, err error) {
	m := f.induced(vertices)
	m.Room, m.Stage, m.Part = at.room, cuda.StageBytes(f.g.opt.HostMem, len(f.g.gpus.list)), part
	all, end, err := countCodes(ctx, f.g, at, m)
	for p, n := range all {
		if sum := (Total{Lo: uint64(n)}); !sum.Less(least) {
			list = append(list, table.Sum{Pattern: p, Rows: sum})
		}
	}
	return list, end, err
}
