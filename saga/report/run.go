package report

import (
	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
)

// Run is what reports read of a program that was compiled for training.
type Run struct {
	Model, Data string            // names of the model and of the data set
	Graph       string            // a line that describes the graph
	Edges       *chunk.Edges      // nil: planned from statistics
	Order       *chunk.Order      // of vertices
	Low         *dataflow.Lowered // training
	Plan        *plan.Plan        // of training
	Peak        int64             // bytes of device memory for training and evaluation
	Params      []Param
	Extra       map[string]bool // by name of an input: it was computed before the first epoch
	Predicted   *sim.Timeline   // of an epoch; nil: no machine model

	// What was chosen: see the fields of saga.Config and saga.Outcome.
	Save    string
	Stored  []string
	Slices  int
	Packed  bool
	Wide    int // how many intervals cells reach over at the far end; 0: one
	Storage string

	Sampled *Sampled       // sampled training; nil: training on the full graph
	Host    *plan.HostPlan // what lies in host memory and what in files; nil: not planned
	Scratch string         // folder for files
}

// Param is a parameter: its name, and the user's file:line that declares it.
type Param struct{ Name, Pos string }
