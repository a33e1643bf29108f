package sampled

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"time"

	"sagann/backend"
	"sagann/bench/measure"
	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
	"sagann/sample"
)

// program compiles the model of the flags over d, with dropout between layers and Adam, without some passes.
func (e *epochs) program(d *dataset.Data, without ...string) (*saga.Program, error) {
	d, how, layersOf, err := e.sampling(d)
	if err != nil {
		return nil, err
	}
	o := layers.Options{Features: d.FeatureCols, Classes: d.Classes, Hidden: e.With.Hidden, Layers: layersOf, Dropout: 0.5}
	if e.model == "gat" || e.model == "gatv2" {
		if o.Heads = 8; e.With.Hidden%o.Heads != 0 {
			return nil, fmt.Errorf("--hidden %d: the %d heads of %s share these columns", e.With.Hidden, o.Heads, e.model)
		}
		o.Hidden = e.With.Hidden / o.Heads
	}
	m, err := layers.New(e.model, o)
	if err != nil {
		return nil, err
	}
	m.Layers[0].Dropout = 0 // dropout is between layers only, as in the peers
	// Invariants of the whole graph are used only in evaluation, and nothing is evaluated.
	c := saga.Config{Seed: 1, Device: e.With.Device, Mem: e.With.Mem, TF32: e.With.TF32, Without: append([]string{"invariant"}, without...), Optimizer: saga.Optimizer{Kind: "adam", LR: 0.003}}
	if e.With.Device != "" {
		c.Machine = backend.MachineOf(e.With.Device)
	}
	if e.With.Alone {
		c.Without = append(c.Without, "match")
	}
	if e.With.Without != "" {
		c.Without = append(c.Without, strings.Split(e.With.Without, ",")...)
	}
	return saga.CompileSampled(m, d, c, how)
}

// sampling returns the sampling settings of the flags, the number of layers, and the data to sample from: d, with self loops
// if the model needs them.
func (e *epochs) sampling(d *dataset.Data) (*dataset.Data, saga.Sampling, int, error) {
	sizes, err := sizesOf(e.With.Sample)
	if err != nil {
		return nil, saga.Sampling{}, 0, err
	}
	how := saga.Sampling{Sampler: sample.Neighbours(sizes...), Batch: e.With.Batch, Accumulate: e.With.Accumulate, Cache: e.cache}
	if e.With.Eval != "" {
		if how.Eval, err = sizesOf(e.With.Eval); err != nil {
			return nil, how, 0, err
		}
	}
	if e.With.Sampler != "" {
		s, err := sample.Parse(e.With.Sampler, 0)
		if err != nil {
			return nil, how, 0, err
		}
		if how.Sampler = s.Sampler; s.Batch > 0 {
			how.Batch = s.Batch
		}
		if s.Clusters > 0 { // clusters of random vertices, as in NextDoor's measurements
			how.Clusters = make([]uint32, d.Edges.V)
			for v := range how.Clusters {
				how.Clusters[v] = uint32(measure.Mixed(uint64(v)|1<<62) % uint64(s.Clusters))
			}
		}
	}
	loops := slices.Contains(layers.Looped(), e.model)
	if d, err = e.sorted.of(d, loops); err != nil {
		return nil, how, 0, err
	}
	how.Rows = e.sorted.rows[loops]
	how.Sampler.KeepLoops = loops && how.Sampler.Next == nil && how.Sampler.Over == sample.Individual
	return d, how, len(sizes), nil
}

// sortedRows are the sorted rows of one graph, with and without the self loops that some models add. Runs on the same
// graph share them.
type sortedRows struct {
	graph *dataset.Data
	data  map[bool]*dataset.Data // true: with self loops
	rows  map[bool]*sample.Graph
}

// of is d, with added self loops if loops is set. Its rows are in s afterwards.
func (s *sortedRows) of(d *dataset.Data, loops bool) (*dataset.Data, error) {
	if s.graph != d {
		*s = sortedRows{d, map[bool]*dataset.Data{}, map[bool]*sample.Graph{}}
	}
	if s.rows[loops] != nil {
		return s.data[loops], nil
	}
	x := *d
	if loops {
		x.Edges = d.Edges.WithSelfLoops()
	}
	var err error
	s.data[loops] = &x
	s.rows[loops], err = sample.NewGraph(x.Edges)
	return &x, err
}

// turn is the measurements of an epoch.
type turn struct {
	steps       int
	wall        time.Duration
	loss        float64 // mean
	bits        uint64  // a hash of all losses
	before, now *saga.SampledPlan
}

// turns trains for all epochs and calls each after every one. An error of each ends it. The time of the first epoch has no
// meaning.
func (e *epochs) turns(p *saga.Program, each func(n int, t turn) error) error {
	for n := range e.Epochs + 1 {
		t, err := epoch(p, p.SampledPlan().Batches, math.MaxInt64)
		if err != nil {
			return err
		}
		if err := each(n, t); err != nil {
			return err
		}
	}
	return nil
}

// epoch trains for so many batches, or for fewer if they take longer than enough.
func epoch(p *saga.Program, batches int, enough time.Duration) (turn, error) {
	t := turn{before: p.SampledPlan()}
	bits, start := fnv.New64a(), time.Now()
	for t.steps < batches && time.Since(start) < enough {
		x, err := p.Step()
		if err != nil {
			return t, err
		}
		t.steps++
		t.loss += x / float64(t.before.Batches)
		fmt.Fprint(bits, x, " ")
	}
	t.wall, t.now, t.bits = time.Since(start), p.SampledPlan(), bits.Sum64()
	return t, nil
}
