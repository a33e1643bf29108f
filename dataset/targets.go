package dataset

import (
	"fmt"
	"math"

	"sagann/chunk"
)

// Targets are numbers to predict, as in regression.
type Targets struct {
	Vertex []float32 // V×Cols row-major, a row of NaN where a vertex has none; nil: no targets
	Cols   int
	Links  *Links // edges to predict; nil: none
}

// has tells whether vertex v has targets.
func (t *Targets) has(v int) bool { return t.Vertex[v*t.Cols] == t.Vertex[v*t.Cols] }

// marks is -1 for vertices without targets and 0 for the others, as if those were a class.
func (t *Targets) marks() []int32 {
	list := make([]int32, len(t.Vertex)/t.Cols)
	for v := range list {
		if !t.has(v) {
			list[v] = -1
		}
	}
	return list
}

func checkTargets(d *Data) error {
	t := &d.Targets
	if t.Vertex == nil {
		return nil
	}
	if t.Cols < 1 || len(t.Vertex)%t.Cols != 0 || len(t.Vertex)/t.Cols != d.Edges.V {
		return fmt.Errorf("%d targets do not make %d rows of width %d", len(t.Vertex), d.Edges.V, t.Cols)
	}
	bad := chunk.First(d.Edges.V, func(lo, hi int) int {
		for v := lo; v < hi; v++ {
			for _, x := range t.Vertex[v*t.Cols:][:t.Cols] {
				if math.IsInf(float64(x), 0) || (x == x) != t.has(v) {
					return v
				}
			}
		}
		return -1
	})
	if bad >= 0 {
		return fmt.Errorf("vertex %d has the targets %v: they must be finite, or all of them NaN for none", bad, t.Vertex[bad*t.Cols:][:t.Cols])
	}
	return nil
}

// readTargets reads targets: [V] or [V,C] numbers, NaN for none.
func (d *Data) readTargets(from arrays, rows *rowCount) error {
	a, err := optional(from, "targets")
	if err != nil || a == nil {
		return err
	}
	cols := 1
	switch {
	case len(a.Shape) == 2 && a.Shape[1] > 0:
		cols = a.Shape[1]
	case len(a.Shape) != 1:
		return fmt.Errorf("%s: shape %v of the targets: want [V] or [V C]", a.Where(0), a.Shape)
	}
	if err := rows.set(a.Shape[0], a.Name(), a.Where(0), "rows of targets"); err != nil {
		return err
	}
	d.Targets.Cols = cols
	d.Targets.Vertex, err = a.Float32s()
	return err
}

// Cover is an error where a vertex of the splits has no targets.
func (t *Targets) Cover(splits [3][]uint32) error {
	for k, ids := range splits {
		for _, v := range ids {
			if !t.has(int(v)) {
				return fmt.Errorf("vertex %d of the %s split has no targets", v, [3]string{"training", "validation", "test"}[k])
			}
		}
	}
	return nil
}

// Spread is, by column, the sum of the squared distances of the targets of vertices from their mean.
func (t *Targets) Spread(vertices []uint32) []float64 {
	sums := make([]float64, t.Cols)
	for c := range sums {
		mean := 0.0
		for _, v := range vertices {
			mean += float64(t.Vertex[int(v)*t.Cols+c])
		}
		mean /= float64(len(vertices))
		for _, v := range vertices {
			d := float64(t.Vertex[int(v)*t.Cols+c]) - mean
			sums[c] += d * d
		}
	}
	return sums
}
