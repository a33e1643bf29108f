package main

import (
	"slices"
	"strings"

	"sagann/backend"
	"sagann/chunk"
	"sagann/layers"
	"sagann/saga"
)

// setting is one that may be without effect.
type setting struct {
	idle bool   // it is given, and nothing reads it
	what string // its flag, and what reads it
}

// idle lists the settings, other than the defaults, that nothing reads with labels of this
// kind and the other settings.
func (s *settings) idle(task saga.Task) (list []string) {
	for _, x := range slices.Concat(s.idleModel(task), s.idleTraining()) {
		if x.idle {
			list = append(list, x.what)
		}
	}
	return list
}

func (s *settings) idleModel(task saga.Task) []setting {
	reads := func(option string) bool { return slices.Contains(layers.Reading(option), s.Model.Name) }
	return []setting{
		{s.Model.Normalize != "" && !reads(layers.ReadsNormalize), "--normalize (of " + listed(layers.Reading(layers.ReadsNormalize)) + ")"},
		{s.Model.Steps != 2 && !reads(layers.ReadsSteps), "--steps (of " + listed(layers.Reading(layers.ReadsSteps)) + ")"},
		{s.Model.Layers != 2 && !reads(layers.ReadsLayers), "--layers (" + s.Model.Name + " has --steps)"},
		{s.Model.Bias != "auto" && s.Model.Bias != "" && !reads(layers.ReadsBias), "--bias (of " + listed(layers.Reading(layers.ReadsBias)) + ")"},
		{s.Model.Heads != 8 && !reads(layers.ReadsHeads), "--heads (of " + listed(layers.Reading(layers.ReadsHeads)) + ")"},
		{s.Model.Readout != "" && s.Model.Readout != string(saga.ReadoutMean) && task != saga.GraphTask, "--readout (of --task graph)"},
		{!reads(layers.ReadsHidden) && (named(s.Model.Activation, "auto") != "" || named(s.Model.Norm, "none") != "" || s.Model.Residual), "--activation, --norm and --residual (of " + listed(layers.Reading(layers.ReadsHidden)) + ")"},
		{task != saga.LinkTask && (s.Link.Head != "" && s.Link.Head != "dot" || s.Link.Width != 0 || s.Link.Disjoint != 0), "--head, --width and --disjoint (of --task link)"},
		{s.Model.Alpha != 0.1 && !reads(layers.ReadsAlpha), "--alpha (of " + listed(layers.Reading(layers.ReadsAlpha)) + ")"},
	}
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
		{whole && named(s.Training.Sampling.SampleNorm, "none") != "", "--sample-norm (of --sample and --sampler)"},
		{whole && s.Training.Sampling.EvalSample != "", "--eval-sample (of --sample and --sampler)"},
		{whole && s.Training.Sampling.Accumulate != 0, "--accumulate (of --sample and --sampler)"},
		{s.Memory.Cache != 0 && !backend.Of(s.Memory.Device).GPU(), "--cache (of --sample on a GPU)"},
		{s.Rate.LRMin != 0 && named(s.Rate.LRSchedule, "none") == "", "--lr-min (of --lr-schedule)"},
		{s.Memory.TF32 && !backend.Of(s.Memory.Device).GPU(), "--tf32 (of GPUs)"},
	}
}

// unread lists what edges have and the model does not read.
func (s *settings) unread(e *chunk.Edges) (list []string) {
	reads := func(part string) bool { return slices.Contains(layers.Reading(part), s.Model.Name) }
	if e.Weight != nil && !(layers.Weighing(s.Model.Normalize) && reads(layers.ReadsNormalize)) && !strings.HasPrefix(s.Training.Sampling.Sampler, "weighted") {
		how := "--normalize " + layers.NormSymWeight + " reads them"
		if !reads(layers.ReadsNormalize) {
			how += ", of " + listed(layers.Reading(layers.ReadsNormalize))
		}
		list = append(list, "weights ("+how+")")
	}
	if e.Types > 0 && !reads(layers.ReadsTypes) {
		list = append(list, "types ("+listed(layers.Reading(layers.ReadsTypes))+" reads them)")
	}
	if e.DataCols > 0 && !reads(layers.ReadsData) {
		list = append(list, "numbers ("+listed(layers.Reading(layers.ReadsData))+" reads them)")
	}
	return list
}
