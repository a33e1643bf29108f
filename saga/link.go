package saga

import (
	"errors"
	"fmt"

	"sagann/dataflow"
	"sagann/dataset"
	"sagann/ops"
	"sagann/saga/batches"
)

// Link prediction trains a model whose last layer gives every vertex a row z. A LinkHead scores two
// rows: is there an edge between the two vertices? dataset.SplitLinks chooses the edges to
// predict. The head, its loss and its gradients are computed on the host over pairs of vertices,
// in float64 and always in the same order. z is computed, and its gradient propagated back, within
// the memory budget like every other tensor. A step is
//
//	forward    z, with the dropout of training (linker.ahead)
//	host       loss, dz and the head's gradients dw, over the training edges and as many pairs without an edge
//	training   the loss Σ z⊙dz + Σ w⊙dw with dz and dw constant, which has the gradients of the real loss
//
// In sampled training the head is part of the program instead (pairLoss).

// LinkTask predicts edges.
const LinkTask = dataset.LinkLabels

// linkSeed is the input dz of training, which changes from step to step; between two types it is that of the first, and linkFar that of
// the second. The inputs dw have the same prefix, followed by the names of the head's parameters.
const (
	linkSeed   = linkPrefix + "dz"
	linkFar    = linkPrefix + "dz far"
	linkPrefix = "link:"
)

// farLogits is the output with the rows of the second type, for links between two.
const farLogits = "far logits"

// linker is what only programs of a LinkTask have.
type linker struct {
	links *dataset.Links
	head  LinkHead
	cols  int     // width of z
	ahead *unit   // the forward pass with the dropout of training
	loss  float64 // of the last step
}

// linkHead declares the head's parameters and makes tr's logits z.
func (tr *traced) linkHead(m *Model, x Tensor, p Params) error {
	if m.Head != nil || m.EdgeHead != nil {
		return errors.New("a model for links has a LinkHead, and neither Head nor EdgeHead")
	}
	if y := tr.far; y != nil && y.Cols() != x.Cols() {
		return fmt.Errorf("the last layer gives %d columns for vertices at one end of links, and %d at the other: heads compare rows of one width", x.Cols(), y.Cols())
	}
	tr.logits, tr.hidden, tr.ends = x, x, x
	tr.t.d.link.head = m.LinkHead
	if tr.t.d.levels > 0 {
		tr.t.level-- // the pairs are the edges of the block below
	}
	for _, q := range m.LinkHead.params(x.Cols(), tr.t.d.link.types) {
		tr.heads = append(tr.heads, p.Weight(q.name, q.rows, q.cols, q.init))
	}
	return nil
}

// linkLoss is what training differentiates for a LinkTask: Σ z⊙dz + Σ w⊙dw, or pairLoss over a batch.
func (tr *traced) linkLoss() Tensor {
	t, z := tr.t, tr.logits
	if t.d.levels > 0 {
		return tr.pairLoss()
	}
	given := func(name string, s dataflow.Shape) Tensor { return t.g.Variable(name, s) }
	loss := ops.SumRows(ops.RowSum(ops.Mul(z, given(linkSeed, z.Shape()))))
	if tr.far != nil {
		loss = ops.Add(loss, ops.SumRows(ops.RowSum(ops.Mul(tr.far, given(linkFar, tr.far.Shape())))))
	}
	for _, w := range tr.heads {
		loss = ops.Add(loss, ops.SumRows(ops.RowSum(ops.Mul(w, given(linkPrefix+w.Attr().S, w.Shape())))))
	}
	return loss
}

// pairLoss is the loss over the pairs of a batch. The weight of a pair is its share in the mean, and negative if
// the pair has no edge.
func (tr *traced) pairLoss() Tensor {
	t, to := tr.t, tr.ends
	if k := t.d.kinds; k != nil {
		t.along(k.linked())
	}
	if tr.far != nil {
		to = tr.far
	}
	set, share := t.edgeSet(), t.edge(dataflow.WeightInput, 1)
	src, dst, heads := set.ScatterSrc(tr.ends), set.ScatterDst(dataflow.Prefix(to)), tr.heads
	var score Tensor
	if n := t.d.link.types; n > 0 { // the row of the pair's type: one-hot, times the rows of all types
		row := ops.MatMulByType(ops.Positive(ops.Abs(share)), heads[0], t.edge(dataflow.TypeInput, 1), n)
		score = ops.RowDot(ops.Mul(src, row), dst)
	} else {
		score = t.d.link.head.scores(src, dst, heads)
	}
	return ops.SumRows(ops.SigmoidCrossEntropy(score, ops.Positive(share), ops.Abs(share)))
}

// negatives draws as many pairs without an edge as there are training edges, new ones in every epoch.
// See batches.NoEdge.
func (p *definition) negatives(epoch int) dataset.Pairs {
	n := p.in.link.links.Train.Len()
	out := dataset.Pairs{Src: make([]uint32, n), Dst: make([]uint32, n), Type: p.in.link.links.Train.Type}
	for k := range n {
		out.Src[k], out.Dst[k] = batches.NoEdge(p.in.link.links, p.cfg.Seed, epoch, k)
	}
	return out
}

// rowsOnly is m without its head: it gives the rows that the head scores.
func (m Model) rowsOnly() Model {
	m.Task, m.LinkHead = VertexTask, ""
	return m
}

// numbered is pairs of the rows of moments.
func numbered(src, dst []uint32) *dataset.Pairs { return &dataset.Pairs{Src: src, Dst: dst} }

// upTo lists the numbers 0 to n-1.
func upTo(n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(i)
	}
	return list
}
