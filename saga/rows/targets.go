package rows

import (
	"fmt"

	"sagann/chunk"
	"sagann/dataset"
)

// targets are the regression targets of vertices, 0 for a vertex without targets.
func (in *Inputs) targets() Source {
	return Source{Row: func(v int, to []float32) { SetTargets(to, in.Meaning.Rows, v) }}
}

// SetTargets writes row i of t to to, zeros if t has no row i.
func SetTargets(to []float32, t dataset.Numbers, i int) {
	clear(to)
	if t.Has(i) {
		copy(to, t.Row(i))
	}
}

// GraphLabel writes the label of graph g to to: its class, -1 without one, or its row of numbers, zeros without one.
func (in *Inputs) GraphLabel(to []float32, g int) {
	labels, wide := in.Data.GraphLabels, in.Meaning.Rows
	switch {
	case g < wide.Len():
		SetTargets(to, wide, g)
	case wide.Rows != nil:
		clear(to)
	case g < len(labels):
		to[0] = float32(labels[g])
	default:
		to[0] = -1
	}
}

// Mean is the weight of each of some rows in their mean loss. The loss of a row is the sum over its known labels divided by
// the number of classes, and the mean is that over all known labels.
func (in *Inputs) Mean(rows []uint32) float32 {
	if known := in.Known(rows); in.Meaning.Partial && known > 0 {
		return float32(1 / known)
	}
	return 1 / float32(max(1, len(rows)))
}

// Known is how many rows the known labels of some rows would fill.
func (in *Inputs) Known(rows []uint32) float64 {
	if !in.Meaning.Partial {
		return float64(len(rows))
	}
	return float64(in.Meaning.Rows.Known(rows)) / float64(in.Meaning.Rows.Cols)
}

// trainWeight is the weight of each vertex in the mean loss over the training split, 0 outside it.
func (in *Inputs) trainWeight() (Source, error) {
	d, split := in.Data, in.splitOf()
	each := in.Mean(d.Train)
	of := func(int) float32 { return each }
	if in.Meaning.ClassWeights != nil {
		w, err := in.trainWeights(func(v uint32) int32 { return d.Labels[v] }, d.Train)
		if err != nil {
			return Source{}, err
		}
		of = func(v int) float32 { return w[d.Labels[v]] }
	}
	return Source{One: func(v int) float32 {
		if split[v] == 1 {
			return of(v)
		}
		return 0
	}}, nil
}

// trainWeights are the weights of training rows by class, scaled so that the weights of all training
// rows add up to 1. labels gives the class of a row.
func (in *Inputs) trainWeights(labels func(row uint32) int32, rows []uint32) ([]float32, error) {
	sum := 0.0
	for _, r := range rows {
		sum += float64(in.Meaning.ClassWeights[labels(r)])
	}
	if sum == 0 && len(rows) > 0 {
		return nil, fmt.Errorf("saga: the class weights of all training rows of %s are 0: there would be nothing to learn", in.Data.Name)
	}
	out := make([]float32, len(in.Meaning.ClassWeights))
	for k, w := range in.Meaning.ClassWeights {
		out[k] = float32(float64(w) / sum)
	}
	return out, nil
}

// splits are the splits that each vertex is in.
func (in *Inputs) splits() Source {
	split := in.splitOf()
	return Source{Row: func(v int, to []float32) {
		clear(to)
		if s := split[v]; s > 0 {
			to[s-1] = 1
		}
	}}
}

// splitOf is, by vertex, 1, 2 or 3 in the training, validation and test split, and 0 in none.
func (in *Inputs) splitOf() []uint8 {
	split := make([]uint8, in.Edges.V)
	for k, ids := range in.Data.Splits(dataset.VertexLabels) {
		chunk.Ranges(len(ids), func(lo, hi int) {
			for _, v := range ids[lo:hi] {
				split[v] = uint8(k + 1)
			}
		})
	}
	return split
}
