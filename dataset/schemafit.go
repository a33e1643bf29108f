package dataset

import (
	"fmt"
	"slices"
)

// Fit returns data like d whose features and edges mean what s, the schema of a run, says: columns and relations are put
// into the run's order by their names, and columns are prepared as the run's. What the run does not know is
// left out, if the result does not depend on it; notes say so, and where numbers had to be compared. Fit returns an
// error that names both sides if something cannot be mapped. d is unchanged.
func (s *Schema) Fit(d *Data, by Sides) (fitted *Data, notes []string, err error) {
	x := *d
	for _, fit := range []func(*Data, Sides) ([]string, error){s.fitFeatures, s.fitRelations, s.fitEdgeColumns} {
		more, err := fit(&x, by)
		if err != nil {
			return nil, nil, err
		}
		notes = append(notes, more...)
	}
	return &x, notes, nil
}

// fitFeatures fits the columns of features.
func (s *Schema) fitFeatures(d *Data, by Sides) ([]string, error) {
	run := names{s.Features.Names(), s.Features.Cols, s.Older}
	data := names{d.Schema.Features.Names(), d.FeatureCols, d.Schema.Older}
	if run.n == 0 || s.Features.OfVertices || run.list == nil && data.list == nil {
		return nil, nil // the number of columns is compared elsewhere
	}
	const what = "columns of features"
	a, err := align(run, data, what, by)
	if err != nil {
		return nil, err
	}
	notes := a.note(run, data, what, by)
	if a.byNumber {
		return notes, nil
	}
	f := fitting{run: s.Features.Columns, data: d.Schema.Features.Columns, from: a.from}
	var absent []string
	for k, i := range a.from {
		if i < 0 && !f.mayLack(k) {
			absent = append(absent, run.of(k))
		}
	}
	if absent != nil {
		return nil, differ(run, data, what, "the data lacks "+some(absent), by)
	}
	if len(a.unknown) > 0 {
		notes = append(notes, fmt.Sprintf("%s: the run does not know the columns %s, which are left out", by.Data, some(a.unknown)))
	}
	changed, more := f.numbers()
	if notes = append(notes, more...); !a.same() || changed {
		err = f.apply(d)
	}
	d.Schema.Features = Features{Columns: s.Features.Columns}
	return notes, err
}

// fitting makes the features of a run out of those of other data.
type fitting struct {
	run, data   []Column
	from        []int32      // by column of the run: that of the data; -1: zeros
	scale, move []float64    // by column of the run: x becomes scale·x + move
	fill        map[int]fill // by column of the run: what to put where a value was missing
}

// fill is a value and the column of the data that is 1 where it stands.
type fill struct {
	x    float32
	mark int
}

// mayLack reports whether column k of the run may be missing in the data, as it is made of a column that the data has:
// a category that no row has, or the mark of missing values.
func (f *fitting) mayLack(k int) bool {
	of := f.run[k].Of
	return of != "" && slices.ContainsFunc(f.data, func(c Column) bool { return c.Of == of || c.Name == of })
}

// numbers finds how numbers of the data become those of the run. changed is false if they are the same.
func (f *fitting) numbers() (changed bool, notes []string) {
	value := func(p *float64, none float64) float64 {
		if p == nil {
			return none
		}
		return *p
	}
	f.scale, f.move, f.fill = make([]float64, len(f.run)), make([]float64, len(f.run)), map[int]fill{}
	for k, i := range f.from {
		if f.scale[k] = 1; i < 0 {
			continue
		}
		mine, theirs := f.run[k], f.data[i]
		m, s := value(mine.Mean, 0), value(mine.Scale, 1)
		m2, s2 := value(theirs.Mean, 0), value(theirs.Scale, 1)
		if m != m2 || s != s2 {
			f.scale[k], f.move[k], changed = s2/s, (m2-m)/s, true
		}
		if mine.Fill == nil || theirs.Fill == nil || *mine.Fill == *theirs.Fill {
			continue
		}
		mark := slices.IndexFunc(f.data, func(c Column) bool { return c.Missing && c.Of == theirs.Name })
		if mark < 0 {
			notes = append(notes, fmt.Sprintf("missing values of column %.40q are %.6g in the data and were %.6g in training, and no column marks them: they stay", mine.Name, *theirs.Fill, *mine.Fill))
			continue
		}
		f.fill[k], changed = fill{float32((*mine.Fill - m) / s), mark}, true
	}
	return changed, notes
}

// apply replaces the features of d.
func (f *fitting) apply(d *Data) error {
	plain := len(f.fill) == 0
	for k := range f.run {
		plain = plain && f.scale[k] == 1 && f.move[k] == 0
	}
	old, sparse := *d, d.Late.Sparse != nil
	if sparse && plain {
		return d.SetSparse(f.pick(old.Late.Sparse, old.FeatureCols), len(f.run))
	}
	old.HoldFeatures()
	n, cols := len(f.run), old.FeatureCols
	x := make([]float32, old.Edges.V*n)
	for v := range old.Edges.V {
		row, to := old.Features[v*cols:(v+1)*cols], x[v*n:(v+1)*n]
		for k, i := range f.from {
			if i < 0 {
				continue
			}
			to[k] = row[i]
			if f.scale[k] != 1 || f.move[k] != 0 {
				to[k] = float32(f.scale[k]*float64(row[i]) + f.move[k])
			}
			if w, ok := f.fill[k]; ok && row[w.mark] != 0 {
				to[k] = w.x
			}
		}
	}
	DropFeatures(d)
	if sparse {
		return d.SetSparse(SparseOf(x, n), n)
	}
	d.Features, d.FeatureCols = x, n
	return nil
}

// pick is the columns of s that the run has, in its order.
func (f *fitting) pick(s *SparseRows, cols int) *SparseRows {
	to := slices.Repeat([]int32{-1}, cols)
	for k, i := range f.from {
		if i >= 0 {
			to[i] = int32(k)
		}
	}
	out := &SparseRows{Ptr: []int64{0}}
	type entry struct {
		col uint32
		x   float32
	}
	var row []entry
	for v := range len(s.Ptr) - 1 {
		ids, x := s.Row(v)
		row = row[:0]
		for i, c := range ids {
			if to[c] >= 0 {
				row = append(row, entry{uint32(to[c]), x[i]})
			}
		}
		slices.SortFunc(row, func(a, b entry) int { return int(a.col) - int(b.col) })
		for _, e := range row {
			out.Cols, out.Vals = append(out.Cols, e.col), append(out.Vals, e.x)
		}
		out.Ptr = append(out.Ptr, int64(len(out.Cols)))
	}
	return out
}

// fitRelations numbers the types of edges as the run does.
func (s *Schema) fitRelations(d *Data, by Sides) ([]string, error) {
	run, data := names{s.Edges.Relations, s.Edges.Types, s.Older}, names{d.Schema.Edges.Relations, d.Edges.Types, d.Schema.Older}
	const what = "relations"
	switch {
	case s.Edges.Weighted && d.Edges.Weight == nil:
		return nil, fmt.Errorf("the edges of %s have no weights, and the model of %s reads them", by.Data, by.Run)
	case run.n == 0:
		return nil, nil
	case data.n == 0:
		return nil, differ(run, data, what, "the model reads them", by)
	}
	a, err := align(run, data, what, by)
	if err != nil {
		return nil, err
	}
	if len(a.unknown) > 0 {
		return nil, differ(run, data, what, "the run does not know "+some(a.unknown), by)
	}
	e := *d.Edges
	e.Types, d.Schema.Edges.Relations = run.n, s.Edges.Relations
	if !ascending(a.to) {
		e.Type = slices.Clone(e.Type)
		for i, t := range e.Type {
			e.Type[i] = uint32(a.to[t])
		}
	}
	d.Edges = &e
	return a.note(run, data, what, by), nil
}

// fitEdgeColumns puts the numbers of edges into the run's order.
func (s *Schema) fitEdgeColumns(d *Data, by Sides) ([]string, error) {
	run, data := names{s.Edges.Columns, s.Edges.Cols, s.Older}, names{d.Schema.Edges.Columns, d.Edges.DataCols, d.Schema.Older}
	const what = "columns of edges"
	if run.n == 0 {
		return nil, nil
	}
	a, err := align(run, data, what, by)
	if err != nil {
		return nil, err
	}
	if len(a.missing) > 0 || run.list == nil && data.list == nil && run.n != data.n {
		return nil, differ(run, data, what, "the model reads each of the run's", by)
	}
	notes := a.note(run, data, what, by)
	if len(a.unknown) > 0 {
		notes = append(notes, fmt.Sprintf("%s: the run does not know the columns %s of edges, which are left out", by.Data, some(a.unknown)))
	}
	if !a.same() {
		e := *d.Edges
		e.Data, e.DataCols = pickColumns(e.Data, data.n, a.from), run.n
		d.Edges = &e
	}
	d.Schema.Edges.Columns = s.Edges.Columns
	return notes, nil
}

// pickColumns takes columns of rows of cols columns.
func pickColumns(x []float32, cols int, from []int32) []float32 {
	out := make([]float32, 0, len(x)/max(1, cols)*len(from))
	for row := range slices.Chunk(x, max(1, cols)) {
		for _, i := range from {
			out = append(out, row[i])
		}
	}
	return out
}
