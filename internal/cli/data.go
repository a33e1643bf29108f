package cli

import (
	"errors"
	"fmt"
	"strings"

	"sagann/dataset"
	"sagann/internal/words"
)

// OpenData reads the graph called name (see dataset.Open). A mistake in the text of a
// synthetic graph is a UsageError.
func OpenData(name string, o dataset.Options) (*dataset.Data, error) {
	if spec, ok := SyntheticSpec(name); ok {
		if _, err := dataset.ParseSpec(spec); err != nil {
			return nil, Usagef("--data %s: %w", name, err)
		}
	}
	return dataset.Open(name, o)
}

// SeveralTypes reports whether err, of OpenData, says that the graph has several types of vertices or relations.
func SeveralTypes(err error) bool { return errors.Is(err, dataset.ErrSeveralTypes) }

// OpenTarget is OpenData also for graphs of several types of vertices: the data are then the vertices of the type
// named target or, for "", of the only one that has labels, with the graph behind them (dataset.Kinds).
func OpenTarget(name, target string, o dataset.Options) (*dataset.Data, error) {
	d, err := OpenData(name, o)
	if err == nil && target != "" {
		return nil, Usagef("--target %s: %s has vertices of one type", target, name)
	}
	if !SeveralTypes(err) {
		return d, err
	}
	return openTypes(name, o, (*dataset.Hetero).At, func(h *dataset.Hetero) (int, error) {
		t, err := h.Labelled(target)
		if r, none := h.LabelledRelation(""); err != nil && target == "" && none == nil {
			err = fmt.Errorf("%w; edges of %s have some (--task edge)", err, h.FullName(r))
		}
		return t, err
	})
}

// OpenAsked is OpenTarget, also for a target that has no labels.
func OpenAsked(name, target string, o dataset.Options) (*dataset.Data, error) {
	d, err := OpenData(name, o)
	if err == nil && target != "" || err != nil && (target == "" || !SeveralTypes(err)) {
		return OpenTarget(name, target, o)
	}
	if err == nil {
		return d, nil
	}
	return openTypes(name, o, (*dataset.Hetero).At, func(h *dataset.Hetero) (int, error) { return h.Type(target) })
}

// OpenApplied is OpenData also for graphs of several types of vertices, for a run with the schema s, nil if it has none: the data are
// then the vertices of the type that the run trained, with labels or without. Of a run that names no type they are those that have labels.
func OpenApplied(name string, s *dataset.Schema, o dataset.Options) (*dataset.Data, error) {
	d, err := OpenData(name, o)
	if !SeveralTypes(err) {
		return d, err
	}
	at := (*dataset.Hetero).At
	if s != nil && s.Types != nil { // also of one type, as a run over shards
		at = (*dataset.Hetero).Typed
	}
	return openTypes(name, o, at, func(h *dataset.Hetero) (int, error) {
		switch {
		case s == nil || s.Types == nil:
			return 0, nil // is refused, as the run was of one type
		case s.Target == "":
			return h.Labelled("")
		}
		return h.Type(s.Target)
	})
}

// openTypes opens a graph of several types; target chooses the type whose vertices the data are, and at makes these.
func openTypes(name string, o dataset.Options, at func(*dataset.Hetero, int) *dataset.Data, target func(*dataset.Hetero) (int, error)) (*dataset.Data, error) {
	h, err := dataset.LoadHetero(name, o)
	if err != nil {
		return nil, err
	}
	t, err := target(h)
	if err != nil {
		return nil, err
	}
	if idle := h.Idle(t); idle != "" {
		h.Report.Warnings = append(h.Report.Warnings, name+": "+idle)
	}
	return at(h, t), nil
}

// AllRelations is the value of --relation for the types of edges of a graph with one type of vertices, together.
const AllRelations = "all"

// OpenLinks is OpenData also for graphs of several types of vertices, for links: the data are then those of the relation of that name or, for
// "", of the one that Hetero.Predicted finds (Hetero.Along). reverses are pairs for Hetero.Reverse; those of types of edges are not read here.
func OpenLinks(name, relation string, reverses []string, o dataset.Options) (*dataset.Data, error) {
	d, err := OpenData(name, o)
	if err == nil && relation == AllRelations {
		return d, nil
	}
	if err == nil && len(reverses) > 0 {
		return nil, Usagef("--reverse %s: %s has one relation, without a name; an edge and its reverse are one pair there anyway", reverses[0], name)
	}
	if err == nil && relation != "" {
		return nil, Usagef("--relation %s: %s has one relation, without a name; --relation %s predicts edges with their types", relation, name, AllRelations)
	}
	if !SeveralTypes(err) {
		return d, err
	}
	h, err := dataset.LoadHetero(name, o)
	if err != nil {
		return nil, err
	}
	r, err := h.Predicted(relation)
	if err != nil && relation == AllRelations {
		err = fmt.Errorf("%w; --relation %s is for edges with types (--edge-type) among vertices of one type", err, AllRelations)
	}
	if err != nil {
		return nil, err
	}
	for _, text := range reverses {
		if err := h.Reverse(text); err != nil {
			return nil, Usagef("--reverse %s: %w", text, err)
		}
	}
	return h.Along(r), nil
}

// OpenEdges is OpenData also for graphs of several types of vertices, for labels of edges: the data have those of the relation of that name or,
// for "", of the only one whose edges have labels (Hetero.Edges).
func OpenEdges(name, relation string, o dataset.Options) (*dataset.Data, error) {
	d, err := OpenData(name, o)
	if err == nil && relation != "" {
		return nil, Usagef("--relation %s: %s has one relation, without a name", relation, name)
	}
	if !SeveralTypes(err) {
		return d, err
	}
	h, err := dataset.LoadHetero(name, o)
	if err != nil {
		return nil, err
	}
	r, err := h.LabelledRelation(relation)
	if err != nil {
		return nil, err
	}
	return h.Edges(r), nil
}

// Describe is the graph in a few words.
func Describe(d *dataset.Data) string {
	edges := d.Edges.E()
	if d.Shard != nil {
		edges = d.Shard.E
	}
	text := Counts(d, edges)
	if k := d.Vertices.Kinds; k != nil {
		text = words.Text("%d {vertex|vertices} of type %s, %d {feature|features}, %d {class|classes}; with %d {vertex|vertices} of %d {type|types} and %d {edge|edges} of %d {relation|relations}",
			d.Edges.V, k.Graph.Types[k.Type].Name, d.FeatureCols, d.Classes, k.Graph.V(), len(k.Graph.Types), k.Graph.E(), len(k.Graph.Relations))
	}
	text += DescribeLabels(d)
	if n := d.Targets.Cols; n > 0 {
		text += fmt.Sprintf(", targets of width %d", n)
	}
	return text
}

// Counts is how many vertices, edges, features and classes of vertices d has; edges may be those of a graph that d does not hold.
func Counts(d *dataset.Data, edges int) string {
	return words.Text("%d {vertex|vertices}, %d {edge|edges}, %d {feature|features}, %d {class|classes}", d.Edges.V, edges, d.FeatureCols, d.Classes)
}

// DescribeLabels is what Describe says of labels behind the number of classes of vertices.
func DescribeLabels(d *dataset.Data) (text string) {
	if d.MultiLabels != nil {
		text += ", multi-label"
	}
	for _, k := range []dataset.LabelKind{dataset.EdgeLabels, dataset.GraphLabels} {
		if n := k.ClassesOf(d); n > 0 {
			text += words.Text(", %d {class|classes} of "+k.Plural(), n)
		}
		if d.Sets(k).Rows != nil {
			text += ", multi-label"
		}
	}
	return text
}

// SyntheticSpec is the text after the colon in the name of a synthetic graph.
func SyntheticSpec(name string) (spec string, ok bool) {
	kind, spec, _ := strings.Cut(name, ":")
	return spec, kind == "synthetic"
}
