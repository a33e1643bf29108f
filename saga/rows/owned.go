package rows

import (
	"sagann/chunk"
	"sagann/dataflow/plan"
)

// Owned is the rows of a vertex tensor that a process lays out: those of the intervals that its rank owns, or all.
type Owned struct {
	rows   int   // how many
	width  int   // of an interval
	slot   []int // by interval: where its rows begin; -1: not owned
	ranges []ownedRange
}

// ownedRange is vertices lo to hi-1 of an order; the row of lo is row at of those owned.
type ownedRange struct{ lo, hi, at int }

// All is all of v rows.
func All(v int) Owned {
	return Owned{rows: v, width: max(1, v), slot: []int{0}, ranges: []ownedRange{{0, v, 0}}}
}

// OwnedBy are the rows of value id of pl that n of its devices own, beginning with number first.
func OwnedBy(pl *plan.Plan, id, first, n int) Owned {
	s := pl.Span(id)
	o := Owned{width: s.Width, slot: make([]int, s.N)}
	for j := range s.N {
		owner, rows := pl.Owner(s.First+j), s.Rows(s.First+j)
		if o.slot[j] = -1; owner < first || owner >= first+n || rows == 0 {
			continue
		}
		lo := j * s.Width
		o.slot[j] = o.rows
		o.ranges = append(o.ranges, ownedRange{lo, lo + rows, o.rows})
		o.rows += rows
	}
	return o
}

// Each calls f for all ranges of rows: that of number first in the order, and so many after it, are rows at and those after it of these.
func (o Owned) Each(f func(first, rows, at int) error) error {
	for _, r := range o.ranges {
		if err := f(r.lo, r.hi-r.lo, r.at); err != nil {
			return err
		}
	}
	return nil
}

// Bytes is the size of the rows laid out, of so many columns, each row padded.
func (o *Owned) Bytes(cols int) int64 { return 4 * int64(o.rows) * int64(chunk.LD(cols)) }

// place is the number of row n of the order among those owned; -1: it is not owned.
func (o *Owned) place(n int) int {
	at := o.slot[n/o.width]
	if at < 0 {
		return -1
	}
	return at + n%o.width
}
