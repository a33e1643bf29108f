package dataset

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sagann/chunk"
	"sagann/internal/words"
)

// loadTU reads the TU Dortmund text files prefix_A.txt and its companions, each
// plain or .gz. Vertex and graph ids count from 1 there. Line "i, j" of the
// adjacency is an edge from i−1 to j−1; the format lists both directions. Graph labels and edge labels are
// numbered 0, 1, … in ascending order of their values. Graph attributes are targets of graphs. Labels of
// vertices are features, a column of 0 and 1 for each value, behind the attributes; if graphs have neither
// labels nor attributes, or with VertexClasses, they are classes of vertices; with VertexFeatures they never are.
func loadTU(prefix string, opt Options) (*Data, error) {
	graphs, err := readTU[int64](prefix, "graph_indicator", 0)
	if err != nil {
		return nil, err
	}
	if graphs.rows == nil {
		return nil, fmt.Errorf("%s_graph_indicator.txt: there is no such file: a TU set has the graph of each vertex in it", prefix)
	}
	of, err := graphs.single()
	if err != nil {
		return nil, err
	}
	d := &Data{GraphOf: make([]uint32, len(of))}
	count := uint32(0)
	for v, g := range of {
		if g < 1 || g > math.MaxUint32 {
			return nil, fmt.Errorf("%s: vertex %d belongs to graph %d: ids count from 1", graphs.name, v+1, g)
		}
		d.GraphOf[v] = uint32(g - 1)
		count = max(count, uint32(g))
	}
	if d.Edges, err = tuEdges(prefix, len(of), &d.Schema.Edges); err != nil {
		return nil, err
	}
	if err := d.tuGraphs(prefix, int(count)); err != nil {
		return nil, err
	}
	if err := d.tuVertices(prefix, opt); err != nil {
		return nil, err
	}
	d.Name, d.Report.Form = filepath.Base(prefix), "TU folder"
	return d, d.warnTU(prefix)
}

// tuFiles are the files of a TU set, behind prefix_ and before .txt.
var tuFiles = []string{"A", "graph_indicator", "graph_labels", "graph_attributes", "node_labels", "node_attributes", "edge_labels", "edge_attributes"}

// warnTU warns of files of the set that nothing reads.
func (d *Data) warnTU(prefix string) error {
	dir, set := filepath.Split(prefix)
	entries, err := os.ReadDir(filepath.Clean(dir))
	var unread []string
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), set+"_")
		if name, isText := strings.CutSuffix(strings.TrimSuffix(name, ".gz"), ".txt"); ok && !(isText && slices.Contains(tuFiles, name)) {
			unread = append(unread, e.Name())
		}
	}
	d.leaveOut(filepath.Clean(dir), unread)
	return err
}

// tuGraphs reads labels and targets of graphs, of which there are at least count.
func (d *Data) tuGraphs(prefix string, count int) error {
	labels, err := readTU[int64](prefix, "graph_labels", -count)
	if err != nil {
		return err
	}
	if labels.rows != nil {
		values, err := labels.single()
		if err != nil {
			return err
		}
		d.GraphLabels, d.Schema.Graph.Classes, _ = classesOf(values)
	}
	x, err := readTU[float32](prefix, "graph_attributes", -count)
	if err == nil && x.rows != nil {
		if n := len(x.rows) / x.cols; d.GraphLabels != nil && n != len(d.GraphLabels) {
			return fmt.Errorf("%s: %d rows for %d graphs, the lines of %s", x.name, n, len(d.GraphLabels), labels.name)
		}
		d.Targets.Graph = Numbers{x.rows, x.cols}
	}
	return err
}

// areFeatures is a part of what is reported of labels of vertices that are features, and tuAttribute how columns of attributes begin.
const (
	areFeatures = ": labels of vertices are features: "
	tuAttribute = "attribute "
)

// tuVertices reads labels and attributes of vertices.
func (d *Data) tuVertices(prefix string, opt Options) error {
	x, err := readTU[float32](prefix, "node_attributes", d.Edges.V)
	if err != nil {
		return err
	}
	d.Features, d.FeatureCols = x.rows, x.cols
	labels, err := readTU[int64](prefix, "node_labels", d.Edges.V)
	if err != nil || labels.rows == nil {
		return err
	}
	if opt.Vertices == VertexClasses || !d.Labelled(GraphLabels) && opt.Vertices != VertexFeatures {
		values, err := labels.single()
		if err == nil {
			d.Labels, d.Schema.Vertex.Classes, d.Classes = classesOf(values)
		}
		return err
	}
	s := &SparseRows{Ptr: []int64{0}}
	hot, names := labels.oneHot()
	cols := len(names)
	for v := range d.Edges.V {
		for c := range x.cols {
			if y := x.rows[v*x.cols+c]; y != 0 {
				s.Cols, s.Vals = append(s.Cols, uint32(c)), append(s.Vals, y)
			}
		}
		for _, c := range hot[v*labels.cols : (v+1)*labels.cols] {
			s.Cols, s.Vals = append(s.Cols, uint32(x.cols)+c), append(s.Vals, 1)
		}
		s.Ptr = append(s.Ptr, int64(len(s.Cols)))
	}
	if x.cols+cols > math.MaxInt32 {
		return fmt.Errorf("%s: %d values are too many for a column each", labels.name, cols)
	}
	what := "with --task vertex they are classes"
	if labels.cols > 1 {
		what = "there are several for each vertex, so they are no classes"
	} else {
		d.Schema.Features.Labels = "label"
	}
	d.Report.Changes = append(d.Report.Changes, words.Text("%s"+areFeatures+"a column of 0 and 1 for each of %d {value|values}, behind %d {column|columns} of attributes; %s", filepath.Base(labels.name), cols, x.cols, what))
	for c := range x.cols {
		d.Schema.Features.Columns = append(d.Schema.Features.Columns, Column{Name: fmt.Sprint(tuAttribute, c)})
	}
	d.Schema.Features.Columns = append(d.Schema.Features.Columns, names...)
	return d.SetSparse(s, x.cols+cols)
}

// tuRows is a text of numbers, cols on each line; rows is nil without the file.
type tuRows[T int64 | float32] struct {
	name string
	rows []T
	cols int
}

// readTU reads the text prefix_what.txt. It is an error if it has another number of lines than want, or, if
// want is negative, fewer than -want. A want of 0 is any number.
func readTU[T int64 | float32](prefix, what string, want int) (x tuRows[T], err error) {
	t, err := openText(prefix + "_" + what + ".txt")
	if errors.Is(err, os.ErrNotExist) {
		return x, nil
	}
	if err != nil {
		return x, err
	}
	defer t.Close()
	x.name = t.name
	if x.rows, x.cols, err = readRows[T](t); err != nil {
		return x, err
	}
	n := len(x.rows) / max(1, x.cols)
	of := map[byte]string{'n': "vertices", 'g': "graphs", 'e': "edges"}[what[0]]
	if want > 0 && n != want || want < 0 && n < -want {
		return x, fmt.Errorf("%s: %d rows for %d %s", t.name, n, max(want, -want), of)
	}
	return x, nil
}

// single is the values of a text with one number on each line.
func (x tuRows[T]) single() ([]T, error) {
	if x.cols > 1 {
		return nil, fmt.Errorf("%s: %d columns: one number on each line is read; keep one column (cut -d, -f1)", x.name, x.cols)
	}
	return x.rows, nil
}

// oneHot gives each value of each column a column of its own, values in ascending order. It returns the column
// of each entry and what the columns are.
func (x tuRows[T]) oneHot() (hot []uint32, cols []Column) {
	hot = make([]uint32, len(x.rows))
	for k := range x.cols {
		values := make([]int64, 0, len(x.rows)/x.cols)
		for i := k; i < len(x.rows); i += x.cols {
			values = append(values, int64(x.rows[i]))
		}
		classes, names, n := classesOf(values)
		for v, c := range classes {
			hot[v*x.cols+k] = uint32(len(cols)) + uint32(c)
		}
		of := "label"
		if x.cols > 1 {
			of = fmt.Sprint("label ", k)
		}
		for c := range n {
			cols = append(cols, Column{Name: of + "=" + nameOf(names, c), Of: of, Category: nameOf(names, c)})
		}
	}
	return hot, cols
}

func tuEdges(prefix string, vertices int, s *EdgeData) (*chunk.Edges, error) {
	t, err := openText(prefix + "_A.txt")
	if err != nil {
		return nil, err
	}
	defer t.Close()
	e := &chunk.Edges{V: vertices}
	err = scanEdges(t, func(src, dst uint64) error {
		if src < 1 || dst < 1 || src > uint64(vertices) || dst > uint64(vertices) {
			return fmt.Errorf("edge %d, %d is outside the vertices 1..%d", src, dst, vertices)
		}
		e.Src, e.Dst = append(e.Src, uint32(src-1)), append(e.Dst, uint32(dst-1))
		return nil
	})
	if err != nil {
		return nil, err
	}
	labels, err := readTU[int64](prefix, "edge_labels", e.E())
	if err != nil {
		return nil, err
	}
	if labels.rows != nil {
		values, err := labels.single()
		if err != nil {
			return nil, err
		}
		types, names, n := classesOf(values)
		s.Relations = names
		e.Types, e.Type = n, make([]uint32, len(types))
		for i, c := range types {
			e.Type[i] = uint32(c)
		}
	}
	x, err := readTU[float32](prefix, "edge_attributes", e.E())
	e.Data, e.DataCols = x.rows, x.cols
	return e, err
}

// tuInts reads a text of whole numbers, one on each line, plain or .gz.
func tuInts(path string) (values []int64, name string, err error) {
	t, err := openText(path)
	if err != nil {
		return nil, path, err
	}
	defer t.Close()
	x := tuRows[int64]{name: t.name}
	if x.rows, x.cols, err = readRows[int64](t); err != nil {
		return nil, t.name, err
	}
	values, err = x.single()
	return values, t.name, err
}
