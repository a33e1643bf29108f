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
	time         int // column of times; -1: none
	data         []int
	guessed      bool         // no flag names the column of weights
	sides        [2]tableSide // of sources and targets
	types        map[string]uint32
	typed        *classText
	linked       linkedEnds
	d            *Data
	t            Tables
	counts       counts // the first row
	skipped      int    // edges that were left out
	among        bool   // other tables have edges: this one may have a heading alone
}

// tableSide is the vertices of one end of the edges of a table.
type tableSide struct {
	ids   *idTable
	count int    // of vertices, once it is known
	of    string // name of their type; "": there are no types
}

func (t Tables) openEdges(s *Stream, ids *idTable, opt Options) (*edgeTable, error) {
	d := s.Data
	side := tableSide{ids: ids, count: d.Edges.V}
	e, err := t.beginEdges(s, [2]tableSide{side, side})
	if err != nil {
		return nil, err
	}
	if err := readTables([]*Stream{s}, []*edgeTable{e}); err != nil {
		return nil, err
	}
	if !ids.ordered {
		if d.Edges.V, err = ids.sealEnds(opt.Relabel, s.E); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Edges, err)
		}
		e.sides = [2]tableSide{{ids: ids, count: d.Edges.V}, {ids: ids, count: d.Edges.V}}
	} else {
		opt.idleRelabel(d)
	}
	if err := e.tell(s); err != nil {
		return nil, err
	}
	ids.give(d)
	return e, nil
}

// beginEdges opens a table of edges and chooses its columns.
func (t Tables) beginEdges(s *Stream, sides [2]tableSide) (*edgeTable, error) {
	known := slices.Concat([]string{t.Source, t.Target, t.Weight, t.EdgeType, t.EdgeTime}, usualSource, usualTarget, typeColumns(sides[0].of), typeColumns(sides[1].of))
	e := &edgeTable{sides: sides, d: s.Data, types: map[string]uint32{}, t: t}
	o := tableOptions{heading: t.Heading, known: known, edges: true}
	if t.Heading != "yes" && !t.added {
		var err error
		if e.counts, err = countsLine(t.Edges); err != nil {
			return nil, err
		}
		o.counts = e.counts.edges > 0
	}
	if sides[0].ids.ordered || sides[1].ids.ordered { // a row names a known vertex, a heading does not
		o.row = func(fields []string) bool {
			return slices.ContainsFunc(fields, func(id string) bool {
				return slices.ContainsFunc(sides[:], func(x tableSide) bool {
					_, err := x.ids.find([]byte(id), x.count)
					return x.ids.ordered && err == nil
				})
			})
		}
	}
	e.open = func() (*tableFile, error) { return openTable(t.Edges, o) }
	f, err := e.open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return e, e.choose(f, t)
}

// readTables reads the ids of the edges of all tables. If some ids of vertices without a table are texts, all tables are read
// again, as these ids may stand in several.
func readTables(streams []*Stream, tables []*edgeTable) error {
	for i := 0; i < len(tables); i++ {
		err := tables[i].read(streams[i])
		if err == errTexts {
			i = -1
		} else if err != nil {
			return err
		}
	}
	return nil
}

// read reads the ids and types of all edges, and counts them.
func (e *edgeTable) read(s *Stream) error {
	f, err := e.open()
	if err != nil {
		return err
	}
	defer f.Close()
	typed := &classText{}
	s.E, e.skipped, e.typed, e.linked = 0, 0, typed, linkedEnds{}
	if ids := e.sides[0].ids; !ids.ordered && ids == e.sides[1].ids {
		if err := e.counts.addTo(ids); err != nil {
			return err
		}
	}
	err = f.eachRow(func(row [][]byte) error {
		if isComment(row[0]) {
			return f.errorf("a comment: in a table comments stand before the first row only, and this line would be an edge")
		}
		keys, skip, err := e.ends(f, row)
		if err != nil || skip {
			return err
		}
		s.E++
		if e.within() {
			e.linked.see(keys[0], keys[1])
		}
		if e.guessed && e.weight >= 0 {
			if _, err := f.float(row, e.weight); err != nil {
				e.weight = -1 // it is no weight
			}
		}
		if e.kind < 0 {
			return nil
		}
		// Keep only the different values, not those of all rows.
		typed.of = typed.of[:0]
		if err := typed.add(bytes.TrimSpace(row[e.kind])); err != nil {
			return f.errorf("column %s: %w", f.columns[e.kind], err)
		}
		if typed.of[0] < 0 {
			return f.errorf("column %s: the edge has no type", f.columns[e.kind])
		}
		return nil
	})
	if err == nil && s.E == 0 && (!e.among || e.skipped > 0) {
		err = fmt.Errorf("%s: no edges", f.name)
	}
	return err
}

// within reports whether both ends of edges are vertices of one type.
func (e *edgeTable) within() bool { return e.sides[0].ids == e.sides[1].ids }

// ends are the keys of the ends of a row. skip says that one of them is no vertex and that such edges are left out. errTexts
// says that the ids of one end are texts from now on, and must be read again.
func (e *edgeTable) ends(f *tableFile, row [][]byte) (keys [2]uint64, skip bool, err error) {
	for k, i := range []int{e.src, e.dst} {
		x := e.sides[k]
		if !x.ids.ordered {
			if keys[k], _, err = x.ids.add(row[i]); err == errTexts {
				*x.ids = idTable{texts: true, named: map[string]uint32{}}
				return keys, false, err
			}
		} else {
			var v uint32
			v, err = x.ids.find(row[i], x.count)
			keys[k] = uint64(v)
			if err != nil && e.t.SkipUnknown {
				e.skipped++
				return keys, true, nil
			}
			if err != nil && !e.t.added {
				err = fmt.Errorf("%w; --skip-unknown leaves such edges out", err)
			}
		}
		if err != nil {
			return keys, false, f.errorf("column %s: %w", f.columns[i], err)
		}
	}
	return keys, false, nil
}

// tell says what the edges have, what was left out and what looks wrong, once all ids are known.
func (e *edgeTable) tell(s *Stream) error {
	f, err := e.open()
	if err != nil {
		return err
	}
	defer f.Close()
	d := e.d
	if s.E == 0 {
		d.warn("%s: no edges", f.name)
	}
	s.Weighted, s.Timed, d.Edges.DataCols = e.weight >= 0, e.time >= 0, len(e.data)
	d.Schema.Edges.Columns = f.names(e.data)
	if e.time >= 0 && e.t.EdgeTime == "" {
		d.Report.Changes = append(d.Report.Changes, fmt.Sprintf("the column %q of the edges is read as their times, by its name (--edge-time none: not)", f.columns[e.time]))
	}
	f.warnColumns(d, append([]int{e.src, e.dst, e.weight, e.kind, e.time}, e.data...), "--weight, --edge-type, --edge-time or --edge-features reads them")
	if e.counts.edges > 0 {
		d.warn("%s: %s", f.name, e.counts)
	}
	if e.skipped > 0 {
		d.warn("%s: %d {edge was|edges were} left out, as one of {its|their} ends is no vertex%s", f.name, e.skipped, e.ofTable())
	}
	if ids := e.sides[0].ids; e.within() && s.E > 0 {
		ids.warnLinks(d, f.name, e.linked.both || len(f.columns) == 2 && !f.hasData && !ids.texts)
	}
	if e.kind >= 0 {
		e.number(e.typed)
	}
	return nil
}

// ofTable names the table of vertices, where there is one.
func (e *edgeTable) ofTable() string {
	if e.t.Vertices == "" {
		return ""
	}
	return " of " + e.t.Vertices
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
	if f.headed && e.src < 0 && e.dst < 0 && !e.within() {
		e.src, e.dst = f.ofType(e.sides[0].of), f.ofType(e.sides[1].of)
	}
	if f.headed && len(f.columns) > 2 && (e.src < 0 || e.dst < 0) {
		return fmt.Errorf("%s:%d: which columns are the ends of an edge? There are %s; --source COL --target COL name them", f.name, f.textFile.line, f.list())
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
	if e.kind, err = f.find(t.EdgeType, usualType...); err != nil {
		return err
	}
	if e.weight, err = f.find(t.Weight, "weight"); err != nil {
		return err
	}
	if e.weight < 0 {
		e.weight = e.guessWeight(f, t.EdgeFeatures)
		e.guessed = e.weight >= 0
	}
	return e.chooseData(f, t)
}

// chooseData finds the columns of numbers and of times.
func (e *edgeTable) chooseData(f *tableFile, t Tables) (err error) {
	if len(t.EdgeFeatures) > 0 {
		if e.data, err = f.match(t.EdgeFeatures); err != nil {
			return err
		}
	}
	if e.time = -1; t.EdgeTime != "none" {
		if e.time, err = f.find(t.EdgeTime, usualTime...); err != nil {
			return err
		}
	}
	if e.time >= 0 && t.EdgeTime == "" && (slices.Contains(e.data, e.time) || e.time == e.src || e.time == e.dst || e.time == e.weight || e.time == e.kind) {
		e.time = -1 // a flag names it for another use
	}
	if len(e.data) > 0 {
		e.data = slices.DeleteFunc(e.data, func(i int) bool { return i == e.src || i == e.dst || i == e.weight || i == e.kind || i == e.time })
	}
	return nil
}

// guessWeight is the only column with a usual name of weights, if no flag names it; -1 if there is none.
func (e *edgeTable) guessWeight(f *tableFile, features []string) int {
	found := -1
	for i, c := range f.columns {
		if !isUsual(c, usualWeight) || i == e.src || i == e.dst || i == e.kind || slices.Contains(features, c) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
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
		p.Src, p.Dst, p.Weight, p.Type, p.Data, p.Time = p.Src[:0], p.Dst[:0], p.Weight[:0], p.Type[:0], p.Data[:0], p.Time[:0]
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
	src, err := e.sides[0].ids.find(row[e.src], e.sides[0].count)
	dst, no := e.sides[1].ids.find(row[e.dst], e.sides[1].count)
	if err != nil || no != nil {
		if e.t.SkipUnknown {
			return nil
		}
		return errChanged
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
	if e.time >= 0 {
		x, err := f.time(row, e.time)
		if err != nil {
			return fmt.Errorf("%w; every edge has a time, or --edge-time none leaves the column unread", err)
		}
		p.Time = append(p.Time, x)
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
