package dataset

import (
	"math"

	"sagann/chunk"
)

// LabelSummary is what the labels of vertices, edges or graphs look like.
type LabelSummary struct {
	Classes    []ClassCount
	Unlabelled int // vertices, edges or graphs without any class
	// Unknown is how many labels of several classes each are not known, of so many.
	Unknown, Of int
	Targets     []TargetRange
	Without     int // vertices, edges or graphs without targets
}

// ClassCount is how many vertices, edges or graphs have a class.
type ClassCount struct {
	Name  string
	Count int
}

// TargetRange is the numbers of a column of targets.
type TargetRange struct {
	Name           string
	Min, Max, Mean float64
}

// Summarise looks at the labels and targets of kind k. Columns of features that are labels of vertices count as their classes.
func Summarise(d *Data, k LabelKind) (s LabelSummary) {
	names := d.Schema.Of(k).Classes
	count := func(n int, name func(c int) string) {
		for c := range n {
			s.Classes = append(s.Classes, ClassCount{Name: name(c)})
		}
	}
	named := func(c int) string { return nameOf(names, c) }
	labels, sets := d.classesOf(k), d.Sets(k)
	if first, n := d.Schema.Features.labelColumns(); k == VertexLabels && n > 0 && labels == nil && sets.Rows == nil {
		count(n, func(c int) string { return d.Schema.Features.Columns[first+c].Category })
		countColumns(d, first, s.Classes)
	}
	if labels != nil {
		count(max(k.ClassesOf(d), 0), named)
		for _, c := range labels {
			if c < 0 {
				s.Unlabelled++
			} else {
				s.Classes[c].Count++
			}
		}
	}
	if sets.Rows != nil {
		count(sets.Cols, named)
		s.Unknown, s.Of = sets.Unknown(), len(sets.Rows)
		for i, y := range sets.Rows {
			if y > 0 {
				s.Classes[i%sets.Cols].Count++
			}
		}
		for _, c := range sets.unlabelled() {
			if c < 0 {
				s.Unlabelled++
			}
		}
	}
	t := d.Targets.Of(k)
	for c := range t.Cols {
		r := TargetRange{Name: nameOf(d.Schema.Of(k).Targets, c), Min: math.Inf(1), Max: math.Inf(-1)}
		n := 0
		for i := c; i < len(t.Rows); i += t.Cols {
			if y := float64(t.Rows[i]); y == y {
				r.Min, r.Max, r.Mean = min(r.Min, y), max(r.Max, y), r.Mean+y
				n++
			}
		}
		if r.Mean /= float64(n); n == 0 {
			r.Min, r.Max = math.NaN(), math.NaN()
		}
		s.Without = t.Len() - n
		s.Targets = append(s.Targets, r)
	}
	return s
}

// countColumns counts the vertices that have each of the columns of features from first on.
func countColumns(d *Data, first int, counts []ClassCount) {
	in := func(col int) bool { return col >= first && col < first+len(counts) }
	if rows := d.Late.Sparse; rows != nil {
		for i, col := range rows.Cols {
			if in(int(col)) && rows.Vals[i] != 0 {
				counts[int(col)-first].Count++
			}
		}
		return
	}
	for i, x := range d.Features {
		if col := i % d.FeatureCols; x != 0 && in(col) {
			counts[col-first].Count++
		}
	}
}

// RepeatedEdges is how many edges have the ends of an earlier one. Self loops are not counted.
func RepeatedEdges(e *chunk.Edges) int {
	loops := 0
	for k, u := range e.Src {
		if u == e.Dst[k] {
			loops++
		}
	}
	plain := &chunk.Edges{V: e.V, Src: e.Src, Dst: e.Dst}
	return e.E() - loops - Simplify(plain).E()
}

// WillDraw says how DefaultSplit would divide what has labels of kind k, and whether it would: there is no split, and enough has labels.
func WillDraw(d *Data, k LabelKind) (labelled int, draws bool) {
	for _, ids := range d.Splits(k) {
		if ids != nil {
			return 0, false
		}
	}
	if first, _ := d.Schema.Features.labelColumns(); k == VertexLabels && first >= 0 && d.Schema.Features.Labels != "" && !d.Labelled(k) {
		return d.Edges.V, d.Edges.V >= fewest
	}
	if !d.Labelled(k) {
		return 0, false
	}
	n := countLabelled(d, k)
	return n, n >= fewest
}

// HeadOf is the data of a store but its edges and dense features.
func HeadOf(s *chunk.Store) (*Data, error) { return restOfStore(s) }
