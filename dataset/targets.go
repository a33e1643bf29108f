package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"sagann/chunk"
	"sagann/dataset/npy"
)

// Targets are numbers to predict, as in regression.
type Targets struct {
	Vertex []float32 // V×Cols row-major; a vertex without targets has a row of NaN; nil: no targets
	Cols   int
	Edge   Numbers // a row for each edge, in stored order
	Graph  Numbers // a row for each graph
	// Labels of edges, in stored order, and of graphs that can have several classes: a row of 0, 1 and Unknown for
	// each, as Data.MultiLabels has for vertices.
	EdgeSets, GraphSets Numbers
	Links               *Links     // edges to predict; nil: none
	Given               *LinkSplit // the split of links that a file has, for UseLinks; nil: none
}

// Numbers is a matrix of targets, row-major with Cols columns. A row of NaN means no targets. Rows is nil if
// there are none at all.
type Numbers struct {
	Rows []float32
	Cols int
}

// Unknown is a label that is not known, where rows of 0 and 1 say which classes a vertex, edge or graph has.
const Unknown = -1

// Sets is the labels of kind k if a vertex, edge or graph can have several classes: rows of 0, 1 and Unknown, with a
// column for each class. Rows is nil if it cannot.
func (d *Data) Sets(k LabelKind) Numbers {
	switch {
	case k == EdgeLabels:
		return d.Targets.EdgeSets
	case k == GraphLabels:
		return d.Targets.GraphSets
	case k == LinkLabels || d.MultiLabels == nil:
		return Numbers{}
	}
	return Numbers{d.MultiLabels, d.Classes}
}

// setSets makes n the labels of kind k.
func (d *Data) setSets(k LabelKind, n Numbers) {
	switch k {
	case EdgeLabels:
		d.Targets.EdgeSets = n
	case GraphLabels:
		d.Targets.GraphSets = n
	default:
		d.MultiLabels, d.Classes = n.Rows, n.Cols
	}
}

// Known is how many labels of the rows, which are classes of sets, are not Unknown.
func (n Numbers) Known(rows []uint32) (known int) {
	for _, i := range rows {
		for _, y := range n.Row(int(i)) {
			if y >= 0 {
				known++
			}
		}
	}
	return known
}

// Unknown is how many labels of sets are Unknown.
func (n Numbers) Unknown() (count int) {
	for _, y := range n.Rows {
		if y < 0 {
			count++
		}
	}
	return count
}

// AllKnown reports whether no label of sets is Unknown.
func (n Numbers) AllKnown() bool {
	return first(n.Rows, func(y float32) bool { return y < 0 }) < 0
}

// unlabelled is -1 for rows of sets of which no label is known and 0 for others, in the form of labels; nil if each
// has some.
func (n Numbers) unlabelled() (list []int32) {
	none := func(i int) bool { return first(n.Row(i), func(y float32) bool { return y >= 0 }) < 0 }
	for i := range n.Len() {
		if !none(i) {
			continue
		}
		if list == nil {
			list = make([]int32, n.Len())
		}
		list[i] = -1
	}
	return list
}

// checkSets returns an error unless n is valid and has so many rows, of labels of kind k.
func (n Numbers) checkSets(k LabelKind, rows int) error {
	if n.Rows == nil {
		return nil
	}
	if n.Cols < 1 || len(n.Rows)%n.Cols != 0 || n.Len() != rows {
		return fmt.Errorf("%d label values do not make %d rows of %d classes", len(n.Rows), rows, n.Cols)
	}
	if i := first(n.Rows, func(x float32) bool { return x != 0 && x != 1 && x != Unknown }); i >= 0 {
		return fmt.Errorf("label of %s %d for class %d is %v: must be 0, 1, or %d where it is not known", k, i/n.Cols, i%n.Cols, n.Rows[i], Unknown)
	}
	return nil
}

// GraphRows is how many graphs have a row of labels or targets.
func (d *Data) GraphRows() int {
	return max(len(d.GraphLabels), d.Targets.Graph.Len(), d.Targets.GraphSets.Len())
}

// Of is the targets of kind k.
func (t *Targets) Of(k LabelKind) Numbers {
	switch k {
	case EdgeLabels:
		return t.Edge
	case GraphLabels:
		return t.Graph
	case LinkLabels:
		return Numbers{}
	}
	return Numbers{t.Vertex, t.Cols}
}

// Len is the number of rows.
func (n Numbers) Len() int { return len(n.Rows) / max(1, n.Cols) }

// Row is row i.
func (n Numbers) Row(i int) []float32 { return n.Rows[i*n.Cols : (i+1)*n.Cols] }

// Has reports whether row i has targets.
func (n Numbers) Has(i int) bool { return n.Rows[i*n.Cols] == n.Rows[i*n.Cols] }

// marks is -1 for rows without targets and 0 for others, in the form of labels.
func (n Numbers) marks() []int32 {
	list := make([]int32, n.Len())
	for i := range list {
		if !n.Has(i) {
			list[i] = -1
		}
	}
	return list
}

func checkTargets(d *Data) error {
	for _, k := range []LabelKind{VertexLabels, GraphLabels} {
		rows := d.Edges.V
		if t := &d.Targets; k == GraphLabels {
			if rows = t.Graph.Len(); (t.Graph.Rows != nil || t.GraphSets.Rows != nil) && d.GraphOf == nil {
				return fmt.Errorf("targets of graphs, but no graph of each vertex")
			}
			for v, g := range d.GraphOf {
				if t.Graph.Rows != nil && int(g) >= rows {
					return fmt.Errorf("vertex %d belongs to graph %d: there are targets of %d graphs", v, g, rows)
				}
			}
		}
		if err := d.Targets.Of(k).check(k, rows); err != nil {
			return err
		}
	}
	g := d.Targets.GraphSets
	return g.checkSets(GraphLabels, g.Len())
}

// check returns an error unless n is valid and has so many rows, of targets of kind k.
func (n Numbers) check(k LabelKind, rows int) error {
	if n.Rows == nil {
		return nil
	}
	if n.Cols < 1 || len(n.Rows)%n.Cols != 0 || n.Len() != rows {
		return fmt.Errorf("%d targets do not make %d rows of width %d", len(n.Rows), rows, n.Cols)
	}
	bad := chunk.First(rows, func(lo, hi int) int {
		for i := lo; i < hi; i++ {
			for _, x := range n.Row(i) {
				if math.IsInf(float64(x), 0) || (x == x) != n.Has(i) {
					return i
				}
			}
		}
		return -1
	})
	if bad >= 0 {
		return fmt.Errorf("%s %d has the targets %v: they must be finite, or all of them NaN for none", k, bad, n.Row(bad))
	}
	return nil
}

// targetNames are the arrays of an .npy folder.
var targetNames = map[LabelKind]string{VertexLabels: "targets", EdgeLabels: "edge_targets", GraphLabels: "graph_targets"}

// readNumbers reads targets of kind k: [rows] or [rows,C] numbers, NaN for none.
func readNumbers(from arrays, k LabelKind) (n Numbers, a *npy.Array, err error) {
	if a, err = optional(from, targetNames[k]); err != nil || a == nil {
		return n, nil, err
	}
	n, err = numbersOf(a, k)
	return n, a, err
}

// numbersOf is a as targets of kind k.
func numbersOf(a *npy.Array, k LabelKind) (n Numbers, err error) {
	n.Cols = 1
	switch {
	case len(a.Shape) == 2 && a.Shape[1] > 0:
		n.Cols = a.Shape[1]
	case len(a.Shape) != 1:
		return n, fmt.Errorf("%s: shape %v of the targets: want a number or a row of numbers for each %s", a.Where(0), a.Shape, k)
	}
	n.Rows, err = a.Float32s()
	return n, err
}

// readTargets reads the targets of vertices.
func (d *Data) readTargets(from arrays, rows *rowCount) error {
	n, a, err := readNumbers(from, VertexLabels)
	if err != nil || a == nil {
		return err
	}
	d.Targets.Vertex, d.Targets.Cols = n.Rows, n.Cols
	return rows.set(a.Shape[0], a.Name(), a.Where(0), "rows of targets")
}

// Cover returns an error if a member of the splits has no targets. n is the targets of kind k.
func (n Numbers) Cover(k LabelKind, splits [3][]uint32) error {
	for s, ids := range splits {
		for _, i := range ids {
			if !n.Has(int(i)) {
				return fmt.Errorf("%s %d of the %s split has no targets", k, i, [3]string{"training", "validation", "test"}[s])
			}
		}
	}
	return nil
}

// Spread is, for each column, the sum over the given rows of the squared distance of the target from the
// column's mean.
func (n Numbers) Spread(rows []uint32) []float64 {
	sums := make([]float64, n.Cols)
	for c := range sums {
		mean := 0.0
		for _, i := range rows {
			mean += float64(n.Rows[int(i)*n.Cols+c])
		}
		mean /= float64(len(rows))
		for _, i := range rows {
			d := float64(n.Rows[int(i)*n.Cols+c]) - mean
			sums[c] += d * d
		}
	}
	return sums
}

// LabelsAsTargets makes numbers to predict of the labels of kind k, if there are labels of one class and no targets:
// the names of the classes, or the classes themselves if they have no names. What has no label has no target. Names
// that are no numbers are an error. If there are targets, and others have targets than have classes, the classes are dropped, and with them a
// split that was drawn.
func (d *Data) LabelsAsTargets(k LabelKind) error {
	labels := d.classesOf(k)
	if labels == nil {
		return nil
	}
	l := d.Schema.Of(k)
	if t := d.Targets.Of(k); t.Rows != nil {
		if !slices.EqualFunc(labels, t.marks(), func(c, m int32) bool { return (c < 0) == (m < 0) }) { // splits are then of what has targets
			l.Classes = nil
			dropClasses(d, k)
			if d.Report.Drawn(k) { // of what has classes
				forgetSplit(d, k)
				for _, ids := range d.parts(k) {
					*ids = nil
				}
			}
			d.settleSplits(k)
		}
		return nil
	}
	value := func(c int32) float32 {
		if c < 0 {
			return float32(math.NaN())
		}
		return float32(c)
	}
	numbers, err := parseNumbers(l.Classes)
	if err != nil {
		return fmt.Errorf("%sthe classes of %s have names that are no numbers to predict, such as %.40q", namedFirst(d), k.Plural(), l.Classes[0])
	}
	if numbers != nil {
		of := value
		value = func(c int32) float32 {
			if c < 0 || int(c) >= len(numbers) {
				return of(c)
			}
			return numbers[c]
		}
	}
	n := Numbers{Rows: make([]float32, len(labels)), Cols: 1}
	for i, c := range labels {
		n.Rows[i] = value(c)
	}
	l.Classes = nil
	dropClasses(d, k)
	switch k {
	case EdgeLabels:
		d.Targets.Edge = n
	case GraphLabels:
		d.Targets.Graph = n
	default:
		d.Targets.Vertex, d.Targets.Cols = n.Rows, 1
	}
	d.Report.Changes = append(d.Report.Changes, "labels of "+k.Plural()+" are taken as numbers to predict")
	return nil
}

// dropClasses removes the labels of kind k of one class each.
func dropClasses(d *Data, k LabelKind) {
	switch k {
	case EdgeLabels:
		d.EdgeLabels = nil
	case GraphLabels:
		d.GraphLabels = nil
	default:
		d.Labels, d.Classes = nil, 0
	}
}

// parseNumbers reads texts that are numbers; nil if there are none.
func parseNumbers(texts []string) (list []float32, err error) {
	for _, text := range texts {
		x, err := strconv.ParseFloat(text, 32)
		if err != nil {
			return nil, err
		}
		list = append(list, float32(x))
	}
	return list, nil
}
