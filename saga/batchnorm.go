package saga

import (
	"errors"
	"fmt"

	"sagann/dataflow"
	"sagann/ops"
)

// Numbers of BatchNorm, those of torch.nn.BatchNorm1d.
const (
	batchEps     = 1e-5
	batchAverage = 0.1 // share of an epoch's statistics in the running ones
)

// BatchNorm brings every column of x [V×c] to mean 0 and variance 1 over all vertices and
// learns scale and shift (Ioffe and Szegedy, 2015), as torch.nn.BatchNorm1d does over a batch.
// Training takes mean and variance of the epoch, in sweeps over all intervals; evaluation and
// prediction take the running ones, which every step moves by a tenth. Sampled training refuses it. Parameters: norm.g, norm.b
// [1×c]; with them norm.mean and norm.var [1×c], which are averaged and not trained.
func (v Vertex) BatchNorm(x Tensor, p Params) Tensor {
	t := v.t
	fail := func(err error) {
		panic(&dataflow.ShapeError{Op: "BatchNorm", Pos: dataflow.Caller(), In: []dataflow.Shape{x.Shape()}, Err: err})
	}
	if x.Shape().Set.Kind != dataflow.Vertex {
		fail(errors.New("normalises rows of vertices"))
	}
	if t.d.levels > 0 {
		fail(errors.New("takes statistics of all vertices, and a sampled block has some of them: layer norm, or train without sampling"))
	}
	c := x.Cols()
	g, b := p.Bias("norm.g", c, One), p.Bias("norm.b", c)
	mean, variance := p.average("norm.mean", c, Zero), p.average("norm.var", c, One)
	if t.train {
		n := t.d.vertices
		if n < 2 {
			fail(errors.New("one vertex has no variance"))
		}
		if t.averages[mean] != nil {
			fail(fmt.Errorf("the scope %s is normalised twice, and running statistics are of one tensor", p.scope))
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

// average is a row that every step moves by batchAverage towards what tracer.averages has of it.
func (p Params) average(name string, cols int, init Init) Tensor {
	n := p.declare(name, 1, cols, 1, init, nil)
	for i := range p.t.list {
		if q := &p.t.list[i]; p.t.params[q.Name] == n {
			q.Average = batchAverage
		}
	}
	return n
}

// addAverages makes what averages move towards results of prog, in the place of gradients.
func (t *tracer) addAverages(prog *dataflow.Program) {
	for _, q := range t.list {
		if to := t.averages[t.params[q.Name]]; to != nil {
			prog.Names = append(prog.Names, gradName(q.Name))
			prog.Outs = append(prog.Outs, to)
		}
	}
}
