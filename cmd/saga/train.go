package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/internal/words"
	"sagann/saga"
)

// checkpointFile is the name of the checkpoint in a run folder.
const checkpointFile = "checkpoint.safetensors"

// trainCmd is saga train.
type trainCmd struct {
	settings
	Out    string    `json:"-" placeholder:"DIR" group:"run" help:"Folder of the run: absent, empty, or of a run that ended before its first checkpoint; default: saga-run-NNNN here."`
	Saves  saveFlags `embed:"" json:"-"`
	Resume string    `json:"-" placeholder:"DIR" group:"run" help:"Go on with the run in DIR from its last checkpoint, as if it had not stopped; only --epochs (more), --mem, --host-mem, --scratch and --device (as many of the kind) may be given."`
	Show   showFlags `embed:"" json:"-"`
	Ranks  rankFlags `embed:"" json:"-"`
	JSON   bool      `json:"-" name:"json" group:"run" help:"Print one JSON object on the last line of standard output."`

	taken taken
	among *repeated // the runs that this one is of; nil: it is alone
	asked *settings // of a run that goes on, before what it chose then takes their place; nil: the settings
}

// showFlags say what a run shows, and how often it is made.
type showFlags struct {
	Trace   string `json:"-" placeholder:"DIR" group:"run" help:"Folder for the trace of the last epochs; default: the folder of the run."`
	Verbose bool   `json:"-" group:"run" help:"Print the whole plan, too: device and host memory by buffer, and what the compiler did. saga plan --explain prints it without training."`
	Repeat  count  `json:"-" default:"1" placeholder:"N" group:"run" help:"Train N runs, with seeds --seed, --seed+1 and so on, several at a time as far as memory goes, and print mean and deviation; --out is then a folder of their folders, which --resume takes (${default})."`
}

// taken is the folder of a run that this process has taken.
type taken struct {
	unlock func() error // gives up the folder; nil before it is taken
	then   *record      // of a run that goes on: what it has recorded
	edited string       // config.json of a run that goes on, if it is not as the run has written it
}

// saveFlags say when checkpoints are written.
type saveFlags struct {
	CheckpointEvery   count `default:"10" placeholder:"N" group:"run" help:"Epochs between two checkpoints (${default}); 0: only at the end."`
	CheckpointBatches count `default:"0" placeholder:"N" group:"run" help:"Batches of sampled training between two checkpoints within an epoch; 0: none (${default})."`
	CheckpointMinutes count `default:"10" placeholder:"N" group:"run" help:"Minutes after which another checkpoint is written, at the end of the epoch or batch in hand; 0: never by the clock (${default})."`
}

// lockRun takes the folder of a run for this process. A folder that is not there is
// nobody's: what opens it next says so.
func (c *trainCmd) lockRun(log *slog.Logger, dir string) error {
	if c.taken.unlock != nil {
		return nil
	}
	unlock, err := device.LockFolder(dir)
	switch c.taken.unlock = unlock; {
	case errors.Is(err, device.ErrLocked):
		return fmt.Errorf("%s: another process is training in this folder", dir)
	case errors.Is(err, fs.ErrNotExist):
	case err != nil && unlock == nil:
		return fmt.Errorf("%s: cannot be locked: %w", dir, err)
	case err != nil:
		log.Warn("the folder of the run cannot be locked: another process that trained in it would not be noticed", "folder", dir, "why", err)
	}
	return nil
}

// Help is what stands under the usage line.
func (trainCmd) Help() string {
	return `Examples:

  saga train
  saga train --data cora/ --model gcn --hidden 16 --dropout 0.5 --weight-decay 5e-4 --epochs 200
  saga train --data edges.saga --model ggcn --mem 2GiB --out runs/one
  saga train --data edges.saga --model gcn --mem 8GiB --host-mem 16GiB --scratch /mnt/disk
  saga train --data products.saga --model sage --sample 15,10 --batch 1024 --device cuda
  saga train --resume runs/one --epochs 120
  saga train --data cora/ --model gcn --epochs 200 --repeat 10

A run makes a folder, saga-run-0001 and so on, with:

  report.html              curves, scores of every class, times, memory, settings
  checkpoint.safetensors   the parameters, for saga predict, evaluate and embed
  metrics.csv              loss and accuracy of every epoch
  config.json, log.txt     settings, for --config and --resume; what was logged
  loss.png, accuracy.png   curves, also as .svg
  trace.json, trace.pb.gz  the last two epochs, for Perfetto (ui.perfetto.dev) and go tool pprof

Ctrl-C finishes the epoch in hand and writes a checkpoint; --resume goes on from it. Before the first epoch
it ends the run at once.`
}

// Run trains.
func (c *trainCmd) Run(a *app) (err error) {
	if out, ok := a.Stdout.(*cli.Output); ok {
		out.Kept = true
	}
	train := c.run
	if a.Given["repeat"] && c.Show.Repeat != 1 || isRepeated(c.Resume) {
		train = c.repeat
	}
	r, err := c.join(a)
	if err != nil {
		return err
	}
	calm := func() {}
	err = r.leave(train(a, r, &calm)) // a rank that another has told to stop may get the signal itself while it leaves
	calm()
	return err
}

// run trains as one of the ranks t, or alone. It sets calm to what ends the handling of signals.
func (c *trainCmd) run(a *app, t *ranks, calm *func()) (err error) {
	if c.Resume != "" && c.Out != "" {
		return cli.Usagef("--out and --resume exclude each other: a resumed run goes on in its folder")
	}
	if c.Resume != "" && c.Config != "" {
		return cli.Usagef("--config and --resume exclude each other: a resumed run goes on with its own settings")
	}
	if err := c.absolute(); err != nil {
		return err
	}
	j, err := c.ready(a, t)
	if err := t.agree("plan", err); err != nil {
		return errors.Join(err, c.release())
	}
	ctx, stop := cli.Interruptible(a)
	*calm = stop
	return c.finish(ctx, a, t, j)
}

// release gives up the folder of the run.
func (c *trainCmd) release() error {
	if c.taken.unlock == nil {
		return nil
	}
	return c.taken.unlock()
}

// finish trains the run that is ready, until ctx is done.
func (c *trainCmd) finish(ctx context.Context, a *app, t *ranks, j *job) (err error) {
	defer func() {
		if j.prog != nil {
			err = errors.Join(err, j.prog.Close())
		}
		err = errors.Join(err, c.release())
	}()
	if text, err := j.prog.SharedGPUs(); err != nil {
		return err
	} else if text != "" {
		a.Log.Warn(text)
	}
	if t.follows() {
		return t.follow(ctx, c, j)
	}
	r, err := c.begin(a, j)
	if err := t.lead(r, err); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	text := a.Stdout
	if c.JSON {
		text = cli.Quiet(a.Stderr)
	}
	if err := c.outline(text, j, r.folder.Dir); err != nil {
		return err
	}
	if err := r.startTrace(r.done); err != nil {
		return err
	}
	res, err := r.train(ctx)
	if res != nil && r.traced {
		err = errors.Join(err, r.trace(c.Show.Trace))
	}
	switch {
	case errors.Is(err, context.Canceled):
		r.log.Warn("interrupted: the checkpoint is written", "epoch", res.Epochs, "go on with", "saga train --resume "+r.folder.Dir)
		c.page(j, r, res, true)
		return err
	case err != nil:
		return c.advise(err, r)
	}
	err = c.report(text, a.Stdout, j, r, res)
	c.page(j, r, res, false)
	return err
}

// ready prepares the run: its settings, data and program. Nothing is written, but the folder of a run that goes on
// is taken.
func (c *trainCmd) ready(a *app, t *ranks) (j *job, err error) {
	defer func() {
		if err != nil && c.taken.edited != "" {
			err = fmt.Errorf("%s is not as the run has written it: %w", c.taken.edited, err)
		}
	}()
	err = t.agree("settings", c.recalled(a, t)) // planning has ranks wait for each other
	if err == nil {
		err = t.agree("settings", t.alike(&c.settings))
	}
	if err != nil {
		return nil, err
	}
	if !c.Training.Sampling.whole() || c.net != nil {
		a.Idle("a run of batches or of several ranks, whose epochs are not traced", "trace")
	}
	if c.net != nil && !device.IsGPU(c.Memory.Device) {
		a.Idle("ranks without GPUs", "nccl")
	}
	if c.Memory.Scratch == "" {
		c.Memory.Scratch = existing(cmp.Or(c.Resume, c.Out, "."))
	}
	device.Load(c.Memory.Device)
	if err := c.findModel(a, t); err != nil {
		return nil, err
	}
	if c.net == nil { // ranks open some of the GPUs each
		device.Warm(c.Memory.Device, true)
	}
	if text := idleGPU(c.Memory.Device, a.Given["device"] || c.Resume != ""); text != "" && !t.follows() {
		a.Log.Info(text)
	}
	if c.among != nil {
		j, err = c.among.load(&c.settings)
	} else {
		j, err = load(&c.settings)
	}
	if err := t.agree("data", err); err != nil {
		return nil, err
	}
	err = j.plan(&c.settings, a.Log)
	var small *plan.BudgetError
	if errors.As(err, &small) && c.Resume != "" {
		err = fmt.Errorf("%w; a run that goes on keeps its intervals, for the order of sums depends on them: saga train --config %s begins a new run that may choose others", err, c.Resume)
	}
	if err == nil {
		err = c.sameData(j)
	}
	if err == nil {
		err = j.unload(c.Memory.Scratch, a.Log)
	}
	if err == nil {
		err = j.prog.Open()
	}
	if err := t.agree("plan", err); err != nil {
		return j, err
	}
	return j, t.agree("weights", j.give(&c.settings, a.Log))
}

// findModel finds the machine model that the run is planned on, and says what there is to say of it.
func (c *trainCmd) findModel(a *app, t *ranks) error {
	if !device.IsGPU(c.Memory.Device) {
		return nil
	}
	if c.Planning.Machine != "" {
		if text := otherCard(c.Memory.Device, c.Planning.Machine); text != "" {
			a.Log.Warn(text)
		}
		return nil
	}
	f, err := findMachine(c.Memory.Device, t == nil && c.Resume == "")
	if err = t.agree("machine model", err); err != nil {
		return err
	}
	if f, err = t.sameMachine(f); err != nil {
		return err
	}
	if c.Planning.found = f.machine; f.why != "" {
		a.Log.Info("the plan is made for machine "+f.machine, "why", f.why)
	}
	return nil
}

// idleGPU says that there is a GPU which this program could use, and is not told to; told: a device was named.
func idleGPU(spec string, told bool) string {
	names := device.Seen()
	if told || !device.BuiltForCUDA || len(names) == 0 || device.IsGPU(spec) {
		return ""
	}
	return fmt.Sprintf("this machine has a GPU (%s), and --device cuda trains on it; --device cpu says that the processor is meant", names[0])
}

// recalled takes the settings of a run that goes on, and its folder.
func (c *trainCmd) recalled(a *app, t *ranks) (err error) {
	if c.Resume == "" {
		return c.own()
	}
	if !t.follows() {
		if err := c.lockRun(a.Log, c.Resume); err != nil {
			return err
		}
	}
	if err := c.recall(a.Given); err != nil {
		return err
	}
	if c.taken.edited != "" {
		a.Log.Warn("the settings are not as the run has written them: they were edited, and are taken as they are", "file", c.taken.edited)
	}
	return c.own()
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

// within is what a plan takes of a device, and its budget where that is another, or what is free.
func within(s saga.Summary) string {
	switch peak := s.Peak + s.Aside; {
	case s.Free > 0:
		return fmt.Sprintf("%s of the %s that are free of %s", cli.SizeText(peak), cli.SizeText(s.Free), cli.SizeText(s.Card))
	case peak == s.Budget:
		return cli.SizeText(peak)
	default:
		return cli.SizeText(peak) + " of " + cli.SizeText(s.Budget)
	}
}

// outline prints what is trained on which graph, within which memory, and where. With
// --verbose the whole plan follows.
func (c *trainCmd) outline(w io.Writer, j *job, dir string) error {
	s, numbers := j.prog.Summary(), 0
	for _, q := range j.prog.Params() {
		if !strings.HasPrefix(q.Name, saga.AverageOf) {
			numbers += q.Rows * q.Cols
		}
	}
	text := words.Text("model     %s, %d {parameter|parameters}\ngraph     %s: %s\n%smemory    %s on %s; %s of host memory beside the data",
		c.Model.Name, numbers, j.data.Name, cli.Describe(j.data), j.splitText(&c.settings, c.among != nil), within(s), c.Memory.Device, cli.SizeText(s.Host))
	if s.Disk > 0 {
		text += fmt.Sprintf("; %s in files in %s", cli.SizeText(s.Disk), c.Memory.Scratch)
	}
	how := fmt.Sprintf("%d×%d edge chunks, schedule %s", s.Chunks, s.Chunks, s.Schedule)
	if z := j.prog.SampledPlan(); z != nil {
		how = words.Text("%s: %d an epoch, each up to %d {vertex|vertices}", z.Sampler, z.Batches, z.Largest())
		if z.Intervals > 0 {
			how += fmt.Sprintf("; evaluation over %d×%d edge chunks", z.Intervals, z.Intervals)
		}
		if z.Host != "" {
			text += "\ndraws     on the host: " + z.Host
		}
	}
	text += fmt.Sprintf("\nplan      %s; saga plan or --verbose tells all of it\nrun       %s\n", how, dir)
	if !c.Show.Verbose {
		if j.note != "" {
			text = j.note + "\n" + text
		}
		_, err := io.WriteString(w, text)
		return err
	}
	if _, err := io.WriteString(w, text+"\n"); err != nil {
		return err
	}
	return explain(w, j)
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
