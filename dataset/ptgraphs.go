package dataset

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"sagann/dataset/npy"
	"sagann/dataset/pickle"
	"sagann/internal/words"
)

// batch joins several graphs into one. The vertices of a graph follow those of the graph before.
func (n *named) batch(where string, graph, parts *pickle.Dict, from *torchArrays) error {
	cuts := func(key string) ([]int64, error) {
		x, ok := parts.Get(key)
		if !ok {
			return nil, nil
		}
		a, err := from.file.array(x, "slices."+key)
		if err != nil {
			return nil, err
		}
		list, err := a.Int64s()
		for i, c := range list {
			if err == nil && (c < 0 || i > 0 && c < list[i-1]) {
				err = fmt.Errorf("%s: slices of %s do not ascend", where, key)
			}
		}
		return list, err
	}
	edges, err := cuts(n.theirs("edges"))
	if err != nil || len(edges) <= 2 {
		return err // there is only one graph
	}
	graphs := len(edges) - 1
	vertices, err := cuts(n.theirs("features"))
	if err != nil {
		return err
	}
	if vertices == nil {
		if vertices, err = cuts("num_nodes"); err == nil && vertices != nil {
			vertices, err = from.file.counts(where, graph, "num_nodes")
		}
		if err != nil {
			return err
		}
	}
	if len(vertices) != graphs+1 || vertices[graphs] > math.MaxUint32 {
		return fmt.Errorf("%s: the vertices of %d graphs are not given: slices has no x and no num_nodes", where, graphs)
	}
	a, err := readArray(n.arrays, n.theirs("edges"))
	if err != nil {
		return err
	}
	if err := n.moveEdges(a, edges, vertices); err != nil {
		return err
	}
	of := make([]uint32, 0, vertices[graphs])
	for g := range graphs {
		for range vertices[g+1] - vertices[g] {
			of = append(of, uint32(g))
		}
	}
	n.make("graph_indicator", a.Derived([]int{len(of)}, of))
	n.make("num_nodes", a.Derived([]int{1}, []int64{vertices[graphs]}))
	return nil
}

// moveEdges adds to the ends of each graph's edges the number of vertices of the graphs before it.
func (n *named) moveEdges(a *npy.Array, edges, vertices []int64) error {
	if len(a.Shape) != 2 || a.Shape[0] != 2 || int64(a.Shape[1]) != edges[len(edges)-1] {
		return fmt.Errorf("%s: shape %v of the edges: want [2 %d]", a.Where(0), a.Shape, edges[len(edges)-1])
	}
	x, err := a.Int64s()
	if err != nil {
		return err
	}
	x = slices.Clone(x)
	for g := range len(edges) - 1 {
		for end := range 2 {
			for i := edges[g]; i < edges[g+1]; i++ {
				k := end*a.Shape[1] + int(i)
				if size := vertices[g+1] - vertices[g]; x[k] < 0 || x[k] >= size {
					return fmt.Errorf("%s: vertex %d of graph %d, which has %d", a.Where(k), x[k], g, size)
				}
				x[k] += vertices[g]
			}
		}
	}
	n.make("edges", a.With(x))
	return nil
}

// counts is the running sums, from 0, of the list or tensor of numbers with that key.
func (f *torchFile) counts(where string, graph *pickle.Dict, key string) ([]int64, error) {
	x, _ := graph.Get(key)
	sums := []int64{0}
	add := func(c int64) error {
		if c < 0 || c > math.MaxUint32 {
			return fmt.Errorf("%s: %s has %d", where, key, c)
		}
		sums = append(sums, sums[len(sums)-1]+c)
		return nil
	}
	if list, ok := pickle.AsList(x); ok {
		for _, item := range list {
			c, ok := item.(int)
			if !ok {
				return nil, fmt.Errorf("%s: %s holds a %s", where, key, pickle.Kind(item))
			}
			if err := add(int64(c)); err != nil {
				return nil, err
			}
		}
		return sums, nil
	}
	a, err := f.array(x, key)
	if err != nil {
		return nil, err
	}
	list, err := a.Int64s()
	for _, c := range list {
		err = errors.Join(err, add(c))
	}
	return sums, err
}

// PyG's RandomLinkSplit gives three Data of one graph: edge_index are the edges that pass messages, edge_label_index the pairs to predict and
// edge_label which of them are edges, or else pos_edge_label_index and neg_edge_label_index. The Data for testing has the most edges.

// linkSplitOf is the attributes of three Data that RandomLinkSplit made, nil if x is something else.
func linkSplitOf(x any) []*pickle.Dict {
	items, ok := pickle.AsList(x)
	if t, is := x.(pickle.Tuple); is {
		items, ok = t, true
	}
	if !ok || len(items) != 3 {
		return nil
	}
	var graphs []*pickle.Dict
	for _, item := range items {
		graph, parts, err := graphOf(item)
		if err != nil || parts != nil || !toPredict(graph) {
			return nil
		}
		graphs = append(graphs, graph)
	}
	return graphs
}

// toPredict reports whether a Data has pairs to predict.
func toPredict(graph *pickle.Dict) bool {
	return slices.ContainsFunc([]string{"edge_label_index", "pos_edge_label_index"}, func(name string) bool { _, ok := graph.Get(name); return ok })
}

// linkSplit is the arrays of the graph of three Data, with those of the split. The three may be of one file.
func linkSplit(files []*torchFile, graphs []*pickle.Dict) (*torchArrays, error) {
	var all []*torchArrays
	for i, g := range graphs {
		one, err := files[i].tensors(g)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	out := all[2]
	messages, err := all[0].read("edge_index")
	if err != nil {
		return nil, fmt.Errorf("%s: edge_index of the Data for training: %w", files[0].pkl, err)
	}
	for i, name := range []string{"link_train", "link_val", "link_test"} {
		has, not, err := all[i].labelled()
		if err != nil {
			return nil, err
		}
		out.add(name, has)
		switch {
		case not == nil:
		case i > 0:
			out.add(name+"_neg", not)
		case len(not.Shape) == 2:
			out.left = words.Text("%d {pair|pairs} without an edge for training {is|are} left out: training draws its own in every epoch", not.Len()/2)
		}
	}
	out.add("link_messages", messages)
	out.names = slices.DeleteFunc(out.names, func(name string) bool {
		return slices.Contains(pairArrays, name)
	})
	return out, nil
}

// labelled is the pairs to predict that are edges, and those that are none; nil without.
func (a *torchArrays) labelled() (has, not *npy.Array, err error) {
	if slices.Contains(a.names, "pos_edge_label_index") {
		if has, err = a.read("pos_edge_label_index"); err == nil && slices.Contains(a.names, "neg_edge_label_index") {
			not, err = a.read("neg_edge_label_index")
		}
		return has, not, err
	}
	pairs, err := a.read("edge_label_index")
	if err != nil || !slices.Contains(a.names, "edge_label") {
		return pairs, nil, err
	}
	label, err := a.read("edge_label")
	if err != nil {
		return nil, nil, err
	}
	y, err := label.Float32s()
	if err != nil {
		return nil, nil, err
	}
	x, err := pairs.Int64s()
	if err != nil {
		return nil, nil, err
	}
	if len(pairs.Shape) != 2 || pairs.Shape[0] != 2 || pairs.Shape[1] != len(y) {
		return nil, nil, fmt.Errorf("%s: shape %v of the pairs to predict: want [2 %d], as edge_label has", pairs.Where(0), pairs.Shape, len(y))
	}
	var ends [2][2][]int64
	for k, c := range y {
		if c != 0 && c != 1 {
			return nil, nil, fmt.Errorf("%s: %v: 1 is an edge and 0 is none; classes of edges are an array edge_labels of the whole graph, with edge_train, edge_val and edge_test", label.Where(k), c)
		}
		for end := range 2 {
			ends[int(c)][end] = append(ends[int(c)][end], x[end*len(y)+k])
		}
	}
	of := func(e [2][]int64) *npy.Array {
		return pairs.Derived([]int{2, len(e[0])}, slices.Concat(e[0], e[1]))
	}
	if len(ends[0][0]) > 0 {
		not = of(ends[0])
	}
	return of(ends[1]), not, nil
}

// openLinkParts opens three files that have a Data of RandomLinkSplit each; nil if they have something else.
func openLinkParts(dir string, names []string, opt Options) (*Stream, error) {
	var files []*torchFile
	defer func() {
		for _, f := range files {
			f.zip.Close()
		}
	}()
	var graphs []*pickle.Dict
	for _, name := range names {
		f, err := openTorch(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		x, err := f.object()
		if err != nil {
			return nil, err
		}
		graph, parts, err := graphOf(x)
		if err != nil || parts != nil || !toPredict(graph) {
			return nil, nil
		}
		graphs = append(graphs, graph)
	}
	from, err := linkSplit(files, graphs)
	if err != nil {
		return nil, err
	}
	return from.graph(dir, graphs[2], nil, opt)
}
