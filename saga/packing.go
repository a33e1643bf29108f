package saga

import (
	"errors"
	"strings"
	"time"

	"sagann/dataflow"
	"sagann/dataflow/plan"
)

// Far ends of edges in as few bits as an interval needs (chunk/pack.go), chosen by
// simulation: cells are smaller, so more of them stay and less moves, but kernels take a few
// hundredths longer to take ids apart. Where words leave nothing to move there is nothing to
// win; elsewhere both are planned quickly, as in the choice of slices.

// Packings of Config.Packing.
const (
	PackingOn  = "on"
	PackingOff = "off"
)

var packings = []string{"", PackingOn, PackingOff}

// packGain is how many hundredths of the time packing has to save.
const packGain = 1

// choosePacking settles whether cells are packed and returns the programs of invariants,
// which are other ones when they are.
func (p *Program) choosePacking(once []*dataflow.Lowered) ([]*dataflow.Lowered, error) {
	before, start := p.stages, time.Now()
	defer func() { p.timePlan(before, start) }()
	on, err := p.packingPays()
	if err != nil || !on {
		return once, err
	}
	p.packed = true
	if once, err = p.lowerAgain(); err != nil {
		return nil, err
	}
	return once, p.reserveScratch(once)
}

// packingPays tells whether packed cells are faster, or words do not fit; base becomes the plan of
// whole rows that says so. Without a machine model they are taken for faster where a GPU has a budget.
func (p *Program) packingPays() (bool, error) {
	switch {
	case p.cfg.Packing == PackingOff || p.cfg.without("pack"):
		return false, nil
	case p.cfg.Packing == PackingOn:
		return true, nil
	case p.machine == nil:
		return strings.HasPrefix(p.cfg.Device, "cuda") && p.cfg.Mem > 0, nil
	case p.machine.Kind(0).Serial: // a processor's; a model stands for the device that it describes
		return false, nil
	}
	if p.shape == nil {
		p.expected = p.statistics()
		defer p.doneExpecting()
	}
	k := max(1, p.cfg.Slices)
	words, err := p.sliced(k, 0)
	if err != nil {
		return false, err
	}
	if words == nil || words.plan.Short() { // packed cells fit in the least
		return true, nil
	}
	if words.plan.H2D == 0 {
		p.base = words
		return false, nil
	}
	p.packed, p.want.Pack = true, true
	packed, err := p.sliced(k, 0)
	p.packed, p.want.Pack = false, false
	if err != nil || packed == nil {
		p.base = words
		return false, err
	}
	if 100*packed.line.Wall <= (100-packGain)*words.line.Wall {
		p.base = packed
		return true, nil
	}
	p.base = words
	return false, nil
}

// packedMayFit tells whether err says that cells of words do not fit, of which the choice
// expected that they would: it knows expected cells and what stores least.
func (p *Program) packedMayFit(err error) bool {
	var mem *plan.BudgetError
	var host *plan.HostError
	return (errors.As(err, &mem) || errors.As(err, &host)) && p != nil && !p.packed && p.machine != nil &&
		p.cfg.Packing == "" && !p.cfg.without("pack") && !p.machine.Kind(0).Serial
}

// Packed tells whether cells hold far ends of edges packed.
func (p *Program) Packed() bool { return p.packed }
