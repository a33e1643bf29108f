package saga

import (
	"sagann/dataflow/exec"
	"sagann/dataset"
	"sagann/internal/metrics"
)

// A step of a LinkTask, and its evaluation: the head works on the host over pairs of vertices.

// endRows is output what of u and, where that is the rows of the first end of links between two types, those of the second behind it.
func (s *session) endRows(u *unit, run *exec.Runner, what string) (x []float32, cols int) {
	x, cols = s.rows(u, run, u.low.Outputs[what])
	if id, two := u.low.Outputs[farLogits]; two && what == "logits" {
		far, _ := s.rows(u, run, id)
		x = append(x, far...)
	}
	return x, cols
}

// scorer is the head with its current parameters, over rows z.
func (s *session) scorer(z []float32) (*scorer, error) {
	l := s.p.in.link
	out := &scorer{head: l.head, c: l.cols, z: z}
	for _, q := range l.head.params(l.cols, l.links.Types) {
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
	z, cols := s.endRows(l.ahead, s.ahead, "logits")
	score, err := s.scorer(z)
	if err != nil {
		return err
	}
	not := p.negatives(p.epoch)
	pairs := l.links.Train.With(&not)
	loss, dz, dw := score.gradients(pairs, l.links.Train.Len())
	l.loss = loss
	near := p.in.Edges.V * cols
	if err := s.setLearned(p.train, linkSeed, dz[:near]); err != nil {
		return err
	}
	if near < len(dz) {
		if err := s.setLearned(p.train, linkFar, dz[near:]); err != nil {
			return err
		}
	}
	for i, q := range l.head.params(l.cols, l.links.Types) {
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
	z, _ := s.endRows(p.eval, s.eval, "logits")
	score, err := s.scorer(z)
	if err != nil {
		return Scores{}, err
	}
	not := p.negatives(max(0, p.epoch-1))
	out.Train = score.rank(&l.links.Train, &not)
	if l.links.Val.Len() > 0 {
		out.Val = score.rank(&l.links.Val, &l.links.NotVal)
	}
	out.Test = score.rank(&l.links.Test, &l.links.NotTest)
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
