// Command hetero trains an attention of its own over a graph of two vertex types, which it reads from tables: a paper has the topic
// that most of its authors work on, and says nothing about it itself.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sagann/dataset"
	"sagann/ops"
	"sagann/saga"
)

// attention is an R-GAT of one head: ApplyEdge runs for each relation, with weights of its own, ApplyVertex for each vertex type.
func attention(out int, act func(saga.Tensor) saga.Tensor) saga.Layer {
	return saga.Layer{
		Name: "attention",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			from := ops.MatMul(e.Src, p.Weight("from", e.Src.Cols(), out))
			to := ops.MatMul(e.Dst, p.Weight("to", e.Dst.Cols(), out))
			score := ops.RowSum(ops.Mul(ops.LeakyReLU(ops.Add(from, to), 0.2), p.Weight("a", 1, out)))
			return ops.RowScale(from, e.Softmax(score))
		},
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor { // v.Accum is the sum over relations
			own := ops.MatMul(v.Self, p.Weight("own", v.Self.Cols(), out))
			return act(ops.Bias(ops.Add(v.Accum, own), p.Bias("b", out)))
		},
	}
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "hetero:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "hetero")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	papers, authors, writes := "id,pages,topic\n", "id,f0,f1,f2\n", "author,paper\n"
	works := [3]string{"1,0,0", "0,1,0", "0,0,1"}
	for a := range 60 {
		authors += fmt.Sprintf("a%d,%s\n", a, works[a%3])
	}
	for k := range 90 {
		papers += fmt.Sprintf("p%d,%d,t%d\n", k, 5+k%7, k%3)
		for i := range 4 { // three authors of the topic, one of another
			writes += fmt.Sprintf("a%d,p%d\n", (k*7+i*5)%20*3+(k+i/3)%3, k)
		}
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"papers.csv": papers, "authors.csv": authors, "writes.csv": writes} {
		if err := os.WriteFile(path(name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	graph, err := dataset.LoadHeteroTables(dataset.HeteroTables{
		Types: []dataset.TypeTable{
			{Name: "paper", Table: dataset.Tables{Vertices: path("papers.csv"), Label: []string{"topic"}, Features: []string{"pages"}}},
			{Name: "author", Table: dataset.Tables{Vertices: path("authors.csv"), Features: []string{"f*"}}},
		},
		Relations: []dataset.RelationTable{{Source: "author", Name: "writes", Target: "paper", Table: dataset.Tables{Edges: path("writes.csv")}}},
	}, dataset.Options{Undirected: true})
	if err != nil {
		return err
	}
	paper, err := graph.Type("paper")
	if err != nil {
		return err
	}
	data := graph.At(paper)
	if err := dataset.RandomSplit(data, 0.5, 0.25, 1); err != nil {
		return err
	}
	model := saga.Model{Name: "r-gat", Layers: []saga.Layer{attention(8, ops.ELU), attention(data.Classes, func(x saga.Tensor) saga.Tensor { return x })}}
	p, err := saga.Compile(model, data, saga.Config{Epochs: 80, Seed: 1, Optimizer: saga.Optimizer{LR: 0.02}})
	if err != nil {
		return err
	}
	defer p.Close()
	res, err := p.Train(context.Background(), saga.TrainOptions{})
	if err != nil {
		return err
	}
	var names []string
	for _, q := range p.Params() {
		if strings.HasSuffix(q.Name, ".a") {
			names = append(names, q.Name)
		}
	}
	fmt.Printf("attention %s; test accuracy above 0.9: %v\n", strings.Join(names, ", "), res.Final.Test.Accuracy > 0.9)
	return nil
}
