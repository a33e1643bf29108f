package main

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/saga"
)

// A run is trained once. Then graphs are drawn, and each is given to it as the run numbers its classes, relations, columns and
// vertices, and in another form: with other numbers, in another order, in another format. Predictions by id and
// scores must be the same.

// world has the names that all graphs of the test use, in the order of training.
var world = struct{ classes, relations, columns, edgeColumns, targets []string }{
	[]string{"red", "green", "blue"}, []string{"likes", "knows", "owns"}, []string{"height", "weight", "age"}, []string{"since", "until"}, []string{"price", "rent"}}

// drawn is a random graph of vertices n0, n1, … of 16.
func drawn(r *rand.Rand, v int, kind string) *dataset.Data {
	e := &chunk.Edges{V: v, Types: len(world.relations), DataCols: len(world.edgeColumns)}
	for range 3 * v {
		e.Src, e.Dst = append(e.Src, uint32(r.IntN(v))), append(e.Dst, uint32(r.IntN(v)))
		e.Type = append(e.Type, uint32(r.IntN(e.Types)))
		e.Data = append(e.Data, r.Float32(), r.Float32())
	}
	d := &dataset.Data{Name: "drawn", Edges: e, FeatureCols: len(world.columns)}
	d.Schema = dataset.Schema{Edges: dataset.EdgeData{Relations: world.relations, Columns: world.edgeColumns}}
	d.Schema.Features.NameColumns(world.columns)
	ids := r.Perm(16)[:v]
	slices.Sort(ids)
	for _, id := range ids {
		d.Vertices.Names = append(d.Vertices.Names, fmt.Sprint("n", id))
		d.Features = append(d.Features, r.Float32(), 2*r.Float32(), 3*r.Float32())
		switch kind {
		case "several":
			d.MultiLabels = append(d.MultiLabels, float32(r.IntN(2)), float32(r.IntN(2)), float32(r.IntN(2)))
		case "numbers":
			d.Targets.Vertex = append(d.Targets.Vertex, r.Float32(), r.Float32())
		default:
			d.Labels = append(d.Labels, int32(r.IntN(3)))
		}
	}
	if kind == "numbers" {
		d.Targets.Cols, d.Schema.Vertex.Targets = 2, world.targets
	} else {
		d.Classes, d.Schema.Vertex.Classes = 3, world.classes
	}
	return d
}

// reordered is list in another order, and where each number goes: list[k] is out[to[k]].
func reordered(r *rand.Rand, list []string) (out []string, to []int) {
	to, out = r.Perm(len(list)), make([]string, len(list))
	for k, x := range list {
		out[to[k]] = x
	}
	return out, to
}

func permuted[T any](x []T, cols int, to []int) []T {
	if x == nil {
		return nil
	}
	out := make([]T, len(x))
	for i := range x {
		out[i/cols*cols+to[i%cols]] = x[i]
	}
	return out
}

// renumbered is d with its classes, relations and columns in another order.
func renumbered(r *rand.Rand, d *dataset.Data) *dataset.Data {
	x, e := *d, *d.Edges
	x.Edges = &e
	var to []int
	names := x.Schema.Features.Names()
	names, to = reordered(r, names)
	x.Schema.Features.NameColumns(names)
	x.Features = permuted(d.Features, len(to), to)
	x.Schema.Edges.Columns, to = reordered(r, d.Schema.Edges.Columns)
	e.Data = permuted(d.Edges.Data, len(to), to)
	x.Schema.Edges.Relations, to = reordered(r, d.Schema.Edges.Relations)
	e.Type = slices.Clone(e.Type)
	for i, t := range e.Type {
		e.Type[i] = uint32(to[t])
	}
	classes := func(names *[]string, labels *[]int32, sets *dataset.Numbers) {
		*names, to = reordered(r, *names)
		*labels, sets.Rows = slices.Clone(*labels), permuted(sets.Rows, max(1, sets.Cols), to)
		for i, c := range *labels {
			(*labels)[i] = int32(to[c])
		}
	}
	classes(&x.Schema.Graph.Classes, &x.GraphLabels, &x.Targets.GraphSets)
	classes(&x.Schema.Edge.Classes, &x.EdgeLabels, &x.Targets.EdgeSets)
	classes(&x.Schema.Vertex.Classes, &x.Labels, &dataset.Numbers{})
	if d.MultiLabels != nil {
		x.MultiLabels = permuted(d.MultiLabels, 3, to)
	}
	if d.Targets.Vertex != nil {
		x.Schema.Vertex.Targets, to = reordered(r, d.Schema.Vertex.Targets)
		x.Targets.Vertex = permuted(d.Targets.Vertex, 2, to)
	}
	return &x
}

// places are those of moved data: the vertex, edge or graph in place i was number list[i].
type places struct{ vertices, edges, graphs []int }

// moved is d with its vertices, edges and graphs in another order.
func moved(r *rand.Rand, d *dataset.Data) (*dataset.Data, places) {
	x, e := *d, d.Edges
	at := r.Perm(e.V)
	to := make([]uint32, e.V)
	x.Features, x.Labels, x.MultiLabels, x.Targets.Vertex, x.Vertices.Names = nil, nil, nil, nil, nil
	row := func(from []float32, v int) []float32 { n := len(from) / e.V; return from[v*n : (v+1)*n] }
	for v, u := range at {
		to[u] = uint32(v)
		x.Features, x.MultiLabels = append(x.Features, row(d.Features, u)...), append(x.MultiLabels, row(d.MultiLabels, u)...)
		x.Targets.Vertex = append(x.Targets.Vertex, row(d.Targets.Vertex, u)...)
		if d.Vertices.Names != nil {
			x.Vertices.Names = append(x.Vertices.Names, d.Vertices.Names[u])
		}
		if d.Labels != nil {
			x.Labels = append(x.Labels, d.Labels[u])
		}
	}
	graphs := r.Perm(d.GraphRows())
	x.GraphOf, x.GraphLabels, x.EdgeLabels, x.Targets.GraphSets.Rows, x.Targets.EdgeSets.Rows = nil, nil, nil, nil, nil
	for g, old := range graphs {
		if d.GraphLabels != nil {
			x.GraphLabels = append(x.GraphLabels, d.GraphLabels[old])
		} else {
			x.Targets.GraphSets.Rows = append(x.Targets.GraphSets.Rows, d.Targets.GraphSets.Row(old)...)
		}
		x.GraphOf = append(x.GraphOf, make([]uint32, e.V*max(0, 1-g))...)
		for v, u := range at {
			if int(d.GraphOf[u]) == old {
				x.GraphOf[v] = uint32(g)
			}
		}
	}
	y := &chunk.Edges{V: e.V, Types: e.Types, DataCols: e.DataCols}
	edges := r.Perm(e.E())
	for _, k := range edges {
		if d.EdgeLabels != nil {
			x.EdgeLabels = append(x.EdgeLabels, d.EdgeLabels[k])
		} else if d.Targets.EdgeSets.Rows != nil {
			x.Targets.EdgeSets.Rows = append(x.Targets.EdgeSets.Rows, d.Targets.EdgeSets.Row(k)...)
		}
		y.Src, y.Dst, y.Type = append(y.Src, to[e.Src[k]]), append(y.Dst, to[e.Dst[k]]), append(y.Type, e.Type[k])
		y.Data = append(y.Data, e.Data[k*e.DataCols:(k+1)*e.DataCols]...)
	}
	x.Edges = y
	return &x, places{at, edges, graphs}
}

// written is d in a format: a store, a folder of arrays, or tables that are converted.
func written(t *testing.T, dir, format string, d *dataset.Data) string {
	t.Helper()
	path := filepath.Join(dir, format)
	os.RemoveAll(path)
	var err error
	switch format {
	case "store.saga":
		err = dataset.WriteStore(path, d, 1)
	case "folder":
		err = dataset.WriteNpyFolder(path, d)
	case "tables.saga":
		vertices, edges := "id", "source,target,relation"
		s := &d.Schema
		for _, n := range slices.Concat(s.Features.Names(), s.Vertex.Targets) {
			vertices += "," + n
		}
		labels := []string{"kind"}
		if d.MultiLabels != nil {
			labels = s.Vertex.Classes
		}
		if d.Targets.Vertex != nil {
			labels = nil
		}
		vertices += strings.Join(append([]string{""}, labels...), ",") + "\n"
		edges += strings.Join(append([]string{""}, s.Edges.Columns...), ",") + "\n"
		number := func(x float32) string { return "," + strconv.FormatFloat(float64(x), 'g', -1, 32) }
		for v := range d.Edges.V {
			vertices += d.ID(v)
			for _, list := range [][]float32{d.Features, d.Targets.Vertex, d.MultiLabels} {
				n := len(list) / d.Edges.V
				for _, x := range list[v*n : (v+1)*n] {
					vertices += number(x)
				}
			}
			if d.Labels != nil {
				vertices += "," + s.Vertex.Classes[d.Labels[v]]
			}
			vertices += "\n"
		}
		for k, u := range d.Edges.Src {
			edges += d.ID(int(u)) + "," + d.ID(int(d.Edges.Dst[k])) + "," + s.Edges.Relations[d.Edges.Type[k]]
			for _, x := range d.Edges.Data[k*d.Edges.DataCols : (k+1)*d.Edges.DataCols] {
				edges += number(x)
			}
			edges += "\n"
		}
		for name, text := range map[string]string{"v.csv": vertices, "e.csv": edges} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		tables := &dataset.Tables{Edges: filepath.Join(dir, "e.csv"), Vertices: filepath.Join(dir, "v.csv"), ID: "id", Features: s.Features.Names(),
			Label: labels, Targets: s.Vertex.Targets, EdgeType: "relation", EdgeFeatures: s.Edges.Columns}
		_, _, err = dataset.Convert(dataset.Conversion{Tables: tables, Out: path, Base: 1})
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// answer is what a run says of some data.
type answer struct {
	rows   map[string][]float32 // logits, or rows that score links, by id, or by number of the edge or graph
	loss   float64
	counts map[string]int // rows by "label predicted", of one class each
	left   map[string]int
}

// ask applies a run to data.
func ask(t *testing.T, run, data string) (x answer, err error) {
	t.Helper()
	a := &app{Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	one, err := (&inferFlags{Data: data}).load(a, run)
	if err != nil {
		return x, err
	}
	logits, cols, err := saga.Predict(one.model, one.data, saga.Config{}, one.path)
	if err != nil {
		return x, err
	}
	x.rows = map[string][]float32{}
	for i := range len(logits) / cols {
		key := strconv.Itoa(i)
		if one.task() == saga.VertexTask || one.task() == saga.LinkTask {
			key = one.data.ID(i)
		}
		x.rows[key] = logits[i*cols : (i+1)*cols]
	}
	if one.task() == saga.LinkTask {
		return x, nil
	}
	e := &evaluation{trained: one, classes: one.prep.Layers.Classes}
	if err := e.choose(a, "all"); err != nil {
		return x, err
	}
	if numbers(one.prep.Layers.Loss.Kind) {
		x.loss = fitOf(logits, e.data.Targets.Of(e.task()), e.rows).mse
		return x, nil
	}
	e.score(logits)
	x.loss, x.left, x.counts = e.loss, e.left, map[string]int{}
	for i, list := range e.counts {
		for k, n := range list {
			x.counts[className(e.names(), i, "")+" "+className(e.names(), k, "")] = int(n)
		}
	}
	return x, nil
}

// compare compares two answers; exact asks for equal bits. was gives the id that a vertex of b has in a.
func (a answer) compare(b answer, exact bool, was func(string) string) error {
	tolerance := 0.0
	if !exact {
		tolerance = reordering
	}
	if len(a.rows) != len(b.rows) {
		return fmt.Errorf("%d rows and %d", len(a.rows), len(b.rows))
	}
	for id, y := range b.rows {
		for k, x := range a.rows[was(id)] {
			if d := math.Abs(float64(x) - float64(y[k])); !(d <= tolerance*(1+math.Abs(float64(x)))) {
				return fmt.Errorf("vertex %s has the logits %v and %v", id, a.rows[was(id)], y)
			}
		}
		if len(a.rows[was(id)]) == 0 {
			return fmt.Errorf("vertex %s is predicted once", id)
		}
	}
	if d := math.Abs(a.loss - b.loss); d > reordering*(1+a.loss) || exact && d > 1e-12 {
		return fmt.Errorf("losses %v and %v", a.loss, b.loss)
	}
	if exact && fmt.Sprint(a.counts, a.left) != fmt.Sprint(b.counts, b.left) {
		return fmt.Errorf("counts %v, left out %v, and %v, %v", a.counts, a.left, b.counts, b.left)
	}
	return nil
}

// trainedRuns are runs that read different things, each trained once.
func trainedRuns(t *testing.T) (runs map[string]string) {
	t.Helper()
	r, dir := rand.New(rand.NewPCG(1, 2)), t.TempDir()
	runs = map[string]string{}
	for name, args := range map[string]string{
		"features": "--model gcn", "relations": "--model ggnn --steps 1", "edges": "--model edgemlp",
		"embedding": "--model gcn --features embedding:3", "identity": "--model gcn --features identity", "one-hot": "--model gcn --features one-hot",
		"normalized": "--model sage --row-normalize on", "several": "--model gcn", "numbers": "--model gcn",
	} {
		d := drawn(r, 16, name)
		path, out := written(t, t.TempDir(), "store.saga", d), filepath.Join(dir, name)
		if status, text := sagaCommand(t, append(strings.Fields("train --hidden 4 --epochs 5 --lr 0.1 "+args), "--data", path, "--out", out)...); status != exitOK {
			t.Fatalf("%s: %s", name, text)
		}
		runs[name] = out
	}
	return runs
}

// metamorphicCases is how many graphs are drawn.
const metamorphicCases, metamorphicTasks = 280, 240

// reordering bounds by how much a logit x changes, over 1+|x|, where sums are taken in another order. The rows are sums of fewer than 2^6 terms
// over two layers, each rounded to 2^-24 of its size: 2^-17 in all.
const reordering = 1. / (1 << 17)

func TestMetamorphic(t *testing.T) {
	runs, dir := trainedRuns(t), t.TempDir()
	kinds := []string{"features", "relations", "edges", "embedding", "identity", "one-hot", "normalized", "several", "numbers"}
	formats := []string{"store.saga", "folder", "tables.saga"}
	for i := range metamorphicCases {
		r := rand.New(rand.NewPCG(uint64(i), 33))
		kind := kinds[i%len(kinds)]
		d := drawn(r, 4+r.IntN(9), kind)
		want, err := ask(t, runs[kind], written(t, dir, "store.saga", d))
		if err != nil {
			t.Fatalf("case %d, %s: %v", i, kind, err)
		}
		other, exact, was := renumbered(r, d), true, func(id string) string { return id }
		if r.IntN(2) == 0 {
			other, _ = moved(r, other)
			exact = false
		}
		if r.IntN(2) == 0 && !slices.Contains([]string{"embedding", "identity", "one-hot"}, kind) {
			renamed := *other
			renamed.Vertices = dataset.Naming{}
			for _, name := range other.Vertices.Names {
				renamed.Vertices.Names = append(renamed.Vertices.Names, "x"+name)
			}
			other, was = &renamed, func(id string) string { return id[1:] }
		}
		format := formats[r.IntN(len(formats))]
		got, err := ask(t, runs[kind], written(t, dir, format, other))
		if err != nil {
			t.Fatalf("case %d, %s, %s: %v", i, kind, format, err)
		}
		if err := want.compare(got, exact, was); err != nil {
			t.Fatalf("case %d, %s, %s, exact %v: %v", i, kind, format, exact, err)
		}
	}
}

// TestSubsets: data that lack a class, a relation or a column, or have one more, are mapped or refused, never shifted. The run is
// asked about the same graph with all of the run's names, too.
func TestSubsets(t *testing.T) {
	runs, dir := trainedRuns(t), t.TempDir()
	same := func(id string) string { return id }
	for i := range 60 {
		r := rand.New(rand.NewPCG(uint64(i), 34))
		k := r.IntN(3)
		d := drawn(r, 6+r.IntN(7), "features")
		for v, c := range d.Labels {
			if int(c) == k {
				d.Labels[v] = -1
			}
		}
		for j, x := range d.Edges.Type {
			if int(x) == k {
				d.Edges.Type[j] = uint32((k + 1) % 3)
			}
		}
		below := func(n int) int { // number n without k
			if n > k {
				return n - 1
			}
			return n
		}
		less, e := *d, *d.Edges // without class k and relation k
		less.Edges, less.Labels, e.Type, e.Types, less.Classes = &e, slices.Clone(d.Labels), slices.Clone(d.Edges.Type), 2, 2
		for v, c := range less.Labels {
			less.Labels[v] = int32(below(int(c)))
		}
		for j, x := range e.Type {
			e.Type[j] = uint32(below(int(x)))
		}
		less.Schema.Vertex.Classes = slices.Delete(slices.Clone(world.classes), k, k+1)
		less.Schema.Edges.Relations = slices.Delete(slices.Clone(world.relations), k, k+1)
		for _, kind := range []string{"features", "relations"} {
			want, err := ask(t, runs[kind], written(t, dir, "store.saga", d))
			if err != nil {
				t.Fatalf("case %d, %s: %v", i, kind, err)
			}
			got, err := ask(t, runs[kind], written(t, dir, "folder", &less))
			if err != nil {
				t.Fatalf("case %d, %s: %v", i, kind, err)
			}
			if err := want.compare(got, true, same); err != nil {
				t.Fatalf("case %d, %s, without number %d: %v", i, kind, k, err)
			}
		}
		// A class that the run does not know takes nothing from the others.
		more := *d
		more.Schema.Vertex.Classes, more.Classes, more.Labels = slices.Concat([]string{"pink"}, world.classes), 4, slices.Clone(d.Labels)
		unknown := 0
		for v, c := range d.Labels {
			if more.Labels[v] = c + 1; c < 0 {
				unknown++
			}
		}
		want, err := ask(t, runs["features"], written(t, dir, "store.saga", d))
		if err != nil {
			t.Fatal(err)
		}
		got, err := ask(t, runs["features"], written(t, dir, "store.saga", &more))
		if err != nil || got.left["pink"] != unknown {
			t.Fatalf("case %d: %d rows of an unknown class, left out %v, %v", i, unknown, got.left, err)
		}
		if got.left = want.left; want.compare(got, true, same) != nil {
			t.Fatalf("case %d, an unknown class: %v", i, want.compare(got, true, same))
		}
		// A relation that the run does not know and a column that the data lacks are refused.
		odd := *d
		odd.Schema.Edges.Relations = slices.Clone(world.relations)
		odd.Schema.Edges.Relations[k] = "hates"
		if _, err := ask(t, runs["relations"], written(t, dir, "store.saga", &odd)); err == nil || !strings.Contains(err.Error(), "the run does not know hates") {
			t.Fatalf("case %d, an unknown relation: %v", i, err)
		}
		odd = *d
		names := slices.Clone(world.columns)
		names[k] = "shoe size"
		odd.Schema.Features.NameColumns(names)
		if _, err := ask(t, runs["features"], written(t, dir, "store.saga", &odd)); err == nil || !strings.Contains(err.Error(), "the data lacks "+world.columns[k]) {
			t.Fatalf("case %d, a column is missing: %v", i, err)
		}
	}
}
