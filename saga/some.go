package saga

import (
	"errors"

	"sagann/dataset"
)

// PredictSome is Predict for the vertices of list alone, in its order: len(list)×classes logits. They are those of Predict, up to the
// order in which the in-edges of a vertex are summed. What is computed and held depends on the in-edges within as many steps as the
// model has layers that gather; c.Mem bounds it, as fewer vertices are answered at a time. It is an error if m is not for labels of
// vertices, if d has several types of vertices, or if m reads what blocks do not have, where Predict computes everything.
func PredictSome(m Model, d *dataset.Data, c Config, path string, list []uint32) (logits []float32, classes int, err error) {
	s, err := OpenSome(m, d, c, path)
	if err != nil {
		return nil, 0, err
	}
	return s.Rows(list)
}

// PredictAdded is PredictSome for vertices that d does not have, in the order of a: the logits that Predict gives for the graph with them (dataset.Added.To, which
// also says what opt does). Their edges change rows of other vertices, whose in-degrees they change; those are not returned. Learned rows of the
// added vertices are drawn as at the start of the run. m.Features is the number of all of them where each vertex has a row of the first weights.
func PredictAdded(m Model, d *dataset.Data, c Config, path string, a *dataset.Added, opt dataset.Options) (logits []float32, classes int, err error) {
	whole, err := a.To(d, opt)
	if err != nil {
		return nil, 0, err
	}
	return PredictSome(m, whole, c, path, upTo(whole.Edges.V)[d.Edges.V:])
}

// EmbedSome is PredictSome for the rows that enter the last layer: len(list)×hidden.
func EmbedSome(m Model, d *dataset.Data, c Config, path string, list []uint32) (rows []float32, hidden int, err error) {
	s, err := OpenSomeHidden(m, d, c, path)
	if err != nil {
		return nil, 0, err
	}
	return s.Rows(list)
}

// OpenSome reads the checkpoint at path, for PredictSome of any number of lists.
func OpenSome(m Model, d *dataset.Data, c Config, path string) (*Some, error) {
	if err := answers(&m, d); err != nil {
		return nil, err
	}
	k, err := readParams(m, path)
	if err != nil {
		return nil, err
	}
	if d, err = k.apply(&m, d); err != nil {
		return nil, err
	}
	return newSome(m, d, c, k.about.ByTime(), k.param)
}

// OpenSomeHidden is OpenSome for EmbedSome.
func OpenSomeHidden(m Model, d *dataset.Data, c Config, path string) (*Some, error) {
	if len(m.Layers) < 2 {
		return nil, errors.New("saga: the rows that enter the only layer are the features of the data")
	}
	m.Layers = m.Layers[:len(m.Layers)-1] // what leaves these enters the last; blocks need not reach as far
	return OpenSome(m, d, c, path)
}

// SomeWork is Some.Work without a checkpoint: what answering for the vertices of list alone would take, and a pass over all. It is an error
// where only a pass over all can answer.
func SomeWork(m Model, d *dataset.Data, list []uint32) (some, all int64, err error) {
	if err := answers(&m, d); err != nil {
		return 0, 0, err
	}
	s, err := newSome(m, d, Config{}, false, nil)
	if err != nil {
		return 0, 0, err
	}
	return s.Work(list)
}
