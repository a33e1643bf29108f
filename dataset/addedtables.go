package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sagann/chunk"
)

// ReadAdded reads vertices that d does not have, and edges of the graph with them, from tables as LoadTables reads. The table of vertices has a column of ids, by its
// name or the first, and the columns that the features of d were made of, which are prepared in the same way; where features have no names, it has as many other
// columns as d has features. Times of vertices, where d has some, are in a column vertex_time or with a usual name. Ends of edges are ids of d or of the added vertices. What the edges of d have
// must be in columns of the same names, or with usual ones. edges "" is none. Errors name the file and line.
func ReadAdded(edges, vertices string, d *Data) (*Added, error) {
	a := &Added{}
	if err := a.fits(d); d.Vertices.Kinds != nil || d.Shard != nil || d.GraphOf != nil || d.Schema.Features.OfVertices {
		return nil, fmt.Errorf("vertices that are added to %s: %w", d.Name, err)
	}
	ids := d.finder()
	r := addedReader{a: a, d: d, ids: ids, own: &idTable{ordered: true}, said: &Data{Name: d.Name, Edges: &chunk.Edges{}}}
	if err := r.vertices(vertices); err != nil {
		return nil, err
	}
	ids.added, ids.column = r.own, r.own.column
	if edges != "" {
		side := tableSide{ids: ids, count: d.Edges.V + r.own.len()}
		if err := r.edges(edges, [2]tableSide{side, side}); err != nil {
			return nil, err
		}
	}
	r.name()
	return a, a.fits(d)
}

// name gives the added vertices their ids.
func (r *addedReader) name() {
	a, d := r.a, r.d
	switch a.Count = r.own.len(); {
	case r.own.texts:
		a.Vertices.Names = r.own.names
	case d.Vertices.Names == nil && d.Vertices.IDs == nil && r.goOn():
	default:
		a.Vertices.IDs = r.own.numbers
	}
	a.Report = r.said.Report
}

// addedReader reads vertices and edges that are added to d.
type addedReader struct {
	a    *Added
	d    *Data
	ids  *idTable // of d
	own  *idTable // of the added vertices
	said *Data    // its report is that of the reading
}

// goOn tells whether the ids of the added vertices are the numbers behind those of d.
func (r *addedReader) goOn() bool {
	next := r.d.Vertices.First + uint64(r.d.Edges.V)
	for v, n := range r.own.numbers {
		if n != next+uint64(v) {
			return false
		}
	}
	return true
}

// vertices reads the table of vertices.
func (r *addedReader) vertices(path string) error {
	columns, t := r.d.Schema.Features.Columns, &vertexTable{d: r.said, split: -1, time: -1}
	if r.d.FeatureCols == 0 {
		columns = nil
	}
	known := slices.Concat(usualID, usualLabel, usualSplit)
	for _, c := range columns {
		known = append(known, cmp.Or(c.Of, c.Name))
	}
	t.open = func() (*tableFile, error) {
		return openTable(path, tableOptions{known: known, row: func([]string) bool { return false }}) // of two lines of words the first is a heading
	}
	t.how.Like = r.d.Name
	f, err := t.open()
	if err != nil {
		return err
	}
	defer f.Close()
	if t.id, err = f.findID(""); err != nil {
		return errors.New(strings.Replace(err.Error(), "--id COL names it", "name it id", 1))
	}
	if f.headed && !namesID(f.columns[t.id]) {
		r.said.Report.Changes = append(r.said.Report.Changes, fmt.Sprintf("%s: the first column, %s, is taken as the ids of vertices", f.name, f.columns[t.id]))
	}
	if r.d.Vertices.Time != nil {
		if t.time, err = f.find("", slices.Concat([]string{"vertex_time"}, usualTime)...); err != nil || t.time < 0 {
			return errors.Join(err, fmt.Errorf("%s:1: no column vertex_time, and the vertices of %s have times; there are %s", f.name, r.d.Name, f.list()))
		}
	}
	if t.made, err = r.features(f, t, columns); err != nil {
		return err
	}
	r.own.column = f.columns[t.id]
	err = f.eachRow(func(row [][]byte) error {
		if err := addNew(r.ids, r.own, r.d, row[t.id]); err != nil {
			return f.errorf("column %s: %w", f.columns[t.id], err)
		}
		if t.time < 0 {
			return nil
		}
		x, err := f.time(row, t.time)
		r.a.Vertices.Time = append(r.a.Vertices.Time, x)
		return err
	})
	if err == nil && r.own.len() == 0 {
		err = fmt.Errorf("%s: no vertices", f.name)
	}
	if err != nil || len(t.made) == 0 {
		return err
	}
	if err := t.eachRows(func(rows []float32) error { r.a.Features = append(r.a.Features, rows...); return nil }); err != nil {
		return err
	}
	return t.tellUnseen()
}

// features are those of d and the columns of f that they are made of.
func (r *addedReader) features(f *tableFile, t *vertexTable, columns []Column) (made []feature, err error) {
	used := []int{t.id, t.time}
	for i, c := range f.columns {
		if f.headed && isUsual(c, slices.Concat(usualLabel, usualSplit)) && !slices.ContainsFunc(columns, func(x Column) bool { return cmp.Or(x.Of, x.Name) == c }) {
			used = append(used, i) // labels and splits are not read
		}
	}
	if r.d.FeatureCols > 0 && columns == nil {
		for i, c := range f.columns {
			if !slices.Contains(used, i) {
				made = append(made, feature{Column{Name: c}, i})
			}
		}
		if n := r.d.FeatureCols; len(made) != n {
			return nil, fmt.Errorf("%s:1: %d columns beside the ids; the vertices of %s have %d features, without names", f.name, len(made), r.d.Name, n)
		}
		return made, nil
	}
	for _, c := range columns {
		name := cmp.Or(c.Of, c.Name)
		i := slices.Index(f.columns, name)
		if i < 0 {
			return nil, fmt.Errorf("%s:1: no column %q, of which features of the run were made; there are %s", f.name, name, f.list())
		}
		made, used = append(made, feature{c, i}), append(used, i)
	}
	if columns != nil { // else features are not read
		f.warnColumns(r.said, used, "no feature was made of them")
	}
	return made, nil
}

// edges reads the table of edges between vertices of two sides, the added ones among them.
func (r *addedReader) edges(path string, sides [2]tableSide) error {
	of := r.d.Edges
	all := &chunk.Edges{V: max(sides[0].count, sides[1].count), Types: of.Types, DataCols: of.DataCols}
	r.said.Edges = all
	s := &Stream{Data: r.said}
	t := Tables{Edges: path, added: true}
	if of.Time == nil {
		t.EdgeTime = "none"
	}
	e, err := t.beginEdges(s, sides)
	if err != nil {
		return err
	}
	if of.Weight == nil {
		e.weight = -1
	}
	if of.Types == 0 {
		e.kind = -1
	}
	if err := r.hasColumns(e); err != nil {
		return err
	}
	guessed := e.weight
	if err := e.read(s); err != nil {
		return err
	}
	if e.weight != guessed {
		return fmt.Errorf("%s: the edges of %s have weights, and column %d, which is named so, has other things than numbers", path, r.d.Name, guessed+1)
	}
	if err := r.relations(e); err != nil {
		return err
	}
	kind := e.kind
	e.kind, e.linked.both, e.t.EdgeTime = -1, true, "none" // types have numbers already, edges may go one way, and times are the graph's
	err = e.tell(s)
	e.kind, r.said.Schema.Edges.Columns = kind, nil
	if err != nil {
		return err
	}
	r.a.Edges = &chunk.Edges{V: all.V, Types: of.Types, DataCols: of.DataCols}
	return e.each(func(p *chunk.Edges) error {
		to := r.a.Edges
		to.Src, to.Dst, to.Weight, to.Type = append(to.Src, p.Src...), append(to.Dst, p.Dst...), append(to.Weight, p.Weight...), append(to.Type, p.Type...)
		to.Data, to.Time = append(to.Data, p.Data...), append(to.Time, p.Time...)
		return nil
	})
}

// hasColumns finds the numbers of edges, and is an error if something that edges of d have has no column.
func (r *addedReader) hasColumns(e *edgeTable) error {
	f, err := e.open()
	if err != nil {
		return err
	}
	defer f.Close()
	of, e0 := r.d.Edges, fmt.Sprintf("%s:1: the edges of %s have", f.name, r.d.Name)
	switch {
	case of.Weight != nil && e.weight < 0:
		return fmt.Errorf("%s weights, and no column is named weight; there are %s", e0, f.list())
	case of.Types > 0 && e.kind < 0:
		return fmt.Errorf("%s types, and no column is named edge_type; there are %s", e0, f.list())
	case of.Time != nil && e.time < 0:
		return fmt.Errorf("%s times, and no column is named edge_time; there are %s", e0, f.list())
	case of.DataCols == 0:
		return nil
	}
	used := []int{e.src, e.dst, e.weight, e.kind, e.time}
	if names := r.d.Schema.Edges.Columns; names != nil {
		for _, name := range names {
			i := slices.Index(f.columns, name)
			if i < 0 {
				return fmt.Errorf("%s numbers %s, and there is no column %q; there are %s", e0, some(names), name, f.list())
			}
			e.data = append(e.data, i)
		}
		return nil
	}
	for i := range f.columns {
		if !slices.Contains(used, i) {
			e.data = append(e.data, i)
		}
	}
	if len(e.data) != of.DataCols {
		return fmt.Errorf("%s %d numbers each, without names, and there are %d such columns; there are %s", e0, of.DataCols, len(e.data), f.list())
	}
	return nil
}

// relations gives the types of edges the numbers that d has for them.
func (r *addedReader) relations(e *edgeTable) error {
	if e.kind < 0 {
		return nil
	}
	names := r.d.Schema.Edges.Relations
	for _, text := range e.typed.texts {
		k := slices.Index(names, text)
		if names == nil {
			if n, err := strconv.Atoi(text); err == nil && n < r.d.Edges.Types {
				k = n
			}
		}
		if k < 0 {
			if names == nil {
				return fmt.Errorf("%s: the type %.40q of an edge; those of %s are 0 to %d", e.t.Edges, text, r.d.Name, r.d.Edges.Types-1)
			}
			return fmt.Errorf("%s: the type %.40q of an edge; those of %s are %s", e.t.Edges, text, r.d.Name, some(names))
		}
		e.types[text] = uint32(k)
	}
	return nil
}
