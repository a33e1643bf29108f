package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"sagann/dataflow/plan"
	"sagann/internal/cli"
	"sagann/internal/runfolder"
	"sagann/internal/runpage"
	"sagann/internal/simd"
	"sagann/saga"
)

// page writes report.json and report.html. Both are about what has been learned, which lies
// in the checkpoint already: what goes wrong here is a warning. It closes the program and gives
// it up, so that the forward pass has the memory of device and host for itself.
func (c *trainCmd) page(j *job, r *running, res *saga.Result, interrupted bool) {
	if err := c.writePage(j, r, res, interrupted); err != nil {
		r.log.Warn("there is no report", "error", err, "try again with", "saga report "+r.folder.Dir)
	}
}

func (c *trainCmd) writePage(j *job, r *running, res *saga.Result, interrupted bool) error {
	rec := &runpage.Record{State: runpage.Finished, Model: c.Model.Name, Data: j.data.Name, Graph: cli.Describe(j.data), Metric: j.metric.name,
		Epochs: res.Epochs, BestEpoch: res.BestEpoch, Kept: res.Epochs, Times: r.times(), Memory: deviceMemory(j, res), Links: links(j, res),
		Versions: []runpage.Fact{{Name: "saga", Value: version()}, {Name: "Go", Value: runtime.Version()}, {Name: "platform", Value: runtime.GOOS + "/" + runtime.GOARCH},
			{Name: "SIMD", Value: fmt.Sprint(simd.Active())}, {Name: "processors", Value: fmt.Sprint(runtime.GOMAXPROCS(0))}}}
	if rec.Changed, _ = c.notDefault(); c.asked != nil {
		rec.Changed, _ = c.asked.notDefault()
	}
	for _, q := range j.prog.Params() {
		rec.Parameters += q.Rows * q.Cols
	}
	if c.Training.Patience > 0 && res.BestEpoch > 0 {
		rec.Kept = res.BestEpoch
	}
	switch {
	case interrupted:
		rec.State = runpage.Interrupted
	case res.Stopped:
		rec.State = runpage.Stopped
	}
	if rec.Times == nil { // no epoch was traced now; one may have been before the run was resumed
		if old, err := runpage.Read(r.folder.Dir); err == nil && old.Record != nil {
			rec.Times = old.Record.Times
		}
	}
	prog := j.prog
	j.prog = nil
	if err := prog.Close(); err != nil {
		return err
	}
	var err error
	if rec.Classes, err = c.classes(j, r.opt.Checkpoint, rec.Memory.Budget); err != nil {
		rec.NoClasses = err.Error()
		if j.metric.key != fitR2.key && j.metric.key != auc.key { // numbers have none
			r.log.Warn("the report says nothing of classes", "why", err)
		}
	}
	if err := r.folder.WriteJSON(runpage.RecordFile, rec); err != nil {
		return err
	}
	return writeReport(r.folder.Dir)
}

// writeReport makes the page of the run in dir from its files.
func writeReport(dir string) error {
	run, err := runpage.Read(dir)
	if err != nil {
		return err
	}
	return cli.WriteWhole((&runfolder.Folder{Dir: dir}).Path(runpage.PageFile), func(w *bufio.Writer) error { return run.Write(w) })
}

// maxLogits is how many bytes of logits are held for the tables of classes: training holds
// no such matrix, so a run that fits must not fail for its report.
const maxLogits = 256 << 20

// classes counts the classes of the test split, or of the validation or training split where
// there is none, by the parameters that the checkpoint gives, within the budget of training.
func (c *trainCmd) classes(j *job, checkpoint string, budget int64) (*runpage.Classes, error) {
	if j.data.Shard != nil {
		return nil, errors.New("no rank has the whole graph; saga evaluate on it has the classes")
	}
	if j.prep.Layers.Task == saga.LinkTask {
		return nil, errors.New("links have no classes; saga evaluate has their scores")
	}
	if numbers(j.prep.Layers.Loss.Kind) {
		return nil, errors.New("the targets are numbers, which have no classes")
	}
	task := cmp.Or(j.prep.Layers.Task, saga.VertexTask)
	truth := labelsOf(j.data, task)
	splits, names := j.data.Splits(task), [3]string{"training", "validation", "test"}
	k := 2
	for k > 0 && len(splits[k]) == 0 {
		k--
	}
	rows := max(len(truth), j.data.Sets(task).Len(), j.data.Edges.V)
	if need, host := 4*int64(rows)*int64(j.prep.Layers.Classes), int64(c.Memory.HostMem); need > maxLogits || host > 0 && need > host {
		return nil, fmt.Errorf("the logits of %d %s would take %s of host memory", rows, task.Plural(), cli.SizeText(need))
	}
	c.net = nil // this process alone makes the page
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	if j.note != "" { // the budget of the built-in graph was chosen
		cfg.Mem = budget
	}
	m, err := j.prep.model(c.Model.Name)
	if err != nil {
		return nil, err
	}
	m.SelfLoops = j.prep.SelfLoops
	logits, classes, err := saga.Predict(m, j.data, cfg, checkpoint)
	if err != nil {
		return nil, err
	}
	var found *runpage.Classes
	if j.multi {
		found = runpage.CountLabels(classes, splits[k], j.data.Sets(task).Rows, logits)
	} else {
		found = runpage.CountClasses(classes, splits[k], truth, saga.Classes(logits, classes))
	}
	found.Split, found.Rows, found.Names = names[k], task.Plural(), j.data.Schema.Of(task).Classes
	return found, nil
}

// times says what the traced epochs' time went to; nil when none was traced.
func (r *running) times() *runpage.Times {
	o := r.job.prog.TraceOverlap()
	if !r.traced || o.Steps == 0 {
		return nil
	}
	mean := func(d time.Duration) float64 { return d.Seconds() / float64(o.Steps) }
	t := &runpage.Times{Epochs: o.Steps, Wall: mean(o.Wall), Compute: mean(o.Compute), H2D: mean(o.H2D), D2H: mean(o.D2H), D2D: mean(o.D2D), Exposed: mean(o.Exposed), Idle: mean(o.Idle)}
	totals, err := r.job.prog.TraceTotals()
	if err != nil {
		return t
	}
	at := map[string]int{}
	for _, x := range totals {
		name := workName(x)
		n, ok := at[name]
		if !ok {
			n = len(t.Work)
			at[name] = n
			t.Work = append(t.Work, runpage.Work{Name: name})
		}
		w := &t.Work[n]
		w.Tasks, w.Bytes, w.Seconds = w.Tasks+x.Tasks, w.Bytes+x.Bytes, w.Seconds+x.Measured.Seconds()
	}
	slices.SortStableFunc(t.Work, func(a, b runpage.Work) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return t
}

// workName tells what tasks do: kernels for which layers, over what, and in which direction
// where a sweep over the graph has one.
func workName(x saga.TaskTotal) string {
	what, known := stageNames[x.Stage]
	if !known {
		what = x.Name
	}
	if x.Layer != "" && x.Bytes == 0 {
		what = strings.ReplaceAll(x.Layer, ",", ", ") + ": " + what
	}
	if x.Sweep == "forward" || x.Sweep == "backward" {
		what += ", " + x.Sweep
	}
	return what
}

// stageNames are the stages of tasks, in words.
var stageNames = map[string]string{
	"SAG": "edges (scatter, apply, gather)", "ApplyEdge": "edges (scatter, apply)", "Gather": "edges (gather)", "ApplyVertex": "vertices", "Globals": "small matrices",
	"Recompute": "made again where it is loaded", "Update": "optimiser", "Zero": "sums set to zero",
	"H2D": "copies to the device", "D2H": "copies from the device", "D2D": "copies between devices",
}

// deviceMemory says what is held where most of a training epoch's device memory is in use.
func deviceMemory(j *job, res *saga.Result) runpage.Memory {
	s, pl := j.prog.Summary(), j.prog.TrainPlan()
	m := runpage.Memory{Budget: s.Budget, Peak: res.Peak, Host: s.Host, Disk: s.Disk}
	for phase := range max(1, len(pl.Spec.Phases)) {
		var parts []runpage.Part
		var sum int64
		for _, b := range pl.Places.Memory {
			if whole := b.From == plan.Whole; b.Bytes > 0 && (whole || b.From <= phase && phase <= b.To) {
				parts = append(parts, runpage.Part{Name: b.Name, Bytes: b.Bytes, Whole: whole})
				sum += b.Bytes
			}
		}
		if sum > total(m.Parts) {
			m.Parts = parts
		}
	}
	slices.SortStableFunc(m.Parts, func(a, b runpage.Part) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return m
}

func total(parts []runpage.Part) (sum int64) {
	for _, p := range parts {
		sum += p.Bytes
	}
	return sum
}

// links says what an epoch moves over each link: of the machine model where there is one, as
// planned, else by direction, as counted.
func links(j *job, res *saga.Result) (list []runpage.Link) {
	if t := j.prog.Predicted(); t != nil {
		for _, l := range t.Links {
			if l.Down+l.Up > 0 {
				list = append(list, runpage.Link{Name: l.Name, Down: l.Down, Up: l.Up})
			}
		}
		return list
	}
	s := j.prog.Summary() // equal to what was counted, and known when no epoch was run
	if s.H2D+s.D2H > 0 {
		list = append(list, runpage.Link{Name: "host and devices", Down: cmp.Or(res.H2D, s.H2D), Up: cmp.Or(res.D2H, s.D2H)})
	}
	if s.D2D > 0 {
		list = append(list, runpage.Link{Name: "between devices", Down: cmp.Or(res.D2D, s.D2D)})
	}
	return list
}
