// Command link predicts edges of a graph. It hides some edges, trains a GCN on the others with a
// quarter of the memory that keeping everything takes, and scores the hidden edges.
package main

import (
	"context"
	"fmt"
	"os"

	"sagann/dataset"
	"sagann/layers"
	"sagann/ops"
	"sagann/saga"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "link:", err)
		os.Exit(1)
	}
}

func run() error {
	graph, err := dataset.Synthetic(dataset.Spec{Vertices: 2000, Edges: 24000, Features: 16, Classes: 8, Seed: 1})
	if err != nil {
		return err
	}
	// 5 % of the edges are for validation and 10 % for testing; no message passes along them.
	data, err := dataset.SplitLinks(graph, dataset.LinkShares{Val: 0.05, Test: 0.1}, 1)
	if err != nil {
		return err
	}
	model := saga.Model{Name: "gcn", SelfLoops: true, Task: saga.LinkTask, LinkHead: saga.LinkDot, Layers: []saga.Layer{
		layers.GCN(data.FeatureCols, 64, saga.Edge.SymNorm, ops.ReLU),
		layers.GCN(64, 32, saga.Edge.SymNorm, nil),
	}}
	c := saga.Config{Epochs: 60, EvalEvery: 20, Seed: 1, Optimizer: saga.Optimizer{LR: 0.01}}
	whole, err := saga.Compile(model, data, c)
	if err != nil {
		return err
	}
	c.Mem = whole.Summary().Peak / 4
	p, err := saga.Compile(model, data, c)
	if err != nil {
		return err
	}
	defer p.Close()
	res, err := p.Train(context.Background(), saga.TrainOptions{})
	if err != nil {
		return err
	}
	fmt.Printf("in %d chunks, test AUC above 0.8: %v\n", p.Summary().Chunks, res.Final.Test.AUC > 0.8)
	return nil
}
