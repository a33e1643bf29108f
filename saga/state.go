package saga

import (
	"fmt"
	"slices"

	"sagann/saga/rows"
)

// What a step changes, by name: parameters, their moments, and gradients.

// decays tells whether weight decay applies to a parameter: to all with DecayAll, else to those of
// the first layer.
func (p *definition) decays(param string) bool {
	i := slices.IndexFunc(p.params, func(q Param) bool { return q.Name == param })
	return p.cfg.Optimizer.DecayAll || i >= 0 && p.params[i].Layer == 0
}

// momentsOf is the number of state tensors that the optimiser has for q.
func (p *definition) momentsOf(q *Param) int {
	if q.Average > 0 {
		return 0
	}
	return p.cfg.Optimizer.moments()
}

func (p *definition) learnsRows() bool {
	return slices.ContainsFunc(p.params, func(q Param) bool { return q.PerVertex })
}

// tabled tells whether name is a table of sampled training: a learned parameter or a moment of one.
func (p *definition) tabled(name string) bool {
	return p.stepDims.levels > 0 && p.in.holder(name).Made(name) && name != rows.Sparse
}

// isLearned tells whether name is a learned input of u, of all vertices: those of batches are rows of tables.
func (p *definition) isLearned(u *unit, name string) bool {
	_, _, input := u.low.Input(name)
	return input && p.in != nil && !p.tabled(name) && p.in.holder(name).Made(name)
}

// param is the declaration of parameter name.
func (p *definition) param(name string) (*Param, error) {
	for i := range p.params {
		if p.params[i].Name == name {
			return &p.params[i], nil
		}
	}
	return nil, fmt.Errorf("saga: no parameter %q; Params lists those of the model", name)
}

// stateOf is the names of a parameter and of its moments.
func (p *Program) stateOf(param string) []string {
	names := []string{param}
	for k := range p.cfg.Optimizer.moments() {
		name := momentName(k, param)
		if _, ok := p.train.low.Globals[name]; ok || p.isLearned(p.train, name) || p.tabled(name) {
			names = append(names, name)
		}
	}
	return names
}
