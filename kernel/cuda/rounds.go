package cuda

import (
	"fmt"

	"sagann/kernel"
)

// Rows of many edges are gathered in rounds, so that no chain of additions in float32 is
// long (kernel/cpu/long_sums.go says why). Accumulators start each round from zero. If a warp has the row, the result of a
// round is added to the row's state in memory. Such rows have few rounds, and so no second accumulator takes registers.
// If a block has the row, or a warp has rows of any length, each group of lanes adds its rounds to float64 accumulators.

const (
	// roundEdges is how many edges a group of lanes takes in a round.
	roundEdges = 256
	// mostRounds is the most rounds of a row whose rounds are added in memory.
	mostRounds = 64
)

// inRounds tells whether some result is a sum, so that rows of many edges are gathered in rounds.
func inRounds(outs []*kernel.Out) bool {
	for _, o := range outs {
		if sums(o) {
			return true
		}
	}
	return false
}

// sums tells whether o is a sum in registers.
func sums(o *kernel.Out) bool {
	return o.Acc == kernel.Sum && o.Key == kernel.NoKey || o.Acc == kernel.SumExp
}

// openRounds writes the code before the loop over the edges of a round. next and stop count from lo. They are signed: only
// then can the compiler tell how often the loop runs, and reads the rows of several edges at a time. With fold, rounds
// are a loop of their own. Otherwise a round is an iteration of the loop over rows (rowLoop), and done counts the edges
// of the row in earlier rounds. Nearly all rows have one round; this takes one register more than a loop without rounds.
func (t *emitter) openRounds(outs []*kernel.Out, fold bool) {
	switch {
	case !inRounds(outs):
		t.line("const bool more = !begin, last = end;")
		t.line("int next = begun + sub;")
		t.line("const int stop = (int)(hi - lo);")
	case fold:
		for i, o := range outs {
			w := t.c.p.Widths[o.Reg]
			if !sums(o) {
				accumulatorOf(t, i, o).begin("begun + sub < hi - lo", "lo + begun + sub")
				continue
			}
			t.accumOf("double", fmt.Sprintf("d%d", i), w)
			t.all(w, "d%d# = 0.;", i)
			if o.Acc == kernel.SumExp {
				t.accum(fmt.Sprintf("top%d", i), w)
				t.all(w, "top%d# = -SAGA_INF;", i)
			}
			accumulatorOf(t, i, o).declare()
		}
		t.line("const bool more = !begin, last = end;")
		t.line("const int until = (int)max(hi - lo, 0ll);")
		t.line("int next = begun + sub, stop = 0;")
		t.line("do {")
		t.line("stop += min(until - stop, step * %d);", roundEdges)
	default:
		t.line("const bool rest = hi - lo - done > step * %d;", roundEdges)
		t.line("const bool more = !begin || done > 0, last = end && !rest;")
		t.line("int next = (int)done + begun + sub;")
		t.line("const int stop = rest ? (int)done + step * %d : (int)(hi - lo);", roundEdges)
	}
	for i, o := range outs {
		if inRounds(outs) && fold {
			if sums(o) {
				accumulatorOf(t, i, o).init()
			}
		} else {
			accumulatorOf(t, i, o).begin("next < stop", "lo + next")
		}
	}
}

// closeRounds writes the code after that loop. end writes the code that stores the accumulators.
func (t *emitter) closeRounds(outs []*kernel.Out, fold bool, end func()) {
	if inRounds(outs) && fold {
		for i, o := range outs {
			w := t.c.p.Widths[o.Reg]
			if o.Acc == kernel.SumExp {
				t.all(w, "saga_lse_fold(d%d#, top%d#, a%d#, x%d#);", i, i, i, i)
			} else if sums(o) {
				t.all(w, "d%d# += (double)a%d#;", i, i)
			}
		}
		t.line("} while (stop != until);")
		for i, o := range outs {
			w := t.c.p.Widths[o.Reg]
			if sums(o) {
				t.all(w, "a%d# = (float)d%d#;", i, i)
			}
			if o.Acc == kernel.SumExp {
				t.all(w, "x%d# = top%d#;", i, i)
			}
		}
	}
	end()
	if inRounds(outs) && !fold {
		t.line("if (rest) done += step * %d; else { done = 0; at += warps; }", roundEdges)
	}
}

// foldSource adds the result of a round, s·e^m, to (sum, top), by the rules of saga_lse_merge.
const foldSource = `
SAGA_INLINE void saga_lse_fold(double &sum, float &top, float s, float m) {
	const float most = saga_maximum(top, m);
	sum = (top == most ? sum : sum * exp((double)top - (double)most)) +
		(m == most ? (double)s : (double)s * exp((double)m - (double)most));
	top = most;
}
`
