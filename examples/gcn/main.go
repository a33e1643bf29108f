// Command gcn trains a graph convolutional network on Zachary's karate club, which split into two
// groups. It predicts the group of every member from the known groups of four members.
package main

import (
	"fmt"
	"log"

	"sagann/dataset"
	"sagann/ops"
	"sagann/saga"
)

// gcn is a = Σ x_u/√(d_u·d_v), x' = a·W.
func gcn(in, out int, act func(saga.Tensor) saga.Tensor) saga.Layer {
	return saga.Layer{
		Name:      "gcn",
		Dropout:   0.2,
		ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor { return ops.RowScale(e.Src, e.SymNorm()) },
		Gather:    saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			return act(ops.MatMul(v.Accum, p.Weight("W", in, out)))
		},
	}
}

func main() {
	club := dataset.Karate()
	model := saga.Model{
		Name:      "gcn",
		SelfLoops: true,
		Layers: []saga.Layer{
			gcn(club.FeatureCols, 16, ops.ReLU),
			gcn(16, club.Classes, func(x saga.Tensor) saga.Tensor { return x }),
		},
	}
	program, err := saga.Compile(model, club, saga.Config{Seed: 1, Optimizer: saga.Optimizer{LR: 0.02, WeightDecay: 5e-4}})
	if err != nil {
		log.Fatal(err)
	}
	defer program.Close()
	for range 100 {
		if _, err := program.Step(); err != nil {
			log.Fatal(err)
		}
	}
	scores, err := program.Evaluate()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("test accuracy above 0.9: %v\n", scores.Test.Accuracy > 0.9)
}
