package plan_test

import (
	"testing"

	"pgregory.net/rapid"

	"sagann/dataflow/plan"
)

// What a sag plan that keeps nothing moves, from the definition of the schedule. A value
// read at the far end by k steps of a phase is wanted k·P² times. Visits go forth and
// back, so the s slots that one visit leaves full serve the first s wants of the next.
func TestBytesMoved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &drawer{t: t, s: &plan.Spec{}}
		s := drawSpec(t)
		for _, v := range s.Values {
			if v.Derive != nil {
				t.Skip("derived values are made, not moved")
			}
		}
		p := d.int("P", 1, 6)
		v := p * d.int("rows", 1, 7)
		c := fullCells(v, p, 10)
		o := plan.Options{P: p, Slots: d.int("slots", 1, 5), Stream: true}
		pl, err := plan.New(s, always(c), o)
		if err != nil {
			t.Fatal(err)
		}
		slots := min(o.Slots, p)
		var h2d, d2h int64
		for _, ph := range s.Phases {
			owned, saved := map[int]bool{}, map[int]bool{}
			wants := map[int]int{} // steps that read a value at the far end
			for _, st := range ph.Steps {
				seen := map[int]bool{}
				for _, call := range st.Calls {
					for _, op := range call.Operands {
						whole := int64(v)
						switch {
						case op.Kind == plan.OwnValue:
							whole *= s.Values[op.ID].RowBytes
							if op.Write && !saved[op.ID] && s.Values[op.ID].Kind == plan.Stored {
								saved[op.ID] = true
								d2h += whole
							}
							if !op.Write && !owned[op.ID] && !saved[op.ID] && s.Values[op.ID].Kind != plan.Temp {
								owned[op.ID] = true
								h2d += whole
							}
						case op.Kind == plan.OtherValue && !seen[op.ID]:
							seen[op.ID] = true
							wants[op.ID]++
						}
					}
				}
				if st.Kind == plan.Stream {
					h2d += int64(p*p) * c.Bytes[st.Dir][0]
				}
			}
			for id, k := range wants {
				loads := k*p*p - (p-1)*slots
				if slots == p {
					loads = p
				}
				h2d += int64(loads*v/p) * s.Values[id].RowBytes
			}
		}
		if pl.H2D != h2d || pl.D2H != d2h {
			t.Errorf("P %d, %d slots: the plan moves %d and %d bytes, the schedule %d and %d", p, o.Slots, pl.H2D, pl.D2H, h2d, d2h)
		}
	})
}
