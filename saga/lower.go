package saga

import (
	"fmt"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/ops"
)

// lower makes the training and the evaluation program, and returns what computes
// their invariants.
func (p *Program) lower() (once []*dataflow.Lowered, err error) {
	train, onceTrain, err := p.lowerTrain()
	if err != nil {
		return nil, err
	}
	eval, onceEval, err := p.lowerEval()
	if err != nil {
		return nil, err
	}
	p.train, p.eval = &unit{low: train}, &unit{low: eval}
	for _, l := range []*dataflow.Lowered{onceTrain, onceEval} {
		if l != nil {
			once, p.once = append(once, l), append(p.once, 0)
		}
	}
	for _, l := range append([]*dataflow.Lowered{train, eval}, once...) {
		p.want = union(p.want, l.Want)
	}
	return once, nil
}

// lowerAgain is lower after a choice that the programs before did not know.
func (p *Program) lowerAgain() (once []*dataflow.Lowered, err error) {
	p.once, p.want = nil, chunk.Want{}
	return p.lower()
}

func (p *Program) options() dataflow.Options {
	o := dataflow.Options{Without: map[string]bool{}, Save: p.cfg.saveOption(), Storage: p.cfg.Storage, Slices: p.sliceCount(), Packed: p.packed}
	for _, w := range p.cfg.Without {
		o.Without[w] = true
	}
	return o
}

func (p *Program) lowerTrain() (main, once *dataflow.Lowered, err error) {
	tr, err := trace(p.model, p.dims, true)
	if err != nil {
		return nil, nil, err
	}
	p.params = tr.t.list
	prog := &dataflow.Program{Names: []string{"loss"}, Outs: []Tensor{tr.loss()}}
	for _, o := range p.cfg.Outputs {
		prog.Names = append(prog.Names, o)
		prog.Outs = append(prog.Outs, map[string]Tensor{"hidden": tr.rows, "logits": tr.logits}[o])
	}
	for _, q := range p.params {
		prog.Wrt = append(prog.Wrt, tr.t.params[q.Name])
	}
	if p.dims.featureGrad {
		prog.Wrt = append(prog.Wrt, tr.features)
	}
	o := p.options()
	o.Store = p.store
	main, once, err = dataflow.Compile(prog, o)
	if err != nil {
		return nil, nil, err
	}
	p.addUpdate(main)
	return main, once, nil
}

// addUpdate gives every parameter that has a gradient its optimiser state.
func (p *Program) addUpdate(l *dataflow.Lowered) {
	s := l.Spec
	for _, q := range p.params {
		w, used := l.Globals[q.Name]
		if !used {
			s.Globals = append(s.Globals, plan.Global{Name: q.Name, Kind: plan.Param, Rows: q.Rows, Cols: q.Cols})
			w = len(s.Globals) - 1
			l.Globals[q.Name] = w
		}
		g, ok := l.Globals["grad:"+q.Name]
		if !ok {
			continue
		}
		s.Updates = append(s.Updates, plan.Move{Param: w, Grad: g})
		for k := range p.cfg.Optimizer.moments() {
			name := fmt.Sprintf("moment%d:%s", k+1, q.Name)
			s.Globals = append(s.Globals, plan.Global{Name: name, Kind: plan.Param, Rows: q.Rows, Cols: q.Cols})
			l.Globals[name] = len(s.Globals) - 1
		}
	}
	s.Results = append(s.Results, l.Globals["loss"])
}

// lowerEval is the forward pass without dropout, with counts by split.
func (p *Program) lowerEval() (main, once *dataflow.Lowered, err error) {
	tr, err := trace(p.model, p.dims, false)
	if err != nil {
		return nil, nil, err
	}
	splits := tr.target.splits()
	rowLoss := tr.rowLoss(ops.RowSum(splits)) // what is in no split may have no label
	prog := &dataflow.Program{Loss: -1}
	add := func(name string, x Tensor) {
		prog.Names, prog.Outs = append(prog.Names, name), append(prog.Outs, ops.MatMulTN(splits, x))
	}
	add("losses", rowLoss)
	if p.dims.multi {
		y, pos := tr.target.labels(), ops.Positive(tr.logits)
		add("hits", ops.Mul(pos, y))
		add("said", pos)
		add("true", y)
	} else {
		add("hits", ops.Correct(tr.logits, tr.target.labels()))
	}
	main, once, err = dataflow.Compile(prog, p.options())
	if err != nil {
		return nil, nil, err
	}
	for _, n := range prog.Names {
		main.Spec.Results = append(main.Spec.Results, main.Globals[n])
	}
	return main, once, nil
}

func union(a, b chunk.Want) chunk.Want {
	return chunk.Want{Rank: a.Rank || b.Rank, Type: a.Type || b.Type, Weight: a.Weight || b.Weight,
		Data: a.Data || b.Data, CSC: a.CSC || b.CSC, CSR: a.CSR || b.CSR, Pack: a.Pack || b.Pack}
}
