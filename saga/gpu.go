package saga

import (
	"strings"

	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/kernel"
)

// reserveScratch finds what the kernels need on a GPU beside the memory that plans lay
// out: it comes off the budget before planning.
func (p *Program) reserveScratch(once []*dataflow.Lowered) error {
	if !strings.HasPrefix(p.cfg.Device, "cuda") {
		return nil
	}
	rows, edges := p.in.edges.V, p.in.edges.E()
	var programs [][]*kernel.Program
	for _, l := range append([]*dataflow.Lowered{p.train.low, p.eval.low}, once...) {
		for _, g := range l.Spec.Globals {
			rows = max(rows, g.Rows)
		}
		programs = append(programs, l.Kernels)
	}
	var err error
	p.reserve, err = exec.Scratch(rows, edges, programs...)
	return err
}

// planBudget is the part of the budget that plans may use; 0 is no bound.
func (p *Program) planBudget() int64 {
	if p.cfg.Mem == 0 {
		return 0
	}
	return max(1, p.cfg.Mem-p.reserve)
}
