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

// Describe is the graph in a few words.
func Describe(d *dataset.Data) string {
	edges := d.Edges.E()
	if d.Shard != nil {
		edges = d.Shard.E
	}
	text := fmt.Sprintf("%d vertices, %d edges, %d features, %d classes", d.Edges.V, edges, d.FeatureCols, d.Classes)
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
