package dataset

import (
	"fmt"
	"math"
	"slices"

	"sagann/dataset/npy"
)

// readFeatures reads features [V,F], or features_csr_{data,indices,indptr}, whose
// width is the largest column plus one (or the second entry of features_csr_shape).
func (d *Data) readFeatures(from arrays) error {
	a, err := optional(from, "features")
	if err != nil {
		return err
	}
	if a == nil {
		return d.readSparseFeatures(from)
	}
	if len(a.Shape) != 2 || a.Shape[0] == 0 || a.Shape[1] == 0 {
		return fmt.Errorf("%s: shape %v of the features: want [V F] with at least one row and one column; a graph without features has no such file", a.Where(0), a.Shape)
	}
	d.FeatureCols = a.Shape[1]
	d.Features, err = finite(a, d.FeatureCols)
	return err
}

func (d *Data) readSparseFeatures(from arrays) error {
	indptr, err := optional(from, "features_csr_indptr")
	if err != nil || indptr == nil {
		return err
	}
	indices, err := from.Read("features_csr_indices")
	if err != nil {
		return err
	}
	data, err := from.Read("features_csr_data")
	if err != nil {
		return err
	}
	m := &csr{}
	if m.indptr, err = indptr.Int64s(); err != nil {
		return err
	}
	if m.indices, err = indices.Int64s(); err != nil {
		return err
	}
	if m.data, err = finite(data, 1); err != nil {
		return err
	}
	m.rows = len(m.indptr) - 1
	for i, c := range m.indices {
		if c < 0 || c >= math.MaxInt32 {
			return fmt.Errorf("%s: column %d", indices.Where(i), c)
		}
		m.cols = max(m.cols, int(c)+1)
	}
	shape, err := optional(from, "features_csr_shape")
	if err != nil {
		return err
	}
	if shape != nil {
		s, err := shape.Int32s()
		if err != nil {
			return err
		}
		if len(s) != 2 || int(s[0]) != m.rows || int(s[1]) < m.cols {
			return fmt.Errorf("%s: shape %v for %d rows and %d columns", shape.Where(0), s, m.rows, m.cols)
		}
		m.cols = int(s[1])
	}
	if err := m.check(); err != nil {
		return fmt.Errorf("%s: %w", indptr.Where(0), err)
	}
	bytes := from.Size("features_csr_indptr") + from.Size("features_csr_indices") + from.Size("features_csr_data")
	if err := checkDense(m.rows, m.cols, bytes); err != nil {
		return fmt.Errorf("%s: %w", indptr.Where(0), err)
	}
	if m.cols == 0 || m.rows == 0 {
		return fmt.Errorf("%s: empty features", indptr.Where(0))
	}
	d.Features, d.FeatureCols = m.dense(), m.cols
	return nil
}

// readLabels reads labels: [V] classes, -1 for none, or [V,C] of 0 and 1.
func (d *Data) readLabels(from arrays) error {
	a, err := optional(from, "labels")
	if err != nil || a == nil {
		return err
	}
	switch {
	case len(a.Shape) == 2 && a.Shape[1] > 0:
		if d.Classes != 0 && d.Classes != a.Shape[1] {
			return fmt.Errorf("%s: %d columns of labels, meta.json says %d classes", a.Where(0), a.Shape[1], d.Classes)
		}
		d.Classes = a.Shape[1]
		x, err := a.Float32s()
		if err != nil {
			return err
		}
		for i, y := range x {
			if y != 0 && y != 1 {
				return fmt.Errorf("%s: label %v of vertex %d, class %d: must be 0 or 1", a.Where(i), y, i/d.Classes, i%d.Classes)
			}
		}
		d.MultiLabels = x
		return nil
	case len(a.Shape) != 1:
		return fmt.Errorf("%s: shape %v of the labels: want [V] or [V C]", a.Where(0), a.Shape)
	}
	if d.Labels, err = a.Int32s(); err != nil {
		return err
	}
	classes, err := classCount(d.Labels)
	if err != nil {
		return fmt.Errorf("%s: %w", a.Where(0), err)
	}
	if d.Classes == 0 {
		d.Classes = classes
	}
	for i, c := range d.Labels {
		if c < -1 || int(c) >= d.Classes {
			return fmt.Errorf("%s: label %d of vertex %d: must be 0..%d, or -1 for none", a.Where(i), c, i, d.Classes-1)
		}
	}
	return nil
}

// readSplits reads train, val and test, with a prefix for what is no vertex: ids, or a
// boolean for each of the n vertices, edges or graphs.
func (d *Data) readSplits(from arrays, k LabelKind) error {
	prefix := ""
	if k != VertexLabels {
		prefix = string(k) + "_"
	}
	_, n := d.labelsOf(k)
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
	if _, err := rowsOf(a, d.Edges.V); err != nil {
		return err
	}
	if d.GraphOf, err = a.Uint32s(); err != nil {
		return err
	}
	b, err := optional(from, "graph_labels")
	if err != nil || b == nil {
		return err
	}
	if len(b.Shape) != 1 {
		return fmt.Errorf("%s: shape %v of the graph labels: want a vector", b.Where(0), b.Shape)
	}
	if d.GraphLabels, err = b.Int32s(); err != nil {
		return err
	}
	for v, g := range d.GraphOf {
		if int(g) >= len(d.GraphLabels) {
			return fmt.Errorf("%s: vertex %d belongs to graph %d of %d", a.Where(v), v, g, len(d.GraphLabels))
		}
	}
	return d.readSplits(from, GraphLabels)
}

// readEdgeLabels reads edge_labels [E], a class an edge or -1 for none, and the splits
// of the edges.
func (d *Data) readEdgeLabels(from arrays) error {
	a, err := optional(from, "edge_labels")
	if err != nil || a == nil {
		return err
	}
	if len(a.Shape) != 1 || a.Shape[0] != d.Edges.E() {
		return fmt.Errorf("%s: shape %v, want one label for each of %d edges", a.Where(0), a.Shape, d.Edges.E())
	}
	if d.EdgeLabels, err = a.Int32s(); err != nil {
		return err
	}
	return d.readSplits(from, EdgeLabels)
}
