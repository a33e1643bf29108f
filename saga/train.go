package saga

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// TrainOptions says what happens around the epochs of Train.
type TrainOptions struct {
	// OnBatch is called after every batch of sampled training. An error ends the training.
	OnBatch func(Batch) error `json:"-"`
	// OnEpoch is called after every epoch, before its checkpoint is written. An error
	// ends the training.
	OnEpoch func(Epoch) error `json:"-"`
	// Checkpoint is the file that checkpoints are written to; "" writes none. One is
	// written after every CheckpointEvery epochs (0: none in between), after the last
	// epoch and when the training is cancelled. Beside these, one is written after every CheckpointBatches batches
	// of sampled training, and after the first epoch or batch that ends CheckpointAfter or more after the last
	// was written (0: not so). A run goes on from any of them bit for bit.
	Checkpoint        string
	CheckpointEvery   int
	CheckpointBatches int
	CheckpointAfter   time.Duration
	// ModelOptions is text that is kept in checkpoints for whoever rebuilds the model.
	ModelOptions string
	// Resume is a checkpoint to go on from: as Restore, with what early stopping
	// remembers. "" starts from where the program is.
	Resume string
}

// Batch reports one batch of sampled training.
type Batch struct {
	Epoch   int     // counted from 1
	Batch   int     // of the epoch, counted from 1
	Batches int     // of an epoch
	Loss    float64 // mean over the batch's seeds, before the update, with dropout
}

// Epoch reports one epoch of Train.
type Epoch struct {
	Epoch    int     // counted from 1
	Loss     float64 // training loss before the update, with dropout; of sampled training the mean over the epoch's seeds
	Scores   *Scores // after the update, without dropout; nil when it was not evaluated
	Seconds  float64 // wall time of the training step, without evaluation
	H2D, D2H int64   // bytes that the step moved from and to the host
	D2D      int64   // bytes that it moved between devices
	Peak     int64   // most bytes of device memory held at once so far
}

// Result is what Train leaves behind beside the parameters.
type Result struct {
	Epochs       int     // completed, those before a resume included
	Loss         float64 // of the last epoch; NaN when none was run
	Final        Scores  // of the parameters that the program has now
	Best         Scores  // of the epoch with the lowest validation loss
	BestEpoch    int     // 0 without validation vertices
	Stopped      bool    // by Config.Patience, before Config.Epochs
	EpochSeconds float64 // median over the epochs that were run; NaN when none was
	H2D, D2H     int64   // bytes that one epoch moved from and to the host, without evaluation
	D2D          int64   // bytes that it moved between devices
	Peak         int64   // most bytes of device memory held at once
}

// trainer is the state of one call of Train.
type trainer struct {
	p      *Program
	o      TrainOptions
	best   best
	id     identity
	loss   float64
	took   []float64
	last   Epoch
	scores Scores
	scored int // the epoch of scores; -1 before the first

	saved   int       // updates that the last checkpoint has; -1: there is none
	savedAt time.Time // when that was, or when training began
}

// best is what early stopping remembers.
type best struct {
	Epoch  int    // 0: none yet
	Stale  int    // evaluations since
	Scores Scores // of that epoch
	params map[string][]float32
}

// Train runs epochs until Config.Epochs are completed, or until the validation loss
// has not improved for Config.Patience evaluations; then the parameters of the best
// epoch are set. It evaluates after every Config.EvalEvery epochs and after the last.
//
// When ctx is cancelled the epoch in hand, in sampled training the batch, is finished, its checkpoint written and the
// error of ctx returned with the result so far. A loss, a parameter or a number of the
// optimiser's state that is not finite ends the training with a *NotFiniteError, which names it and the epoch,
// and leaves the last checkpoint as it is. On GPUs, where the optimiser runs there, parameters
// and state are looked at when an epoch is evaluated and before a checkpoint is written.
// A checkpoint for which no file can be made is an error before the first epoch.
func (p *Program) Train(ctx context.Context, o TrainOptions) (*Result, error) {
	if err := p.trainable(); err != nil {
		return nil, err
	}
	s, err := p.openEval()
	if err != nil {
		return nil, err
	}
	t := &trainer{p: p, o: o, loss: math.NaN(), scored: -1}
	if o.Resume != "" {
		b, err := p.restore(o.Resume)
		if err != nil {
			return nil, err
		}
		t.best = b
	}
	if o.Checkpoint != "" {
		if err := p.agreed(p.canWrite(o.Checkpoint)); err != nil {
			return nil, fmt.Errorf("no checkpoint could be written: %w", err)
		}
		t.id = p.identity()
	}
	if err := p.alike(); err != nil {
		return nil, err
	}
	if err := s.allFinite(); err != nil {
		return nil, err
	}
	if err := s.train.Load(); err != nil { // not part of an epoch's time
		return nil, err
	}
	if t.saved, t.savedAt = p.updates(), time.Now(); o.Resume == "" {
		t.saved = -1
	}
	for p.epoch < p.cfg.Epochs && !t.stop() {
		if stop, err := p.stopping(ctx); err != nil {
			return nil, err
		} else if stop {
			return t.result(), errors.Join(cmp.Or(ctx.Err(), context.Canceled), t.save())
		}
		if err := t.epoch(ctx); errors.Is(err, errStopped) {
			continue // ctx says why
		} else if err != nil {
			return nil, err
		}
		if err := t.saveDue(o.CheckpointEvery > 0 && p.epoch%o.CheckpointEvery == 0); err != nil {
			return nil, err
		}
	}
	if err := t.save(); err != nil {
		return nil, err
	}
	if err := t.finish(); err != nil {
		return nil, err
	}
	return t.result(), nil
}

// save writes a checkpoint, if there was an update since the last.
func (t *trainer) save() error {
	p, o := t.p, &t.o
	if o.Checkpoint == "" || t.saved == p.updates() {
		return nil
	}
	t.saved, t.savedAt = p.updates(), time.Now()
	return p.save(o.Checkpoint, o.ModelOptions, t.id, t.best)
}

// due tells whether a checkpoint is to be written by the clock, or by the number of batches.
func (t *trainer) due() (bool, error) {
	o, s, g := &t.o, t.p.sampled, t.p.cfg.Net
	late := o.CheckpointAfter > 0 && time.Since(t.savedAt) >= o.CheckpointAfter
	if o.CheckpointAfter > 0 && g.Ranks() > 1 { // whose clocks differ
		return g.Any(late)
	}
	return late || o.CheckpointBatches > 0 && s != nil && s.filling.updates%o.CheckpointBatches == 0, nil
}

// saveDue is save, if it is time or the caller says so.
func (t *trainer) saveDue(so bool) error {
	due, err := t.due()
	if err != nil || !due && !so {
		return err
	}
	return t.save()
}

// trainable says whether there is something to learn from.
func (p *Program) trainable() error {
	d, task := p.data, p.dims.taskName()
	if task == LinkTask { // whose splits have passed dataset.Validate
		return nil
	}
	splits := d.Splits(task)
	switch {
	case !d.Labelled(task) && task == VertexTask:
		return fmt.Errorf("saga: %s has no labels to train on", d.Name)
	case !d.Labelled(task):
		return fmt.Errorf("saga: %s has no %s labels to train on", d.Name, task)
	case len(splits[0]) == 0:
		return fmt.Errorf("saga: %s has no training %s; dataset.RandomSplitOf makes a split", d.Name, things[task])
	case p.cfg.Optimizer.Schedule.Kind == ScheduleReduce && len(splits[1]) == 0:
		return fmt.Errorf("saga: the schedule %s needs validation %s, and %s has none", ScheduleReduce, things[task], d.Name)
	case p.cfg.Patience > 0 && len(splits[1]) == 0:
		return fmt.Errorf("saga: early stopping needs validation %s, and %s has none", things[task], d.Name)
	}
	return nil
}

// stop tells whether the validation loss has not improved for long enough.
func (t *trainer) stop() bool {
	n := t.p.cfg.Patience
	return n > 0 && t.best.Epoch > 0 && t.best.Stale >= n
}

// epoch trains for one epoch, evaluates when it is time, and reports.
func (t *trainer) epoch(ctx context.Context) error {
	p := t.p
	before, start := p.Moved(), time.Now()
	loss, err := t.steps(ctx)
	if err != nil {
		return err
	}
	after := p.Moved()
	e := Epoch{Epoch: p.epoch, Loss: loss, Seconds: time.Since(start).Seconds(),
		H2D: after.H2D - before.H2D, D2H: after.D2H - before.D2H, D2D: after.D2D - before.D2D}
	t.loss = loss
	t.took = append(t.took, e.Seconds)
	evaluated := p.epoch%max(1, p.cfg.EvalEvery) == 0 || p.epoch == p.cfg.Epochs
	if err := p.session.epochFinite(loss, evaluated); err != nil {
		return err
	}
	if evaluated {
		if err := t.evaluate(); err != nil {
			return err
		}
		s := t.scores
		e.Scores = &s
	}
	e.Peak = p.peak()
	t.last = e
	if t.o.OnEpoch != nil {
		return t.o.OnEpoch(e)
	}
	return nil
}

// errStopped says that an epoch of sampled training has ended before its last batch.
var errStopped = errors.New("stopped between two batches")

// steps runs the steps of an epoch, one or, of what is left of sampled training's, a step a batch.
func (t *trainer) steps(ctx context.Context) (loss float64, err error) {
	p := t.p
	if p.sampled == nil {
		return p.Step()
	}
	for {
		at := p.sampled.step
		if loss, err = p.Step(); err != nil {
			return 0, err
		}
		if !finite(loss) {
			return 0, &NotFiniteError{at.epoch + 1, fmt.Sprintf("the loss of batch %d is %v", at.batch+1, loss)}
		}
		if t.o.OnBatch != nil {
			if err := t.o.OnBatch(Batch{at.epoch + 1, at.batch + 1, p.sampled.batches(), loss}); err != nil {
				return 0, err
			}
		}
		if p.sampled.batch == 0 {
			return p.epochLoss(), nil
		}
		if ctx.Err() != nil {
			return 0, errStopped
		}
		if err := t.saveDue(false); err != nil {
			return 0, err
		}
	}
}

// evaluate scores the parameters and keeps them when the validation loss is the
// lowest so far.
func (t *trainer) evaluate() error {
	p := t.p
	s, err := p.Evaluate()
	if err != nil {
		return err
	}
	if !finite(s.Train.Loss, s.Val.Loss, s.Test.Loss) {
		return &NotFiniteError{p.epoch, fmt.Sprintf("the losses of the splits are %v, %v, %v", s.Train.Loss, s.Val.Loss, s.Test.Loss)}
	}
	t.scores, t.scored = s, p.epoch
	if o := &p.cfg.Optimizer.Schedule; o.Kind == ScheduleReduce {
		p.plateau.see(o, s.Val.Loss)
	}
	switch {
	case p.model.Task != LinkTask && len(p.data.Splits(p.model.Task)[1]) == 0:
	case t.best.Epoch == 0 || s.Val.Loss < t.best.Scores.Val.Loss:
		t.best = best{Epoch: p.epoch, Scores: s, params: t.best.params}
		if p.cfg.Patience > 0 {
			if t.best.params, err = p.allParams(); err != nil {
				return err
			}
		}
	default:
		t.best.Stale++
	}
	return nil
}

// finish sets the best parameters and makes sure that Final belongs to what the
// program now holds.
func (t *trainer) finish() error {
	p := t.p
	if t.best.params != nil {
		for name, x := range t.best.params {
			if err := p.SetParam(name, x); err != nil {
				return err
			}
		}
		t.scores, t.scored = t.best.Scores, p.epoch
	}
	if t.scored != p.epoch {
		var err error
		if t.scores, err = p.Evaluate(); err != nil {
			return err
		}
	}
	return nil
}

func (t *trainer) result() *Result {
	p := t.p
	return &Result{Epochs: p.epoch, Loss: t.loss, Final: t.scores, Best: t.best.Scores, BestEpoch: t.best.Epoch,
		Stopped: t.stop() && p.epoch < p.cfg.Epochs, EpochSeconds: median(t.took),
		H2D: t.last.H2D, D2H: t.last.D2H, D2D: t.last.D2D, Peak: p.peak()}
}

// allParams reads every parameter.
func (p *Program) allParams() (map[string][]float32, error) {
	all := map[string][]float32{}
	for _, q := range p.params {
		x, err := p.Param(q.Name)
		if err != nil {
			return nil, err
		}
		all[q.Name] = x
	}
	return all, nil
}

func median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
