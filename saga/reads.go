package saga

import (
	"errors"
	"fmt"
	"slices"

	"sagann/chunk"
	"sagann/device"
	"sagann/internal/safetensors"
	"sagann/saga/rows"
)

// What can be read from a session and written to it by name.

// seedRows returns the rows of value id of the last update, one per seed, without padding: len(x)/cols rows.
func (s *session) seedRows(id int) (x []float32, cols int) {
	cols = s.p.train.low.Spec.Values[id].Cols
	rows, ld := s.p.run.rows[id], chunk.LD(cols)
	if rows == nil {
		rows = device.View[float32](s.train.OutputRows(id, len(s.p.run.last)))
	}
	for at := 0; at < len(rows); at += ld {
		x = append(x, rows[at:at+cols]...)
	}
	return x, cols
}

// learnedRows reads learned input name of u, which s.train runs: V×cols in the user's order. It writes
// to room if that has the right size, else to new memory.
func (s *session) learnedRows(u *unit, name string, room []float32) ([]float32, error) {
	_, id, _ := u.low.Input(name)
	cols, o := u.plan.Spec.Values[id].Cols, s.p.grids.orderOfType(u.plan.Cells, u.plan.Spec.Values[id].Type)
	if n := u.plan.Span(id).V * cols; len(room) != n {
		room = make([]float32, n)
	}
	ld := chunk.LD(cols)
	return room, s.train.EachRows(id, func(first int, rows []byte) error {
		x := device.View[float32](rows)
		chunk.Ranges(len(x)/ld, func(lo, hi int) {
			for n := lo; n < hi; n++ {
				v := first + n
				if o != nil {
					v = int(o.Old[v])
				}
				copy(room[v*cols:(v+1)*cols], x[n*ld:])
			}
		})
		device.Drop(rows)
		return nil
	})
}

// setLearned sets learned input name of u, which s.train runs, to x: V×cols in the user's order.
func (s *session) setLearned(u *unit, name string, x []float32) error {
	in, id, _ := u.low.Input(name)
	cols := u.plan.Spec.Values[id].Cols
	laid, ld, o := s.inputs[inputName(in)], chunk.LD(cols), s.p.grids.orderOfType(u.plan.Cells, in.Set.Type)
	err := ownOf(&s.p.cfg, s.train, u, id).Each(func(first, n, at int) error {
		return rows.Blocks(n, ld, func(lo, hi int) error {
			chunk.PermuteRows(device.View[float32](laid)[(at+lo)*ld:(at+hi)*ld], x, cols, ld, o, first+lo, first+hi)
			device.Drop(laid)
			return nil
		})
	})
	if err != nil {
		return err
	}
	return s.train.SendRows(id)
}

// grad is Grad of q.
func (s *session) grad(q *Param) ([]float32, error) {
	name := q.Name
	if q.PerVertex {
		return nil, fmt.Errorf("saga: the gradient of %s, with one row per vertex, is used where it is computed and not kept", name)
	}
	if x, ok := s.grads[name]; ok {
		return slices.Clone(x), nil
	}
	switch _, reached := s.p.train.low.Globals[gradName(name)]; {
	case !s.train.Holds():
		return nil, fmt.Errorf("saga: there is no gradient of %s: no step has ended well since the program was opened", name)
	case !reached:
		return make([]float32, q.Rows*q.Cols), nil
	}
	return s.global(gradName(name))
}

// global reads a parameter, a moment or another Global of training by name.
func (s *session) global(name string) ([]float32, error) {
	l := s.p.train.low
	if x := s.tables.rows[name]; x != nil {
		return slices.Clone(x), nil
	}
	if s.p.isLearned(s.p.train, name) {
		return s.learnedRows(s.p.train, name, nil)
	}
	id, ok := l.Globals[name]
	if !ok {
		return nil, fmt.Errorf("saga: training has no %q", name)
	}
	g := l.Spec.Globals[id]
	x := make([]float32, g.Rows*g.Cols)
	return x, s.train.Global(id, x)
}

// setGlobal writes a parameter or a moment by name, on all devices.
func (s *session) setGlobal(name string, x []float32) error {
	if to := s.tables.rows[name]; to != nil {
		copy(to, x)
		return nil
	}
	if s.p.isLearned(s.p.train, name) {
		return s.setLearned(s.p.train, name, x)
	}
	id, ok := s.p.train.low.Globals[name]
	if !ok {
		return fmt.Errorf("saga: training has no %q", name)
	}
	for _, peer := range s.peers {
		if err := peer.train.SetGlobal(id, x); err != nil {
			return err
		}
	}
	return s.train.SetGlobal(id, x)
}

// keepGrads copies the gradients of the last step to the host before another program overwrites
// their memory. They are as large as the model's parameters.
func (s *session) keepGrads() error {
	if s.grads != nil || !s.train.Holds() {
		return nil
	}
	grads := map[string][]float32{}
	var err error
	for i := range s.p.params {
		if s.p.params[i].PerVertex {
			continue
		}
		x, wrong := s.grad(&s.p.params[i])
		grads[s.p.params[i].Name], err = x, errors.Join(err, wrong)
	}
	if err != nil {
		return fmt.Errorf("keep the gradients of the last step: %w", err)
	}
	s.grads = grads
	return nil
}

// tensors reads the parameters and moments that the program has from the devices. Learned rows are read only when their
// values are asked for, one tensor after the other, into the same memory.
func (s *session) tensors() ([]safetensors.Tensor, error) {
	var list []safetensors.Tensor
	var room []float32
	for _, q := range s.p.params {
		if !readsParam(s.p, &q) {
			continue
		}
		for _, n := range s.p.stateOf(q.Name) {
			if x := s.tables.rows[n]; x != nil {
				list = append(list, safetensors.Tensor{Name: n, Shape: []int{q.Rows, q.Cols}, Data: safetensors.Later(func() ([]float32, error) { return x, nil })})
				continue
			}
			if s.p.isLearned(s.p.train, n) {
				list = append(list, safetensors.Tensor{Name: n, Shape: []int{q.Rows, q.Cols}, Data: safetensors.Later(func() (x []float32, err error) {
					room, err = s.learnedRows(s.p.train, n, room)
					return room, err
				})})
				continue
			}
			x, err := s.global(n)
			if err != nil {
				return nil, err
			}
			list = append(list, safetensors.Tensor{Name: n, Shape: []int{q.Rows, q.Cols}, Data: x})
		}
	}
	return list, nil
}

// valuesOf are the values of a tensor. Those of learned rows are valid until the next call.
func valuesOf(t safetensors.Tensor) ([]float32, error) {
	if later, ok := t.Data.(safetensors.Later); ok {
		return later()
	}
	return t.Data.([]float32), nil
}
