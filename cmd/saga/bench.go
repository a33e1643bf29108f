package main

import "sagann/bench/tables"

// benchCmd is saga bench.
type benchCmd struct {
	Schedules tables.Schedules `cmd:"" help:"Orders of chunks: bytes and times of sag, stage and dest-order (the paper's Figure 14)."`
	Streaming tables.Streaming `cmd:"" help:"Overlap and operator motion on graphs that grow (the paper's Figure 15)."`
	Ring      tables.Ring      `cmd:"" help:"Several devices, with the ring and without (the paper's Figure 16)."`
	Ablation  tables.Ablation  `cmd:"" help:"Every pass left out in turn, simulated; with --device every one added in turn, run."`
	Kernels   tables.Kernels   `cmd:"" help:"Every kernel of an epoch on a GPU against the device's ceilings."`
	Epoch     tables.Epoch     `cmd:"" help:"Times of training epochs on this machine."`
	Sample    tables.Sample    `cmd:"" help:"Samples a second of every sampler, beside what random reads of this machine allow."`
	Embed     tables.Embed     `cmd:"" help:"Embeddings by two layers over sampled trees on a GPU, beside Gunrock's."`
	Auto      tables.Auto      `cmd:"" help:"What auto chooses against an exhaustive search."`
}

// Help is what stands under the usage line.
func (benchCmd) Help() string {
	return `Measurements of the engine; training needs none of them. saga bench epoch times epochs on this
machine; the others repeat tables of the NGra paper, most of them by simulation.

Examples:

  saga bench epoch --models gcn,gat
  saga bench schedules
  saga bench schedules --device cpu --scale 10 --markdown
  saga bench schedules --device cuda --machine h200 --markdown
  saga bench streaming --device cpu --scale 20
  saga bench streaming --device cuda --machine h200 --markdown
  saga bench ring --devices 1,2,4 --machine h200x4
  saga bench sample
  saga bench sample --data products.saga --samplers "neighbours:15,10,5;deepwalk"
  saga bench embed --shapes pokec --children 10,25
  saga bench ablation
  saga bench ablation --models ggcn --machine h200 --part 0.25
  saga bench ablation --models ggcn,gcn --device cuda --machine h200 --mem 2GiB
  saga bench ablation --models ggcn --device cpu:2 --machine cpu --mem 8MiB --shape vertices=2000,edges=40e3,features=32,classes=8`
}
