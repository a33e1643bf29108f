package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"sagann/backend"
	"sagann/dataflow/plan/sim"
	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/layers"
	"sagann/saga"
)

// config is what the engine is told. Its errors, and those of the model's options
// that need no data, are mistakes in the command line.
func (s *settings) config() (saga.Config, error) {
	if s.Model.Name == "auto" {
		s.Model.Name = "gcn"
		if s.Data.Path == builtin { // gates are what that graph is made for
			s.Model.Name = "ggcn"
		}
	}
	c := saga.Config{Device: s.Memory.Device, Mem: int64(s.Memory.Mem), HostMem: int64(s.Memory.HostMem), Scratch: s.Memory.Scratch, Chunks: int(s.Planning.Chunks),
		Prefetch: int(s.Planning.Prefetch), Save: s.Planning.Save, Storage: s.Planning.Storage,
		Seed: uint64(s.Training.Seed), Without: slices.Clone(s.Planning.Without), Epochs: int(s.Training.Epochs), EvalEvery: int(s.Training.EvalEvery), Patience: int(s.Training.Patience),
		Optimizer: saga.Optimizer{Kind: s.Training.Optimizer, LR: s.Training.LR, Momentum: s.Training.Momentum, WeightDecay: s.Training.WeightDecay, DecayAll: s.Training.Decay == "all",
			ClipNorm: s.Training.ClipNorm, Gamma: s.Training.LRDecay, DecayEvery: int(s.Training.LRDecayEvery), Schedule: s.Rate.schedule()}}
	c.Outcome, c.Net = s.past.outcome, s.net
	c.Outcome.Slices = int(s.Planning.Slices)
	c.NoRing = !s.Memory.Ring.Or(true)
	c.TF32 = s.Memory.TF32
	if c.Machine = s.Planning.Machine; c.Machine == "" {
		c.Machine = cmp.Or(s.Planning.found, backend.MachineOf(s.Memory.Device))
	}
	if s.Planning.Schedule != "auto" || c.Machine != "" {
		c.Schedule = s.Planning.Schedule
	}
	if s.Planning.Paper {
		c.Without = append(c.Without, cli.PaperWithout()...)
		if c.Save == saga.SaveAuto || c.Save == "" {
			c.Save = cli.PaperSave
		}
	}
	errs := []error{c.Validate()}
	for name, n := range map[string]count{"steps": s.Model.Steps, "heads": s.Model.Heads} {
		if n < 1 { // 0 is a default of the layers
			errs = append(errs, fmt.Errorf("--%s %d: at least 1", name, n))
		}
	}
	if s.Data.Path == "" {
		errs = append(errs, errors.New("--data is empty: a path, karate or synthetic"))
	}
	errs = append(errs, s.numbers()...)
	if _, err := parseSplit(s.Data.Split); err != nil {
		errs = append(errs, err)
	}
	if err := s.checkSplitTime(); err != nil {
		errs = append(errs, err)
	}
	if _, err := s.sampling(); err != nil {
		errs = append(errs, err)
	}
	try := s.layers(1, 1, 0, 0)
	if try.Task = saga.Task(s.Data.Task); s.Data.Task == "auto" || s.Data.Task == "" { // "" is that of old runs
		try.Task = ""
	}
	_, err := layers.New(s.Model.Name, try)
	if errs = append(errs, err); errors.Join(errs...) != nil {
		return c, cli.Usage(errors.Join(errs...))
	}
	return c, nil
}

// numbers lists what is wrong with numbers that the library takes for something else, such as its default.
func (s *settings) numbers() (errs []error) {
	for _, x := range []struct {
		name  string
		value float32
	}{{"lr", s.Training.LR}, {"huber-delta", s.Training.HuberDelta}, {"lr-decay", s.Training.LRDecay}} {
		if !(x.value > 0) || math.IsInf(float64(x.value), 0) {
			errs = append(errs, fmt.Errorf("--%s %v: must be a number above 0", x.name, x.value))
		}
	}
	if x := s.Model.Alpha; !(x >= 0 && x < 1) {
		errs = append(errs, fmt.Errorf("--alpha %v: from 0 to below 1", x))
	}
	if x := s.Model.Theta; s.Model.Name == "gcn2" && !(x > 0 && !math.IsInf(float64(x), 0)) {
		errs = append(errs, fmt.Errorf("--theta %v: must be a number above 0", x))
	}
	if x := s.Training.EMA; !(x >= 0 && x < 1) {
		errs = append(errs, fmt.Errorf("--ema %v: from 0 to below 1", x))
	}
	if x := s.Rate.LRFactor; !(x >= 0 && x < 1) {
		errs = append(errs, fmt.Errorf("--lr-factor %v: from 0 to below 1", x))
	}
	if s.Training.Epochs < 1 {
		errs = append(errs, errors.New("--epochs 0: at least 1; nothing would be trained"))
	}
	if s.Training.EvalEvery < 1 {
		errs = append(errs, errors.New("--eval-every 0: at least 1"))
	}
	if c := s.Memory.Cache; !(c >= 0 && c <= 1 || c == -1) {
		errs = append(errs, fmt.Errorf("--cache %v: a share from 0 to 1, or -1 for none", c))
	}
	return errs
}

// layers are the options of the model for data of these widths.
func (s *settings) layers(features, classes, edgeData, edgeTypes int) layers.Options {
	return layers.Options{Features: features, Classes: classes, Hidden: int(s.Model.Hidden), Layers: int(s.Model.Layers), Steps: int(s.Model.Steps),
		Heads: int(s.Model.Heads), Dropout: s.Model.Dropout, Normalize: s.Model.Normalize, EdgeData: edgeData, EdgeTypes: edgeTypes,
		Readout: saga.Readout(s.Model.Readout), Bias: s.Model.Bias.Or(true) && slices.Contains(layers.Reading(layers.ReadsBias), s.Model.Name), Init: s.Model.Init,
		Between: layers.Between{Activation: named(s.Model.Between.Activation, "auto"), Norm: named(s.Model.Between.Norm, "none"), Residual: s.Model.Between.Residual, Jump: named(s.Model.Between.Jump, "none"), Project: s.Model.Between.Project && !slices.Contains(notReading(layers.ReadsProject), s.Model.Name)}, Alpha: cmp.Or(s.Model.Alpha, saga.None),
		Own: layers.Own{Theta: s.Model.Theta, Bases: int(s.Model.Bases), Blocks: int(s.Model.Blocks), Edges: named(string(s.Model.EdgeData), "auto")}}
}

// named is name, or "" for the word that stands for none.
func named(name, none string) string {
	if name == none {
		return ""
	}
	return name
}

// task is what labels stand on in d.
func (s *settings) task(d *dataset.Data) saga.Task {
	if s.Data.Task != "auto" && s.Data.Task != "" {
		return saga.Task(s.Data.Task)
	}
	if kinds := d.LabelKinds(); len(kinds) > 0 {
		return kinds[0]
	}
	if d.Targets.Given != nil {
		return saga.LinkTask
	}
	return saga.VertexTask
}

// shaped is the statistics of --shape, in place of data, and the Config.
func (s *settings) shaped(a *app, text string) (shape saga.Shape, cfg saga.Config, err error) {
	if shape, err = cli.ParseShape(text); err != nil {
		return shape, cfg, cli.Usage(err)
	}
	if cfg, err = s.config(); err != nil {
		return shape, cfg, err
	}
	if err = errors.Join(needGraph(a), s.weighs(false, "--shape"), s.numbered(false, "--shape")); err != nil {
		err = cli.Usage(err)
	}
	return shape, cfg, err
}

// numbered refuses --edge-data on where the edges of the graph called name have no numbers.
func (s *settings) numbered(has bool, name string) error {
	if s.Model.EdgeData.Or(false) && slices.Contains(layers.Reading(layers.ReadsDataAsked), s.Model.Name) && !has {
		return fmt.Errorf("--edge-data on: the edges of %s have no numbers", name)
	}
	return nil
}

// weighs refuses --normalize with weights that the graph called name does not have.
func (s *settings) weighs(has bool, name string) error {
	if layers.Weighing(s.Model.Normalize) && slices.Contains(layers.Reading(layers.ReadsNormalize), s.Model.Name) && !has {
		return fmt.Errorf("--normalize %s: the edges of %s have no weights; %s or %s", s.Model.Normalize, name, layers.NormSym, layers.NormNone)
	}
	return nil
}

// weighsAll is weighs for d, of several types for all relations that what is predicted depends on and that have edges.
func (s *settings) weighsAll(d *dataset.Data) error {
	k := d.Vertices.Kinds
	if k == nil {
		return s.weighs(d.Edges.Weight != nil, s.Data.Path)
	}
	var without []string
	_, read := k.Graph.Reach(k.Type)
	for r := range k.Graph.Relations {
		if e := k.Graph.Relations[r].Links.Edges; read[r] && e.Weight == nil && e.E() > 0 {
			without = append(without, k.Graph.FullName(r))
		}
	}
	return s.weighs(without == nil, listed(without))
}

// listed is "a, b and c".
func listed(names []string) string {
	n := len(names) - 1
	if n < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:n], ", ") + " and " + names[n]
}

// dataOptions are those of reading the data.
func (s *settings) dataOptions() dataset.Options {
	o := dataset.Options{Undirected: s.Data.Undirected, Simple: s.Data.Simple, SparseFrom: sparseFrom(s.Data.Features), Rank: s.net.Rank(), Ranks: s.net.Ranks(), Unread: s.Data.sizes}
	if s.Data.older || s.Data.Task == string(saga.VertexTask) {
		o.Vertices = dataset.VertexClasses
	}
	return o
}

// absolute makes paths in Machine and Data independent of the working directory.
func (s *settings) absolute() error {
	if s.Planning.Machine != "" && !slices.Contains(sim.Machines(), s.Planning.Machine) {
		path, err := filepath.Abs(s.Planning.Machine)
		if err != nil {
			return err
		}
		s.Planning.Machine = path
	}
	if s.Training.From != "" {
		path, err := filepath.Abs(s.Training.From)
		if err != nil {
			return err
		}
		s.Training.From = path
	}
	if by, err := parseSplit(s.Data.Split); err == nil && by.from != "" {
		path, err := filepath.Abs(by.from)
		if err != nil {
			return err
		}
		s.Data.Split = path
	}
	if kind, _, _ := strings.Cut(s.Data.Path, ":"); s.Data.Path == "" || s.Data.Path == "karate" || kind == "synthetic" {
		return nil
	}
	path, err := filepath.Abs(s.Data.Path)
	s.Data.Path = path
	return err
}

// changed lists the flags among given whose values differ from those of old.
func (s *settings) changed(old *settings, given map[string]bool) ([]string, error) {
	mine, err := s.asMap()
	if err != nil {
		return nil, err
	}
	theirs, err := old.asMap()
	if err != nil {
		return nil, err
	}
	var list []string
	for name, x := range mine {
		if given[name] && string(x) != string(theirs[name]) {
			list = append(list, fmt.Sprintf("--%s %s (it has %s)", name, x, theirs[name]))
		}
	}
	slices.Sort(list)
	return list, nil
}

func (s *settings) asMap() (m map[string]json.RawMessage, err error) {
	text, err := json.Marshal(savedSettings(*s))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	return m, err
}
