package saga

import (
	"errors"
	"fmt"

	"sagann/dataflow"
	"sagann/dataset"
	"sagann/internal/metrics"
	"sagann/ops"
	"sagann/saga/batches"
	"sagann/saga/rows"
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

// linkSeed is the input dz of training, which changes from step to step. The inputs dw have the same
// prefix, followed by the names of the head's parameters.
const (
	linkSeed   = linkPrefix + "dz"
	linkPrefix = "link:"
)

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
	tr.logits, tr.hidden, tr.ends = x, x, x
	tr.t.d.linkHead = m.LinkHead
	if tr.t.d.levels > 0 {
		tr.t.level-- // the pairs are the edges of the block below
	}
	for _, q := range m.LinkHead.params(x.Cols()) {
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
	loss := ops.SumRows(ops.RowSum(ops.Mul(z, given(linkSeed, dataflow.Shape{Set: dataflow.V0, Cols: z.Cols()}))))
	for _, w := range tr.heads {
		loss = ops.Add(loss, ops.SumRows(ops.RowSum(ops.Mul(w, given(linkPrefix+w.Attr().S, w.Shape())))))
	}
	return loss
}

// pairLoss is the loss over the pairs of a batch. The weight of a pair is its share in the mean, and negative if
// the pair has no edge.
func (tr *traced) pairLoss() Tensor {
	t, share := tr.t, tr.t.edge(dataflow.WeightInput, 1)
	score := t.d.linkHead.scores(dataflow.ScatterSrc(tr.ends), dataflow.ScatterDst(dataflow.Prefix(tr.ends)), tr.heads)
	return ops.SumRows(ops.SigmoidCrossEntropy(score, ops.Positive(share), ops.Abs(share)))
}

// traceLinks is the forward pass of a LinkTask, in training with dropout.
func (p *Program) traceLinks(train bool) (*dataflow.Program, error) {
	tr, err := trace(p.model, p.dims, train)
	if err != nil {
		return nil, err
	}
	p.in.link.cols = tr.logits.Cols()
	p.in.Widen(linkSeed, tr.logits.Cols())
	return p.resolve(&dataflow.Program{Loss: -1, Names: []string{"logits"}, Outs: []Tensor{tr.logits}}, tr.t)
}

// negatives draws as many pairs without an edge as there are training edges, new ones in every epoch.
// See batches.NoEdge.
func (p *Program) negatives(epoch int) dataset.Pairs {
	n := p.in.link.links.Train.Len()
	out := dataset.Pairs{Src: make([]uint32, n), Dst: make([]uint32, n)}
	for k := range n {
		out.Src[k], out.Dst[k] = batches.NoEdge(p.in.link.links, p.cfg.Seed, epoch, k)
	}
	return out
}

// scorer is the head with its current parameters, over rows z.
func (s *session) scorer(z []float32) (*scorer, error) {
	l := s.p.in.link
	out := &scorer{head: l.head, c: l.cols, z: z}
	for _, q := range l.head.params(l.cols) {
		x, err := s.global("head." + q.name)
		if err != nil {
			return nil, err
		}
		out.w = append(out.w, x)
	}
	return out, nil
}

// pullLinks runs the forward pass and the head of the epoch to come, and sets the inputs dz and dw
// of training.
func (s *session) pullLinks() error {
	p, l := s.p, s.p.in.link
	if s.ahead == nil {
		var err error
		if s.ahead, err = s.start(l.ahead); err != nil {
			return err
		}
	}
	if err := s.setStep(l.ahead, s.ahead); err != nil {
		return err
	}
	if err := s.ahead.Step(); err != nil {
		return err
	}
	z, _ := s.rows(l.ahead, s.ahead, l.ahead.low.Outputs["logits"])
	score, err := s.scorer(z)
	if err != nil {
		return err
	}
	not := p.negatives(p.epoch)
	pairs := dataset.Pairs{Src: append(append([]uint32{}, l.links.Train.Src...), not.Src...), Dst: append(append([]uint32{}, l.links.Train.Dst...), not.Dst...)}
	loss, dz, dw := score.gradients(&pairs, l.links.Train.Len())
	l.loss = loss
	if err := s.setLearned(p.train, linkSeed, dz); err != nil {
		return err
	}
	for i, q := range l.head.params(l.cols) {
		if err := s.train.SetGlobal(p.train.low.Globals[linkPrefix+"head."+q.name], dw[i]); err != nil {
			return err
		}
	}
	return nil
}

// evaluateLinks scores the pairs of every split; training edges are ranked against the pairs without
// an edge of the last epoch.
func (s *session) evaluateLinks() (out Scores, err error) {
	p, l := s.p, s.p.in.link
	z, _ := s.rows(p.eval, s.eval, p.eval.low.Outputs["logits"])
	score, err := s.scorer(z)
	if err != nil {
		return Scores{}, err
	}
	not := p.negatives(max(0, p.epoch-1))
	out.Train = score.rank(&l.links.Train, &not)
	out.Val, out.Test = score.rank(&l.links.Val, &l.links.NotVal), score.rank(&l.links.Test, &l.links.NotTest)
	return out, nil
}

// hitsAt are the numbers of Metrics.Hits.
var hitsAt = [3]int{10, 50, 100}

// rank is the loss and all metrics of a split: its edges, and not, its pairs without an edge.
func (s *scorer) rank(edges, not *dataset.Pairs) (m Metrics) {
	pos, neg := s.scores(edges), s.scores(not)
	all, is := append(append([]float64{}, pos...), neg...), make([]bool, len(pos)+len(neg))
	for i, x := range all {
		is[i] = i < len(pos)
		y := float32(0)
		if is[i] {
			y = 1
		}
		loss, _ := metrics.BinaryCrossEntropy([]float32{float32(x)}, []float32{y}, nil)
		m.Loss += loss / float64(len(all))
	}
	m.AUC, m.AP, m.MRR = metrics.AUC(all, is), metrics.AveragePrecision(all, is), metrics.MRR(pos, neg)
	for i, k := range hitsAt {
		m.Hits[i] = metrics.Hits(pos, neg, k)
	}
	return m
}

// ScoreLinks scores pairs of vertices of d with the checkpoint of a LinkTask at path. A score is the
// logarithm of the odds that there is an edge. d has the edges that pass messages. It is an error if
// m is for another task, if a pair names a vertex that d does not have, or where Predict has one.
func ScoreLinks(m Model, d *dataset.Data, c Config, path string, pairs *dataset.Pairs) ([]float64, error) {
	if m.Task != LinkTask {
		return nil, fmt.Errorf("saga: pairs are scored by models of the task %s", LinkTask)
	}
	z, cols, err := Predict(m, d, c, path)
	if err != nil {
		return nil, err
	}
	if err := pairs.Check(d.Edges.V); err != nil {
		return nil, fmt.Errorf("saga: %w", err)
	}
	k, err := readParams(m, path)
	if err != nil {
		return nil, err
	}
	s := &scorer{head: m.LinkHead, c: cols, z: z}
	for _, q := range m.LinkHead.params(cols) {
		w, err := k.param("head."+q.name, q.rows, q.cols)
		if err != nil {
			return nil, err
		}
		s.w = append(s.w, w)
	}
	return s.scores(pairs), nil
}

// describeLinks sets up what only programs of a LinkTask have.
func (p *Program) describeLinks() error {
	m, d := &p.model, p.data
	if m.LinkHead == "" {
		m.LinkHead = LinkDot
	}
	if err := m.LinkHead.check(); err != nil || p.output != "" {
		return err
	}
	switch {
	case d.Targets.Links == nil:
		return fmt.Errorf("saga: %s does not say which links to predict; dataset.SplitLinks does", d.Name)
	case m.Loss.Kind != "" && m.Loss.Kind != LossCrossEntropy || m.Loss.ClassWeights != nil || m.Loss.PosWeights != nil:
		return errors.New("saga: links are learned by the cross-entropy of edge and no edge, without weights")
	}
	p.in.link = &linker{links: d.Targets.Links, head: m.LinkHead}
	p.in.Make(linkSeed, 1, func() rows.Source { return rows.Source{Row: func(_ int, to []float32) { clear(to) }} })
	return nil
}
