package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sagann/dataset/npy"
	"sagann/dataset/pickle"
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
