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
	// OnBatch is called after every update of sampled training, which is one batch or several (Sampling.Accumulate).
	// An error ends the training.
	OnBatch func(Batch) error `json:"-"`
	// OnEpoch is called after every epoch, before its checkpoint is written. An error
	// ends the training.
	OnEpoch func(Epoch) error `json:"-"`
	// Checkpoint is the file that checkpoints are written to; "": none are written. A checkpoint
	// is written after the last epoch, when the training is cancelled, and
	//   - after every CheckpointEvery epochs,
	//   - after every CheckpointBatches updates of sampled training,
	//   - after the first epoch or batch that ends CheckpointAfter or more after the last checkpoint.
	// Each of the three is off if it is 0. A run can go on from any checkpoint bit for bit.
	Checkpoint        string
	CheckpointEvery   int
	CheckpointBatches int
	CheckpointAfter   time.Duration
	// OnCheckpoint is called before every checkpoint, on the rank that writes it. An error ends the training.
	OnCheckpoint func() error `json:"-"`
	// OnFull is called when a checkpoint finds the disk full, before it is tried again, and if training then goes on without it: the
	// error says where the checkpoint is, or which is the last one.
	OnFull func(error) `json:"-"`
	// ModelOptions is text to keep in checkpoints (Checkpoint.Options), from which the model can be
	// built again.
	ModelOptions string
	// Resume is a checkpoint to go on from. It is restored as by Restore, and with it the state of
	// early stopping. "": training starts from the program's current parameters.
	Resume string
}

// Batch reports one update of sampled training: one batch, or Sampling.Accumulate batches.
type Batch struct {
	Epoch   int     // counted from 1
	Batch   int     // number of the update in its epoch, counted from 1
	Batches int     // updates of an epoch
	Loss    float64 // mean over the seeds of all its batches, before the update, with dropout
}

// Epoch reports one epoch of Train.
type Epoch struct {
	Epoch    int     // counted from 1
	Loss     float64 // training loss before the update, with dropout; in sampled training the mean over the epoch's seeds
	Scores   *Scores // after the update, without dropout; nil: not evaluated
	Seconds  float64 // wall time of the training step, without evaluation
	H2D, D2H int64   // bytes that the epoch copied from the host to devices and back
	D2D      int64   // bytes that it copied between devices
	Peak     int64   // most bytes of memory that a device has held so far
}

// Result is what Train returns; the parameters are in the program.
type Result struct {
	Epochs       int     // completed epochs, with those before a resume
	Loss         float64 // of the last epoch; NaN if none was run
	Final        Scores  // of the parameters that the program has now
	Best         Scores  // of the epoch with the lowest validation loss
	BestEpoch    int     // 0: no validation split
	Stopped      bool    // ended by Config.Patience before Config.Epochs
	EpochSeconds float64 // median over the epochs that were run; NaN if none was
	H2D, D2H     int64   // bytes that the last epoch copied from the host to devices and back, without evaluation
	D2D          int64   // bytes that it copied between devices
	Peak         int64   // most bytes of memory that a device has held
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

	saved   int       // number of updates when the last checkpoint was written to its place; -1: none was
	savedAt time.Time // when the last one was tried, or when training began
	saving  saving
	heard   uint64 // what any rank has said in the last vote: voteStop, voteSave
	every   int    // updates of sampled training between checkpoints; 0: none are counted
}

// best is the state of early stopping.
type best struct {
	Epoch  int    // the epoch with the lowest validation loss; 0: none yet
	Stale  int    // evaluations since
	Scores Scores // of that epoch
	params map[string][]float32
}

// Train runs epochs until Config.Epochs are completed, or until the validation loss has not
// improved for Config.Patience evaluations. With Patience it then sets the parameters of the best
// epoch. It evaluates after every Config.EvalEvery epochs and after the last. Only the evaluations after every Config.EvalEvery
// epochs count for Patience and for the schedule of the learning rate, so that a run in two parts decides as one in a whole.
//
// When ctx is cancelled, Train finishes the current epoch, or in sampled training the current
// batch, writes a checkpoint, and returns the result so far with the error of ctx.
//
// A loss, a parameter or a number of the optimiser's state that is not finite ends the training
// with a *NotFiniteError, which names it and the epoch, and leaves the last checkpoint as it is.
// If the optimiser runs on a GPU, its parameters and state are checked only when an epoch is
// evaluated and before a checkpoint is written. If Checkpoint cannot be created, or there is no room for it, Train fails
// before the first epoch. If the disk is full later, the checkpoint is tried again for some time and then written to
// Config.Scratch or the system's folder for temporary files. Training goes on, and writes the next checkpoint to its place if there
// is room. After the last one, or if Checkpoint cannot be written for another reason, the error is an *ElsewhereError.
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
		if err := p.agreed("checkpoint file", p.canWrite(o.Checkpoint)); err != nil {
			return nil, fmt.Errorf("no checkpoint could be written: %w", err)
		}
		t.saving = saving{path: o.Checkpoint, scratch: p.cfg.Scratch, bytes: checkpointBytes(p), writes: p.cfg.Net.Rank() == 0,
			again: p.cfg.Net.Ranks() == 1 || !p.learnsRows(), before: o.OnCheckpoint, full: o.OnFull, net: p.cfg.Net,
			save: func(path string) error { return p.save(path, o.ModelOptions, t.id, t.best) }}
		if err := p.agreed("room for a checkpoint", t.saving.take()); err != nil {
			return nil, fmt.Errorf("no checkpoint could be written: %w", err)
		}
		defer func() { _ = t.saving.space.Close() }()
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
	} else if o.Resume == o.Checkpoint {
		t.saving.newest, t.saving.epoch = o.Resume, p.epoch
	}
	if stopped, err := t.epochs(ctx); err != nil {
		return nil, err
	} else if stopped {
		return t.result(), errors.Join(cmp.Or(ctx.Err(), context.Canceled), t.save(true))
	}
	if err := t.save(true); err != nil {
		return nil, err
	}
	if err := t.finish(); err != nil {
		return nil, err
	}
	return t.result(), nil
}

// epochs trains until the last epoch, or until early stopping or a signal to any rank ends it; stopped tells of a signal.
func (t *trainer) epochs(ctx context.Context) (stopped bool, err error) {
	p, every := t.p, t.o.CheckpointEvery
	p.run.ballot = func() uint64 { return t.ballot(ctx) }
	defer func() { p.run.ballot = nil }()
	if err := t.vote(ctx); err != nil {
		return false, err
	}
	for p.epoch < p.cfg.Epochs && !t.stop() {
		if t.heard&voteStop != 0 {
			return true, nil
		}
		if err := t.epoch(ctx); errors.Is(err, errStopped) {
			return true, nil
		} else if err != nil {
			return false, err
		}
		if err := t.vote(ctx); err != nil {
			return false, err
		}
		if t.due() || every > 0 && p.epoch%every == 0 {
			if err := t.save(false); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// save writes a checkpoint if there was an update since the last one.
func (t *trainer) save(last bool) error {
	p, o := t.p, &t.o
	if o.Checkpoint == "" || t.saved == p.updates() {
		return nil
	}
	placed, err := t.saving.write(p.epoch, last)
	if t.savedAt = time.Now(); placed {
		t.saved = p.updates()
	}
	return err
}

// due tells whether a checkpoint must be written because of CheckpointAfter or CheckpointBatches.
func (t *trainer) due() bool {
	return t.heard&voteSave != 0 || t.every > 0 && t.p.run.count%t.every == 0
}

// stop tells whether the validation loss has not improved for long enough.
func (t *trainer) stop() bool {
	n := t.p.cfg.Patience
	return n > 0 && t.best.Epoch > 0 && t.best.Stale >= n
}

// epoch trains for one epoch, evaluates if it is time, and reports.
func (t *trainer) epoch(ctx context.Context) error {
	p := t.p
	before, start := p.Moved(), time.Now()
	loss, err := p.mode.runEpoch(ctx, t)
	if err != nil {
		return err
	}
	after := p.Moved()
	e := Epoch{Epoch: p.epoch, Loss: loss, Seconds: time.Since(start).Seconds(),
		H2D: after.H2D - before.H2D, D2H: after.D2H - before.D2H, D2D: after.D2D - before.D2D}
	t.loss = loss
	t.took = append(t.took, e.Seconds)
	evaluated := t.counts() || p.epoch == p.cfg.Epochs
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

// errStopped says that an epoch of sampled training was stopped before its last batch.
var errStopped = errors.New("stopped between two batches")

// runEpoch runs the one step of an epoch.
func (p whole) runEpoch(context.Context, *trainer) (loss float64, err error) { return p.Step() }

// runEpoch runs the steps that are left of the epoch.
func (p batched) runEpoch(ctx context.Context, t *trainer) (loss float64, err error) {
	t.every = t.o.CheckpointBatches
	for {
		epoch, number := p.epoch+1, p.run.number+1
		if loss, err = p.Step(); err != nil {
			return 0, err
		}
		if !finite(loss) {
			return 0, &NotFiniteError{epoch, fmt.Sprintf("the loss of update %d is %v", number, loss)}
		}
		if t.o.OnBatch != nil {
			if err := t.o.OnBatch(Batch{epoch, number, p.sampled.draws.Updates(), loss}); err != nil {
				return 0, err
			}
		}
		if p.run.number == 0 {
			return p.epochLoss(), nil
		}
		if t.heard = p.run.heard; p.cfg.Net.Ranks() == 1 {
			t.heard = t.ballot(ctx)
		}
		if t.heard&voteStop != 0 {
			return 0, errStopped
		}
		if t.due() {
			if err := t.save(false); err != nil {
				return 0, err
			}
		}
	}
}

// counts tells whether an evaluation now is one of every EvalEvery epochs, and not just one after the last epoch, which a run that
// goes on does not have.
func (t *trainer) counts() bool { return t.p.epoch%max(1, t.p.cfg.EvalEvery) == 0 }

// evaluate scores the parameters, and keeps them if the validation loss is the lowest so far.
func (t *trainer) evaluate() error {
	p := t.p
	s, err := p.Evaluate()
	if err != nil {
		return err
	}
	if !finite(s.Train.Loss, s.Val.Loss, s.Test.Loss) {
		return &NotFiniteError{p.epoch, fmt.Sprintf("the losses of the splits are %v, %v, %v", s.Train.Loss, s.Val.Loss, s.Test.Loss)}
	}
	if t.scores, t.scored = s, p.epoch; !t.counts() {
		return nil
	}
	if o := &p.cfg.Optimizer.Schedule; o.Kind == ScheduleReduce {
		p.plateau.see(o, s.Val.Loss)
	}
	switch {
	case !t.validates():
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

// finish sets the best parameters, if early stopping has kept them, and makes sure that the scores
// are those of the program's parameters.
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

// validates tells whether there is a validation split.
func (t *trainer) validates() bool {
	return t.p.model.Task == LinkTask || len(t.p.data.Splits(t.p.model.Task)[1]) > 0
}

func (t *trainer) result() *Result {
	p, b := t.p, t.best
	if p.cfg.Patience == 0 && t.validates() && t.scored == p.epoch && (b.Epoch == 0 || t.scores.Val.Loss < b.Scores.Val.Loss) {
		b = best{Epoch: p.epoch, Scores: t.scores} // the last evaluation, where it did not count
	}
	return &Result{Epochs: p.epoch, Loss: t.loss, Final: t.scores, Best: b.Scores, BestEpoch: b.Epoch,
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
