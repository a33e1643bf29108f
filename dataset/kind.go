package dataset

import "fmt"

// LabelKind says what has labels: vertices, edges or graphs.
type LabelKind string

// The kinds of labels.
const (
	VertexLabels LabelKind = "vertex"
	EdgeLabels   LabelKind = "edge"
	GraphLabels  LabelKind = "graph"
	LinkLabels   LabelKind = "link" // edges themselves are to be predicted: Targets.Links
)

// Plural names several of what has labels: vertices, edges, graphs, links.
func (k LabelKind) Plural() string {
	switch k {
	case EdgeLabels:
		return "edges"
	case GraphLabels:
		return "graphs"
	case LinkLabels:
		return "links"
	}
	return "vertices"
}

// ClassesOf is the number of classes that d has of labels of kind k, 0 without; links have none.
func (k LabelKind) ClassesOf(d *Data) int {
	switch k {
	case EdgeLabels:
		return d.EdgeClasses()
	case GraphLabels:
		return d.GraphClasses()
	case LinkLabels:
		return 0
	}
	return d.Classes
}

// Labelled reports whether d has labels of kind k.
func (d *Data) Labelled(k LabelKind) bool {
	return k == LinkLabels && d.Targets.Links != nil || d.Classed(k) || d.Targets.Of(k).Rows != nil
}

// Classed reports whether d has labels of kind k that are classes, one or several for each.
func (d *Data) Classed(k LabelKind) bool {
	return k != LinkLabels && (d.classesOf(k) != nil || d.Sets(k).Rows != nil)
}

// LabelKinds lists the kinds of labels that d has. The first is what is predicted if nothing else is said: graphs
// if they have labels, then vertices, then edges.
func (d *Data) LabelKinds() []LabelKind {
	var out []LabelKind
	for _, k := range []LabelKind{GraphLabels, VertexLabels, EdgeLabels} {
		if d.Labelled(k) {
			out = append(out, k)
		}
	}
	return out
}

// Splits are the numbers of the vertices, edges or graphs in the training, the
// validation and the test split.
func (d *Data) Splits(k LabelKind) [3][]uint32 {
	var out [3][]uint32
	for i, p := range d.parts(k) {
		out[i] = *p
	}
	return out
}

func (d *Data) parts(k LabelKind) [3]*[]uint32 {
	switch k {
	case EdgeLabels:
		return [3]*[]uint32{&d.EdgeSplit.Train, &d.EdgeSplit.Val, &d.EdgeSplit.Test}
	case GraphLabels:
		return [3]*[]uint32{&d.GraphSplit.Train, &d.GraphSplit.Val, &d.GraphSplit.Test}
	}
	return [3]*[]uint32{&d.Train, &d.Val, &d.Test}
}

// labelsOf returns the labels of kind k if each is one class, and how many there should be. Of labels of several
// classes or targets, if there are no others, labels are 0 for what has some and -1 for the rest; they may be nil if all have.
func (d *Data) labelsOf(k LabelKind) (labels []int32, n int) {
	t := d.Targets.Of(k)
	switch k {
	case EdgeLabels:
		labels, n = d.EdgeLabels, LabelledEdges(d).E()
	case GraphLabels:
		labels, n = d.GraphLabels, d.GraphRows()
	default:
		labels, n = d.Labels, d.Edges.V
	}
	if s := d.Sets(k); s.Rows != nil {
		return s.unlabelled(), n
	}
	if labels == nil && t.Rows != nil {
		labels = t.marks()
	}
	return labels, n
}

// split is one part of a Split with its name.
type split struct {
	name string
	ids  []uint32
}

func (d *Data) splits(k LabelKind) []split {
	prefix := ""
	if k != VertexLabels {
		prefix = string(k) + " "
	}
	ids := d.Splits(k)
	return []split{{prefix + "training", ids[0]}, {prefix + "validation", ids[1]}, {prefix + "test", ids[2]}}
}

func checkSplits(d *Data) error {
	for _, k := range []LabelKind{VertexLabels, GraphLabels} {
		_, n := d.labelsOf(k)
		if err := d.checkSplit(k, n); err != nil {
			return err
		}
	}
	return nil
}

// checkSplit checks the splits of n vertices, edges or graphs.
func (d *Data) checkSplit(k LabelKind, n int) error {
	labels, _ := d.labelsOf(k)
	splits := d.splits(k)
	var owner []uint8 // by number: the split it is in, from 1; made for the first split
	for i, s := range splits {
		if s.ids == nil {
			continue
		}
		if len(s.ids) == 0 {
			return fmt.Errorf("the %s split is empty", s.name)
		}
		if owner == nil {
			owner = make([]uint8, n)
		}
		for j, v := range s.ids {
			switch {
			case int(v) >= n:
				return fmt.Errorf("the %s split has %s %d: ids must be below %d", s.name, k, v, n)
			case owner[v] == uint8(i+1):
				return fmt.Errorf("%s %d stands twice in the %s split", k, v, s.name)
			case owner[v] != 0:
				return fmt.Errorf("%s %d is in the %s and in the %s split", k, v, splits[owner[v]-1].name, s.name)
			case j > 0 && s.ids[j-1] > v:
				return fmt.Errorf("the %s split is not ascending at %s %d", s.name, k, v)
			case labels != nil && labels[v] < 0:
				return fmt.Errorf("%s %d of the %s split has no label", k, v, s.name)
			}
			owner[v] = uint8(i + 1)
		}
	}
	return nil
}
