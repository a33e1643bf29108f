package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"sagann/dataset/npy"
)

// openFeatures checks features [V,F], or reads features_csr_{data,indices,indptr},
// whose width is the largest column plus one (or the second entry of
// features_csr_shape).
func (s *Stream) openFeatures(from named, rows *rowCount) error {
	if m := from.attr; m != nil {
		if m.rows == 0 || m.cols == 0 {
			return fmt.Errorf("%s: empty features", from.attrName)
		}
		s.keep(m, from.attrName)
		return rows.set(len(s.kept.Ptr)-1, from.attrName, from.attrName, "rows of features")
	}
	r, err := from.Open("features")
	if errors.Is(err, fs.ErrNotExist) {
		return s.openSparseFeatures(from, rows)
	}
	if err != nil {
		return err
	}
	defer r.Close()
	shape := r.Shape
	if len(shape) != 2 || shape[0] == 0 || shape[1] == 0 {
		way := "a graph without features has no such file"
		if len(shape) == 1 && shape[0] > 0 {
			way = "x[:, None] in Python is one column of them"
		}
		return fmt.Errorf("%s: shape %v of the features: want [V F] with at least one row and one column; %s", r.Where(0), shape, way)
	}
	cols := shape[1]
	s.Data.FeatureCols = cols
	s.EachRows = func(fn func([]float32) error) error {
		r, err := from.Open("features")
		if err != nil {
			return err
		}
		defer r.Close()
		part := max(1, pieceValues/cols) * cols
		for left := shape[0] * cols; left > 0; left -= part {
			x, err := nextFloats(r, part, cols)
			if err == nil {
				err = fn(x)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	s.allRows = func() ([]float32, error) {
		a, err := readArray(from, "features")
		if err != nil {
			return nil, err
		}
		return finite(a, cols)
	}
	return rows.set(shape[0], r.Name(), r.Where(0), "rows of features")
}

func (s *Stream) openSparseFeatures(from arrays, rows *rowCount) error {
	indptr, err := optional(from, "features_csr_indptr")
	if err != nil || indptr == nil {
		return err
	}
	indices, err := readArray(from, "features_csr_indices")
	if err != nil {
		return err
	}
	data, err := readArray(from, "features_csr_data")
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
	largest := 0 // index of the entry with the largest column
	for i, c := range m.indices {
		if c < 0 || c >= math.MaxInt32 {
			return fmt.Errorf("%s: column %d: columns count from 0", indices.Where(i), c)
		}
		if int(c) >= m.cols {
			m.cols, largest = int(c)+1, i
		}
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
		if len(s) != 2 || int(s[0]) != m.rows {
			return fmt.Errorf("%s: shape %v, and the row pointers are of %d rows", shape.Where(0), s, m.rows)
		}
		if int(s[1]) < m.cols {
			return fmt.Errorf("%s: column %d: columns must be below %d, as the shape %v says", indices.Where(largest), m.cols-1, s[1], s)
		}
		m.cols = int(s[1])
	}
	if err := m.check(); err != nil {
		return fmt.Errorf("%s: %w", indptr.Where(0), err)
	}
	if m.cols == 0 || m.rows == 0 {
		return fmt.Errorf("%s: empty features", indptr.Where(0))
	}
	s.keep(m, indptr.Name())
	return rows.set(m.rows, indptr.Name(), indptr.Where(0), "rows of features")
}

// readLabels reads labels: [V] or [V,1] classes, -1 or NaN for none, or [V,C] of 0 and 1. Floats that are no
// classes are targets.
func (d *Data) readLabels(from arrays, rows *rowCount) error {
	a, err := optional(from, "labels")
	if err == nil && a == nil {
		return readPartLabels(d, from, rows)
	}
	if err != nil {
		return err
	}
	if len(a.Shape) == 0 || len(a.Shape) > 2 || len(a.Shape) == 2 && a.Shape[1] == 0 {
		return fmt.Errorf("%s: shape %v of the labels: want [V], [V 1] or [V C]", a.Where(0), a.Shape)
	}
	what := "labels"
	if len(a.Shape) == 2 {
		what = "rows of labels"
	}
	if err := rows.set(a.Shape[0], a.Name(), a.Where(0), what); err != nil {
		if of, _ := optional(from, "graph_indicator"); of != nil {
			err = fmt.Errorf("%w; labels of graphs are an array named graph_labels", err)
			if graphs, n := graphsOf(of), a.Shape[0]; graphs > 0 && n > graphs && n%graphs == 0 && len(a.Shape) == 1 {
				err = fmt.Errorf("%w, or y, with a row for each of %d graphs: y.reshape(1, -1) of a graph is a row, here of %d", err, graphs, n/graphs)
			}
		}
		return err
	}
	if d.Targets.Vertex == nil && d.areNumbers(a, VertexLabels) {
		n, err := numbersOf(a, VertexLabels)
		d.Targets.Vertex, d.Targets.Cols = n.Rows, n.Cols
		return err
	}
	if len(a.Shape) == 2 && a.Shape[1] > 1 {
		if d.Classes != 0 && d.Classes != a.Shape[1] {
			return fmt.Errorf("%s: %d columns of labels, meta.json says %d classes", a.Where(0), a.Shape[1], d.Classes)
		}
		return d.readSets(a, VertexLabels)
	}
	if d.Labels, err = classNumbers(a); err != nil {
		return fmt.Errorf("%w; labels are whole numbers of classes, numbers to predict are an array named targets", err)
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

// graphsOf is the number of graphs, by the graph of each vertex; 0 if that is not known.
func graphsOf(of *npy.Array) int {
	x, err := of.Uint32s()
	if err != nil || len(x) == 0 {
		return 0
	}
	return int(slices.Max(x)) + 1
}

// readPartLabels reads the labels of the members of each part of a split, in the order of its ids, where there is no array with those of all vertices.
func readPartLabels(d *Data, from arrays, rows *rowCount) error {
	for _, part := range []string{"train", "val", "test"} {
		y, err := optional(from, part+"_labels")
		if err != nil || y == nil || d.Targets.Vertex != nil {
			if err != nil {
				return err
			}
			continue
		}
		of, err := optional(from, part)
		if err != nil {
			return err
		}
		if of == nil || len(of.Shape) != 1 || len(y.Shape) != 1 || of.Len() != y.Len() {
			return fmt.Errorf("%s: shape %v: want a label for each id of %s", y.Where(0), y.Shape, theirName(from, part))
		}
		if rows.v == 0 {
			return fmt.Errorf("%s: labels of some vertices, and no number of all: num_nodes gives it", y.Where(0))
		}
		if _, mask := of.Data.([]bool); mask {
			return fmt.Errorf("%s: labels of a part of vertices go with their ids, and %s is a mask: labels of all vertices are an array named labels or y", y.Where(0), theirName(from, part))
		}
		ids, err := of.Uint32s()
		if err != nil {
			return err
		}
		classes, err := classNumbers(y)
		if err != nil {
			return err
		}
		if d.Labels == nil {
			d.Labels = slices.Repeat([]int32{-1}, rows.v)
		}
		for i, v := range ids {
			switch {
			case int(v) >= rows.v:
				return fmt.Errorf("%s: vertex %d: ids must be below %d", of.Where(i), v, rows.v)
			case d.Labels[v] >= 0 && d.Labels[v] != classes[i]:
				return fmt.Errorf("%s: vertex %d has the labels %d and %d", y.Where(i), v, d.Labels[v], classes[i])
			}
			d.Labels[v] = classes[i]
		}
	}
	if d.Labels == nil {
		return nil
	}
	classes, err := classCount(d.Labels)
	if err != nil {
		return fmt.Errorf("labels of a split: %w", err)
	}
	d.Classes = max(d.Classes, classes)
	return nil
}

// readSets makes labels of kind k of rows of 0, 1 and NaN, which stands for a label that is not known.
func (d *Data) readSets(a *npy.Array, k LabelKind) error {
	n := Numbers{Cols: a.Shape[1]}
	x, err := a.Float32s()
	if err != nil {
		return err
	}
	n.Rows = slices.Clone(x)
	for i, y := range x {
		switch {
		case y != y:
			n.Rows[i] = Unknown
		case y == -1:
			return fmt.Errorf("%s: label -1 of %s %d, class %d: must be 0 or 1, or NaN where it is not known (y = y.astype(float); y[y == -1] = numpy.nan, or 0 where -1 means no)", a.Where(i), k, i/n.Cols, i%n.Cols)
		case y != 0 && y != 1:
			return fmt.Errorf("%s: label %v of %s %d, class %d: must be 0 or 1, or NaN where it is not known; numbers to predict are an array named %s", a.Where(i), y, k, i/n.Cols, i%n.Cols, targetNames[k])
		}
	}
	d.setSets(k, n)
	d.sayUnknown(k)
	return nil
}

// sayUnknown reports how many labels of several classes are not known.
func (d *Data) sayUnknown(k LabelKind) {
	n := d.Sets(k)
	if unknown := n.Unknown(); unknown > 0 {
		d.Report.Changes = append(d.Report.Changes, fmt.Sprintf("%d of %d labels of %s are not known: they are left out of losses and scores", unknown, len(n.Rows), k.Plural()))
	}
}

// classNumbers is a as int32; NaN, which means no label, becomes -1.
func classNumbers(a *npy.Array) ([]int32, error) {
	switch x := a.Data.(type) {
	case []float32:
		x = slices.Clone(x)
		for i, y := range x {
			if y != y {
				x[i] = -1
			}
		}
		return a.With(x).Int32s()
	case []float64:
		x = slices.Clone(x)
		for i, y := range x {
			if y != y {
				x[i] = -1
			}
		}
		return a.With(x).Int32s()
	}
	return a.Int32s()
}

// readIDs reads ids [V], the user's number or text for each vertex.
func (d *Data) readIDs(from arrays) error {
	a, err := optional(from, "ids")
	if err != nil || a == nil {
		return err
	}
	if len(a.Shape) != 1 || a.Shape[0] != d.Edges.V {
		return fmt.Errorf("%s: shape %v of the ids, want one for each of %d vertices", a.Where(0), a.Shape, d.Edges.V)
	}
	if names, ok := a.Data.([]string); ok {
		d.Vertices.Names = names
		return distinct(names, a)
	}
	if ids, ok := a.Data.([]uint64); ok {
		d.Vertices.IDs = ids
		return distinct(ids, a)
	}
	x, err := a.Int64s()
	if err != nil {
		return err
	}
	d.Vertices.IDs = make([]uint64, len(x))
	for v, id := range x {
		if id < 0 {
			return fmt.Errorf("%s: id %d of vertex %d is negative", a.Where(v), id, v)
		}
		d.Vertices.IDs[v] = uint64(id)
	}
	return distinct(d.Vertices.IDs, a)
}

// distinct returns an error if two vertices have one id. a has the ids.
func distinct[T uint64 | string](ids []T, a *npy.Array) error {
	at := make([]int32, len(ids))
	for v := range at {
		at[v] = int32(v)
	}
	slices.SortFunc(at, func(u, v int32) int { return cmp.Or(cmp.Compare(ids[u], ids[v]), cmp.Compare(u, v)) })
	for i := 1; i < len(at); i++ {
		if ids[at[i]] == ids[at[i-1]] {
			return fmt.Errorf("%s: vertices %d and %d both have the id %.40q", a.Where(int(at[i])), at[i-1], at[i], fmt.Sprint(ids[at[i]]))
		}
	}
	return nil
}
