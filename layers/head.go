package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// edgeRank is the number of columns that EdgeHead gives each class at each end.
const edgeRank = 8

// GraphHead computes the logits of graphs from the read-out r, in columns to out:
//
//	logits = r·W + b
//
// Parameters: W [in×out], b [1×out].
func GraphHead(in, out int, opts ...Option) func(graphs saga.Tensor, p saga.Params) saga.Tensor {
	start := choose(opts).fanIn(in)
	return func(r saga.Tensor, p saga.Params) saga.Tensor {
		return ops.Bias(ops.MatMul(r, p.Weight("W", in, out, start)), p.Bias("b", out, start))
	}
}

// EdgeHead computes the logits of edges from the rows of their two ends, in columns to
// out. They are a linear function of each end, plus a bilinear form of both, of rank 8 for each class,
// so that the ends can be compared:
//
//	logits_c = x_u·S_c + x_v·D_c + b_c + ⟨x_u·U_c, x_v·V_c⟩
//
// Each of the four products depends on one end only, so all are computed on vertices.
// Parameters: S, D [in×out], b [1×out], U, V [in×8·out].
func EdgeHead(in, out int) func(e saga.Edge, p saga.Params) saga.Tensor {
	return func(e saga.Edge, p saga.Params) saga.Tensor {
		wide := edgeRank * out
		alone := ops.Add(ops.MatMul(e.Src, p.Weight("S", in, out)), ops.MatMul(e.Dst, p.Weight("D", in, out)))
		both := ops.Mul(ops.MatMul(e.Src, p.Weight("U", in, wide)), ops.MatMul(e.Dst, p.Weight("V", in, wide)))
		return ops.Bias(ops.Add(alone, ops.GroupSum(both, out)), p.Bias("b", out))
	}
}

func (o *Options) headed() bool { return o.Task == saga.EdgeTask || o.Task == saga.GraphTask }

// addHead adds the head for Options.Task to m, whose last layer has Hidden columns.
func (o *Options) addHead(m *saga.Model) {
	m.Task, m.Readout, m.LinkHead = o.Task, o.Readout, o.LinkHead
	if !o.headed() {
		return
	}
	m.Layers[len(m.Layers)-1].After = Activation(ops.ReLU).after()
	if o.Task == saga.GraphTask {
		m.Head = GraphHead(o.Hidden, o.Classes, o.start()...)
	} else {
		m.EdgeHead = EdgeHead(o.Hidden, o.Classes)
	}
}
