package dataset

import (
	"fmt"
	"slices"

	"sagann/dataset/npy"
)

// readSplits reads the arrays train, val and test, with a prefix for edges and graphs. They hold ids, or a
// boolean for each of the n vertices, edges or graphs.
func (d *Data) readSplits(from arrays, k LabelKind) error {
	prefix := ""
	if k != VertexLabels {
		prefix = string(k) + "_"
	}
	n := map[LabelKind]int{VertexLabels: d.Edges.V, EdgeLabels: max(len(d.EdgeLabels), d.Targets.Edge.Len()),
		GraphLabels: max(len(d.GraphLabels), d.Targets.Graph.Len())}[k]
	for i, name := range []string{"train", "val", "test"} {
		a, err := optional(from, prefix+name)
		if err != nil {
			return err
		}
		if a == nil {
			continue
		}
		if *d.parts(k)[i], err = splitIDs(a, n, k); err != nil {
			return err
		}
	}
	return nil
}

func splitIDs(a *npy.Array, n int, k LabelKind) ([]uint32, error) {
	if len(a.Shape) != 1 {
		return nil, fmt.Errorf("%s: shape %v of a split: want a vector", a.Where(0), a.Shape)
	}
	if a.Len() == 0 {
		return nil, fmt.Errorf("%s: the split is empty", a.Where(0))
	}
	if mask, ok := a.Data.([]bool); ok {
		if len(mask) != n {
			return nil, fmt.Errorf("%s: a mask of %d for %d %s", a.Where(0), len(mask), n, plural[k])
		}
		ids := []uint32{}
		for v, in := range mask {
			if in {
				ids = append(ids, uint32(v))
			}
		}
		if len(ids) == 0 {
			return nil, fmt.Errorf("%s: the split is empty: the mask is false everywhere", a.Where(0))
		}
		return ids, nil
	}
	list, err := a.Uint32s()
	if err != nil {
		return nil, err
	}
	for i, v := range list {
		if int(v) >= n {
			return nil, fmt.Errorf("%s: %s %d: ids must be below %d", a.Where(i), k, v, n)
		}
	}
	list = slices.Clone(list)
	slices.Sort(list)
	return list, nil
}

func (d *Data) readGraphs(from arrays) error {
	a, err := optional(from, "graph_indicator")
	if err != nil || a == nil {
		return err
	}
	if len(a.Shape) != 1 || a.Shape[0] != d.Edges.V {
		return fmt.Errorf("%s: shape %v, want %d rows", a.Where(0), a.Shape, d.Edges.V)
	}
	if d.GraphOf, err = a.Uint32s(); err != nil {
		return err
	}
	if d.Targets.Graph, _, err = readNumbers(from, GraphLabels); err != nil {
		return err
	}
	b, err := optional(from, "graph_labels")
	if err != nil || b == nil && d.Targets.Graph.Rows == nil {
		return err
	}
	graphs := d.Targets.Graph.Len()
	if b != nil {
		if len(b.Shape) != 1 {
			return fmt.Errorf("%s: shape %v of the graph labels: want a vector", b.Where(0), b.Shape)
		}
		if d.GraphLabels, err = b.Int32s(); err != nil {
			return err
		}
		graphs = len(d.GraphLabels)
	}
	for v, g := range d.GraphOf {
		if int(g) >= graphs {
			return fmt.Errorf("%s: vertex %d belongs to graph %d of %d", a.Where(v), v, g, graphs)
		}
	}
	return d.readSplits(from, GraphLabels)
}

// readEdgeLabels reads edge_labels [E], the class of each edge or -1 for none, edge_targets, and the splits
// of edges.
func (d *Data) readEdgeLabels(from arrays, edges int) error {
	n, t, err := readNumbers(from, EdgeLabels)
	if err != nil {
		return err
	}
	if t != nil && t.Shape[0] != edges {
		return fmt.Errorf("%s: targets of %d edges, there are %d", t.Where(0), t.Shape[0], edges)
	}
	d.Targets.Edge = n
	a, err := optional(from, "edge_labels")
	if err != nil || a == nil && t == nil {
		return err
	}
	if a != nil {
		if len(a.Shape) != 1 || a.Shape[0] != edges {
			return fmt.Errorf("%s: shape %v, want one label for each of %d edges", a.Where(0), a.Shape, edges)
		}
		if d.EdgeLabels, err = a.Int32s(); err != nil {
			return err
		}
	}
	return d.readSplits(from, EdgeLabels)
}
