package dataset

import (
	"bytes"
	"fmt"
	"slices"

	"sagann/chunk"
)

// edgeTable is the table of edges, which is read a second time for the edges.
type edgeTable struct {
	open         func() (*tableFile, error)
	src, dst     int
	weight, kind int // columns of weight and type; -1: none
	data         []int
	ids          *idTable
	types        map[string]uint32
	d            *Data
}

func (t Tables) openEdges(s *Stream, ids *idTable, opt Options) (*edgeTable, error) {
	known := slices.Concat([]string{t.Source, t.Target, t.Weight, t.EdgeType}, usualSource, usualTarget)
	e := &edgeTable{ids: ids, d: s.Data, types: map[string]uint32{}}
	o := tableOptions{heading: t.Heading, known: known}
	if t.Vertices != "" { // a row names a known vertex, a heading does not
		o.row = func(fields []string) bool {
			return slices.ContainsFunc(fields, func(id string) bool { _, err := ids.find([]byte(id), s.Data.Edges.V); return err == nil })
		}
	}
	e.open = func() (*tableFile, error) { return openTable(t.Edges, o) }
	f, err := e.open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := e.choose(f, t); err != nil {
		return nil, err
	}
	f.warnColumns(s.Data, append([]int{e.src, e.dst, e.weight, e.kind}, e.data...), "--edge-features chooses some")
	typed := &classText{}
	err = f.eachRow(func(row [][]byte) error {
		s.E++
		if isComment(row[0]) {
			return f.errorf("a comment: tables have none, and this line would be an edge")
		}
		for _, i := range []int{e.src, e.dst} {
			if t.Vertices != "" {
				break
			}
			if _, err := ids.add(row[i]); err != nil {
				return f.errorf("column %s: %w", f.columns[i], err)
			}
		}
		if e.kind >= 0 {
			// Keep only the different values, not those of all rows.
			typed.of = typed.of[:0]
			if err := typed.add(bytes.TrimSpace(row[e.kind])); err != nil {
				return f.errorf("column %s: %w", f.columns[e.kind], err)
			}
			if typed.of[0] < 0 {
				return f.errorf("column %s: the edge has no type", f.columns[e.kind])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if s.E == 0 {
		return nil, fmt.Errorf("%s: no edges", f.name)
	}
	d := s.Data
	if t.Vertices == "" {
		if d.Edges.V = ids.len(); ids.named == nil {
			if d.Edges.V, err = ids.ascending(opt.Relabel, s.E); err != nil {
				return nil, fmt.Errorf("%s: %w", f.name, err)
			}
		}
	}
	s.Weighted, d.Edges.DataCols = e.weight >= 0, len(e.data)
	d.Schema.Edges.Columns = f.names(e.data)
	if e.kind >= 0 {
		e.number(typed)
	}
	return e, nil
}

// isComment reports whether the first field of a line begins a comment. Ids such as #go do not.
func isComment(f []byte) bool {
	return len(f) > 0 && (f[0] == '#' || f[0] == '%') && (len(f) == 1 || isSeparator(f[1]))
}

// choose finds the columns.
func (e *edgeTable) choose(f *tableFile, t Tables) (err error) {
	if len(f.columns) < 2 {
		return fmt.Errorf("%s:1: one column; a table of edges has a source and a target", f.name)
	}
	if e.src, err = f.find(t.Source, usualSource...); err != nil {
		return err
	}
	if e.dst, err = f.find(t.Target, usualTarget...); err != nil {
		return err
	}
	if e.src < 0 {
		e.src = 0
		if e.dst == 0 {
			e.src = 1
		}
	}
	if e.dst < 0 {
		e.dst = 1
		if e.src == 1 {
			e.dst = 0
		}
	}
	if e.src == e.dst {
		return fmt.Errorf("%s:1: source and target are the same column %s", f.name, f.columns[e.src])
	}
	if e.weight, err = f.find(t.Weight, usualWeight...); err != nil {
		return err
	}
	if e.kind, err = f.find(t.EdgeType, usualType...); err != nil {
		return err
	}
	if len(t.EdgeFeatures) > 0 {
		if e.data, err = f.match(t.EdgeFeatures); err != nil {
			return err
		}
		e.data = slices.DeleteFunc(e.data, func(i int) bool { return i == e.src || i == e.dst || i == e.weight || i == e.kind })
	}
	return nil
}

// number numbers the edge types as labels are numbered.
func (e *edgeTable) number(typed *classText) {
	typed.of = typed.of[:0]
	for i := range typed.texts {
		typed.of = append(typed.of, int32(i))
	}
	var d Data
	to, _ := typed.classes(&d) // there are texts
	for i, text := range typed.texts {
		e.types[text] = uint32(to[i])
	}
	e.d.Edges.Types, e.d.Schema.Edges.Relations = d.Classes, d.Schema.Vertex.Classes
	for _, c := range d.Report.Changes {
		e.d.Report.Changes = append(e.d.Report.Changes, "of edges, "+c)
	}
}

// each reads the edges again.
func (e *edgeTable) each(fn func(*chunk.Edges) error) error {
	f, err := e.open()
	if err != nil {
		return err
	}
	defer f.Close()
	all := e.d.Edges
	p := &chunk.Edges{V: all.V, Types: all.Types, DataCols: all.DataCols}
	flush := func() error {
		if p.E() == 0 {
			return nil
		}
		err := fn(p)
		p.Src, p.Dst, p.Weight, p.Type, p.Data = p.Src[:0], p.Dst[:0], p.Weight[:0], p.Type[:0], p.Data[:0]
		return err
	}
	most := pieceValues / (2 + len(e.data))
	err = f.eachRow(func(row [][]byte) error {
		if err := e.add(p, f, row); err != nil {
			return err
		}
		if p.E() < most {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

func (e *edgeTable) add(p *chunk.Edges, f *tableFile, row [][]byte) error {
	src, err := e.ids.find(row[e.src], p.V)
	if err != nil {
		return f.errorf("column %s: %w", f.columns[e.src], err)
	}
	dst, err := e.ids.find(row[e.dst], p.V)
	if err != nil {
		return f.errorf("column %s: %w", f.columns[e.dst], err)
	}
	p.Src, p.Dst = append(p.Src, src), append(p.Dst, dst)
	if e.weight >= 0 {
		x, err := f.float(row, e.weight)
		if err != nil {
			return err
		}
		p.Weight = append(p.Weight, x)
	}
	if e.kind >= 0 {
		p.Type = append(p.Type, e.types[string(bytes.TrimSpace(row[e.kind]))])
	}
	for _, i := range e.data {
		x, err := f.float(row, i)
		if err != nil {
			return err
		}
		p.Data = append(p.Data, x)
	}
	return nil
}
