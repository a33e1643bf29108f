package main

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"sagann/backend"
	"sagann/chunk"
	"sagann/dataset"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/layers"
	"sagann/saga"
	"sagann/sample"
)

// setting is one that may be without effect.
type setting struct {
	idle bool   // it is given, and nothing reads it
	what string // its flag, and what reads it
}

// idle lists the settings, other than the defaults, that nothing reads with labels of this
// kind and the other settings.
func (s *settings) idle(task saga.Task) (list []string) {
	for _, x := range slices.Concat(s.idleModel(task), s.idleOwn(), s.idleTraining()) {
		if x.idle {
			list = append(list, x.what)
		}
	}
	return list
}

// readBy names the models that read an option, or, if that is shorter, those that do not.
func readBy(option string) string {
	with, without := layers.Reading(option), notReading(option)
	if len(with) > len(without) {
		return " (not of " + listed(without) + ")"
	}
	return " (of " + listed(with) + ")"
}

// notReading lists the models that do not read an option.
func notReading(option string) []string {
	return slices.DeleteFunc(layers.Names(), func(name string) bool { return slices.Contains(layers.Reading(option), name) })
}

func (s *settings) idleModel(task saga.Task) []setting {
	reads := func(option string) bool { return slices.Contains(layers.Reading(option), s.Model.Name) }
	headed := task == saga.GraphTask || task == saga.EdgeTask
	jump := named(s.Model.Between.Jump, "none") != ""
	inner := headed || jump || s.Model.Between.Project || reads(layers.ReadsInner) || reads(layers.ReadsLayers) && s.Model.Layers > 1 || task == saga.LinkTask && s.Link.Width == 0
	between, why := reads(layers.ReadsHidden) && (s.Model.Layers > 1 || jump || reads(layers.ReadsFrame)), readBy(layers.ReadsHidden)
	if reads(layers.ReadsHidden) {
		why = " (between layers, and there is one)"
	}
	return []setting{
		{s.Model.Hidden != 32 && !inner, "--hidden (between layers, and there is one)"},
		{s.Model.Init == layers.InitGlorot && !reads(layers.ReadsInit) && task != saga.GraphTask, "--init" + readBy(layers.ReadsInit)},
		{s.Model.SelfLoops.Or(false) && s.Model.Name == "mlp", "--self-loops (mlp reads no edges)"},
		{s.Model.Layers != 2 && !reads(layers.ReadsLayers), "--layers (" + s.Model.Name + " has --steps)"},
		{s.Model.Readout != "" && s.Model.Readout != string(saga.ReadoutMean) && task != saga.GraphTask, "--readout (of --task graph)"},
		{named(s.Model.Between.Activation, "auto") != "" && !between && !s.Model.Between.Project, "--activation" + why},
		{named(s.Model.Between.Norm, "none") != "" && !between, "--norm" + why},
		{s.Model.Between.Residual && !between, "--residual" + why},
		{named(s.Data.EmbeddingInit, string(saga.EmbeddingUnit)) != "" && !strings.HasPrefix(s.Data.Features, "embedding:"), "--embedding-init (of --features embedding:64)"},
		{s.Data.VirtualNode && task != saga.GraphTask, "--virtual-node (of --task graph)"},
		{task != saga.LinkTask && named(s.Link.Head, "dot") != "", "--head (of --task link)"},
		{task != saga.LinkTask && s.Link.Width != 0, "--width (of --task link)"},
		{!slices.Contains([]saga.Task{saga.LinkTask, saga.EdgeTask}, task) && s.Link.Relation != "", "--relation (of --task link and edge)"},
		{task != saga.LinkTask && len(s.Link.Reverse) > 0, "--reverse (of --task link)"},
		{task != saga.LinkTask && s.Link.Disjoint != 0, "--disjoint (of --task link)"},
	}
}

// idleOwn are the settings of single models.
func (s *settings) idleOwn() (list []setting) {
	for _, x := range []struct {
		given        bool
		flag, option string
	}{
		{s.Model.Theta != 0.5 && s.Model.Theta != 0, "--theta", layers.ReadsTheta},
		{s.Model.Between.Project, "--project", layers.ReadsProject},
		{s.Model.Bases > 0, "--bases", layers.ReadsBases},
		{s.Model.Blocks > 0, "--blocks", layers.ReadsBases},
		{named(string(s.Model.EdgeData), "auto") != "", "--edge-data", layers.ReadsDataAsked},
		{s.Model.Alpha != 0.1, "--alpha", layers.ReadsAlpha},
		{s.Model.Bias != "auto" && s.Model.Bias != "", "--bias", layers.ReadsBias},
		{s.Model.Heads != 8, "--heads", layers.ReadsHeads},
		{s.Model.Steps != 2, "--steps", layers.ReadsSteps},
		{s.Model.Normalize != "", "--normalize", layers.ReadsNormalize},
	} {
		list = append(list, setting{x.given && !slices.Contains(layers.Reading(x.option), s.Model.Name), x.flag + readBy(x.option)})
	}
	return list
}

func (s *settings) idleTraining() []setting {
	whole := s.Training.Sampling.whole()
	sampling, err := s.sampling()
	weighs := err == nil && sampling != nil && (sampling.Sampler.EdgeWeight != nil || sampling.Sampler.Top > 0)
	return []setting{
		{weighs && s.Model.Normalize == layers.NormWeight, "--normalize weight (in training, where --sampler " + s.Training.Sampling.Sampler + " gives edges weights of its own)"},
		{s.Training.Momentum != 0 && s.Training.Optimizer != "sgd", "--momentum (of sgd; this is " + s.Training.Optimizer + ")"},
		{s.Training.Decay == "all" && s.Training.WeightDecay == 0, "--decay (of --weight-decay)"},
		{s.Training.LRDecay != 1 && s.Training.LRDecayEvery == 0, "--lr-decay (without --lr-decay-every)"},
		{s.Training.LRDecay == 1 && s.Training.LRDecayEvery != 0, "--lr-decay-every (without --lr-decay)"},
		{whole && s.Training.Sampling.Batch > 0 && s.Training.Sampling.Batch != 1024, "--batch (of --sample and --sampler)"},
		{s.Training.Sampling.sized() && s.Training.Sampling.Batch != 1024, "--batch (--sampler " + s.Training.Sampling.Sampler + " says how large a batch is)"},
		{whole && named(s.Training.Sampling.SampleNorm, "none") != "", "--sample-norm (of --sample and --sampler)"},
		{whole && named(s.Training.Sampling.SampleTime, "none") != "", "--sample-time (of --sample)"},
		{whole && s.Training.Sampling.EvalSample != "", "--eval-sample (of --sample and --sampler)"},
		{whole && s.Training.Sampling.Accumulate != 0, "--accumulate (of --sample and --sampler)"},
		{s.Memory.Cache != 0 && !backend.Of(s.Memory.Device).GPU(), "--cache (of --sample on a GPU)"},
		{s.Training.HuberDelta != 1 && s.Training.Loss != string(saga.LossHuber), "--huber-delta (of --loss huber)"},
		{s.Rate.LRFactor != 0.1 && s.Rate.LRSchedule != string(saga.ScheduleReduce), "--lr-factor (of --lr-schedule plateau)"},
		{s.Rate.LRPatience != 10 && s.Rate.LRSchedule != string(saga.ScheduleReduce), "--lr-patience (of --lr-schedule plateau)"},
		{s.Rate.LREpochs != 0 && s.Rate.LRSchedule != string(saga.ScheduleCosine), "--lr-epochs (of --lr-schedule cosine)"},
		{s.Rate.LRMin != 0 && named(s.Rate.LRSchedule, "none") == "", "--lr-min (of --lr-schedule)"},
		{named(string(s.Memory.Ring), "auto") != "" && devices(s.Memory.Device) < 2, "--ring (of several devices)"},
		{s.Memory.TF32 && !backend.Of(s.Memory.Device).GPU(), "--tf32 (of GPUs)"},
	}
}

// devices is how many devices spec names, 0 if it names none.
func devices(spec string) int {
	n, err := device.Count(spec)
	if err != nil {
		return 0
	}
	return n
}

// idlePlan lists the settings that do not show in the plan that was made.
func (s *settings) idlePlan(p *saga.Program) (list []string) {
	if s.past.outcome.Packing != "" { // a run goes on, with what it chose
		return nil
	}
	for _, x := range []setting{
		{p.Summary().Chunks < 2 && p.SampledPlan() == nil && named(s.Planning.Schedule, "auto") != "", "--schedule (of several chunks; there is one)"},
		{p.Summary().Chunks < 2 && p.SampledPlan() == nil && s.Planning.Prefetch != 0, "--prefetch (of several chunks; there is one)"},
		{s.Planning.Slices > 1 && p.Slices() < int(s.Planning.Slices), fmt.Sprintf("--slices (no sum of this model is gathered in so many parts: %d)", max(1, p.Slices()))},
	} {
		if x.idle {
			list = append(list, x.what)
		}
	}
	return list
}

// tellIdle logs settings that have no effect.
func tellIdle(log *slog.Logger, list []string) {
	if len(list) > 0 {
		log.Warn("settings that have no effect on this run: " + strings.Join(list, ", "))
	}
}

// ofGraphs are the flags that say something of a graph, and nothing of a shape.
var ofGraphs = []string{"undirected", "simple", "virtual-node", "split", "split-time", "split-seed", "row-normalize", "class-weights", "pos-weights"}

// needGraph refuses flags that need a graph, where there are statistics alone.
func needGraph(a *app) error {
	for _, name := range ofGraphs {
		if a.Given[name] {
			return cli.Usagef("--%s is for a graph (--data PATH), and --shape has statistics alone", name)
		}
	}
	return nil
}

// idleScratch tells that --scratch has no effect without a bound on host memory, where nothing else is put there.
func idleScratch(a *app, bound memory) {
	if bound == 0 {
		a.Idle("this run without --host-mem", "scratch")
	}
}

// allEdges are the edges of d or, of several types, edges without ends that have what edges of some relation have.
func allEdges(d *dataset.Data) *chunk.Edges {
	k := d.Vertices.Kinds
	if k == nil {
		return d.Edges
	}
	e := &chunk.Edges{}
	for _, r := range k.Graph.Relations {
		x := r.Links.Edges
		if x.Weight != nil {
			e.Weight = []float32{}
		}
		if x.Time != nil {
			e.Time = []float64{}
		}
		e.Types, e.DataCols = max(e.Types, x.Types), max(e.DataCols, x.DataCols)
	}
	return e
}

// unread lists what edges, of several relations or of one, have and the model does not read.
func (s *settings) unread(e *chunk.Edges, several bool) (list []string) {
	reads := func(part string) bool { return slices.Contains(layers.Reading(part), s.Model.Name) }
	if e.Weight != nil && !(layers.Weighing(s.Model.Normalize) && reads(layers.ReadsNormalize)) && !strings.HasPrefix(s.Training.Sampling.Sampler, "weighted") {
		how := "--normalize " + layers.NormSymWeight + " reads them"
		if several {
			how = "--normalize " + layers.NormWeight + " reads them, where all relations have some"
		}
		if !reads(layers.ReadsNormalize) {
			how += ", of " + listed(layers.Reading(layers.ReadsNormalize))
		}
		list = append(list, "weights ("+how+")")
	}
	if e.Types > 0 && !reads(layers.ReadsTypes) {
		list = append(list, "types ("+listed(layers.Reading(layers.ReadsTypes))+" read them)")
	}
	switch {
	case e.Time == nil || named(s.Training.Sampling.SampleTime, "none") != "" || s.Data.SplitTime != "":
	case several:
		list = append(list, "times (--split-time divides links of a relation by them)")
	default:
		list = append(list, "times (--sample-time and --split-time read them)")
	}
	asked := s.Model.Name == "gat" || s.Model.Name == "gatv2"
	switch on := s.Model.EdgeData.Or(!asked); {
	case e.DataCols == 0:
	case reads(layers.ReadsData) && on:
	case asked:
		list = append(list, "numbers (--edge-data on reads them)")
	default:
		list = append(list, "numbers ("+listed(layers.Reading(layers.ReadsData))+" read them)")
	}
	return list
}

// tellUniform says where x draws by weights and edges have none.
func tellUniform(log *slog.Logger, d *dataset.Data, x *saga.Sampling) {
	by := sample.WeightedNeighbours().Name
	var none []string
	if k := d.Vertices.Kinds; k == nil {
		if x.Sampler.Name == by && d.Edges.Weight == nil && d.Shard == nil {
			none = []string{d.Name}
		}
	} else {
		for i, r := range k.Graph.Relations {
			s := x.Sampler
			for _, name := range []string{r.Name, k.Graph.FullName(i)} {
				if own, ok := x.Relations[name]; ok {
					s = own
				}
			}
			if s.Name == by && r.Links.Edges.Weight == nil {
				none = append(none, k.Graph.FullName(i))
			}
		}
	}
	if len(none) > 0 {
		log.Warn("weighted draws by the weights of edges, and those of " + listed(none) + " have none: each in-edge is drawn with equal probability, as by neighbours")
	}
}
