package plan

import "slices"

// Rule is what the decoder goes by when it decides what stays on the device: priorities,
// which it turns into a plan that fits. Every rule leads to a valid plan.
type Rule struct {
	Ahead   int       // more buffers of a streamed cell, in eighths of the intervals: copies may run farther ahead of kernels
	Even    bool      // no larger groups in phases where memory is left
	Brief   bool      // copies saved are counted for each phase of a value's life
	Part    bool      // windows come before more slots, and after
	Lasting bool      // windows may stay from one step to the next
	First   []string  // values, or "cells csc", "cells csr", that come before all others
	Never   []string  // those that are not kept whole
	Price   []float64 // by phase: what a copy there counts; nil: as any
	Balance Balance   // memory is dealt out by an estimate of the step instead; zero: it is not
}

// Balance says how the estimate counts copies: they run ahead of the kernels by Ahead of the
// kernels' time, and a hidden one counts Hidden of what an exposed one does.
type Balance struct{ Ahead, Hidden float64 }

// Keys are the numbers of values, and -1-dir of cells, by their names; others are left out.
func (s *Spec) Keys(names []string) (keys []int) {
	for _, n := range names {
		for d := range Dir(2) {
			if n == "cells "+d.String() {
				keys = append(keys, -1-int(d))
			}
		}
		if id := slices.IndexFunc(s.Values, func(v Value) bool { return v.Name == n && v.Kind != Temp }); id >= 0 {
			keys = append(keys, id)
		}
	}
	return keys
}
