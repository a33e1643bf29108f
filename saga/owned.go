package saga

import "sagann/dataflow/plan"

// owned are the rows of a vertex tensor that a process lays out: those of the intervals that its rank owns, or all.
type owned struct {
	rows   int
	width  int // of an interval
	slot   []int
	ranges []ownedRange
}

// ownedRange is vertices lo to hi-1 of an order; their rows lie from row at on.
type ownedRange struct{ lo, hi, at int }

// allRows is every row of so many.
func allRows(v int) owned {
	return owned{rows: v, width: max(1, v), slot: []int{0}, ranges: []ownedRange{{0, v, 0}}}
}

// ownedBy are the rows of pl that this rank owns.
func (p *Program) ownedBy(pl *plan.Plan) owned {
	first, n := p.cfg.owned()
	o := owned{width: pl.Cells.Width, slot: make([]int, pl.Cells.P)}
	for j := range pl.Cells.P {
		if o.slot[j] = -1; pl.Owner(j) < first || pl.Owner(j) >= first+n || pl.Cells.Rows(j) == 0 {
			continue
		}
		lo := j * pl.Cells.Width
		o.slot[j] = o.rows
		o.ranges = append(o.ranges, ownedRange{lo, lo + pl.Cells.Rows(j), o.rows})
		o.rows += pl.Cells.Rows(j)
	}
	return o
}

// place is where row n of the order lies; -1: it is not owned.
func (o *owned) place(n int) int {
	at := o.slot[n/o.width]
	if at < 0 {
		return -1
	}
	return at + n%o.width
}
