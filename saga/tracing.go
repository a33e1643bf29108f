package saga

import (
	"errors"
	"fmt"

	"sagann/internal/traceout"
	"sagann/saga/report"
)

// Overlap says how well the copies of traced epochs hid behind compute.
type Overlap = traceout.Overlap

// TaskTotal sums up the tasks of one traced epoch that do the same in the same phase, on
// all devices, beside what the simulator expects of them.
type TaskTotal = report.TaskTotal

// StartTrace keeps the times of all tasks of the last epochs training epochs from now
// on; 0 turns tracing off and forgets them. It costs 24 bytes a task and epoch.
func (p *Program) StartTrace(epochs int) error {
	if epochs < 0 {
		return fmt.Errorf("saga: trace of %d epochs", epochs)
	}
	s, err := p.open()
	if err != nil {
		return err
	}
	s.train.Trace(epochs)
	return nil
}

// TraceOverlap sums up the traced epochs. Without any it is zero.
func (p *Program) TraceOverlap() Overlap {
	t, err := p.traced()
	if err != nil {
		return Overlap{}
	}
	return t.Overlap()
}

// WriteTrace writes the traced epochs into the folder dir, which is made when it is
// missing: trace.json in the Chrome trace event format, which Perfetto opens, and
// trace.pb.gz for go tool pprof. It is an error when no epoch was traced. A closed
// program has no trace.
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

// TraceTotals sums up the last traced epoch, in the order in which the plan first has each
// kind of task. It is an error when no epoch was traced.
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
	t := report.Traced{Steps: s.train.Traced(), Epoch: p.epoch, Without: p.cfg.Without}
	for _, d := range s.devices {
		t.Devices = append(t.Devices, d.Info())
	}
	return p.report().Trace(t), nil
}
