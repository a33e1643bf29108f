package saga

import (
	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan/planner"
	"sagann/device"
	"sagann/saga/rows"
)

// precompute runs the programs of invariants. Without data it only checks that their host memory
// fits. told is an error of a plan as all ranks are told it; it is called for each plan.
func (p *Program) precompute(once []*dataflow.Lowered, told func(error) error) error {
	if p.shape != nil {
		return told(p.onceFit(once))
	}
	if len(once) > 0 && p.ranks() > 1 { // ranks will wait for each other
		if err := p.alike(); err != nil {
			return err
		}
	}
	for k, l := range once {
		if err := p.runInvariants(l, k, told); err != nil {
			return err
		}
	}
	return nil
}

// runInvariants runs l, the k-th program of invariants, and keeps its results, in the user's order,
// as inputs. It does nothing if all of them are there already.
func (p *Program) runInvariants(l *dataflow.Lowered, k int, told func(error) error) error {
	missing := false
	for name := range l.Outputs {
		missing = missing || p.in.holder(name).Kept(name) == nil
	}
	if !missing {
		return nil
	}
	u := &unit{low: l}
	var err error
	if u.plan, err = planner.New(l.Spec, p.grids.cells(p.chosen.want.Widened(0)), p.on.onceOptions(p.chosen.memory.plans(), k)); err == nil {
		err = p.placeHost(p.extraBytes(l), u.plan)
	}
	if err = told(err); err != nil {
		return err
	}
	err = p.alone(u, nil, func(s *session) error {
		for name, id := range l.Outputs {
			if err := s.keepExtra(name, u, id); err != nil {
				return err
			}
		}
		return nil
	})
	p.chosen.once[k] = u.plan.Cells.P
	return err
}

// keepExtra keeps value id of u, after a step, as invariant name, in the user's order.
func (s *session) keepExtra(name string, u *unit, id int) error {
	p, cols := s.p, u.plan.Spec.Values[id].Cols
	if !p.host.onDisk[name] {
		x, cols := s.rows(u, s.train, id)
		p.in.ofType(u.plan.Spec.Values[id].Type).Keep(name, x, cols)
		return nil
	}
	t := u.plan.Spec.Values[id].Type
	v, ld, laid, o := u.plan.Span(id).V, chunk.LD(cols), s.train.Output(id), p.grids.orderOfType(u.plan.Cells, t)
	var room []float32
	return p.fileExtra(p.in.ofType(t), name, cols, func(f *device.HostFile) error {
		return rows.Blocks(v, ld, func(lo, hi int) error {
			if room == nil {
				room = make([]float32, (hi-lo)*cols)
			}
			x := room[:(hi-lo)*cols]
			chunk.UnpermuteRows(x, device.View[float32](laid), cols, ld, o, lo, hi)
			device.Drop(laid)
			_, err := f.WriteAt(device.Bytes(x), 4*int64(lo)*int64(cols))
			return err
		})
	})
}
