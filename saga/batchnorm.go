package saga

import (
	"errors"
	"fmt"

	"sagann/dataflow"
	"sagann/ops"
	"sagann/saga/batches"
)

// Constants of BatchNorm, the defaults of torch.nn.BatchNorm1d.
const (
	batchEps     = 1e-5
	batchAverage = 0.1 // the share by which a step moves running statistics
)

// BatchNorm normalises every column of x [V×c] to mean 0 and variance 1 over all vertices, and
// applies a learned scale and shift (Ioffe and Szegedy, 2015), as torch.nn.BatchNorm1d does over a
// batch. Training uses mean and variance of all rows in the current step, which takes extra sweeps;
// sampled training uses those of the batch's rows. Evaluation and prediction use running
// statistics, which every step moves by a tenth of the difference. Parameters: norm.g and norm.b
// [1×c], and norm.mean and norm.var [1×c], which are averaged, not trained. A scope can normalise
// only one tensor.
func (v Vertex) BatchNorm(x Tensor, p Params) Tensor {
	t := v.t
	fail := func(err error) {
		panic(&dataflow.ShapeError{Op: "BatchNorm", Pos: dataflow.Caller(), In: []dataflow.Shape{x.Shape()}, Err: err})
	}
	if x.Shape().Set.Kind != dataflow.Vertex {
		fail(errors.New("normalises rows of vertices"))
	}
	c := x.Cols()
	g, b := p.Bias("norm.g", c, One), p.Bias("norm.b", c)
	mean, variance := p.average("norm.mean", c, Zero), p.average("norm.var", c, One)
	if t.train {
		n := t.d.vertices
		if n < 2 {
			of := ""
			if v.Type != "" {
				of = " of type " + v.Type
			}
			fail(fmt.Errorf("one vertex%s has no variance", of))
		}
		if t.averages[mean] != nil {
			fail(fmt.Errorf("the scope %s is normalised twice, and running statistics are of one tensor", p.scope))
		}
		if t.d.levels > 0 {
			return t.batchNorm(x, g, b, mean, variance)
		}
		runningMean, runningVariance := mean, variance
		mean, variance = ops.Moments(x, n)
		t.averages[runningMean] = mean
		t.averages[runningVariance] = ops.Scale(variance, float32(n)/float32(n-1))
	}
	one := t.g.Const(1)
	scale := ops.Div(ops.Widen(one, c), ops.Sqrt(ops.Shift(variance, batchEps)))
	y := ops.Mul(ops.Sub(x, mean), scale)
	if t.train {
		y = ops.Standardize(x, mean, scale, t.d.vertices)
	}
	return ops.Bias(ops.Mul(y, g), b)
}

// Inputs that depend on n, the number of rows that a batch has on a level: Globals [1×1], see levelInput.
const (
	meanPart     = "level:part"     // 1/n
	unbiasedPart = "level:unbiased" // n/(n-1), or 1 if n is 1
)

// levelInput is the name of such an input for a level; of several types for a vertex set, the first of which is 0.
func levelInput(name string, level int) string { return fmt.Sprintf("%s@%d", name, level) }

// batchNorm is BatchNorm in sampled training. It also sets what the running statistics mean and variance move
// towards. The number of rows of x is an input of each step.
func (t *tracer) batchNorm(x, g, b, mean, variance Tensor) Tensor {
	c, set := x.Cols(), x.Shape().Set
	level := t.d.numbers().Vertex(set.Level(), int(set.Type)) - 1
	number := func(name string) Tensor {
		return ops.Widen(t.g.Leaf(dataflow.InputOp, levelInput(name, level), dataflow.Shape{Rows: 1, Cols: 1}), c)
	}
	part := number(meanPart)
	m := ops.Mul(ops.SumRows(x), part)
	d := ops.Sub(x, m)
	v := ops.Mul(ops.SumRows(ops.Square(d)), part)
	t.averages[mean], t.averages[variance] = m, ops.Mul(v, number(unbiasedPart))
	scale := ops.Div(ops.Widen(t.g.Const(1), c), ops.Sqrt(ops.Shift(v, batchEps)))
	return ops.Bias(ops.Mul(ops.Mul(d, scale), g), b)
}

// setLevels sets these inputs for batch b, as far as the program reads them.
func (s *session) setLevels(b *batches.Batch) error {
	for l, n := range b.Counts() {
		for name, x := range map[string]float32{meanPart: 1 / float32(max(1, n)), unbiasedPart: float32(n) / float32(max(1, n-1))} {
			if id, ok := s.p.train.low.Globals[levelInput(name, l)]; ok {
				if err := s.train.SetGlobal(id, []float32{x}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// average declares a row that is not trained: every step moves it by batchAverage towards what
// tracer.averages says.
func (p Params) average(name string, cols int, init Init) Tensor {
	n := p.declare(name, 1, cols, 1, init, nil)
	for i := range p.t.list {
		if q := &p.t.list[i]; p.t.params[q.Name] == n {
			q.Average = batchAverage
		}
	}
	return n
}

// addAverages adds what averages move towards to the results of prog, under the names of their gradients.
func (t *tracer) addAverages(prog *dataflow.Program, frozen map[string]bool) {
	for _, q := range t.list {
		if to := t.averages[t.params[q.Name]]; to != nil && !frozen[q.Name] {
			prog.Names = append(prog.Names, gradName(q.Name))
			prog.Outs = append(prog.Outs, to)
		}
	}
}
