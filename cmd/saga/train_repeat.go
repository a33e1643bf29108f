package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"sagann/backend"
	"sagann/dataset"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/internal/metrics"
	"sagann/internal/progress"
	"sagann/internal/regular"
	"sagann/internal/runfolder"
	"sagann/internal/runpage"
	"sagann/internal/words"
)

// repeatFile is the file that makes a folder that of several runs.
const repeatFile = runfolder.RepeatFile

// repeatRecord is repeatFile.
type repeatRecord struct {
	Version  string        `json:"saga"`
	Settings savedSettings `json:"settings"` // of the first run; the others differ by the seed
	Runs     int           `json:"runs"`
}

// repeated is several runs of one command, which share the data.
type repeated struct {
	dir   string
	first int // seed
	runs  int
	apart bool // each run draws a split of its own
	base  *job // has the data as they were read; nil before the first run, and where each run reads them itself
	bar   *progress.Bar
	log   func(seed int, note string) // tells of an epoch
}

// seedDir is the folder of the run of a seed.
func (r *repeated) seedDir(seed int) string {
	return filepath.Join(r.dir, fmt.Sprintf("seed-%d", seed))
}

// isRepeated reports whether dir is the folder of several runs.
func isRepeated(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, repeatFile))
	return dir != "" && err == nil
}

// repeat trains --repeat runs, with seeds that follow each other, some side by side, over ranks one after the other.
func (c *trainCmd) repeat(a *app, t *ranks, calm *func()) (err error) {
	switch {
	case c.Show.Repeat == 0:
		return cli.Usagef("--repeat 0: at least 1")
	case c.Memory.HostMem > 0:
		return cli.Usagef("--repeat: --host-mem bounds one run, and several are trained side by side; a loop over --seed keeps to it")
	case c.Resume != "" && c.Out != "":
		return cli.Usagef("--out and --resume exclude each other: resumed runs go on in their folder")
	case c.Resume != "" && !isRepeated(c.Resume):
		return cli.Usagef("--repeat: %s is one run, which --resume goes on with alone", c.Resume)
	case c.Resume != "" && c.Config != "":
		return cli.Usagef("--config and --resume exclude each other: resumed runs go on with their own settings")
	case dataset.IsShards(c.Data.Path):
		return cli.Usagef("--repeat: shards are of one run; name the graph that they were made of")
	}
	if err := cmp.Or(c.absolute(), c.own()); err != nil {
		return err
	}
	r, begun := (*repeated)(nil), (*settings)(nil)
	if !t.follows() {
		r, begun, err = c.repeats(a)
	}
	if err := t.agree("run folder", err); err != nil {
		return errors.Join(err, c.release())
	}
	defer func() { err = errors.Join(err, c.release()) }()
	if r, begun, err = t.repeats(c, r, begun); err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(a)
	*calm = stop
	start := time.Now()
	beside, err := c.trainAll(ctx, a, t, r, begun)
	if errors.Is(err, context.Canceled) {
		a.Log.Warn("interrupted: checkpoints are written", "go on with", "saga train --resume "+r.dir)
	}
	if err != nil || t.follows() {
		return err
	}
	return c.summary(a, r, beside, time.Since(start))
}

// repeats makes or opens the folder of the runs. begun are the settings with which a run begins that has no checkpoint.
func (c *trainCmd) repeats(a *app) (r *repeated, begun *settings, err error) {
	r = &repeated{dir: c.Resume, first: int(c.Training.Seed), runs: int(c.Show.Repeat)}
	begun = &settings{}
	*begun = c.settings
	if c.Resume == "" {
		if isRepeated(c.Out) {
			return nil, nil, fmt.Errorf("%s: the folder of several runs, which would be overwritten: --resume %[1]s goes on with them, another --out begins new ones", c.Out)
		}
		create := func() (*runfolder.Folder, error) { return runfolder.Create(".") }
		if c.Out != "" {
			create = func() (*runfolder.Folder, error) {
				return runfolder.CreateAt(c.Out, checkpointFile, func(dir string) error { return c.lockRun(a.Log, dir) })
			}
		}
		folder, err := create()
		if err == nil {
			r.dir = folder.Dir
			err = c.lockRun(a.Log, folder.Dir)
		}
		if err == nil {
			err = folder.WriteJSON(repeatFile, repeatRecord{version(), savedSettings(c.settings), r.runs})
		}
		return r, begun, err
	}
	if err := c.lockRun(a.Log, c.Resume); err != nil {
		return nil, nil, err
	}
	text, err := regular.ReadFile(filepath.Join(c.Resume, repeatFile), 1<<30)
	if err != nil {
		return nil, nil, err
	}
	plain, edited := runfolder.Unseal(text)
	var rec repeatRecord
	if err := json.Unmarshal(plain, &rec); err != nil || edited {
		return nil, nil, fmt.Errorf("%s: the file is damaged: %w", filepath.Join(c.Resume, repeatFile), errors.Join(err, errors.New("its checksum is that of another text")))
	}
	if given := a.Given["repeat"]; given && r.runs < rec.Runs {
		return nil, nil, cli.Usagef("%s has %d runs, and --repeat %d is fewer: %[2]d or more", c.Resume, rec.Runs, r.runs)
	} else if !given {
		r.runs = rec.Runs
	}
	*begun = settings(rec.Settings)
	begun.net = c.net
	r.first = int(begun.Training.Seed)
	c.overlay(begun, a.Given)
	changed, err := c.settings.changed(begun, a.Given)
	if err == nil && len(changed) > 0 {
		err = cli.Usagef("the runs in %s go on as they were begun, and cannot take %s", c.Resume, listed(changed))
	}
	if err == nil && r.runs > rec.Runs {
		rec.Runs = r.runs
		err = (&runfolder.Folder{Dir: c.Resume}).WriteJSON(repeatFile, rec)
	}
	return r, begun, err
}

// trainAll trains the runs that have not ended, and says how many were side by side.
func (c *trainCmd) trainAll(ctx context.Context, a *app, t *ranks, r *repeated, begun *settings) (beside int, err error) {
	left, err := t.left(r.left(int(begun.Training.Epochs)))
	if err != nil {
		return 0, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	r.bar = progress.New(a.Stderr, len(left)*int(begun.Training.Epochs), "epoch")
	defer r.bar.Finish()
	told := make(chan string)
	r.log = func(seed int, note string) { told <- fmt.Sprintf("seed %d  %s", seed, note) }
	over := make(chan struct{})
	go func() {
		n := 0
		for note := range told {
			n++
			r.bar.Set(n, note)
		}
		close(over)
	}()
	defer func() { close(told); <-over }()
	var all errgroup.Group
	inHand, stop := context.WithCancel(ctx)
	defer stop()
	room := make(chan struct{}, 1)
	for i, seed := range left {
		room <- struct{}{}
		if t.agree("the next run", inHand.Err()) != nil { // that of ranks begins when the one before has ended
			break
		}
		one, quiet := c.oneOf(r, begun, seed), *a
		if quiet.Stdout, quiet.Stderr = io.Discard, null; i > 0 && !t.follows() {
			quiet.Log = newLogger(null)
		}
		j, err := one.ready(&quiet, t)
		if err := t.agree("plan", err); err != nil {
			stop()
			return beside, errors.Join(fmt.Errorf("seed %d: %w", seed, err), all.Wait(), one.release())
		}
		if i == 0 {
			if beside, r.apart = min(len(left), c.beside(j)), j.apart && begun.Data.SplitSeed == 0; t != nil {
				beside = 1
			}
			if err := one.outline(a.Stdout, j, r.dir); err != nil {
				return beside, errors.Join(err, j.prog.Close())
			}
			room = make(chan struct{}, beside)
			room <- struct{}{}
		}
		here := room
		if !t.follows() {
			quiet.Log = newLogger(null)
		}
		all.Go(func() error {
			defer func() { <-here }()
			err := one.finish(inHand, &quiet, t, j)
			if err != nil {
				stop()
			}
			if err != nil && !errors.Is(err, context.Canceled) {
				err = fmt.Errorf("seed %d: %w", seed, err)
			}
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return beside, err
	}
	return beside, ctx.Err()
}

// left are the seeds whose runs have not ended.
func (r *repeated) left(epochs int) (list []int) {
	for seed := r.first; seed < r.first+r.runs; seed++ {
		if page, err := runpage.Read(r.seedDir(seed)); err != nil || !ended(page, epochs) {
			list = append(list, seed)
		}
	}
	return list
}

// ended reports whether a run needs no more epochs.
func ended(p *runpage.Run, epochs int) bool {
	return p.Record != nil && (p.Record.State == runpage.Stopped || p.Record.State == runpage.Finished && p.Record.Epochs >= epochs)
}

// oneOf is the command of the run of a seed.
func (c *trainCmd) oneOf(r *repeated, begun *settings, seed int) *trainCmd {
	one := &trainCmd{settings: *begun, Saves: c.Saves, Ranks: c.Ranks, among: r}
	dir := r.seedDir(seed)
	if _, err := os.Stat(filepath.Join(dir, checkpointFile)); errors.Is(err, fs.ErrNotExist) {
		one.Out = dir
	} else {
		one.settings, one.Resume = c.settings, dir
	}
	if one.Training.Seed = count(seed); c.Show.Trace != "" {
		one.Show.Trace = filepath.Join(c.Show.Trace, filepath.Base(dir))
	}
	one.Memory.Scratch = c.Memory.Scratch
	return one
}

// load is the data of a run: those that all share, with splits and the like of its own. Where weights of another run say what the data
// have to look like, each run reads them.
func (r *repeated) load(s *settings) (*job, error) {
	if s.Training.From != "" {
		return load(s)
	}
	if r.base == nil {
		b, err := load(s)
		if err != nil {
			return nil, err
		}
		if s.Data.RowNormalize.Or(b.data.Report.Form == dataset.PlanetoidForm) {
			dataset.RowNormalize(b.data) // in place, so once
			b.normal = true
		}
		r.base = b
	}
	cfg, err := s.config()
	if err != nil {
		return nil, err
	}
	j, d := *r.base, *r.base.data
	d.Report.Changes, d.Report.Warnings = slices.Clone(d.Report.Changes), slices.Clone(d.Report.Warnings)
	j.cfg, j.data = cfg, &d
	j.prep.Split = s.Data.Split
	return &j, nil
}

// beside is how many runs as j are trained at a time: on CPUs one a processor, as far as --mem, or else the memory that is free, goes.
func (c *trainCmd) beside(j *job) int {
	if backend.Of(c.Memory.Device).GPU() {
		return 1
	}
	s := j.prog.Summary()
	n, need := int64(runtime.GOMAXPROCS(0)), max(1, s.Peak)
	if c.Memory.Mem > 0 {
		return int(max(1, min(n, int64(c.Memory.Mem)/need)))
	}
	if free := device.HostAvailable(); free > 0 {
		need = max(1, int64(devices(c.Memory.Device))*s.Peak+s.Host)
		n = min(n, free*3/4/need+1) // one is there already
	}
	return int(max(1, n))
}

// reached is what the runs of several seeds have reached.
type reached struct {
	metric  metric
	seeds   []int
	epochs  []int
	splits  [3][]float64 // by training, validation and test: of each run, NaN: none
	dirs    []string
	kept    bool // the parameters are those of the lowest validation loss
	average [3]string
}

// scores reads what the runs have reached, and writes the page of all.
func (c *trainCmd) scores(r *repeated) (s reached, err error) {
	var pages []*runpage.Run
	for seed := r.first; seed < r.first+r.runs; seed++ {
		dir := r.seedDir(seed)
		p, err := runpage.Read(dir)
		if err != nil {
			return s, err
		}
		pages = append(pages, p)
		e := p.Kept()
		s.seeds, s.epochs, s.dirs = append(s.seeds, seed), append(s.epochs, e.Epoch), append(s.dirs, dir)
		for k, x := range []float64{e.Train, e.Val, e.Test} {
			s.splits[k] = append(s.splits[k], x)
		}
		s.metric = metricNamed(p.Record)
		s.kept = s.kept || p.Record != nil && p.Record.Kept != p.Record.Epochs
	}
	for k, x := range s.splits {
		if mean, deviation := metrics.Spread(x); math.IsNaN(mean) {
			s.average[k] = "-"
		} else {
			s.average[k] = fmt.Sprintf("%.4f ± %s", mean, scoreText(deviation))
		}
	}
	return s, cli.WriteWhole(filepath.Join(r.dir, runpage.PageFile), func(w *bufio.Writer) error { return runpage.WriteSeveral(w, pages) })
}

// summary tells what the runs have reached.
func (c *trainCmd) summary(a *app, r *repeated, beside int, took time.Duration) error {
	s, err := c.scores(r)
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.PrintJSON(a.Stdout, s.json(r, took))
	}
	first, last := s.seeds[0], s.seeds[len(s.seeds)-1]
	at := "after the last epoch"
	if s.kept {
		at = "with the parameters that each keeps"
	}
	if r.apart {
		at = "each with a split of its own, " + at
	}
	text := words.Text("%-9s train %s  validation %s  test %s  (mean and deviation of %d {run|runs}, seeds %d to %d, %s)\n", s.metric.name, s.average[0], s.average[1], s.average[2], len(s.seeds), first, last, at)
	if beside > 0 {
		text += words.Text("time      %s in all, %d {run|runs} at a time\n", timeText(took.Seconds()), beside)
	} else {
		text += "time      no epoch was run: all runs had ended\n"
	}
	text += fmt.Sprintf("runs      %s to %s\nreport    %s\n", s.dirs[0], s.dirs[len(s.dirs)-1], filepath.Join(r.dir, runpage.PageFile))
	_, err = io.WriteString(a.Stdout, text)
	return err
}

// json is what summary says.
func (s *reached) json(r *repeated, took time.Duration) fields {
	names := []string{"train", "val", "test"}
	var runs []fields
	for i, seed := range s.seeds {
		one := fields{{"seed", seed}, {"epoch", s.epochs[i]}}
		for k, name := range names {
			one = append(one, field{name + "_" + s.metric.key, s.splits[k][i]})
		}
		runs = append(runs, append(one, field{"run", s.dirs[i]}))
	}
	var mean, deviation fields
	for k, name := range names {
		m, d := metrics.Spread(s.splits[k])
		mean, deviation = append(mean, field{name + "_" + s.metric.key, m}), append(deviation, field{name + "_" + s.metric.key, d})
	}
	return fields{{"runs", runs}, {"mean", mean}, {"deviation", deviation}, {"seconds", took.Seconds()}, {"run", r.dir}}
}
