package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeArray writes x, numbers of one type, as a NumPy file of a shape.
func writeArray(t *testing.T, dir, name, descr, shape string, x any) {
	t.Helper()
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	header += strings.Repeat(" ", 63-(len(header)+10)%64) + "\n"
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	for _, part := range []any{uint16(len(header)), []byte(header), x} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, name+".npy"), b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestTypes trains, predicts, evaluates and goes on over a graph of two vertex types with labels of both, and refuses what is not there.
func TestTypes(t *testing.T) {
	dir := t.TempDir()
	graph := filepath.Join(dir, "graph")
	if err := os.Mkdir(graph, 0o777); err != nil {
		t.Fatal(err)
	}
	const papers, authors, edges = 30, 20, 90
	var x, z []float32
	var y, u, ends, back []int64
	for v := range papers {
		y = append(y, int64(v%3))
		x = append(x, float32(v%3), float32(v%5))
	}
	for v := range authors {
		u = append(u, int64(v%2))
		z = append(z, float32(v%4), 1, float32(v%7))
	}
	for k := range edges {
		ends = append(ends, int64(k*7%authors))
	}
	for k := range edges {
		ends = append(ends, int64(k*11%papers))
	}
	back = append(append(back, ends[edges:]...), ends[:edges]...)
	writeArray(t, graph, "paper.x", "<f4", "(30, 2)", x)
	writeArray(t, graph, "author.x", "<f4", "(20, 3)", z)
	writeArray(t, graph, "paper.y", "<i8", "(30,)", y)
	writeArray(t, graph, "author.y", "<i8", "(20,)", u)
	writeArray(t, graph, "author__writes__paper.edge_index", "<i8", "(2, 90)", ends)
	writeArray(t, graph, "paper__rev_writes__author.edge_index", "<i8", "(2, 90)", back)
	run := func(ok bool, want, line string) {
		t.Helper()
		c := command(t, strings.Fields(line)...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if (err == nil) != ok || !strings.Contains(string(out), want) {
			t.Errorf("saga %s: %v, want %q: %s", line, err, want, out)
		}
	}
	for _, model := range []string{"rgcn", "sage", "gcn", "gat", "hgt", "han"} {
		run(true, "with 50 vertices of 2 types and 180 edges of 2 relations", "train --data graph --target paper --model "+model+" --epochs 3 --chunks 5 --out "+model)
		run(true, "classes of 30 vertices", "predict "+model+" --out "+model+".csv")
		run(true, "", "evaluate "+model)
		run(true, "", "train --resume "+model+" --epochs 4")
	}
	run(true, "", "train --data graph --target paper --model rgcn --bases 2 --epochs 1 --out bases")
	run(false, "layers of gin need vertices of all types with as many columns, and the features have: author 3, paper 2; --project", "train --data graph --target paper --model gin --out no")
	run(true, "", "train --data karate --epochs 1 --out plain")
	for _, model := range []string{"gin", "sgc", "tag"} {
		run(true, "", "train --data graph --target paper --project --model "+model+" --epochs 1 --out "+model)
		run(true, "classes of 30 vertices", "predict "+model+" --out "+model+".csv")
	}
	run(true, "20 rows of 32 columns of vertices of type author", "embed sage --type author --out authors.npy")
	run(true, "30 rows of 32 columns of vertices of type paper", "embed sage --type paper --out papers.npy")
	run(false, "--vertices and --add are of vertices of type paper", "embed sage --type author --vertices 1,2 --out no.npy")
	run(false, "there are author, paper", "embed sage --type venue --out no.npy")
	run(false, "has one type of vertices", "embed plain --type author --out no.npy")
	for _, model := range []string{"rgcn", "sage", "gat", "hgt", "han"} {
		run(true, `"writes", "paper")`, "export "+model+" --pyg "+model+".pt")
		run(true, "logits of 30 vertices", "predict "+model+" --write logits --out "+model+"1.csv")
		run(true, "logits of 30 vertices", "predict --weights "+model+".pt --data graph --target paper --model "+model+" --write logits --out "+model+"2.csv")
		a, err := os.ReadFile(filepath.Join(dir, model+"1.csv"))
		b, wrong := os.ReadFile(filepath.Join(dir, model+"2.csv"))
		if err != nil || wrong != nil || string(a) != string(b) {
			t.Errorf("%s: logits of exported weights are\n%s, of the run\n%s (%v, %v)", model, b, a, err, wrong)
		}
		run(true, "begins with the weights of ", "train --data graph --target paper --model "+model+" --from "+model+".pt --epochs 1 --out from-"+model)
	}
	run(false, "nothing like layer1.rev_writes.W", "export gcn --pyg w.pt")
	run(false, "--target NAME names one of", "predict --weights sage.pt --data graph --model sage --out no.csv")
	run(false, "--target paper", "predict --weights sage.pt --data karate --target paper --model sage --out no.csv")
	run(false, "layer1.author.W_root (in PyG author.weight", "predict --weights sage.pt --data graph --target paper --model rgcn --out no.csv")
	run(true, `HGTConv takes its relations in this order: ("author", "writes", "paper"), ("paper", "rev_writes", "author")`, "export hgt --pyg hgt.safetensors")
	run(false, "save the state_dict as a .pt", "predict --weights hgt.safetensors --data graph --target paper --model hgt --out no.csv")
	run(false, "3 blocks do not divide", "train --data graph --target paper --model rgcn --blocks 3 --epochs 1 --out no")
	run(true, "20 vertices of type author, 3 features, 2 classes", "train --data graph --target author --model rgcn --epochs 2 --out authors")
	run(true, "classes of 20 vertices", "predict authors --out authors.csv")
	run(true, "vertices 20 author (3 features), 30 paper (2 features)", "plan --data graph --target paper --model rgcn")
	run(true, "validation", "train --data graph --task link --relation writes --split 0.7,0.15 --model rgcn --head distmult --epochs 3 --out links")
	run(true, "edges and", "evaluate links --out pairs.csv")
	run(true, "rows of", "embed links --out rows.npy")
	run(true, "epoch 4/4", "train --resume links --epochs 4")
	run(true, "probabilities of 18 pairs", "predict links --pairs pairs.csv --out new.csv")
	run(true, "42 links for training, 9 for validation, 9 for testing", "export links --split parts")
	run(false, "parts has a split already", "export links --split parts")
	run(false, "there are author:writes:paper, paper:rev_writes:author", "train --data graph --task link --relation cites --epochs 1 --out no")
	run(false, "--relation NAME names the one that is predicted", "train --data graph --task link --epochs 1 --out no")
	labels := make([]int64, edges)
	for k := range labels {
		labels[k] = ends[k] / 2 % 2
	}
	writeArray(t, graph, "author__writes__paper.edge_labels", "<i8", "(90,)", labels)
	run(true, "test", "train --data graph --task edge --model sage --epochs 3 --out rated")
	run(true, "epoch 4/4", "train --resume rated --epochs 4")
	run(true, "classes of 90 edges, 2 classes", "predict rated --out rates.csv")
	run(true, "scored", "evaluate rated --out scored.csv")
	run(true, "20 rows of 32 columns of vertices of type author", "embed rated --out authors.npy")
	run(true, "30 rows of 32 columns of vertices of type paper", "embed rated --type paper --out papers.npy")
	run(false, "there are author, paper", "embed rated --type venue --out no.npy")
	run(true, "test", "train --data graph --task edge --relation author:writes:paper --model hgt --sample 3,2 --batch 20 --epochs 2 --out rated2")
	run(false, "--relation NAME", "train --data graph --task edge --target paper --epochs 1 --out no")
	run(false, "edges of rev_writes have no labels", "train --data graph --task edge --relation rev_writes --epochs 1 --out no")
	run(false, "no relation", "train --data graph --task edge --relation venue --epochs 1 --out no")
	run(false, "has one relation, without a name", "train --data karate --task edge --relation writes --epochs 1 --out no")
	run(false, "no train.csv", "train --data graph --task edge --split graph --epochs 1 --out no")
	run(true, "for training", "export rated --split rated-parts")
	run(true, "test", "train --data graph --task edge --split rated-parts --epochs 1 --out rated3")
	run(false, "labels of edges (--task edge)", "train --data graph --task graph --target paper --epochs 1 --out no")
	run(false, "it names the edges that --task link predicts", "train --data graph --target paper --relation writes --epochs 1 --out no")
	run(false, "predicts the edges of a relation", "train --data graph --task link --target paper --epochs 1 --out no")
	run(false, "has one relation", "train --data karate --task link --relation writes --epochs 1 --out no")
	run(false, "--target NAME names one of", "train --data graph --model rgcn --epochs 1 --out no")
	run(false, "no vertex type", "train --data graph --target venue --model rgcn --epochs 1 --out no")
	run(true, "neighbours 3,2", "train --data graph --target paper --sample 3,2 --model rgcn --epochs 1 --out batches")
	run(false, "the sampler ladies is for one type", "train --data graph --target paper --sampler ladies:3,2 --model rgcn --epochs 1 --out no")
	run(false, "--target paper", "train --data karate --target paper --epochs 1 --out no")
}
