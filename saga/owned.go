package saga

import "sagann/dataflow/plan"

// owned is the rows of a vertex tensor that a process lays out: those of the intervals that its rank owns, or all.
type owned struct {
	rows   int   // how many
	width  int   // of an interval
	slot   []int // by interval: where its rows begin; -1: not owned
	ranges []ownedRange
}

// ownedRange is vertices lo to hi-1 of an order; the row of lo is row at of those owned.
type ownedRange struct{ lo, hi, at int }

// allRows is all of v rows.
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

// place is the number of row n of the order among those owned; -1: it is not owned.
func (o *owned) place(n int) int {
	at := o.slot[n/o.width]
	if at < 0 {
		return -1
	}
	return at + n%o.width
}
