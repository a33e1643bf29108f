package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sagann/chunk"
)

// maxOneHot is the most vertices for OneHotFeatures: V² values of four
// bytes are then 4 GiB.
const maxOneHot = 1 << 15

// OneHotFeatures replaces the features of d by the identity, V×V. More than
// 32,768 vertices are an error.
func OneHotFeatures(d *Data) error {
	if d.Edges.V > maxOneHot {
		return fmt.Errorf("%sone-hot features of %d vertices need %d GiB; the most is %d vertices", namedFirst(d), d.Edges.V, d.Edges.V*d.Edges.V>>28, maxOneHot)
	}
	d.oneHot()
	d.Schema.Features.OfVertices = true
	return nil
}

// OneHotOf returns data like d with a column for each of n vertices of a run, which is 1 for this vertex only. places has
// the number of each vertex of d among them; nil means that it is the same.
func (d *Data) OneHotOf(places []uint32, n int) *Data {
	if places == nil && n == d.Edges.V {
		return d
	}
	x := *d
	DropFeatures(&x)
	x.Features, x.FeatureCols = make([]float32, x.Edges.V*n), n
	for v := range x.Edges.V {
		to := v
		if places != nil {
			to = int(places[v])
		}
		x.Features[v*n+to] = 1
	}
	return &x
}

func (d *Data) oneHot() {
	DropFeatures(d)
	v := d.Edges.V
	d.Features, d.FeatureCols = make([]float32, v*v), v
	for i := range v {
		d.Features[i*v+i] = 1
	}
}

// DropFeatures removes the features of d.
func DropFeatures(d *Data) {
	d.Features, d.Late, d.FeatureCols = nil, LateFeatures{}, 0
	d.Schema.Features = Features{}
}

// DegreeFeatures replaces the features of d by two columns: log(1 + in-degree) and
// log(1 + out-degree) of each vertex.
func DegreeFeatures(d *Data) {
	in, out := d.Edges.InDegrees(), d.Edges.OutDegrees()
	DropFeatures(d)
	d.Features, d.FeatureCols = make([]float32, 2*d.Edges.V), 2
	d.Schema.Features.NameColumns([]string{"log(1 + in-degree)", "log(1 + out-degree)"})
	for v := range d.Edges.V {
		d.Features[2*v], d.Features[2*v+1] = float32(math.Log1p(float64(in[v]))), float32(math.Log1p(float64(out[v])))
	}
}

// labelsOfColumns makes the columns of features that are labels of vertices the classes of the vertices, if there are such columns.
func labelsOfColumns(d *Data) {
	f := &d.Schema.Features
	first, n := f.labelColumns()
	if n == 0 || d.Labelled(VertexLabels) {
		return
	}
	rest := d.FeatureCols - n
	var kept []float32
	labels := make([]int32, d.Edges.V)
	take := func(v int, row []float32) {
		labels[v] = int32(slices.Index(row[first:first+n], 1))
		kept = append(append(kept, row[:first]...), row[first+n:]...)
	}
	if rows := d.Late.Sparse; rows != nil {
		row := make([]float32, d.FeatureCols)
		for v := range labels {
			clear(row)
			for i := rows.Ptr[v]; i < rows.Ptr[v+1]; i++ {
				row[rows.Cols[i]] = rows.Vals[i]
			}
			take(v, row)
		}
	} else {
		for v := range labels {
			take(v, d.Features[v*d.FeatureCols:][:d.FeatureCols])
		}
	}
	var names []string
	for c, col := range f.Columns[first : first+n] {
		if names = append(names, col.Category); col.Category != fmt.Sprint(c) && d.Schema.Vertex.Classes == nil {
			d.Schema.Vertex.Classes = []string{}
		}
	}
	if d.Schema.Vertex.Classes != nil {
		d.Schema.Vertex.Classes = names
	}
	columns := slices.Delete(slices.Clone(f.Columns), first, first+n)
	DropFeatures(d)
	d.Labels, d.Classes = labels, n
	if rest > 0 {
		d.Features, d.FeatureCols = kept, rest
		if slices.ContainsFunc(columns, func(c Column) bool { return !strings.HasPrefix(c.Name, tuAttribute) }) {
			f.Columns = columns
		}
	}
	d.Report.Changes = slices.DeleteFunc(d.Report.Changes, func(c string) bool { return strings.Contains(c, areFeatures) })
}

// RowNormalize divides each feature row of d, and of the other types of the graph, by the sum of its absolute values
// (L1 norm), in place. Zero rows are unchanged.
func RowNormalize(d *Data) {
	for _, x := range d.Vertices.Kinds.Others() {
		RowNormalize(x)
	}
	if d.FeatureCols == 0 {
		return
	}
	if d.Features == nil && d.Late.Sparse != nil {
		d.Late.Sparse.normalize()
		return
	}
	d.HoldFeatures()
	for row := range slices.Chunk(d.Features, d.FeatureCols) {
		normalizeRow(row)
	}
}

// hopeless is the size from which squares of features overflow float32, whose largest
// number is 3.4e38.
const hopeless = 1e18

// warnScale warns of features that are too large for training. rows are the rows of d from first on.
func (d *Data) warnScale(rows []float32, first int) (found bool) {
	at := chunk.First(len(rows), func(lo, hi int) int {
		for i, x := range rows[lo:hi] {
			if x > hopeless || x < -hopeless {
				return lo + i
			}
		}
		return -1
	})
	if at < 0 {
		return false
	}
	d.Report.Warnings = append(d.Report.Warnings, fmt.Sprintf("feature %d of vertex %s is %v: numbers above %v overflow in training; divide the column",
		at%d.FeatureCols, d.ID(first+at/d.FeatureCols), rows[at], float32(hopeless)))
	return true
}
