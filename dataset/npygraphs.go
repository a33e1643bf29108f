package dataset

import (
	"fmt"
	"slices"

	"sagann/dataset/npy"
)

// ofGraphs gives labels that are one for each graph, and not for each vertex, the name of graph labels. If only graphs have
// labels, splits are of graphs, too.
func (n named) ofGraphs() error {
	of, err := optional(n, "graph_indicator")
	if err != nil || of == nil || len(of.Shape) != 1 {
		return err
	}
	graphs := graphsOf(of)
	if graphs == 0 {
		_, err := of.Uint32s()
		return err
	}
	has := func(name string) bool {
		a, _ := optional(n, name)
		return a != nil
	}
	for ours, theirs := range map[string]string{"labels": "graph_labels", "targets": "graph_targets"} {
		a, err := optional(n, ours)
		if err != nil {
			return err
		}
		if a == nil || len(a.Shape) == 0 || a.Shape[0] != graphs || graphs == of.Len() {
			continue
		}
		if b, err := optional(n, theirs); err != nil || b != nil {
			return err
		}
		n.move(ours, theirs, a)
	}
	if has("labels") || has("targets") || !has("graph_labels") && !has("graph_targets") {
		return nil
	}
	for _, part := range []string{"train", "val", "test"} { // only graphs have labels
		a, err := optional(n, part)
		if err != nil {
			return err
		}
		if a != nil && !has("graph_"+part) {
			n.move(part, "graph_"+part, a)
		}
	}
	return nil
}

// move gives the array a another of our names.
func (n named) move(from, to string, a *npy.Array) {
	n.made[to] = a
	n.names[to] = n.theirs(from)
	n.names[from] = hidden
	delete(n.made, from)
}

// hidden is the name of arrays that were given another of our names: no file has it.
const hidden = "(has another name)"

func (d *Data) readGraphs(from arrays, which int) error {
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
	if b != nil && d.Targets.Graph.Rows == nil && d.areNumbers(b, GraphLabels) {
		d.Targets.Graph, err = numbersOf(b, GraphLabels)
	} else if b != nil {
		d.GraphLabels, err = d.classesIn(b, GraphLabels)
	}
	if err != nil {
		return err
	}
	graphs := d.GraphRows()
	for v, g := range d.GraphOf {
		if int(g) >= graphs {
			return fmt.Errorf("%s: vertex %d belongs to graph %d of %d", a.Where(v), v, g, graphs)
		}
	}
	return d.readSplits(from, GraphLabels, which)
}

// readEdgeLabels reads edge_labels [E], the class of each edge or -1 for none, edge_targets, and the splits
// of edges.
func (d *Data) readEdgeLabels(from arrays, edges, which int) error {
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
		if len(a.Shape) == 0 || a.Shape[0] != edges {
			return fmt.Errorf("%s: shape %v, want one label for each of %d edges", a.Where(0), a.Shape, edges)
		}
		if t == nil && d.areNumbers(a, EdgeLabels) {
			d.Targets.Edge, err = numbersOf(a, EdgeLabels)
		} else {
			d.EdgeLabels, err = d.classesIn(a, EdgeLabels)
		}
		if err != nil {
			return err
		}
	}
	return d.readSplits(from, EdgeLabels, which)
}

// manyClasses is how many classes of floats, which may be meant as numbers, are remarked on.
const manyClasses = 10

// areNumbers reports whether labels are numbers to predict and not classes, and says so: floats of which some are
// not whole, or are below -1.
func (d *Data) areNumbers(a *npy.Array, k LabelKind) bool {
	var found float64
	isNumber := func(x float64) bool {
		found = x
		return x == x && (x < -1 || x != float64(int64(x)))
	}
	yes, values := false, 0
	switch x := a.Data.(type) {
	case []float32:
		yes, values = slices.ContainsFunc(x, func(y float32) bool { return isNumber(float64(y)) }), distinctOf(x)
	case []float64:
		yes, values = slices.ContainsFunc(x, isNumber), distinctOf(x)
	}
	if !yes && values > manyClasses {
		d.Report.Changes = append(d.Report.Changes, fmt.Sprintf("%s: floats, all of them whole, of %d values: classes of %s; --loss mse takes them as numbers to predict", a.Name(), values, k.Plural()))
	}
	if yes {
		d.Report.Changes = append(d.Report.Changes, fmt.Sprintf("%s: %v is no class: the labels of %s are numbers to predict", a.Name(), float32(found), k.Plural()))
	}
	return yes
}

// distinctOf is how many different numbers x has, without NaN.
func distinctOf[T float32 | float64](x []T) int {
	has := map[T]bool{}
	for _, y := range x {
		if y == y {
			has[y] = true
		}
	}
	return len(has)
}

// classesIn is the class of each edge or graph, -1 or NaN for none; nil if each can have several, which it sets.
func (d *Data) classesIn(a *npy.Array, k LabelKind) ([]int32, error) {
	if len(a.Shape) == 2 && a.Shape[1] > 1 {
		return nil, d.readSets(a, k)
	}
	if len(a.Shape) != 1 && !(len(a.Shape) == 2 && a.Shape[1] == 1) {
		return nil, fmt.Errorf("%s: shape %v of the labels of %s: want one class each, or a row of 0 and 1; numbers to predict are an array named %s", a.Where(0), a.Shape, k.Plural(), targetNames[k])
	}
	return classNumbers(a)
}
