package saga

import (
	"errors"
	"time"

	"sagann/dataflow"
	"sagann/dataflow/plan"
)

// Slices of columns (dataflow/slice.go), chosen by simulation: where the fastest plan of whole
// rows reads its sources from the host more than once, or waits for copies, gathers of a half or a
// quarter of the columns are tried. All plans of the choice are for expected cells and the
// policy that stores least, so it takes about as long as planning once more.

// Bounds of the choice: slices are tried from so many reads of the sources on, or where kernels
// wait for copies for so many hundredths of the time; how many of them at most, and how many
// are tried, for more take long to plan and win little; and what hundredths of the time they
// have to save, as whole rows gain more by what quick plans leave out.
const (
	slicedReads = 1.5
	slicedWait  = 25
	mostSlices  = 8
	triedSlices = 4
	slicedGain  = 10
)

// chooseSlices settles the number of slices and returns the programs of invariants, which
// are other ones when that is not 1.
func (p *Program) chooseSlices(once []*dataflow.Lowered) ([]*dataflow.Lowered, error) {
	if p.machine == nil || p.cfg.Slices > 0 || p.cfg.without("slice") {
		p.base = nil // its memory
		return once, nil
	}
	before, start := p.stages, time.Now()
	defer func() { p.timePlan(before, start) }()
	best, err := p.fastestSlices()
	if err != nil || best < 2 {
		return once, err
	}
	maps := p.pinMaps(p.train.low.Spec)
	p.slices = best
	if once, err = p.lowerAgain(); err != nil {
		return nil, err
	}
	if more := p.pinMaps(p.train.low.Spec) - maps; more > 0 { // slices are stored beside
		p.cfg.Mem, p.context = max(1, p.cfg.Mem-more), p.context+more
		if p.kept > 0 {
			p.kept += more
		}
	}
	return once, p.reserveScratch(once)
}

// fastestSlices is how many slices are the fastest.
func (p *Program) fastestSlices() (int, error) {
	if p.shape == nil {
		p.expected = p.statistics()
		defer p.doneExpecting()
	}
	best, err := p.base, error(nil)
	if best == nil {
		best, err = p.sliced(1, 0)
	}
	p.base = nil // its memory
	if err != nil || best == nil || best.plan.SourceReads() < slicedReads && 100*best.line.Exposed < slicedWait*best.line.Wall {
		return 1, err
	}
	near := 0
	for k := 2; k <= triedSlices; k *= 2 {
		x, err := p.sliced(k, near)
		if err != nil {
			return 0, err
		}
		if x == nil {
			continue
		}
		if 100*x.line.Wall <= (100-slicedGain)*best.line.Wall {
			best = x
		}
		if k > 2 && x.plan.SourceReads() < 2*slicedReads {
			break // more have little to win, and take longest to plan
		}
		near = x.plan.Cells.P
	}
	if best.slices > 1 {
		p.near = best.plan.Cells.P
	}
	return best.slices, nil
}

// sliced is the quickly planned training program of k slices; nil where it does not fit.
func (p *Program) sliced(k, near int) (*saved, error) {
	asked, save := p.slices, p.cfg.Save
	p.slices = k
	if save == "" || save == SaveAuto { // where rows stream, most is computed again
		p.cfg.Save = SaveNone
	}
	defer func() { p.slices, p.cfg.Save = asked, save }()
	low, _, err := p.lowerTrain()
	if err != nil {
		return nil, err
	}
	eval, _, err := p.lowerEval()
	if err != nil {
		return nil, err
	}
	o := p.planOptions()
	o.Beside, o.Quick, o.Near = eval.Spec, true, near
	x := &saved{slices: k}
	x.plan, x.line, err = plan.Search(low.Spec, p.cells, o, p.machine)
	var small *plan.BudgetError
	if errors.As(err, &small) {
		return nil, nil
	}
	return x, err
}
