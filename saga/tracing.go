package saga

import (
	"errors"
	"fmt"

	"sagann/internal/traceout"
	"sagann/saga/report"
)

// Overlap says how much of the copies of traced epochs ran while kernels ran.
type Overlap = traceout.Overlap

// TaskTotal sums up the tasks of one traced epoch that do the same in the same phase, over
// all devices, with the time that the simulator predicts for them.
type TaskTotal = report.TaskTotal

// StartTrace records from now on the times of all tasks of training epochs, in sampled training of
// batches, and keeps those of the last so many; 0 turns tracing off and drops what was recorded. It
// costs 24 bytes per task and epoch. It is an error if several ranks train on the full graph.
func (p *Program) StartTrace(epochs int) error {
	if epochs < 0 {
		return fmt.Errorf("saga: a trace of %d epochs; 0 turns tracing off, more are kept", epochs)
	}
	if p.ranks() > 1 { // a rank runs a part of the plan only
		return fmt.Errorf("saga: one of %d ranks cannot be traced; trace one process with all devices", p.ranks())
	}
	s, err := p.open()
	if err != nil {
		return err
	}
	s.train.Trace(epochs)
	return nil
}

// TraceOverlap sums up the traced epochs. It is zero if none was traced.
func (p *Program) TraceOverlap() Overlap {
	t, err := p.traced()
	if err != nil {
		return Overlap{}
	}
	return t.Overlap()
}

// WriteTrace writes the traced epochs to two files in folder dir, which it makes if it is missing:
// trace.json in the Chrome trace event format, for Perfetto, and trace.pb.gz for go tool pprof.
// It is an error if no epoch was traced since the program was opened.
func (p *Program) WriteTrace(dir string) error {
	t, err := p.traced()
	if err != nil {
		return err
	}
	if err := t.WriteDir(dir); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return nil
}

// TraceTotals sums up the last traced epoch by kind of task, in the order in which the plan first has
// each kind. It is an error if no epoch was traced.
func (p *Program) TraceTotals() ([]TaskTotal, error) {
	t, err := p.traced()
	if err != nil {
		return nil, err
	}
	return p.report().Totals(t), nil
}

func (p *Program) traced() (*traceout.Trace, error) {
	s := p.session
	if s == nil || len(s.train.Traced()) == 0 {
		return nil, errors.New("saga: no epoch was traced; call StartTrace before Step")
	}
	t := report.Traced{Steps: s.train.Traced(), Unit: p.mode.facts().unit, Last: p.run.count, Without: p.cfg.Without}
	for _, d := range s.devices {
		t.Devices = append(t.Devices, d.Info())
	}
	return p.report().Trace(t), nil
}
