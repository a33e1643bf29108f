package dataset

import (
	"errors"
	"fmt"
	"math"

	"sagann/chunk"
)

// Validate checks that d is consistent: lengths and widths match, edge ends and
// split vertices are below V, edge values and features are finite, labels are
// valid classes, and splits are not empty, ascending,
// disjoint and labelled. The error names the vertex or edge. Loaded and generated
// data have passed it. Splits, labels and features may be absent (nil); see
// ValidateTraining.
func Validate(d *Data) error {
	if err := problem(d); err != nil {
		return fmt.Errorf("%s%w", namedFirst(d), err)
	}
	return nil
}

// ValidateFor is Validate for what reads the features of some vertices only: those of the others are not looked at. Vertices that ascend are read
// fastest.
func ValidateFor(d *Data, vertices []uint32) error {
	n := d.FeatureCols
	if d.Features == nil || n < 1 || d.Edges == nil || len(d.Features) != n*d.Edges.V {
		return Validate(d)
	}
	wrong := chunk.First(len(vertices), func(lo, hi int) int {
		for i, v := range vertices[lo:hi] {
			for _, x := range d.Features[int(v)*n : int(v)*n+n] {
				if x-x != 0 { // NaN or infinite
					return lo + i
				}
			}
		}
		return -1
	})
	if wrong >= 0 || checkSchema(d) != nil {
		return Validate(d)
	}
	x := *d
	x.Features, x.FeatureCols, x.Schema.Features = nil, 0, Features{} // names of columns were checked
	return Validate(&x)
}

// problem is the error of Validate, without the name of d.
func problem(d *Data) error {
	if d.Edges == nil {
		return errors.New("no edges")
	}
	for _, check := range []func(*Data) error{checkEdges, checkIDs, checkFeatures, checkLabels, checkTargets, checkLinks, checkGraphs, checkEdgeLabels, checkSchema, checkSplits} {
		if err := check(d); err != nil {
			return err
		}
	}
	return nil
}

// ValidateTraining is Validate for a supervised run: it also requires vertex labels
// and vertices in the training split. Without a validation or test split there are no scores of it.
func ValidateTraining(d *Data) error { return ValidateLabels(d, VertexLabels) }

// ValidateLabels is ValidateTraining for labels of another kind.
func ValidateLabels(d *Data, k LabelKind) error {
	if err := Validate(d); err != nil {
		return err
	}
	if !d.Labelled(k) {
		return fmt.Errorf("%sthere are no %s labels to train on", namedFirst(d), k)
	}
	if s := d.splits(k)[0]; len(s.ids) == 0 {
		return fmt.Errorf("%sthe %s split is empty", namedFirst(d), s.name)
	}
	return nil
}

func checkEdges(d *Data) error { return d.Edges.Validate() }

func checkIDs(d *Data) error {
	if n := len(d.Vertices.Time); d.Vertices.Time != nil && n != d.Edges.V {
		return fmt.Errorf("%d times for %d vertices", n, d.Edges.V)
	}
	for _, n := range []int{len(d.Vertices.IDs), len(d.Vertices.Names)} {
		if n != 0 && n != d.Edges.V {
			return fmt.Errorf("%d ids for %d vertices", n, d.Edges.V)
		}
	}
	if f := d.Vertices.First; f != 0 && (d.Vertices.IDs != nil || d.Vertices.Names != nil || f > math.MaxUint64-chunk.MaxVertices) {
		return fmt.Errorf("ids count from %d, and there are others", f)
	}
	return nil
}

func checkFeatures(d *Data) error {
	if d.Features == nil {
		if d.FeatureCols != 0 && (d.Late.Make == nil || d.FeatureCols < 0) {
			return fmt.Errorf("feature width %d without features", d.FeatureCols)
		}
		if d.Late.Sparse != nil {
			return d.Late.Sparse.check(d.Edges.V, d.FeatureCols)
		}
		return nil
	}
	if d.FeatureCols < 1 || len(d.Features)%d.FeatureCols != 0 || len(d.Features)/d.FeatureCols != d.Edges.V {
		return fmt.Errorf("%d feature values do not make %d rows of width %d", len(d.Features), d.Edges.V, d.FeatureCols)
	}
	if i := chunk.NotFinite(d.Features); i >= 0 {
		return fmt.Errorf("feature row %d, column %d is %v", i/d.FeatureCols, i%d.FeatureCols, d.Features[i])
	}
	return nil
}

func checkLabels(d *Data) error {
	switch {
	case d.Labels != nil && d.MultiLabels != nil:
		return errors.New("both single and multi labels")
	case d.Labels == nil && d.MultiLabels == nil:
		return nil
	case d.Classes < 1:
		return fmt.Errorf("%d classes with labels: must be at least 1", d.Classes)
	case d.Labels != nil && len(d.Labels) != d.Edges.V:
		return fmt.Errorf("%d labels for %d vertices", len(d.Labels), d.Edges.V)
	}
	if v := first(d.Labels, func(c int32) bool { return c < -1 || int(c) >= d.Classes }); v >= 0 {
		return fmt.Errorf("vertex %d has label %d: must be 0..%d, or -1 for none", v, d.Labels[v], d.Classes-1)
	}
	return d.Sets(VertexLabels).checkSets(VertexLabels, d.Edges.V)
}

func checkGraphs(d *Data) error {
	if d.GraphOf == nil {
		if d.GraphLabels != nil {
			return errors.New("graph labels, but no graph of each vertex")
		}
		return nil
	}
	if d.GraphLabels != nil && d.Targets.GraphSets.Rows != nil {
		return errors.New("both single and multi labels of graphs")
	}
	if len(d.GraphOf) != d.Edges.V {
		return fmt.Errorf("the graph of %d vertices is given, there are %d", len(d.GraphOf), d.Edges.V)
	}
	for v, g := range d.GraphOf {
		for _, n := range []int{len(d.GraphLabels), d.Targets.GraphSets.Len()} {
			if n > 0 && int(g) >= n {
				return fmt.Errorf("vertex %d belongs to graph %d: there are %d graph labels", v, g, n)
			}
		}
	}
	for g, c := range d.GraphLabels {
		if !isClass(c, len(d.GraphLabels)) {
			return fmt.Errorf("graph %d has label %d: must be -1 for none, or a class", g, c)
		}
	}
	return nil
}

func checkEdgeLabels(d *Data) error { return d.checkOfEdges(LabelledEdges(d).E()) }

// checkOfEdges checks the labels, targets and splits of e edges.
func (d *Data) checkOfEdges(e int) error {
	if d.EdgeLabels != nil && len(d.EdgeLabels) != e {
		return fmt.Errorf("%d edge labels for %d edges", len(d.EdgeLabels), e)
	}
	if d.EdgeLabels != nil && d.Targets.EdgeSets.Rows != nil {
		return errors.New("both single and multi labels of edges")
	}
	if err := d.Targets.EdgeSets.checkSets(EdgeLabels, e); err != nil {
		return err
	}
	for e, c := range d.EdgeLabels {
		if !isClass(c, len(d.EdgeLabels)) {
			return fmt.Errorf("edge %d has label %d: must be -1 for none, or a class", e, c)
		}
	}
	if err := d.Targets.Edge.check(EdgeLabels, e); err != nil {
		return err
	}
	return d.checkSplit(EdgeLabels, e)
}

// isClass reports whether c is -1 or a plausible class among n labels.
func isClass(c int32, n int) bool { return c >= -1 && c < math.MaxInt32 && int(c) < 1<<20+n }

// first is the lowest index of a value that is bad, or -1.
func first[T any](x []T, bad func(T) bool) int {
	return chunk.First(len(x), func(lo, hi int) int {
		for i, v := range x[lo:hi] {
			if bad(v) {
				return lo + i
			}
		}
		return -1
	})
}
