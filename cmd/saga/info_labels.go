package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"sagann/dataset"
)

// basicInfo is what is known of data without a look at edges and features.
func basicInfo(d *dataset.Data, edges int64, weighted bool) fields {
	s := d.Record()
	f := fields{{"vertices", d.Edges.V}, {"edges", edges}, {"features", d.FeatureCols}}
	if names := s.Features.Names(); names != nil {
		f = append(f, field{"feature_names", list(names)})
	}
	if n := graphsIn(d.GraphOf); n > 0 {
		f = append(f, field{"graphs", n})
	}
	tasks := append(s.Tasks(), dataset.LinkLabels) // links need no labels
	for _, k := range tasks[:len(tasks)-1] {
		f = append(f, labelInfo(d, k)...)
	}
	f = append(f, fields{{"weighted", weighted}, {"edge_types", s.Edges.Types}}...)
	if s.Edges.Relations != nil {
		f = append(f, field{"relation_names", list(s.Edges.Relations)})
	}
	f = append(f, field{"edge_data", s.Edges.Cols})
	if s.Edges.Columns != nil {
		f = append(f, field{"edge_data_names", list(s.Edges.Columns)})
	}
	if d.Vertices.Time != nil {
		f = append(f, field{"vertex_times", span(d.Vertices.Time)})
	}
	for _, k := range splitForms {
		f = append(f, splitInfo(k.prefix, d.Splits(k.labels))...)
		if text := drawInfo(d, k.labels); text != "" {
			f = append(f, field{k.prefix + "split", text})
		}
	}
	if g := d.Targets.Given; g != nil {
		f = append(f, fields{{"link_train", g.Train.Len()}, {"link_val", g.Val.Len()}, {"link_test", g.Test.Len()}}...)
	}
	var names []string
	for _, k := range tasks {
		names = append(names, string(k))
	}
	f = append(f, field{"tasks", strings.Join(names, ", ")})
	if d.HasIDs() {
		f = append(f, field{"first_ids", strings.Join(firstIDs(d), ", ")})
	}
	return f
}

// labelInfo is how many classes and targets vertices, edges or graphs have, and how many have each.
func labelInfo(d *dataset.Data, k dataset.LabelKind) (f fields) {
	prefix := ""
	if k != dataset.VertexLabels {
		prefix = string(k) + "_"
	}
	x := dataset.Summarise(d, k)
	if n := len(x.Classes); n > 0 {
		f = append(f, fields{{prefix + "classes", n}, {prefix + "class_counts", tally(x.Classes)}}...)
		if x.Of > 0 {
			f = append(f, field{prefix + "multi_label", true})
		}
		if x.Unlabelled > 0 {
			f = append(f, field{prefix + "unlabelled", x.Unlabelled})
		}
		if x.Unknown > 0 {
			f = append(f, field{"unknown_" + string(k) + "_labels", share(x.Unknown, x.Of)})
		}
	}
	if len(x.Targets) > 0 {
		f = append(f, fields{{prefix + "targets", len(x.Targets)}, {prefix + "target_ranges", ranges(x.Targets)}}...)
		if x.Without > 0 {
			f = append(f, field{prefix + "without_targets", x.Without})
		}
	}
	return f
}

// drawInfo says how a run would divide what has labels of kind k but no split; "" if it would not.
func drawInfo(d *dataset.Data, k dataset.LabelKind) string {
	switch n, draws := dataset.WillDraw(d, k); {
	case draws:
		val := 100 * dataset.DefaultVal
		train := 100 * dataset.DefaultTrain
		return fmt.Sprintf("none; saga train draws %.0f %% of %d %s for training, %.0f %% for validation and the rest for testing (--split, --split-seed)", train, n, k.Plural(), val)
	case n > 0:
		return fmt.Sprintf("none, and %d labelled %s are too few to draw one unasked (--split 0.34,0.34)", n, k.Plural())
	}
	return ""
}

// shownNames is how many names, classes or columns stand on a line for people.
const shownNames = 20

// list is names, of which people see the first.
type list []string

// String is the first names.
func (l list) String() string {
	return firstOf20(len(l), func(i int) string { return fmt.Sprintf("%.40s", l[i]) })
}

// firstOf20 is the first texts of n.
func firstOf20(n int, text func(i int) string) string {
	var parts []string
	for i := range min(n, shownNames) {
		parts = append(parts, text(i))
	}
	if n > shownNames {
		parts = append(parts, fmt.Sprintf("and %d more", n-shownNames))
	}
	return strings.Join(parts, ", ")
}

// tally is how many have each class.
type tally []dataset.ClassCount

// String is the first classes.
func (t tally) String() string {
	return firstOf20(len(t), func(i int) string { return fmt.Sprintf("%.40s: %d", t[i].Name, t[i].Count) })
}

// MarshalJSON is an object of all.
func (t tally) MarshalJSON() ([]byte, error) {
	var f fields
	for _, c := range t {
		f = append(f, field{c.Name, c.Count})
	}
	return json.Marshal(f)
}

// ranges is the least, the largest and the mean number of each column.
type ranges []dataset.TargetRange

// String is the first columns.
func (r ranges) String() string {
	return firstOf20(len(r), func(i int) string {
		t := r[i]
		return fmt.Sprintf("%.40s: %s to %s, mean %s", t.Name, short(t.Min), short(t.Max), short(t.Mean))
	})
}

// short is a number with six digits.
func short(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// MarshalJSON is an object of all.
func (r ranges) MarshalJSON() ([]byte, error) {
	var f fields
	for _, t := range r {
		f = append(f, field{t.Name, fields{{"min", t.Min}, {"max", t.Max}, {"mean", t.Mean}}})
	}
	return json.Marshal(f)
}
