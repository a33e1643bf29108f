package saga

import (
	"errors"
	"fmt"
	"slices"

	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/tune"
	"sagann/saga/rows"
)

// degreesDrawn returns an error if training reads in-degrees on the deepest level, to whose vertices no edges are drawn.
func (p *definition) degreesDrawn(low *dataflow.Lowered) error {
	for in := range low.Inputs {
		name, _ := dataflow.RelationOf(in.Name)
		if name != dataflow.InDegree && name != rows.InvDegree || in.Set.Level() < p.stepDims.levels {
			continue
		}
		first := slices.IndexFunc(p.model.Layers, func(l Layer) bool { return l.ApplyEdge != nil })
		which := "layer 1"
		if first > 1 {
			which = fmt.Sprintf("one of the layers 1 to %d", first)
		}
		return fmt.Errorf("saga: %s reads InDegree before a layer has gathered, and no edges are drawn to the vertices there; read it in a layer with ApplyEdge or a later one, put it in the features, or train without sampling", which)
	}
	return nil
}

// compileSampled lowers training over blocks and evaluation over the whole graph, and plans both. told is as in precompute.
func (p *Program) compileSampled(told func(error) error) error {
	o, err := p.optimize(1)
	if err != nil {
		return err
	}
	s := p.sampled
	if s.Accumulate > 1 && p.learnsRows() {
		return errors.New("saga: learned rows are updated after every batch: they take one device, and one batch an update (--accumulate 1)")
	}
	how := dataflow.Lowering{Save: p.cfg.Save}
	if how.Save == SaveAuto || how.Save == saveSome {
		how.Save = dataflow.SaveSome
	}
	x, err := p.on.lower(o, how)
	if err != nil {
		return err
	}
	if err := s.fits(p.model.Name, x.train.Want.Any()); err != nil {
		return err
	}
	if err := s.sees(p.definition, x.train); err != nil {
		return err
	}
	if err := p.degreesDrawn(x.train); err != nil {
		return err
	}
	p.chosen = chosen{Key: tune.Key{Save: how.Save, Slices: 1}, once: make([]int, len(x.once)), want: x.want, memory: x.memory}
	if p.train = (&unit{low: x.train}); x.eval != nil && len(s.Eval) == 0 && p.data.Shard == nil {
		p.eval = &unit{low: x.eval}
	}
	if s.draws.Far() {
		if err := p.in.Share(p.cfg.Net, x.train.Reads); err != nil {
			return err
		}
	}
	if err := told(p.planSampled()); err != nil {
		return err
	}
	if err := p.precompute(x.once, func(err error) error { return told(p.leastHost(err, x.once)) }); err != nil {
		return err
	}
	if p.eval != nil {
		p.grids.orderFor(gridIs(p.eval.plan.Cells))
	}
	return told(p.placeFinal(x.once))
}

// planSampled plans training for batches up to the size that rooms say, and evaluation in the same memory. If memory is
// bounded it plans for the largest batch, so that the bound holds for the whole training.
func (p *Program) planSampled() error {
	s := p.sampled
	if (p.cfg.Mem > 0 || p.cfg.HostMem > 0) && !s.asked {
		p.rooms.Largest()
	}
	return s.planRooms(p)
}

// planRooms plans for batches of the size p.rooms.Most. It tries the ways in which batches may come in turn: with less memory, fewer batches or none
// come to the device ahead of their step.
func (s *sampled) planRooms(p *Program) error {
	o := p.on.planOptions()
	if o.Schedule == plan.Auto { // sampled training has no search
		o.Schedule = plan.Sag
	}
	programs := []*dataflow.Lowered{p.train.low}
	if p.eval != nil {
		programs = append(programs, p.eval.low)
	}
	m, err := p.on.divide(p.train.low.Spec, p.chosen.want.Any(), programs...) // again after an overflow, when batches have grown
	if err != nil {
		return err
	}
	p.chosen.memory = m
	var small *plan.BudgetError
	for _, x := range p.rooms.Ways(p.train.low) {
		s.way = x
		if o.Budget = m.plans(); m.bound > 0 {
			o.Budget = max(1, m.plans()-x.Bytes)
		}
		z := p.rooms.Sets(p.train.low)
		z.Ahead = s.draws.Ahead(p.train.low, x, z)
		if p.train.plan, err = planner.Blocks(p.train.low.Spec, z, o); err == nil && p.eval != nil {
			p.eval.plan, err = planner.Beside(p.eval.low.Spec, p.grids.cells(p.chosen.want), o, p.train.plan)
		}
		if !errors.As(err, &small) {
			s.maker = p.rooms.Maker(p.train.low, p.train.plan, x)
			return err
		}
	}
	small.Budget = p.on.mem()
	if wrong := p.on.withKernels(small, p.train.low.Spec, p.chosen.want.Any(), programs, func() {}); wrong != nil {
		return wrong
	}
	return err
}
