package main

import (
	"fmt"
	"runtime"

	"sagann/backend"
	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
	"sagann/sample"
)

// program compiles the model of the flags over d, with dropout between layers and Adam, without some passes.
func (e *epochs) program(d *dataset.Data, without ...string) (*saga.Program, error) {
	sizes, err := sizesOf(e.fanouts)
	if err != nil {
		return nil, err
	}
	o := layers.Options{Features: d.FeatureCols, Classes: d.Classes, Hidden: e.hidden, Layers: len(sizes), Dropout: 0.5}
	if e.model == "gat" || e.model == "gatv2" {
		if o.Heads = 8; e.hidden%o.Heads != 0 {
			return nil, fmt.Errorf("-hidden %d: the %d heads of %s share these columns", e.hidden, o.Heads, e.model)
		}
		o.Hidden = e.hidden / o.Heads
	}
	m, err := layers.New(e.model, o)
	if err != nil {
		return nil, err
	}
	m.Layers[0].Dropout = 0 // of what is between layers, as peers have it
	// Nothing is evaluated: invariants of the whole graph would be for that alone.
	c := saga.Config{Seed: 1, Device: e.device, Mem: e.mem, TF32: e.tf32, Without: append([]string{"invariant"}, without...), Optimizer: saga.Optimizer{Kind: "adam", LR: 0.003}}
	if e.device != "" {
		c.Machine = backend.MachineOf(e.device)
	}
	if e.alone {
		c.Without = append(c.Without, "match")
	}
	how := saga.Sampling{Sampler: sample.Neighbours(sizes...), Batch: e.batch, Accumulate: e.accumulate, Cache: e.cache}
	if e.eval != "" {
		if how.Eval, err = sizesOf(e.eval); err != nil {
			return nil, err
		}
	}
	return saga.CompileSampled(m, d, c, how)
}

// epoch trains on every batch once. Each is called with the loss of every update, if it is given.
func epoch(p *saga.Program, each func(loss float64)) error {
	for range p.SampledPlan().Batches {
		x, err := p.Step()
		if err != nil {
			return err
		}
		if each != nil {
			each(x)
		}
	}
	return nil
}

// fresh collects what the program before has left, so that the next is not charged for it.
func fresh() { runtime.GC() }
