package report

import (
	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
)

// Run is what reports read of a program that was compiled for training.
type Run struct {
	Model, Data string            // their names
	Graph       string            // in words
	Edges       *chunk.Edges      // nil: planned from statistics
	Order       *chunk.Order      // of vertices
	Low         *dataflow.Lowered // training
	Plan        *plan.Plan        // of it
	Peak        int64             // bytes of device memory, evaluation included
	Params      []Param
	Extra       map[string]bool // inputs that were computed before the first epoch
	Predicted   *sim.Timeline   // of an epoch; nil: no machine model

	// What was chosen.
	Save    string
	Stored  []string
	Slices  int
	Packed  bool
	Storage string

	Sampled *Sampled       // training is on sampled blocks; nil: on the full graph
	Host    *plan.HostPlan // where things lie in host memory; nil: not planned
	Scratch string         // folder of files
}

// Param is a parameter with the user's line that declares it.
type Param struct{ Name, Pos string }
