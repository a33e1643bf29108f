package planner_test

import (
	"testing"

	"pgregory.net/rapid"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/plan/plantest"
	"sagann/internal/draw"
)

// Closed forms of the bytes that a step moves, for every schedule, with and without
// residency. A value's chunks are V/P rows; let n(x) be the number of chunks of x that
// come down and m(x) those that go up in one phase. What is resident has n = 0, and m = 0
// unless it is an output, which goes up once.
//
// sag and stage (which is sag over a program whose phases are cut at every step): visits
// go to the P destinations in turn.
//
//	read at the own end        n = P, unless the phase has written it before
//	written                    m = P when a later phase or the host reads it
//	read at the far end        a step wants it P times a visit, k steps k·P² times in all.
//	                           Visits go forth and back, so that the s slots which one
//	                           leaves full serve the first s wants of the next:
//	                           n = k·P² − (P−1)·s, with s = P slots n = P,
//	                           and n = k·P² when visits all go the same way and s < P
//	cells of one direction     P² a step over them
//
// dest-order, in a step over cells: P sources in turn, each over all P destinations.
//
//	read at the far end        n = P: a source stays until all destinations have used it
//	cells                      P², as before
//	read at the own end        wanted P² times, forth and back over the destinations, with
//	                           s = min(2, slots, P) slots of its own:
//	                           n = P² − (P−1)·s, with s = P n = P, the same way n = P²
//	written (accumulators)     as if read, but for the first visit of each destination,
//	                           which starts it: P less. m = P², it goes up after every cell
func closedForm(pl *plan.Plan, o plan.Options) (h2d, d2h, once int64) {
	c, p := pl.Cells, pl.Cells.P
	wants := func(k, slots int) int {
		switch slots = min(slots, p); {
		case slots == p:
			return p
		case o.Straight:
			return k * p * p
		}
		return k*p*p - (p-1)*slots
	}
	for i, ph := range pl.Spec.Phases {
		swap := pl.Schedule == plan.DestOrder && ph.Steps[0].Kind == plan.Stream
		far := map[int]int{} // steps that read a value at the far end
		read, written := map[int]bool{}, map[int]bool{}
		for _, st := range ph.Steps {
			seen := map[int]bool{}
			for _, call := range st.Calls {
				for _, op := range call.Operands {
					switch {
					case op.Kind == plan.OtherValue && !seen[op.ID]:
						seen[op.ID] = true
						far[op.ID]++
					case op.Kind == plan.OwnValue && op.Write:
						written[op.ID] = true
					case op.Kind == plan.OwnValue && !written[op.ID]:
						read[op.ID] = true
					}
				}
			}
			if st.Kind == plan.Stream && !pl.Places.CellsIn[st.Dir] {
				h2d += int64(p*p) * c.Bytes[st.Dir][0]
			}
		}
		for id, v := range pl.Spec.Values {
			chunk := int64(c.V/p) * v.RowBytes
			down, up := 0, 0
			if k := far[id]; k > 0 {
				if down += wants(k, pl.PhaseSlots[i]); swap {
					down = p
				}
			}
			if v.Kind != plan.Temp {
				switch {
				case swap && read[id]:
					down += wants(1, min(2, pl.Slots))
				case swap && written[id]:
					down += wants(1, min(2, pl.Slots)) - p
				case read[id]:
					down += p
				}
			}
			if written[id] && v.Kind == plan.Stored {
				if up = p; swap {
					up = p * p
				}
			}
			if pl.Places.Resident[id] {
				down, up = 0, 0
				if v.Output && written[id] {
					up = p
				}
			}
			h2d, d2h = h2d+int64(down)*chunk, d2h+int64(up)*chunk
		}
	}
	for id, v := range pl.Spec.Values {
		if pl.Places.Resident[id] && v.Kind == plan.Input {
			once += int64(c.V) * v.RowBytes
		}
	}
	for d, in := range pl.Places.CellsIn {
		if in {
			once += int64(p*p) * c.Bytes[d][0]
		}
	}
	return h2d, d2h, once
}

// The plan of a random program moves what the closed form of its schedule says.
func TestBytesMoved(t *testing.T) {
	for _, schedule := range []string{plan.Sag, plan.Stage, plan.DestOrder} {
		t.Run(schedule, draw.Each(func(t *rapid.T) {
			s := plantest.DrawSpec(t)
			for _, v := range s.Values {
				if v.Derive != nil {
					t.Skip("derived values are made, not moved")
				}
			}
			draw := func(what string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, what) }
			p := draw("P", 1, 16)
			c := plantest.FullCells(p*draw("rows", 1, 7), p, 10, 0)
			o := plan.Options{P: p, Slots: draw("slots", 0, 5), Schedule: schedule, Straight: draw("straight", 0, 2) == 0}
			switch draw("residency", 0, 3) {
			case 0: // nothing stays
				o.Stream = true
			case 1: // all stays
			default: // what fits stays
				o.Budget = plantest.Smallest(t, s, c, plantest.Asked{Options: o}) + rapid.Int64Range(0, 1<<15).Draw(t, "slack")
			}
			pl, err := planner.New(s, plantest.Always(c), o)
			if err != nil {
				t.Fatal(err)
			}
			h2d, d2h, once := closedForm(pl, o)
			if pl.H2D != h2d || pl.D2H != d2h || pl.Once != once {
				t.Errorf("P %d, %d slots, resident %v, cells %v: the plan moves %d and %d bytes and %d once, the schedule %d, %d and %d",
					p, pl.Slots, pl.Places.Resident, pl.Places.CellsIn, pl.H2D, pl.D2H, pl.Once, h2d, d2h, once)
			}
		}))
	}
}

// Sorted rows. Every cell reads r of the R rows of a chunk, each row 256 bytes, with s
// slots. A gathered row counts 1.1 times. A chunk that a visit leaves in a slot serves the
// next visit too, so there the rows of both cells stand against it:
//
//	1.1·2r < R          all cells gather           n = P²·r rows
//	1.1·r < R ≤ 1.1·2r  the last s cells of each visit but the last take whole chunks, of
//	                    which the next visit begins with s
//	                                               n = s·(P−1)·R + (P² − 2s·(P−1))·r, for 2s ≤ P
//	R ≤ 1.1·r           whole chunks               n = (P² − (P−1)·s)·R, for s < P
func TestBytesOfRows(t *testing.T) {
	const R, s = 100, 2
	for p := 1; p <= 16; p++ {
		for _, r := range []int{10, 45, 46, 60, 90, 91, 100} {
			c := plantest.FullCells(p*R, p, 10, int64(r))
			pl, err := planner.New(streamSpec64(), plantest.Always(c), plan.Options{P: p, Slots: s, Stream: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := plantest.Check(pl, nil); err != nil {
				t.Fatal(err)
			}
			want := 0
			switch {
			case 22*r < 10*R || 11*r < 10*R && p == 1:
				want = p * p * r
			case 11*r < 10*R && 2*s <= p:
				want = s*(p-1)*R + (p*p-2*s*(p-1))*r
			case 11*r < 10*R: // 2 or 3 chunks: all that a visit leaves
				continue
			case s < p:
				want = (p*p - (p-1)*s) * R
			default:
				want = p * R
			}
			cells := int64(p*p) * c.Bytes[plan.CSC][0]
			if got := (pl.H2D - cells) / 256; got != int64(want) {
				t.Errorf("P %d, %d of %d rows: %d rows come, want %d", p, r, R, got, want)
			}
		}
	}
}

// streamSpec64 gathers a value of 64 columns over the cells of destinations.
func streamSpec64() *plan.Spec {
	return &plan.Spec{
		Values: []plan.Value{{Name: "x", Kind: plan.Input, Cols: 64, RowBytes: 256}, {Name: "a", Kind: plan.Temp, Cols: 64, RowBytes: 256}},
		Phases: []plan.Phase{{Steps: []plan.Step{{Kind: plan.Stream, Dir: plan.CSC, Calls: []plan.Call{{Operands: []plan.Operand{
			{Kind: plan.OtherValue, ID: 0}, {Kind: plan.OwnValue, ID: 1, Write: true}}}}}}}},
	}
}
