package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sagann/chunk"
	"sagann/internal/words"
)

// VirtualVertices adds a vertex to every graph of d, behind the others, with edges to and from all vertices of the graph, as PyG's
// transform VirtualNode does: rows of 0, weight 1, numbers of edges 0 and, where edges have types, the next two types for edges
// to it and from it. Labels and targets of vertices and edges are dropped: what is learned stands on graphs.
func VirtualVertices(d *Data) error {
	if d.GraphOf == nil {
		return errors.New("virtual vertices are of graphs, and the data has none: no vertex says which graph it is in")
	}
	old, graphs := d.Edges, d.GraphRows()
	for _, g := range d.GraphOf {
		graphs = max(graphs, int(g)+1)
	}
	free := uint64(0)
	if ids := d.Vertices.IDs; len(ids) > 0 {
		if free = slices.Max(ids) + 1; free == 0 || uint64(graphs) > math.MaxUint64-free+1 {
			return fmt.Errorf("the largest id of a vertex is %d: no %d ids are above it, for virtual vertices", free-1, graphs)
		}
	}
	if d.Late.Sparse == nil {
		d.HoldFeatures()
	}
	v := old.V
	e := &chunk.Edges{V: v + graphs, Types: old.Types, DataCols: old.DataCols, Src: append([]uint32(nil), old.Src...), Dst: append([]uint32(nil), old.Dst...),
		Weight: append([]float32(nil), old.Weight...), Type: append([]uint32(nil), old.Type...), Data: append([]float32(nil), old.Data...)}
	e.Time = append([]float64(nil), old.Time...)
	if old.Type != nil {
		e.Types += 2
	}
	add := func(src, dst int, kind uint32) {
		e.Src, e.Dst = append(e.Src, uint32(src)), append(e.Dst, uint32(dst))
		if old.Weight != nil {
			e.Weight = append(e.Weight, 1)
		}
		if old.Time != nil {
			e.Time = append(e.Time, math.Inf(-1))
		}
		if old.Type != nil {
			e.Type = append(e.Type, uint32(old.Types)+kind)
		}
	}
	for i, g := range d.GraphOf {
		add(i, v+int(g), 0)
	}
	for i, g := range d.GraphOf {
		add(v+int(g), i, 1)
	}
	e.Data = append(e.Data, make([]float32, 2*v*old.DataCols)...)
	for g := range graphs {
		d.GraphOf = append(d.GraphOf, uint32(g))
		if d.Vertices.IDs != nil {
			d.Vertices.IDs = append(d.Vertices.IDs, free+uint64(g))
		}
		if d.Vertices.Names != nil {
			d.Vertices.Names = append(d.Vertices.Names, fmt.Sprintf("virtual vertex of graph %d", g))
		}
	}
	d.Edges = e
	if names := d.Schema.Edges.Relations; old.Type != nil && len(names) == old.Types {
		d.Schema.Edges.Relations = slices.Concat(names, []string{"to the virtual vertex", "from the virtual vertex"})
	}
	if rows := d.Late.Sparse; rows == nil {
		d.Features = append(d.Features, make([]float32, graphs*d.FeatureCols)...)
	} else if err := d.SetSparse(rows.then(&SparseRows{Ptr: make([]int64, graphs+1)}), d.FeatureCols); err != nil {
		return err
	}
	d.Labels, d.MultiLabels, d.Train, d.Val, d.Test = nil, nil, nil, nil, nil
	d.Vertices.Time = nil
	d.EdgeLabels, d.EdgeSplit = nil, Split{}
	d.Targets.Vertex, d.Targets.Edge, d.Targets.EdgeSets = nil, Numbers{}, Numbers{}
	d.Report.Changes = append(d.Report.Changes, words.Text("%d virtual {vertex was|vertices were} added, with %d {edge|edges}", graphs, 2*v))
	return nil
}
