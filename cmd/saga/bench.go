package main

import "sagann/bench/tables"

// benchCmd is saga bench.
type benchCmd struct{ tables.Commands }

// Help is what stands under the usage line.
func (benchCmd) Help() string {
	return `Measurements of the engine; training needs none of them. saga bench epoch times epochs on this
machine; the others repeat tables of the NGra paper, most of them by simulation.

Examples:

  saga bench epoch --models gcn,gat
  saga bench epoch --device cuda --shape products --models gcn --hidden 256
  saga bench schedules
  saga bench schedules --device cpu --scale 10 --markdown
  saga bench schedules --device cuda --machine h200 --markdown
  saga bench streaming --device cpu --scale 20
  saga bench streaming --device cuda --machine h200 --markdown
  saga bench ring --devices 1,2,4 --machine h200x4
  saga bench sample
  saga bench sample --data products.saga --samplers "neighbours:15,10,5;deepwalk"
  saga bench mine
  saga bench mine --tables patterns,cliques --data cora/ --support 50
  saga bench embed --shapes pokec --children 10,25
  saga bench ablation
  saga bench ablation --models ggcn --machine h200 --part 0.25
  saga bench ablation --models ggcn,gcn --device cuda --machine h200 --mem 2GiB
  saga bench ablation --models ggcn --device cpu:2 --machine cpu --mem 8MiB --shape vertices=2000,edges=40e3,features=32,classes=8`
}
