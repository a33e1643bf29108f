package main

import (
	"fmt"
	"slices"
	"strings"

	"sagann/dataset"
)

// typesInfo describes a graph of several types, in a line for each type and relation.
func typesInfo(h *dataset.Hetero) fields {
	f := fields{{"name", h.Name}, {"vertices", h.V()}, {"edges", h.E()}, {"vertex_types", len(h.Types)}, {"relations", len(h.Relations)}}
	for _, t := range h.Types {
		f = append(f, field{"type " + t.Name, sentence(typeInfo(t.Rows))})
	}
	for i, r := range h.Relations {
		f = append(f, field{h.FullName(i), sentence(relationInfo(r.Links))})
	}
	return append(f, wholeInfo(h)...)
}

// isPart reports whether a name of typesInfo is of a type or relation.
func isPart(name string) bool {
	return strings.HasPrefix(name, "type ") || strings.Count(name, ":") > 1
}

// typesJSON is typesInfo as an object with lists of types and relations.
func typesJSON(h *dataset.Hetero) fields {
	f := fields{{"name", h.Name}, {"vertices", h.V()}, {"edges", h.E()}}
	var types, relations []fields
	for _, t := range h.Types {
		types = append(types, append(fields{{"name", t.Name}}, typeInfo(t.Rows)...))
	}
	for _, r := range h.Relations {
		ends := fields{{"source", h.Types[r.Source].Name}, {"name", r.Name}, {"target", h.Types[r.Target].Name}}
		relations = append(relations, append(ends, relationInfo(r.Links)...))
	}
	f = append(f, field{"types", types}, field{"relations", slices.Concat([]fields{}, relations)})
	return append(f, wholeInfo(h)...)
}

// wholeInfo is what is known of the graph as a whole: which labels can be trained, where it came from and what is wrong.
func wholeInfo(h *dataset.Hetero) (f fields) {
	var labelled []string
	for t := range h.Types {
		if h.Types[t].Rows.Labelled(dataset.VertexLabels) {
			labelled = append(labelled, h.Types[t].Name)
		}
	}
	f = append(f, field{"labels_of", strings.Join(labelled, ", ")})
	r := h.Whole()
	for _, name := range labelled {
		if t, err := h.Labelled(name); err == nil {
			if idle := h.Idle(t); idle != "" {
				r.Warnings = append(r.Warnings, idle)
			}
		}
	}
	if f = append(f, reportInfo(r)...); len(r.Warnings) > 0 {
		f = append(f, field{"warnings", strings.Join(r.Warnings, "; ")})
	}
	return f
}

// typeInfo is what is known of the vertices of a type.
func typeInfo(d *dataset.Data) fields {
	s := d.Record()
	f := fields{{"vertices", d.Edges.V}, {"features", d.FeatureCols}}
	if d.Late.Sparse != nil {
		f = append(f, field{"sparse", true})
	}
	if s.Vertex.Count > 0 {
		f = append(f, field{"classes", s.Vertex.Count})
	}
	if s.Vertex.Form == dataset.SeveralClasses {
		f = append(f, field{"multi_label", true})
	}
	if s.Vertex.Cols > 0 {
		f = append(f, field{"targets", s.Vertex.Cols})
	}
	if ids := d.Splits(dataset.VertexLabels); ids[0] != nil || ids[1] != nil || ids[2] != nil {
		f = append(f, splitInfo("", ids)...)
	}
	if s.Vertex.Classes != nil {
		f = append(f, field{"class_names", fmt.Sprintf("%.200s", strings.Join(s.Vertex.Classes, ", "))})
	}
	if d.HasIDs() {
		f = append(f, field{"first_ids", strings.Join(firstIDs(d), ", ")})
	}
	return f
}

// relationInfo is what is known of the edges of a relation.
func relationInfo(d *dataset.Data) fields {
	e := d.Edges
	f := fields{{"edges", e.E()}}
	if e.Weight != nil {
		f = append(f, field{"weighted", true})
	}
	if e.Types > 0 {
		f = append(f, field{"edge_types", e.Types})
	}
	if e.DataCols > 0 {
		f = append(f, field{"edge_data", e.DataCols})
	}
	if n := d.EdgeClasses(); n > 0 {
		f = append(f, field{"edge_classes", n})
	}
	if n := d.Targets.Edge.Cols; n > 0 {
		f = append(f, field{"edge_targets", n})
	}
	return append(f, splitInfo("edge_", d.Splits(dataset.EdgeLabels))...)
}

// sentence is f on one line: numbers stand before their names, and what is true is its name.
func sentence(f fields) string {
	var words []string
	for _, x := range f {
		name := strings.ReplaceAll(x.Name(), "_", " ")
		switch value := x.Value().(type) {
		case bool:
			words = append(words, name)
		case string:
			words = append(words, name+" "+value)
		default:
			words = append(words, fmt.Sprintf("%v %s", value, name))
		}
	}
	return strings.Join(words, ", ")
}

// describeTypes is a graph of several types in a few words.
func describeTypes(h *dataset.Hetero) string {
	return fmt.Sprintf("%d vertices of %s, %d edges of %s", h.V(), counted(len(h.Types), "type"), h.E(), counted(len(h.Relations), "relation"))
}

// counted is a number of things.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// openTypes reads a graph of several types, and logs what looks wrong about it.
func (s *source) openTypes(a *app, name string) (*dataset.Hetero, error) {
	opt := s.options()
	opt.SparseFrom = 2 // what comes sparse stays so
	h, err := dataset.LoadHetero(name, opt)
	if err == nil {
		for _, w := range h.Whole().Warnings {
			a.Log.Warn(w)
		}
	}
	return h, err
}
