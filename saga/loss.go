package saga

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sagann/dataflow"
	"sagann/ops"
	"sagann/saga/rows"
)

// LossKind says what a row of the logits is compared with, and how.
type LossKind string

// The losses. All but LossCrossEntropy compare numbers, column by column, with dataset.Targets.
const (
	LossCrossEntropy LossKind = "cross-entropy" // of classes: with softmax, or with sigmoids for several labels per vertex
	LossMSE          LossKind = "mse"           // squared error
	LossMAE          LossKind = "mae"           // absolute error
	LossHuber        LossKind = "huber"         // squared up to Loss.Delta, absolute beyond (Huber, 1964)
)

// Check is an error if there is no such loss; "" is the default.
func (k LossKind) Check() error {
	switch k {
	case "", LossCrossEntropy, LossMSE, LossMAE, LossHuber:
		return nil
	}
	return fmt.Errorf("saga: unknown loss %q; there are %s, %s, %s, %s", string(k), LossCrossEntropy, LossMSE, LossMAE, LossHuber)
}

// Loss is what training minimises: the mean over the training split or, if vertices, edges or graphs can have several
// labels of which some are not known (dataset.Unknown), over the labels of the split that are known.
type Loss struct {
	Kind LossKind // default: LossCrossEntropy
	// Delta is the error at which LossHuber changes from squares to absolute values, above 0. 0: 1.
	Delta float32
	// ClassWeights [classes] are weights of rows by their class: the training loss is the weighted
	// mean. Losses of evaluation are not weighted. nil: all 1.
	ClassWeights []float32
	// PosWeights [classes] multiply the terms of labels that are 1, in training and evaluation, where
	// a vertex can have several labels. nil: all 1.
	PosWeights []float32
	// Func, if it is not nil, computes the loss of every row in place of Kind's formula, times the row's weight: [·×1]
	// from logits [·×C], labels and weight [·×1]. The rows are vertices, edges or graphs, and weight is the share of a
	// row in the mean, 0 outside the split. Labels are classes [·×1], 0 and 1 [·×C] where a vertex can have several, or
	// targets [·×C] if Kind is LossMSE, LossMAE or LossHuber; they are 0 where weight is. Of several labels those that are not
	// known are -1, and weight is C divided by the number of labels that are known. ops.RowScale(loss, weight)
	// multiplies. It runs for training and evaluation. A LinkTask refuses it: its labels are pairs.
	Func func(logits, labels, weight Tensor) Tensor `json:"-"`
}

// numbers tells whether the loss compares numbers (regression) and not classes.
func (l *Loss) numbers() bool { return l.Kind == LossMSE || l.Kind == LossMAE || l.Kind == LossHuber }

// check says what is wrong with l for data of these dims.
func (l *Loss) check(d *dims, name string) error {
	if err := l.Kind.Check(); err != nil {
		return err
	}
	if !(l.Delta >= 0) || math.IsInf(float64(l.Delta), 0) {
		return fmt.Errorf("saga: the delta of the loss is %v; it must be finite and above 0", l.Delta)
	}
	if l.Func != nil && d.task == LinkTask {
		return fmt.Errorf("saga: Loss.Func computes losses of %s, %s and %s; %s have the loss of their LinkHead", VertexTask.Plural(), EdgeTask.Plural(), GraphTask.Plural(), LinkTask.Plural())
	}
	if l.numbers() && d.task == LinkTask {
		return fmt.Errorf("saga: the loss %s compares numbers; labels of %s are classes", l.Kind, LinkTask.Plural())
	}
	if err := checkWeights("class weights", l.ClassWeights, d.classes); err != nil {
		return err
	}
	if err := checkWeights("positive weights", l.PosWeights, d.classes); err != nil {
		return err
	}
	single := !l.numbers() && !d.labels.multi
	switch {
	case l.ClassWeights != nil && !single:
		return fmt.Errorf("saga: class weights are for labels of one class each, and %s has others; positive weights are for several labels a vertex", name)
	case l.PosWeights != nil && (!d.labels.multi || l.numbers()):
		return fmt.Errorf("saga: positive weights are for several labels a vertex, and %s has others; class weights are for one class each", name)
	}
	return nil
}

func checkWeights(what string, w []float32, classes int) error {
	if w == nil {
		return nil
	}
	if len(w) != classes {
		return fmt.Errorf("saga: %d %s for %d classes", len(w), what, classes)
	}
	sum := 0.0
	for k, x := range w {
		if !(x >= 0) || math.IsInf(float64(x), 0) {
			return fmt.Errorf("saga: the %s give class %d the weight %v; weights are finite and not negative", what, k, x)
		}
		sum += float64(x)
	}
	if sum == 0 {
		return fmt.Errorf("saga: the %s are all 0: there would be nothing to learn", what)
	}
	return nil
}

// loss is the mean loss over the training split [1×1]. The error is that of Loss.Func.
func (tr *traced) loss() (Tensor, error) {
	tr.t.g.Origin("loss")
	defer tr.t.g.Origin("")
	if tr.t.d.task == LinkTask {
		return tr.linkLoss(), nil
	}
	z, err := tr.rowLoss(tr.target.weight())
	if err != nil {
		return nil, err
	}
	return ops.SumRows(z), nil
}

// rowLoss is the loss of every row of the logits times its weight: [·×1].
func (tr *traced) rowLoss(weight Tensor) (Tensor, error) {
	d, x, y := &tr.t.d, tr.logits, tr.target.labels()
	switch l := &d.loss; {
	case l.Func != nil:
		return tr.t.lossOf(l, x, ops.Mask(y, ops.Widen(weight, y.Cols())), weight)
	case l.Kind == LossMSE:
		return ops.SquaredError(x, y, weight), nil
	case l.Kind == LossMAE:
		return ops.AbsoluteError(x, y, weight), nil
	case l.Kind == LossHuber:
		return ops.HuberError(x, y, weight, orOne(l.Delta)), nil
	case d.labels.multi && (d.labels.partial || l.PosWeights != nil):
		of := ops.PositiveSigmoidCrossEntropy
		if d.labels.partial {
			of = ops.KnownSigmoidCrossEntropy
		}
		return of(x, y, weight, tr.t.g.Leaf(dataflow.InputOp, rows.PosWeights, dataflow.Shape{Rows: 1, Cols: d.classes})), nil
	case d.labels.multi:
		return ops.SigmoidCrossEntropy(x, y, weight), nil
	}
	return ops.SoftmaxCrossEntropy(x, y, weight), nil
}

// lossOf is what l.Func gives, a loss for each row of the logits x.
func (t *tracer) lossOf(l *Loss, x, y, weight Tensor) (z Tensor, err error) {
	t.g.Origin("")
	defer func() {
		t.g.Origin("loss")
		if r := recover(); r != nil {
			err = fmt.Errorf("saga: %w", t.failed(r))
		}
	}()
	z = t.user("Loss.Func", l.Func, func() Tensor { return l.Func(x, y, weight) })
	if s, want := z.Shape(), x.Shape(); s.Set != want.Set || s.Rows != want.Rows || s.Cols != 1 {
		panic(&dataflow.ShapeError{Op: "Loss.Func", Pos: dataflow.FuncPos(l.Func), In: []dataflow.Shape{s},
			Err: fmt.Errorf("must return one number for each row of the logits %v", want)})
	}
	live := dataflow.Live([]Tensor{z})
	if !slices.Contains(live, x) && !slices.ContainsFunc(live, func(n Tensor) bool { return n.Op() == dataflow.ParamOp }) {
		panic(&dataflow.ShapeError{Op: "Loss.Func", Pos: dataflow.FuncPos(l.Func), Err: errors.New("reads neither the logits nor what parameters change: nothing would be learned")})
	}
	if !slices.Contains(live, weight) {
		panic(&dataflow.ShapeError{Op: "Loss.Func", Pos: dataflow.FuncPos(l.Func), Err: errors.New("does not read weight: rows outside the split would count; multiply each row's loss by it")})
	}
	return z, nil
}

func orOne(x float32) float32 {
	if x == 0 {
		return 1
	}
	return x
}
