package main

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/internal/words"
	"sagann/layers"
	"sagann/saga"
)

// weightFlags say what a file of weights belongs to, where no run says it.
type weightFlags struct {
	Weights      string `placeholder:"FILE" group:"model" help:"In place of a run: a state_dict of PyTorch Geometric's layers, .pt or .safetensors; --data and --model say what it belongs to."`
	Undirected   bool   `group:"model" help:"With --weights: add the reverse of every edge that has none."`
	Simple       bool   `group:"model" help:"With --weights: drop self loops and repeated edges."`
	Target       string `placeholder:"TYPE" group:"model" help:"With --weights and a graph of several types of vertices: the type that is predicted; default: the only one that has labels."`
	Task         string `default:"auto" placeholder:"WHAT" group:"model" help:"With --weights: what the model predicts, as for saga train."`
	Features     string `default:"auto" placeholder:"WHAT" group:"model" help:"With --weights: what vertices begin with, as for saga train."`
	VirtualNode  bool   `group:"model" help:"With --weights of --task graph: add a vertex to every graph, as for saga train."`
	Loss         string `default:"auto" placeholder:"NAME" group:"model" help:"With --weights: cross-entropy, mse, mae or huber, as for saga train: whether logits are of classes or are numbers."`
	RowNormalize toggle `default:"auto" placeholder:"B" group:"model" help:"With --weights: divide each feature row by the sum of its absolute values, as for saga train."`
	Classes      count  `default:"0" placeholder:"N" group:"model" help:"With --weights: columns of the logits, where the data has no labels that tell."`

	Model modelFlags `embed:"" group:"model"`
}

// flags are the names of those beside --weights.
func (weightFlags) flags() []string {
	return []string{"undirected", "simple", "target", "task", "features", "virtual-node", "loss", "row-normalize", "classes", "model", "hidden", "layers", "steps", "heads", "dropout", "normalize", "activation",
		"norm", "residual", "jk", "project", "alpha", "theta", "bases", "blocks", "edge-data", "readout", "bias", "init", "self-loops"}
}

// weighted runs the model that the flags say with the weights of the file.
func (c *predictCmd) weighted(a *app) (t *trained, logits []float32, cols int, err error) {
	if c.checkpointFlags.Run != "" || c.Checkpoint != "" {
		return nil, nil, 0, cli.Usagef("--weights takes the place of a run: one of them")
	}
	if c.Data == "" {
		return nil, nil, 0, cli.Usagef("--weights needs --data: the graph to run on")
	}
	if err := canWrite("out", c.Out, ".npy", ".csv", ".safetensors"); err != nil {
		return nil, nil, 0, err
	}
	a.Idle("predictions", "dropout", "init")
	cfg, err := c.config(c.Out)
	if err != nil {
		return nil, nil, 0, err
	}
	s := &settings{Model: c.With.Model}
	s.Data = dataFlags{Path: c.Data, Undirected: c.With.Undirected, Simple: c.With.Simple, Task: c.With.Task, Features: c.With.Features, RowNormalize: c.With.RowNormalize, VirtualNode: c.With.VirtualNode}
	s.Training.Loss = c.With.Loss
	if err := saga.LossKind(s.Training.Loss).Check(); err != nil && s.Training.Loss != "auto" {
		return nil, nil, 0, cli.Usage(err)
	}
	if s.Model.Name == "auto" {
		return nil, nil, 0, cli.Usagef("--weights needs --model: the model that they are of")
	}
	w, about, _, err := loadWeights(c.With.Weights)
	if err != nil {
		return nil, nil, 0, fmt.Errorf("--weights: %w", err)
	}
	if about != nil {
		return nil, nil, 0, cli.Usagef("--weights %s: a run knows its model and data: saga predict %s", c.With.Weights, c.With.Weights)
	}
	d, err := cli.OpenAsked(c.Data, c.With.Target, s.dataOptions())
	if err == nil {
		err = typedTask(d, s.task(d))
	}
	if err != nil {
		return nil, nil, 0, err
	}
	warn(a, d)
	if numbers(saga.LossKind(s.Training.Loss)) {
		if err := d.LabelsAsTargets(s.task(d)); err != nil {
			return nil, nil, 0, err
		}
	}
	if s.Data.VirtualNode && s.task(d) == saga.GraphTask {
		if err := dataset.VirtualVertices(d); err != nil {
			return nil, nil, 0, fmt.Errorf("--virtual-node: %w", err)
		}
	}
	t = &trained{path: c.With.Weights, name: c.Data, data: d, about: &saga.Checkpoint{Model: s.Model.Name, Schema: d.Record()}}
	if t.model, err = c.model(a, s, d, &t.prep, w.Delta()); err != nil {
		return nil, nil, 0, err
	}
	logits, cols, err = saga.PredictWith(t.model, d, cfg, func(params []saga.Param) (map[string][]float32, error) {
		values, err := w.For(t.model, t.prep.Layers, params, saga.PartsOf(&t.model, d))
		tellUnread(a.Log, w)
		return values, err
	})
	return t, logits, cols, err
}

// tellUnread names the weights that are of types and relations that labels do not depend on.
func tellUnread(log *slog.Logger, w *layers.Weights) {
	if names := w.Idle(); len(names) > 0 {
		log.Info(words.Text("%d {tensor is|tensors are} not read, as no label depends on the types and relations of {its|their} layers: ", len(names)) + listed(names))
	}
}

// model is the model of s for d, and brings d into the form of s; delta is that of the weights, or 0.
func (c *predictCmd) model(a *app, s *settings, d *dataset.Data, prep *prepared, delta float32) (saga.Model, error) {
	task := s.task(d)
	if task == saga.LinkTask {
		return saga.Model{}, cli.Usagef("--weights: links are predicted from runs")
	}
	e := allEdges(d)
	if err := errors.Join(s.weighs(e.Weight != nil, c.Data), s.numbered(e.DataCols > 0, c.Data)); err != nil {
		return saga.Model{}, err
	}
	for _, x := range slices.Concat(s.idleModel(task), s.idleOwn()) {
		if x.idle {
			tellIdle(a.Log, []string{x.what})
		}
	}
	if err := prep.choose(s.Data.Features, "", d, task); err != nil {
		return saga.Model{}, err
	}
	prep.RowNormalize = s.Data.RowNormalize.Or(d.Report.Form == dataset.PlanetoidForm)
	if err := prep.apply(d, a.Log, leaves); err != nil {
		return saga.Model{}, err
	}
	w, err := s.wants(d, task)
	if err != nil {
		return saga.Model{}, err
	}
	if c.With.Classes > 0 {
		w.classes = int(c.With.Classes)
	}
	if w.classes < 1 {
		return saga.Model{}, cli.Usagef("--weights: %s has no labels of %s: --classes N says how many columns the logits have", c.Data, task.Plural())
	}
	prep.Layers = s.layers(prep.columns(d), w.classes, d.Edges.DataCols, d.Edges.Types)
	prep.Layers.Task, prep.Layers.Loss, s.past.delta = task, w.loss, delta
	return prep.made(s, d)
}
