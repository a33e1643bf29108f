package plan

import "slices"

// Rule is what the decoder goes by when it decides what stays on the device: priorities,
// which it turns into a plan that fits. Every rule leads to a valid plan.
type Rule struct {
	Ahead  int       // more buffers of a streamed cell, in eighths of the intervals: copies may run farther ahead of kernels
	Brief  bool      // copies saved are counted for each phase of a value's life
	First  []string  // values, or "cells csc", "cells csr", that come before all others
	Never  []string  // those that are not kept whole
	Price  []float64 // by phase: what a copy there counts; nil: as any
	Hidden float64   // memory is dealt out by an estimate of the step instead, where a copy that runs beside kernels counts so much; 0: it is not
}

// Name is that of a value, or of the cells of a direction: a Window's Key. Programs of a model share names.
func (s *Spec) Name(key int) string {
	if key < 0 {
		return "cells " + Dir(-1-key).String()
	}
	return s.Values[key].Name
}

// Says tells whether names, of First or Never, have that of key.
func (s *Spec) Says(names []string, key int) bool { return slices.Contains(names, s.Name(key)) }
