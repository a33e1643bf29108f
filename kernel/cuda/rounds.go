package cuda

import (
	"fmt"

	"sagann/kernel"
)

// Rows of many edges are gathered in rounds, so that no chain of additions in float32 is
// long (kernel/cpu/long_sums.go says why). Accumulators begin each round from nothing. Where a warp has the
// row, what a round gives is added to the row's state in memory; such rows have few rounds,
// so nothing waits in registers. Where a block has it, or a warp a row of any length, each
// group of lanes folds its rounds into accumulators of twice the precision.

const (
	// roundEdges is how many edges a group of lanes takes in a round.
	roundEdges = 256
	// mostRounds is how many rounds a row has at most whose sum is made in memory.
	mostRounds = 64
)

// inRounds tells whether a result sums, so that rows of many edges are taken in rounds.
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
	return o.Acc == kernel.Sum && o.Key == kernel.NoKey || o.Acc == kernel.LSE
}

// openRounds opens the loop over the rounds of a row; fold says that they are folded into
// accumulators of float64.
func (t *emitter) openRounds(outs []*kernel.Out, fold bool) {
	t.line("unsigned next = (unsigned)lo + begun + sub;") // 64 bits would cost warps their registers
	if !inRounds(outs) {
		t.line("const bool more = !begin, last = end;")
		t.line("const unsigned stop = (unsigned)max(lo, hi);")
		for i, o := range outs {
			t.begin(i, o)
		}
		return
	}
	for i, o := range outs {
		w := t.c.p.Widths[o.Reg]
		if fold && sums(o) {
			t.accumOf("double", fmt.Sprintf("d%d", i), w)
			t.all(w, "d%d# = 0.;", i)
			if o.Acc == kernel.LSE {
				t.accum(fmt.Sprintf("top%d", i), w)
				t.all(w, "top%d# = -SAGA_INF;", i)
			}
			t.declareAcc(i, o)
		} else if fold {
			t.begin(i, o)
		}
	}
	t.line("unsigned stop = (unsigned)lo;")
	t.line("const unsigned until = (unsigned)max(lo, hi);")
	t.line("bool more = !begin;")
	t.line("do {")
	t.line("stop += min(until - stop, step * %du);", roundEdges)
	for i, o := range outs {
		if !fold {
			t.begin(i, o)
		} else if sums(o) {
			t.initAcc(i, o)
		}
	}
}

// closeRounds closes the loop; end writes what brings accumulators to memory.
func (t *emitter) closeRounds(outs []*kernel.Out, fold bool, end func()) {
	if inRounds(outs) && fold {
		for i, o := range outs {
			w := t.c.p.Widths[o.Reg]
			if o.Acc == kernel.LSE {
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
			if o.Acc == kernel.LSE {
				t.all(w, "x%d# = top%d#;", i, i)
			}
		}
	}
	if inRounds(outs) {
		t.line("const bool last = end && stop == until;")
	}
	end()
	if inRounds(outs) && !fold {
		t.line("more = true;")
		t.line("} while (stop != until);")
	}
}

// foldSource adds what a round gave, s·e^m, to (sum, top), by the rules of saga_lse_merge.
const foldSource = `
SAGA_INLINE void saga_lse_fold(double &sum, float &top, float s, float m) {
	const float most = saga_maximum(top, m);
	sum = (top == most ? sum : sum * exp((double)top - (double)most)) +
		(m == most ? (double)s : (double)s * exp((double)m - (double)most));
	top = most;
}
`
