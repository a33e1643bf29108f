package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/saga"
	"sagann/sample"
)

// whole tells whether training goes over the whole graph.
func (s *samplingFlags) whole() bool { return len(s.Sample) == 0 && s.Sampler == "" }

// alone tells whether evaluation goes over batches, too, so that nothing goes over the whole graph.
func (s *samplingFlags) alone() bool {
	return !s.whole() && (s.EvalSample != "" || named(s.SampleTime, "none") != "")
}

// sized tells whether --sampler says how large a batch is.
func (s *samplingFlags) sized() bool {
	spec, err := sample.Parse(s.Sampler, 1)
	return s.Sampler != "" && err == nil && spec.Batch > 0
}

// sampler is what --sampler says.
func (s *settings) sampler() (*saga.Sampling, error) {
	if list := s.Training.Sampling.Sample; len(list.forAll()) > 0 {
		return nil, fmt.Errorf("--sample %s and --sampler %s: one of them; --sample is neighbours:%[1]s", list.forAll()[0], s.Training.Sampling.Sampler)
	}
	spec, err := sample.Parse(s.Training.Sampling.Sampler, 1) // steps of walks, which are refused
	switch {
	case err != nil:
		return nil, fmt.Errorf("--sampler: %w", err)
	case spec.Sampler.Output == sample.Steps:
		return nil, fmt.Errorf("--sampler %s draws walks; training needs blocks or subgraphs, such as neighbours:15,10 or saint:1000x2", s.Training.Sampling.Sampler)
	}
	return &saga.Sampling{Sampler: spec.Sampler, Batch: cmp.Or(spec.Batch, int(s.Training.Sampling.Batch))}, nil
}

// clusterSize is how many vertices a cluster has where --sampler does not say how many clusters there are.
const clusterSize = 150

// cluster makes the clusters of s, if it is for clusters.
func (s *settings) cluster(x *saga.Sampling, d *dataset.Data) error {
	if x.Sampler.Name != sample.ClusterGCN().Name {
		return nil
	}
	spec, err := sample.Parse(s.Training.Sampling.Sampler, 0)
	if err != nil {
		return err
	}
	g, err := sample.NewGraph(d.Edges)
	if err != nil {
		return err
	}
	n := cmp.Or(spec.Clusters, min(d.Edges.V, max(x.Batch, d.Edges.V/clusterSize)))
	if x.Clusters, err = sample.Partition(g, n); err != nil {
		return cli.Usagef("--sampler %s: %v", s.Training.Sampling.Sampler, err)
	}
	return nil
}

// norms has the seeds of s chosen by the norms of features, if it is mvs. Where features are learned, or there are none, all are chosen with equal
// probability.
func (s *settings) norms(x *saga.Sampling, d *dataset.Data) {
	if x.Sampler.Name != sample.MVS(1).Name {
		return
	}
	if x.Norms = saga.FeatureNorms(d); x.Norms == nil {
		x.Norms = make([]float32, d.Edges.V)
	}
}

// sampling is what --sample, --sampler and --batch say; nil: the whole graph.
func (s *settings) sampling() (*saga.Sampling, error) {
	if s.Training.Sampling.whole() {
		return nil, nil
	}
	if s.Training.Sampling.Batch < 1 {
		return nil, fmt.Errorf("--batch %d: a batch has at least one training vertex, edge, link or graph", s.Training.Sampling.Batch)
	}
	x := &saga.Sampling{Batch: int(s.Training.Sampling.Batch)}
	if s.Training.Sampling.Sampler != "" {
		var err error
		if x, err = s.sampler(); err != nil {
			return nil, err
		}
	}
	if err := s.Training.Sampling.Sample.into(x); err != nil {
		return nil, err
	}
	x.Accumulate, x.Norm, x.Cache = int(s.Training.Sampling.Accumulate), named(s.Training.Sampling.SampleNorm, "none"), s.Memory.Cache
	if x.Times = named(s.Training.Sampling.SampleTime, "none"); x.Times != "" && s.Data.Features == "degree" {
		return nil, errors.New("--features degree counts edges of all times, and --sample-time shows a vertex those up to its own")
	}
	if s.Training.Sampling.EvalSample == "" {
		return x, nil
	}
	var err error
	x.Eval, err = fanouts("--eval-sample", s.Training.Sampling.EvalSample)
	return x, err
}

// fanouts are the numbers of a flag.
func fanouts(flag, list string) (out []int, err error) {
	return fanoutsFrom(1, flag, list)
}

// fanoutsFrom are fanouts of at least so many. -1 stands for all in-edges.
func fanoutsFrom(least int, flag, list string) (out []int, err error) {
	for _, text := range strings.Split(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if n == -1 {
			n = math.MaxInt32
		}
		if err != nil || n < least || n > math.MaxInt32 {
			return nil, fmt.Errorf("%s %s: %q is no fan-out: want how many in-edges a vertex draws, at least %d, for each layer, such as 15,10,5; -1 stands for all", flag, list, text, least)
		}
		out = append(out, n)
	}
	return out, nil
}
