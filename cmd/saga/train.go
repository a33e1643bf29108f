package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"sagann/internal/progress"
	"sagann/internal/runfolder"
	"sagann/saga"
)

// checkpointFile is the name of the checkpoint in a run folder.
const checkpointFile = "checkpoint.safetensors"

// trainCmd is saga train.
type trainCmd struct {
	settings
	Out             string `json:"-" placeholder:"DIR" group:"Run" help:"Folder of the run, which must be empty or absent; default: saga-run-NNNN here."`
	CheckpointEvery count  `json:"-" default:"10" placeholder:"N" group:"Run" help:"Epochs between two checkpoints (${default}); 0: only at the end."`
	Resume          string `json:"-" placeholder:"DIR" group:"Run" help:"Go on with the run in DIR from its last checkpoint, bit for bit; --epochs may be more, and --mem, --host-mem and --scratch others."`
	Trace           string `json:"-" placeholder:"DIR" group:"Run" help:"Folder for the trace of the last epochs; default: the folder of the run."`
	JSON            bool   `json:"-" name:"json" group:"Run" help:"Print one JSON object on the last line of standard output."`
}

// Help is what stands under the usage line.
func (trainCmd) Help() string {
	return `Examples:

  saga train
  saga train --data cora/ --model gcn --hidden 16 --dropout 0.5 --weight-decay 5e-4 --epochs 200
  saga train --data edges.saga --model ggcn --mem 2GiB --out runs/one
  saga train --data edges.saga --model gcn --mem 8GiB --host-mem 16GiB --scratch /mnt/disk
  saga train --resume runs/one --epochs 120

The run folder keeps config.json, log.txt, metrics.csv, curves of loss and accuracy,
checkpoint.safetensors, and a trace of the last two epochs (on GPUs of a run that does all
of its --epochs): trace.json for Perfetto (ui.perfetto.dev) and trace.pb.gz for go tool
pprof. Ctrl-C finishes the epoch in hand and writes a checkpoint.`
}

// record is config.json.
type record struct {
	Version  string        `json:"saga"`
	Settings settings      `json:"settings"`
	Prepared prepared      `json:"prepared"`
	Plan     planRecord    `json:"plan"`
	Params   []paramRecord `json:"parameters"`
}

type planRecord struct {
	Chunks   int    `json:"chunks"`
	Schedule string `json:"schedule"`
	Save     string `json:"save"`
	// Values stored beside what Save says, and the intervals of what is computed once. nil
	// in runs of versions that did not keep them.
	Store  []string `json:"store"`
	Once   []int    `json:"once_chunks"`
	Slices int      `json:"slices"` // of columns; 0 in runs of versions without
	Packed bool     `json:"packed"` // far ends of edges
	Budget int64    `json:"budget_bytes"`
	Peak   int64    `json:"peak_device_bytes"`
	Digest string   `json:"sum_order_digest"`
}

type paramRecord struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
	Cols int    `json:"cols"`
}

// Run trains.
func (c *trainCmd) Run(a *app) (err error) {
	if c.Resume != "" && c.Out != "" {
		return usagef("--out and --resume exclude each other: a resumed run goes on in its folder")
	}
	if err := c.absolute(); err != nil {
		return err
	}
	if c.Resume != "" {
		if err := c.recall(a.given); err != nil {
			return err
		}
	}
	if c.Scratch == "" {
		c.Scratch = existing(cmp.Or(c.Resume, c.Out, "."))
	}
	j, err := prepare(&c.settings, a.log)
	if err != nil {
		return err
	}
	if err := j.unload(c.Scratch, a.log); err != nil {
		return err
	}
	if err := j.prog.Open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.prog.Close()) }()
	ctx, stop := interruptible(a)
	defer stop()
	r, err := c.begin(a, j)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	text := a.stdout
	if c.JSON {
		text = a.stderr
	}
	if err := explain(text, j); err != nil {
		return err
	}
	if err := r.startTrace(r.done); err != nil {
		return err
	}
	res, err := r.train(ctx)
	if res != nil && r.traced {
		err = errors.Join(err, r.trace(c.Trace))
	}
	switch {
	case errors.Is(err, context.Canceled):
		r.log.Warn("interrupted: the checkpoint is written", "epoch", res.Epochs, "go on with", "saga train --resume "+r.folder.Dir)
		return err
	case err != nil:
		return err
	}
	return c.report(text, a.stdout, j, r, res)
}

// existing is path or the nearest folder above it that is there.
func existing(path string) string {
	for {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return path
		}
		up := filepath.Dir(path)
		if up == path {
			return path
		}
		path = up
	}
}

// interruptible is a context that the first SIGINT or SIGTERM cancels; the second
// ends the process.
func interruptible(a *app) (ctx context.Context, stop func()) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	quiet := context.AfterFunc(ctx, func() {
		cancel()
		a.log.Warn("finishing the epoch in hand; interrupt again to stop at once")
	})
	return ctx, func() { quiet(); cancel() }
}

// recall takes the settings of the run that is resumed.
func (c *trainCmd) recall(given map[string]bool) error {
	f, err := runfolder.Open(c.Resume)
	if err != nil {
		return err
	}
	var rec record
	if err := f.ReadConfig(&rec); err != nil {
		return err
	}
	old := rec.Settings
	if given["epochs"] {
		old.Epochs = c.Epochs
	}
	if given["mem"] { // where things lie changes no bit
		old.Mem = c.Mem
	}
	if given["host-mem"] {
		old.HostMem = c.HostMem
	}
	old.Scratch = c.Scratch
	changed, err := c.settings.changed(&old, given)
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		return usagef("the run in %s goes on as it was begun, and cannot take %s", c.Resume, strings.Join(changed, ", "))
	}
	// What was chosen by simulation stays, also when the numbers of a machine change.
	if old.Save == saga.SaveAuto && rec.Plan.Save != "" {
		old.Save = rec.Plan.Save
	}
	if rec.Plan.Once != nil || old.Machine != "" || machineOf(old.Device) != "" {
		if old.streams() {
			old.Mem = memory(rec.Plan.Budget)
		}
		old.Chunks, old.Schedule = auto(rec.Plan.Chunks), rec.Plan.Schedule
		old.Slices = auto(max(1, rec.Plan.Slices))
		old.store, old.once, old.packing = rec.Plan.Store, rec.Plan.Once, saga.PackingOff
		if rec.Plan.Packed {
			old.packing = saga.PackingOn
		}
	}
	c.settings = old
	return nil
}

// running is a run with its folder.
type running struct {
	job     *job
	opt     saga.TrainOptions
	folder  *runfolder.Folder
	metrics *runfolder.Metrics
	logFile *os.File
	log     *slog.Logger
	stderr  *os.File
	epochs  int  // to be completed
	done    int  // before this process
	late    bool // only the last epochs are run with a trace
	tracing bool // epochs are traced from now on
	traced  bool // one was
}

// begin opens the run folder, a new one or the one that is resumed. It is the first
// thing that a run writes.
func (c *trainCmd) begin(a *app, j *job) (*running, error) {
	r := &running{job: j, stderr: a.stderr, log: a.log, epochs: int(c.Epochs), late: deviceKind(c.Device) == "cuda"}
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
		r.folder, err = runfolder.CreateAt(c.Out)
	default:
		r.folder, err = runfolder.Create(".")
	}
	if err != nil {
		return err
	}
	prep, err := json.Marshal(j.prep)
	if err != nil {
		return err
	}
	path := r.folder.Path(checkpointFile)
	r.opt = saga.TrainOptions{Checkpoint: path, CheckpointEvery: int(c.CheckpointEvery), ModelOptions: string(prep)}
	done := 0
	if c.Resume != "" {
		ck, err := saga.ReadCheckpoint(path)
		switch {
		case err == nil:
			done, r.opt.Resume = ck.Epoch, path
		case !errors.Is(err, fs.ErrNotExist):
			return err
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
	if r.metrics, err = r.folder.OpenMetrics(done); err != nil {
		return err
	}
	if r.logFile, err = r.folder.Log(); err != nil {
		return err
	}
	r.log = alsoTo(r.log, r.logFile)
	what := "a new run"
	if c.Resume != "" {
		what = "a run goes on"
	}
	r.log.Info(what, "folder", r.folder.Dir, "after epoch", done, "model", c.Model, "graph", describe(j.data))
	return nil
}

func (c *trainCmd) record(j *job) record {
	s := j.prog.Summary()
	rec := record{Version: version(), Settings: c.settings, Prepared: j.prep,
		Plan: planRecord{s.Chunks, s.Schedule, j.prog.Saved(), append([]string{}, j.prog.Stored()...),
			append([]int{}, j.prog.Once()...), j.prog.Slices(), j.prog.Packed(), s.Budget, s.Peak, j.prog.Digest()}}
	for _, p := range j.prog.Params() {
		rec.Params = append(rec.Params, paramRecord{p.Name, p.Rows, p.Cols})
	}
	return rec
}

// train runs the epochs under a progress bar and draws the curves.
func (r *running) train(ctx context.Context) (*saga.Result, error) {
	bar := progress.New(r.stderr, r.epochs, "epoch")
	multi := r.job.multi
	r.opt.OnEpoch = func(e saga.Epoch) error {
		r.traced = r.traced || r.tracing
		if err := r.startTrace(e.Epoch); err != nil {
			return err
		}
		nan := math.NaN()
		line := runfolder.Epoch{Epoch: e.Epoch, Loss: e.Loss, Train: nan, Val: nan, Test: nan, Seconds: e.Seconds, H2D: e.H2D, D2H: e.D2H, Peak: e.Peak}
		note := fmt.Sprintf("loss %.4f", e.Loss)
		if s := e.Scores; s != nil {
			line.Train, line.Val, line.Test = score(s.Train, multi), score(s.Val, multi), score(s.Test, multi)
			note += fmt.Sprintf("  validation %.4f", line.Val)
		}
		bar.Set(e.Epoch, note)
		return r.metrics.Append(line)
	}
	res, err := r.job.prog.Train(ctx, r.opt)
	bar.Finish()
	if res == nil {
		return nil, err
	}
	metric := "accuracy"
	if multi {
		metric = "micro-F1"
	}
	if res.Epochs > 0 {
		err = errors.Join(err, runfolder.PlotCurvesOf(r.folder.Dir, metric))
	}
	return res, err
}

// tracedEpochs is how many epochs a trace holds.
const tracedEpochs = 2

// startTrace has later epochs traced, when it is time after so many: on GPUs a step that
// is traced is submitted task by task, so the others go without.
func (r *running) startTrace(epoch int) error {
	if r.tracing || r.late && epoch < r.epochs-tracedEpochs {
		return nil
	}
	r.tracing = true
	return r.job.prog.StartTrace(tracedEpochs)
}

// trace writes the trace of the last epochs into dir, "" for the folder of the run.
func (r *running) trace(dir string) error {
	if dir == "" {
		dir = r.folder.Dir
	}
	if err := r.job.prog.WriteTrace(dir); err != nil {
		return err
	}
	r.log.Info("trace of the last epochs", "folder", dir, "overlap", r.job.prog.TraceOverlap().String())
	return nil
}

// score is the number that stands for a split.
func score(m saga.Metrics, multi bool) float64 {
	if multi {
		return m.MicroF1
	}
	return m.Accuracy
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

// explain prints the plan.
func explain(w io.Writer, j *job) error {
	if j.note != "" {
		if _, err := fmt.Fprintln(w, j.note); err != nil {
			return err
		}
	}
	return j.prog.Explain(w)
}
