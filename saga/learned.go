package saga

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"sagann/dataflow"
	"sagann/ops"
	"sagann/saga/rows"
)

// Learned rows: parameters with one row per vertex. They are vertex inputs that a training step
// also writes (dataflow.Next). So they are stored, streamed and kept on devices as features are,
// and the optimiser changes the rows of an interval in the sweep that computes their gradient.
//
// There are two kinds. Model.Embedding gives every vertex a learned row in place of its features.
// And if the data has no features and the model has no Embedding, the features are the identity
// matrix, which is never stored: its product with a weight is the weight itself, one row per vertex.

const (
	embedding = "embedding" // the parameter's name
	rateInput = "rate"      // [1×4]: numbers of a step that the optimiser's ops read; see rates
)

// FeaturesError says that a model cannot do without dense features.
type FeaturesError struct{ Err error }

// Error names the op that reads the features.
func (e *FeaturesError) Error() string {
	return fmt.Sprintf("saga: features that are sparse, or the identity where there are none, are read by products with weights of the whole graph only: %v; Data.HoldFeatures or dataset.OneHotFeatures makes them dense, Model.Embedding learns others", e.Err)
}

// Unwrap is the error that names the op.
func (e *FeaturesError) Unwrap() error { return e.Err }

// EmbeddingInit names the distribution from which rows of Model.Embedding are drawn at first.
type EmbeddingInit string

// Starts of learned rows. Which learns more depends on the data (docs/data.md); it is in the digest of a run.
const (
	EmbeddingUnit   EmbeddingInit = "unit"   // uniform, with a squared length of 1 on average
	EmbeddingNormal EmbeddingInit = "normal" // normal, with mean 0 and variance 1, as in torch.nn.Embedding
)

// inits are the functions that draw; "" is the default.
var inits = map[EmbeddingInit]Init{"": unitRows, EmbeddingUnit: unitRows, EmbeddingNormal: normalRows}

func unitRows(w []float32, _, cols int, r *rand.Rand) { He(w, 2*cols, cols, r) }

func normalRows(w []float32, _, _ int, r *rand.Rand) {
	for i := range w {
		w[i] = float32(r.NormFloat64())
	}
}

// facts are the lines of a digest about x; none for the default, which digests did not name at first.
func (x EmbeddingInit) facts() []string {
	if x == "" || x == EmbeddingUnit {
		return nil
	}
	return []string{"embedding " + string(x)}
}

// embeds is an error if m does not say which rows of Model.Embedding are learned.
func (m *Model) embeds() error {
	switch {
	case m.Embedding < 0:
		return fmt.Errorf("saga: rows of %d columns cannot be learned", m.Embedding)
	case inits[m.EmbeddingInit] == nil:
		return fmt.Errorf("saga: learned rows that begin as %q; there are %s, %s", m.EmbeddingInit, EmbeddingUnit, EmbeddingNormal)
	case m.Embedding == 0 && m.EmbeddingInit != "":
		return errors.New("saga: Model.EmbeddingInit is of the rows of Model.Embedding, and there are none")
	}
	return nil
}

// embed gives types without features learned rows of Model.Embedding in place of the identity. The error says that there are no such types.
func (k *kinds) embed(m *Model) error {
	if err := m.embeds(); err != nil || m.Embedding == 0 {
		return err
	}
	any := false
	for i := range k.types {
		if t := &k.types[i]; t.identity {
			t.identity, t.learned, t.features, any = false, true, m.Embedding, true
		}
	}
	if !any {
		return fmt.Errorf("saga: Model.Embedding (--features embedding:64) is of types of vertices without features, and those that the model reads have some: %s", strings.Join(k.typeNames(), ", "))
	}
	return nil
}

// embed declares the learned rows of Model.Embedding; of several types those of the vertices of the current one.
func (t *tracer) embed() Tensor {
	q := Param{Name: embedding, Rows: t.d.vertices, Cols: t.d.embedding, PerVertex: true, typ: uint16(t.typ), init: inits[t.d.embeddingInit], blocks: 1, rowwise: true}
	if k := t.d.kinds; k != nil {
		q.drawn = embedding + "." + k.types[t.typ].name
		if scope := k.typeScope(t.typ); scope != "" {
			q.Name += "." + scope
		}
	}
	n := t.g.Variable(q.Name, dataflow.Shape{Set: t.vertices(), Cols: q.Cols})
	t.params[q.Name], t.list = n, append(t.list, q)
	return n
}

// checkRowsRead refuses programs in which nothing reads rows that are learned, and those that give out features that are
// never stored.
func (p *definition) checkRowsRead(tr *traced, loss Tensor) error {
	if slices.Contains(p.cfg.Outputs, "hidden") && tr.rows == tr.features && (p.dims.identity || p.dims.sparse) {
		return errors.New("saga: the output \"hidden\" of a model of one layer is the features, and those that are sparse, or the identity where there are none, are never stored as rows")
	}
	for _, q := range tr.t.list {
		if q.PerVertex && strings.HasPrefix(q.Name, embedding) && !reads(loss, tr.t.params[q.Name]) {
			return fmt.Errorf("saga: no layer reads the rows of Model.Embedding (%s), so the loss does not depend on them", q.Name)
		}
	}
	return nil
}

// reads tells whether x is computed from y.
func reads(x, y Tensor) bool {
	seen := map[Tensor]bool{}
	var visit func(n Tensor) bool
	visit = func(n Tensor) bool {
		if n == y {
			return true
		}
		if seen[n] {
			return false
		}
		seen[n] = true
		for i := range n.NumIn() {
			if visit(n.In(i)) {
				return true
			}
		}
		return false
	}
	return visit(x)
}

// learn is dataflow.Program.Learn: from the gradient g of learned rows w it computes their rows in the
// next step, and their moments.
func (p *definition) learn(w, g Tensor) []dataflow.Next {
	q, err := p.param(w.Attr().S)
	if err != nil || !q.PerVertex {
		return nil
	}
	o := &p.cfg.Optimizer
	rate := w.Graph().Variable(rateInput, dataflow.Shape{Rows: 1, Cols: 4})
	var moments []Tensor
	for k := range o.moments() {
		moments = append(moments, w.Graph().Variable(momentName(k, q.Name), w.Shape()))
	}
	old := w
	if decay := o.WeightDecay; decay > 0 && p.decays(q.Name) {
		if o.Kind == "adamw" {
			w = ops.DecayStep(w, rate, decay)
		} else {
			g = ops.Add(g, ops.Scale(w, decay))
		}
	}
	if o.Kind != "sgd" {
		m, v := ops.Moment(moments[0], g, o.Beta1), ops.Moment2(moments[1], g, o.Beta2)
		return []dataflow.Next{{Of: old, Rows: ops.AdamStep(w, m, v, rate, o.Eps)}, {Of: moments[0], Rows: m}, {Of: moments[1], Rows: v}}
	}
	if len(moments) == 0 {
		return []dataflow.Next{{Of: old, Rows: ops.SGDStep(w, g, rate)}}
	}
	m := ops.Add(g, ops.Scale(moments[0], o.Momentum))
	return []dataflow.Next{{Of: old, Rows: ops.SGDStep(w, m, rate)}, {Of: moments[0], Rows: m}}
}

// rates are the numbers of rateInput in an epoch, counted from 0: learning rate, and what Adam divides
// its moments by.
func (o *Optimizer) rates(epoch int, rate float32) []float32 {
	c1, c2 := o.corrections(epoch + 1)
	return []float32{rate, c1, c2, 0}
}

// from makes q and its moments inputs of in, with their initial values, or with zero all 0: they are set
// later.
func (q *Param) from(in *rows.Inputs, seed uint64, zero bool) {
	first := func() rows.Source { return rows.Source{Rows: q.initial(seed)} }
	if q.rowwise {
		first = func() rows.Source { return rows.Source{All: q.eachRow(seed)} }
	}
	none := func() rows.Source { return rows.Source{All: func(func(int) []float32) {}} } // writes nothing: new memory is zero
	if zero {
		first = none
	}
	in.Make(q.Name, q.Cols, first)
	for k := range 2 {
		in.Make(momentName(k, q.Name), q.Cols, none)
	}
}
