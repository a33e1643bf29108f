package dataset

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"sagann/chunk"
)

// loadTU reads the TU Dortmund text files prefix_A.txt and its companions, each
// plain or .gz. Vertex and graph ids count from 1 there. Line "i, j" of the
// adjacency is an edge from i−1 to j−1; the format lists both directions. Vertex
// labels, graph labels and edge labels are numbered 0, 1, … in ascending order
// of their values.
func loadTU(prefix string) (*Data, error) {
	graphs, graphFile, err := tuInts(prefix + "_graph_indicator.txt")
	if err != nil {
		return nil, err
	}
	d := &Data{GraphOf: make([]uint32, len(graphs))}
	count := uint32(0)
	for v, g := range graphs {
		if g < 1 || g > math.MaxUint32 {
			return nil, fmt.Errorf("%s: vertex %d belongs to graph %d: ids count from 1", graphFile, v+1, g)
		}
		d.GraphOf[v] = uint32(g - 1)
		count = max(count, uint32(g))
	}
	if d.Edges, err = tuEdges(prefix, len(graphs)); err != nil {
		return nil, err
	}
	if labels, name, err := tuInts(prefix + "_node_labels.txt"); err == nil {
		if len(labels) != len(graphs) {
			return nil, fmt.Errorf("%s: %d labels for %d vertices", name, len(labels), len(graphs))
		}
		d.Labels, d.Classes = classesOf(labels)
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if labels, name, err := tuInts(prefix + "_graph_labels.txt"); err == nil {
		if uint64(len(labels)) < uint64(count) {
			return nil, fmt.Errorf("%s: %d labels for %d graphs", name, len(labels), count)
		}
		d.GraphLabels, _ = classesOf(labels)
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	x, cols, name, err := tuMatrix(prefix + "_node_attributes.txt")
	if err == nil && len(x) != cols*len(graphs) {
		err = fmt.Errorf("%s: %d rows for %d vertices", name, len(x)/max(cols, 1), len(graphs))
	}
	if err == nil {
		d.Features, d.FeatureCols = x, cols
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	d.Name, d.Report.Form = filepath.Base(prefix), "TU folder"
	return d, nil
}

func tuEdges(prefix string, vertices int) (*chunk.Edges, error) {
	t, err := openText(prefix + "_A.txt")
	if err != nil {
		return nil, err
	}
	defer t.Close()
	e := &chunk.Edges{V: vertices}
	err = scanEdges(t, false, func(src, dst uint64, _ float32) error {
		if src < 1 || dst < 1 || src > uint64(vertices) || dst > uint64(vertices) {
			return fmt.Errorf("edge %d, %d is outside the vertices 1..%d", src, dst, vertices)
		}
		e.Src, e.Dst = append(e.Src, uint32(src-1)), append(e.Dst, uint32(dst-1))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if labels, name, err := tuInts(prefix + "_edge_labels.txt"); err == nil {
		if len(labels) != e.E() {
			return nil, fmt.Errorf("%s: %d labels for %d edges", name, len(labels), e.E())
		}
		types, n := classesOf(labels)
		e.Types, e.Type = n, make([]uint32, len(types))
		for i, c := range types {
			e.Type[i] = uint32(c)
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	x, cols, name, err := tuMatrix(prefix + "_edge_attributes.txt")
	if err == nil && len(x) != cols*e.E() {
		err = fmt.Errorf("%s: %d rows for %d edges", name, len(x)/max(cols, 1), e.E())
	}
	if err == nil {
		e.Data, e.DataCols = x, cols
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return e, nil
}

func tuInts(path string) (values []int64, name string, err error) {
	t, err := openText(path)
	if err != nil {
		return nil, path, err
	}
	defer t.Close()
	values, err = readInts(t, false)
	return values, t.name, err
}

func tuMatrix(path string) (values []float32, cols int, name string, err error) {
	t, err := openText(path)
	if err != nil {
		return nil, 0, path, err
	}
	defer t.Close()
	values, cols, err = readMatrix(t)
	return values, cols, t.name, err
}
