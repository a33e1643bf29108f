package cli

import (
	"errors"
	"fmt"
	"strings"

	"sagann/dataset"
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
	h, err := dataset.LoadHetero(name, o)
	if err != nil {
		return nil, err
	}
	t, err := h.Labelled(target)
	if err != nil {
		return nil, err
	}
	if idle := h.Idle(t); idle != "" {
		h.Report.Warnings = append(h.Report.Warnings, name+": "+idle)
	}
	return h.At(t), nil
}

// Describe is the graph in a few words.
func Describe(d *dataset.Data) string {
	edges := d.Edges.E()
	if d.Shard != nil {
		edges = d.Shard.E
	}
	text := fmt.Sprintf("%d vertices, %d edges, %d features, %d classes", d.Edges.V, edges, d.FeatureCols, d.Classes)
	if k := d.Vertices.Kinds; k != nil {
		text = fmt.Sprintf("%d vertices of type %s, %d features, %d classes; with %d vertices of %d types and %d edges of %d relations", d.Edges.V, k.Graph.Types[k.Type].Name,
			d.FeatureCols, d.Classes, k.Graph.V(), len(k.Graph.Types), k.Graph.E(), len(k.Graph.Relations))
	}
	text += DescribeLabels(d)
	if n := d.Targets.Cols; n > 0 {
		text += fmt.Sprintf(", targets of width %d", n)
	}
	return text
}

// DescribeLabels is what Describe says of labels behind the number of classes of vertices.
func DescribeLabels(d *dataset.Data) (text string) {
	if d.MultiLabels != nil {
		text += ", multi-label"
	}
	for _, k := range []dataset.LabelKind{dataset.EdgeLabels, dataset.GraphLabels} {
		if n := k.ClassesOf(d); n > 0 {
			text += fmt.Sprintf(", %d classes of %ss", n, k)
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
