// Command ggnn trains a gated graph network of two steps that share their weights.
package main

import (
	"fmt"
	"log"
	"slices"

	"sagann/dataset"
	"sagann/ops"
	"sagann/saga"
)

func linear(in, out int) saga.Layer {
	return saga.Layer{Name: "linear", ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
		return ops.Bias(ops.MatMul(v.Self, p.Weight("W", in, out)), p.Bias("b", out))
	}}
}

// step is a = Σ x_u·A[type], x' = GRU(a, x): weights A for each type of edge.
func step(n int) saga.Layer {
	return saga.Layer{Name: "gg-nn", Scope: "step",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			return e.MatMulByType(e.Src, p.TypedWeight("A", e.Types, n, n))
		},
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			gate := func(k string, h saga.Tensor) saga.Tensor {
				in, hid := ops.MatMul(v.Accum, p.Weight("W_"+k, n, n)), ops.MatMul(h, p.Weight("U_"+k, n, n))
				return ops.Bias(ops.Add(in, hid), p.Bias("b_"+k, n))
			}
			reset, update := ops.Sigmoid(gate("r", v.Self)), ops.Sigmoid(gate("z", v.Self))
			state := ops.Tanh(gate("n", ops.Mul(reset, v.Self)))
			return ops.Add(state, ops.Mul(update, ops.Sub(v.Self, state)))
		}}
}

func main() {
	graph, err := dataset.Open("synthetic:vertices=1000,edges=16K,features=32,classes=4,seed=1", dataset.Options{})
	check(err)
	e := graph.Edges // both directions of an edge are stored, each with a type of its own
	e.Type, e.Types = slices.Repeat([]uint32{0, 1}, e.E()/2), 2
	layers := []saga.Layer{linear(graph.FeatureCols, 16), step(16), step(16), linear(16, graph.Classes)}
	program, err := saga.Compile(saga.Model{Name: "gg-nn", Layers: layers}, graph, saga.Config{Seed: 1})
	check(err)
	defer program.Close()
	for range 40 {
		_, err := program.Step()
		check(err)
	}
	scores, err := program.Evaluate()
	check(err)
	fmt.Printf("test accuracy above 0.9: %v\n", scores.Test.Accuracy > 0.9)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
