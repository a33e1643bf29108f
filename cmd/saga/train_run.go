package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"time"

	"sagann/backend"
	"sagann/internal/cli"
	"sagann/internal/progress"
	"sagann/internal/runfolder"
	"sagann/saga"
)

// running is a run with its folder.
type running struct {
	job     *job
	opt     saga.TrainOptions
	folder  *runfolder.Folder
	metrics *runfolder.Metrics
	logFile *os.File
	log     *slog.Logger
	stderr  *os.File
	epochs  int       // to be completed
	done    int       // before this process
	ranks   bool      // there are several, and no trace
	late    bool      // only the last epochs are run with a trace
	tracing bool      // epochs are traced from now on
	traced  bool      // one was
	among   *repeated // the runs that this one is of; nil: it is alone
	seed    int
	took    time.Duration // by the epochs of this process with their evaluation
}

// begin opens the run folder, a new one or the one that is resumed. It is the first
// thing that a run writes.
func (c *trainCmd) begin(a *app, j *job) (*running, error) {
	r := &running{job: j, among: c.among, seed: int(c.Training.Seed), ranks: c.net != nil, stderr: a.Stderr, log: a.Log, epochs: int(c.Training.Epochs), late: backend.Of(c.Memory.Device).GPU()}
	if err := r.open(c); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *running) open(c *trainCmd) (err error) {
	j := r.job
	switch {
	case c.Resume != "":
		r.folder, err = runfolder.Open(c.Resume)
	case c.Out != "":
		r.folder, err = runfolder.CreateAt(c.Out, checkpointFile, func(dir string) error { return c.lockRun(r.log, dir) })
	default:
		r.folder, err = runfolder.Create(".")
	}
	if err == nil {
		err = c.lockRun(r.log, r.folder.Dir)
	}
	if err == nil {
		err = r.folder.Tidy()
	}
	if err != nil {
		return err
	}
	prep, err := json.Marshal(j.prep)
	if err != nil {
		return err
	}
	path := r.folder.Path(checkpointFile)
	r.opt = saga.TrainOptions{Checkpoint: path, CheckpointEvery: int(c.Saves.CheckpointEvery), ModelOptions: string(prep),
		CheckpointBatches: int(c.Saves.CheckpointBatches), CheckpointAfter: time.Duration(c.Saves.CheckpointMinutes) * time.Minute}
	done := 0
	if c.Resume != "" {
		ck, err := saga.ReadCheckpoint(path)
		switch {
		case err == nil:
			done, r.opt.Resume = ck.Epoch, path
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if done > r.epochs {
			return cli.Usagef("the run in %s has done %d epochs, and --epochs %d is fewer: %d or more", c.Resume, done, r.epochs, done)
		}
		// The checkpoint is read again, and held against the program, before any
		// file of the run changes.
		if r.opt.Resume != "" {
			if err := j.prog.Restore(path); err != nil {
				return err
			}
		}
	}
	if err := r.folder.WriteConfig(c.record(j)); err != nil {
		return err
	}
	r.done = done
	missing := false
	if r.metrics, missing, err = r.folder.OpenMetrics(done); err != nil {
		return err
	} else if missing {
		r.log.Warn("metrics.csv is not there: a new one and the curves begin after the last checkpoint", "epoch", done)
	}
	r.opt.OnCheckpoint = r.metrics.Sync
	r.opt.OnFull = func(err error) {
		r.log.Warn("a checkpoint finds the disk full", "why", err)
	}
	if r.logFile, err = r.folder.Log(); err != nil {
		return err
	}
	r.log = alsoTo(r.log, r.logFile)
	what := "a new run"
	if c.Resume != "" {
		what = "a run goes on"
	}
	r.log.Info(what, "folder", r.folder.Dir, "after epoch", done, "model", c.Model.Name, "graph", cli.Describe(j.data))
	return nil
}

// train runs the epochs under a progress bar and draws the curves.
func (r *running) train(ctx context.Context) (*saga.Result, error) {
	bar, batches, host := progress.New(r.stderr, r.epochs, "epoch"), 1, ""
	if z := r.job.prog.SampledPlan(); z != nil {
		batches, host = z.Batches, z.Host
		bar = progress.New(r.stderr, r.epochs*batches, "batch")
		r.opt.OnBatch = func(b saga.Batch) error {
			if b.Batch < batches { // the last comes with its epoch
				bar.Set((b.Epoch-1)*batches+b.Batch, fmt.Sprintf("epoch %d  loss %.4f", b.Epoch, b.Loss))
			}
			return nil
		}
	}
	score, what := r.job.metric.of, ""
	if m := r.job.metric; m.key != accuracy.key {
		what = m.name + " "
	}
	r.opt.OnEpoch = func(e saga.Epoch) error {
		r.traced = r.traced || r.tracing
		if err := r.startTrace(e.Epoch); err != nil {
			return err
		}
		nan := math.NaN()
		line := runfolder.Epoch{Epoch: e.Epoch, Loss: e.Loss, Train: nan, Val: nan, Test: nan, ValLoss: nan, Seconds: e.Seconds, H2D: e.H2D, D2H: e.D2H, Peak: e.Peak}
		note := fmt.Sprintf("loss %.4f", e.Loss)
		if s := e.Scores; s != nil {
			line.Train = score(s.Train)
			if r.job.has(1) {
				line.Val, line.ValLoss = score(s.Val), s.Val.Loss
				note += fmt.Sprintf("  validation %s%.4f", what, line.Val)
			}
			if r.job.has(2) {
				line.Test = score(s.Test)
			}
		}
		if bar.Set(e.Epoch*batches, note); r.among != nil {
			r.among.log(r.seed, note)
		}
		if z := r.job.prog.SampledPlan(); z != nil && z.Host != host { // since a batch took more room
			host = z.Host
			r.log.Warn("the host draws from now on", "why", host)
		}
		return r.metrics.Append(line)
	}
	start := time.Now()
	res, err := r.job.prog.Train(ctx, r.opt)
	r.took = time.Since(start)
	bar.Finish()
	if res == nil {
		return nil, err
	}
	if res.Epochs > 0 {
		err = errors.Join(err, runfolder.PlotCurvesOf(r.folder.Dir, r.job.metric.name))
	}
	return res, err
}

// tracedEpochs is how many epochs a trace holds.
const tracedEpochs = 2

// startTrace has later epochs traced, when it is time after so many: on GPUs a step that
// is traced is submitted task by task, so the others go without. Batches are not traced.
func (r *running) startTrace(epoch int) error {
	if r.ranks || r.tracing || r.job.prog.SampledPlan() != nil || r.late && epoch < r.epochs-tracedEpochs {
		return nil
	}
	r.tracing = true
	return r.job.prog.StartTrace(tracedEpochs)
}

// trace writes the trace of the last epochs into dir, "" for the folder of the run.
func (r *running) trace(dir string) error {
	level := slog.LevelInfo
	if dir == "" { // nobody asked for it
		dir, level = r.folder.Dir, slog.LevelDebug
	}
	if err := r.job.prog.WriteTrace(dir); err != nil {
		return err
	}
	r.log.Log(context.Background(), level, "trace of the last epochs", "folder", dir, "overlap", r.job.prog.TraceOverlap().String())
	return nil
}

func (r *running) close() error {
	var err error
	if r.metrics != nil {
		err = r.metrics.Close()
	}
	if r.logFile != nil {
		err = errors.Join(err, r.logFile.Close())
	}
	return err
}
