package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

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

// wants finds out what the model learns, and sets by what it is measured.
func (j *job) wants(s *settings, task saga.Task) (w wanted, err error) {
	d := j.data
	w.task = task
	w.classes = map[saga.Task]int{saga.VertexTask: d.Classes, saga.EdgeTask: d.EdgeClasses(), saga.GraphTask: d.GraphClasses()}[task]
	if w.loss, err = s.loss(d, task, w.classes); err != nil {
		return w, err
	}
	j.metric = accuracy
	switch {
	case task == saga.LinkTask:
		j.metric, w.classes = auc, s.linkWidth()
	case numbers(w.loss.Kind):
		j.metric, w.classes = fitR2, max(1, d.Targets.Of(task).Cols)
	case d.Sets(task).Rows != nil:
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
	if err := j.begin(s); err != nil {
		return err
	}
	m, err := j.prep.made(s, d)
	if err != nil {
		return err
	}
	j.model = m
	sampling, _ := s.sampling()
	if sampling == nil {
		return j.compile(m, cfg, s.streams())
	}
	if err := s.cluster(sampling, d); err != nil {
		return err
	}
	s.norms(sampling, d)
	j.prog, err = saga.CompileSampled(m, d, cfg, *sampling)
	return err
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
			e := d.Edges
			if p.SelfLoops {
				e = e.WithSelfLoops()
			}
			p.Layers.Own.Delta = layers.LogDegree(e)
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

// begin reads the weights of --from. A run that goes on has them in its checkpoint.
func (j *job) begin(s *settings) (err error) {
	if s.Training.From == "" || s.past.resumed || j.begun != nil {
		return nil
	}
	if j.begun, err = loadWeights(s.Training.From); err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	s.past.delta = j.begun.Delta()
	return nil
}

// loadWeights reads weights from a file, or from the folder of a run: those that its evaluation has.
func loadWeights(path string) (*layers.Weights, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		path = filepath.Join(path, checkpointFile)
	}
	w, err := layers.ReadWeights(path)
	if err != nil {
		return nil, err
	}
	if about, err := saga.ReadCheckpoint(path); err == nil {
		var prep prepared
		if err := json.Unmarshal([]byte(about.Options), &prep); err == nil && prep.EMA > 0 {
			w.Averaged(prep.EMA)
		}
	}
	return w, nil
}

// give has training begin with the weights of --from, and tells what they score.
func (j *job) give(s *settings, log *slog.Logger) error {
	if j.begun == nil {
		return nil
	}
	values, err := j.begun.For(j.model, j.prep.Layers, j.prog.Params())
	if err != nil {
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
			text += fmt.Sprintf("; %s of %s %.4f", j.metric.name, []string{"training", "validation", "test"}[i], j.metric.of(m))
		}
	}
	log.Info(text)
	return nil
}
