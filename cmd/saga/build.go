package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/layers"
	"sagann/saga"
)

// wanted is what a model learns.
type wanted struct {
	task    saga.Task
	loss    saga.Loss
	classes int // or columns of numbers, or of rows that links are scored by
}

// wants is what a model learns from d.
func (s *settings) wants(d *dataset.Data, task saga.Task) (w wanted, err error) {
	w.task, w.classes = task, task.ClassesOf(d)
	if w.loss, err = s.loss(d, task, w.classes); err != nil {
		return w, err
	}
	switch {
	case task == saga.LinkTask:
		w.classes = s.linkWidth()
	case numbers(w.loss.Kind):
		w.classes = max(1, d.Targets.Of(task).Cols)
	}
	return w, nil
}

// wants is what the model learns; the job is told by what it is measured.
func (j *job) wants(s *settings, task saga.Task) (w wanted, err error) {
	if w, err = s.wants(j.data, task); err != nil {
		return w, err
	}
	j.metric = accuracy
	switch {
	case task == saga.LinkTask:
		j.metric = auc
	case numbers(w.loss.Kind):
		j.metric = fitR2
	case j.data.Sets(task).Rows != nil:
		j.multi, j.metric = true, microF1
	}
	return w, nil
}

// build makes the model and compiles it.
func (j *job) build(s *settings, cfg saga.Config, w wanted) error {
	d := j.data
	j.prep.Layers = s.layers(j.prep.columns(d), w.classes, d.Edges.DataCols, d.Edges.Types)
	j.prep.Layers.Task, j.prep.Layers.Loss = w.task, w.loss
	if w.task == saga.LinkTask {
		j.prep.Layers.LinkHead = saga.LinkHead(s.Link.Head)
	}
	m, err := j.prep.made(s, d)
	if err != nil {
		return err
	}
	j.model = m
	sampling, _ := s.sampling()
	if sampling == nil {
		return s.widths(d, j.compile(m, cfg, s.streams()))
	}
	if err := s.cluster(sampling, d); err != nil {
		return err
	}
	s.norms(sampling, d)
	j.prog, err = saga.CompileSampled(m, d, cfg, *sampling)
	return s.widths(d, inIDs(d, err))
}

// made is the model of the settings for d, on which p has been settled.
func (p *prepared) made(s *settings, d *dataset.Data) (saga.Model, error) {
	p.EMA = s.Training.EMA
	m, err := p.model(s.Model.Name)
	if err != nil {
		return m, err
	}
	p.SelfLoops = s.Model.SelfLoops.Or(m.SelfLoops)
	if slices.Contains(layers.Reading(layers.ReadsDelta), s.Model.Name) {
		if p.Layers.Own.Delta = s.past.delta; s.past.delta == 0 {
			if d.Shard != nil {
				return m, cli.Usagef("--model %s: no process has the degrees of all vertices of shards, which it scales by", s.Model.Name)
			}
			p.Layers.Own.Delta = logDegree(d, p.SelfLoops)
		}
		if m, err = p.model(s.Model.Name); err != nil {
			return m, err
		}
	}
	m.SelfLoops = p.SelfLoops
	if s.Training.Freeze != "" {
		m.Frozen = strings.Split(s.Training.Freeze, ",")
	}
	return m, nil
}

// logDegree is layers.LogDegree of d, or the mean over all relations that its labels depend on, each with all vertices of its target type.
func logDegree(d *dataset.Data, loops bool) float32 {
	looped := func(e *chunk.Edges) *chunk.Edges {
		if loops {
			e = e.WithSelfLoops()
		}
		return e
	}
	k := d.Vertices.Kinds
	if k == nil {
		return layers.LogDegree(looped(d.Edges))
	}
	sum, vertices := 0.0, 0
	_, reached := k.Graph.Reach(k.Type)
	for i, r := range k.Graph.Relations {
		if !reached[i] {
			continue
		}
		e := *r.Links.Edges
		if r.Source == r.Target {
			e = *looped(&e)
		}
		e.V = k.Graph.Types[r.Target].Rows.Edges.V // others have no edge
		sum, vertices = sum+float64(e.V)*float64(layers.LogDegree(&e)), vertices+e.V
	}
	return float32(sum / float64(max(vertices, 1)))
}

// begin reads the weights of --from. A run that goes on has them in its checkpoint.
func (j *job) begin(s *settings) error {
	if s.Training.From == "" || s.past.resumed {
		return nil
	}
	w, about, prep, err := loadWeights(s.Training.From)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	j.begun, s.past.delta = w, w.Delta()
	if about != nil {
		s.past.schema, s.past.data, s.past.delta = about.Schema, prep.plain(), prep.Layers.Own.Delta
	}
	return nil
}

// likeRun brings the data into the form of those that the run of --from was trained on: columns, relations and classes by their names.
func (j *job) likeRun(s *settings, task saga.Task, log *slog.Logger) error {
	schema, by := s.past.schema, dataset.Sides{Run: s.Training.From, Data: j.data.Name}
	if schema == nil || j.data.Shard != nil {
		return nil
	}
	x := *schema // of types and edges, also where rows of vertices are learned or degrees
	fit := x.Fit
	if x.Types != nil || j.data.Vertices.Kinds != nil {
		fit, x.Target = x.FitTarget, ""
	} else if !s.past.data || s.Data.Features == "degree" {
		x.Features = dataset.Features{}
	}
	d, notes, err := fit(j.data, by)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	j.data = d
	if task != saga.LinkTask {
		was, run := j.data.Record().Of(task).Classes, schema.Of(task).Classes
		d, left, more, err := schema.FitLabels(j.data, task, by)
		if err != nil {
			return fmt.Errorf("--from: %w", err)
		}
		if len(left) > 0 {
			return fmt.Errorf("--from: %s has classes that the run does not know: %s", j.data.Name, strings.Join(slices.Sorted(maps.Keys(left)), ", "))
		}
		j.data, notes = d, append(notes, more...)
		if s.Training.listsWeights() && !slices.Equal(was, run) {
			notes = append(notes, fmt.Sprintf("--class-weights and --pos-weights are for the classes of the run, in its order: %.400s", strings.Join(run, ", ")))
		}
	}
	for _, n := range notes {
		log.Warn(n)
	}
	return nil
}

// loadWeights reads weights from a file, or from the folder of a run: those that its evaluation has. Of a run, it also returns what the
// checkpoint says.
func loadWeights(path string) (w *layers.Weights, about *saga.Checkpoint, prep prepared, err error) {
	if _, err = os.Stat(path); err == nil {
		path, err = checkpointIn(path)
	}
	if err != nil {
		return nil, nil, prep, err
	}
	if w, err = layers.ReadWeights(path); err != nil || w.Run() == nil {
		return w, nil, prep, err
	}
	about = w.Run().About()
	if err := json.Unmarshal([]byte(about.Options), &prep); err != nil {
		return nil, nil, prep, fmt.Errorf("%s: the metadata options were not written by saga train: %w", path, err)
	}
	if prep.EMA > 0 {
		w.Averaged(prep.EMA)
	}
	return w, about, prep, nil
}

// give has training begin with the weights of --from, and tells what they score.
func (j *job) give(s *settings, log *slog.Logger) error {
	if j.begun == nil {
		return nil
	}
	if err := j.place(s, log); err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	values, err := j.begun.For(j.model, j.prep.Layers, j.prog.Params(), saga.PartsOf(&j.model, j.data))
	if tellUnread(log, j.begun); err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	for name, x := range values {
		if err := j.prog.SetParam(name, x); err != nil {
			return err
		}
	}
	scores, err := j.prog.Evaluate()
	if err != nil {
		return err
	}
	text := "begins with the weights of " + s.Training.From
	for i, m := range []saga.Metrics{scores.Train, scores.Val, scores.Test} {
		if j.has(i) {
			text += fmt.Sprintf("; %s of %s %s", j.metric.name, []string{"training", "validation", "test"}[i], scoreText(j.metric.of(m)))
		}
	}
	log.Info(text)
	return nil
}

// place gives the vertices of the data their learned rows of the run of --from. New ones keep what was drawn for them.
func (j *job) place(s *settings, log *slog.Logger) error {
	run := j.begun.Run()
	learned := slices.DeleteFunc(j.prog.Params(), func(q saga.Param) bool { return !q.PerVertex })
	if run == nil || len(learned) == 0 {
		return nil
	}
	rows, err := run.Learned(j.data)
	if err != nil || rows == nil {
		return err
	}
	for _, q := range learned {
		fresh, err := j.prog.Param(q.Name)
		if err != nil {
			return err
		}
		if err := j.begun.Place(q.Name, rows, fresh); err != nil {
			return err
		}
	}
	if fresh := len(slices.DeleteFunc(rows, func(r int) bool { return r >= 0 })); fresh > 0 {
		log.Warn(fmt.Sprintf("%d of the %d vertices are new to %s: their learned rows begin as drawn", fresh, j.data.Edges.V, s.Training.From))
	}
	return nil
}
