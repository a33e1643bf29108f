package dataset

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sagann/chunk"
)

// edgeList is a plain list of edges, which is read twice: for the ids, and for the edges. Each row has a source, a destination and perhaps
// a weight (1 when absent), separated by blanks, tabs, commas or semicolons. Lines that begin with # or % are comments. A first line of
// words is a heading; it is an error if it names other columns. A first row of counts is left out.
type edgeList struct {
	path    string
	ids     *idTable
	counts  counts // the first row
	sets    bool   // the columns number two sets of vertices (KONECT)
	times   bool   // there may be a fourth column, of times (KONECT)
	names   string // names of edge data that are not read, for a warning
	columns int
	data    bool // rows have data of edges
	buf     []byte
}

// listRow is a row of an edge list.
type listRow struct {
	src, dst []byte
	weight   float32
}

// scan calls fn for every edge, in the order of the file. It holds one line in memory.
func (l *edgeList) scan(fn func(row listRow) error) error {
	t, err := openText(l.path)
	if err != nil {
		return err
	}
	defer t.Close()
	first, heading := true, []string(nil)
	l.columns = 0
	return t.eachLine(func(line []byte) error {
		if first {
			first = false
			l.konect(t.comment)
			if isHeading(line) {
				heading, err = checkHeading(t, line)
				return err
			}
			if l.counts.edges > 0 {
				return nil
			}
		}
		row, err := l.row(t, line, heading)
		if err != nil {
			return err
		}
		if err := fn(row); err != nil && err != errTexts {
			return t.errorf("%w", err)
		} else if err != nil {
			return err
		}
		return nil
	})
}

// konect reads the first comment of the file. KONECT's lists begin with "% sym", "% asym" or "% bip" and a word about weights.
func (l *edgeList) konect(comment string) {
	words := strings.Fields(comment)
	l.times = len(words) >= 3 && words[0] == "%" && slices.Contains([]string{"sym", "asym", "bip"}, words[1])
	l.sets = l.times && words[1] == "bip"
}

// row reads a row.
func (l *edgeList) row(t *textFile, line []byte, heading []string) (row listRow, err error) {
	line, data, hasData, err := cutEdgeData(line)
	if err != nil {
		return row, t.errorf("%w", err)
	}
	s, rest := field(line)
	d, rest := field(rest)
	s, d = unquoted(s), unquoted(d)
	row = listRow{s, d, 1}
	for _, end := range []struct {
		side string
		f    []byte
	}{{"source", s}, {"destination", d}} {
		if err := l.checkEnd(t, end.side, end.f, heading); err != nil {
			return row, err
		}
	}
	way := func(what string) string { return "; " + what + ": " + convertWay(l.path, heading) }
	n := 2
	if len(rest) > 0 {
		n = 3
		w, more := field(rest)
		if len(more) > 0 && l.times {
			n = 4
			_, more = field(more)
		}
		if len(more) > 0 && heading == nil && isRagged(l.path) {
			return row, t.errorf("more than three fields (source, destination, weight), and rows of different lengths: %w", foreignNamed(adjacency).refuse(l.path))
		}
		if len(more) > 0 && isSquare(l.path) {
			return row, t.errorf("more than three fields (source, destination, weight), and as many rows as fields: %w", foreignNamed(matrix).refuse(l.path))
		}
		if len(more) > 0 {
			return row, t.errorf("more than three fields (source, destination, weight)%s", way("a table of more columns"))
		}
		f, err := parseFloat(unquoted(w))
		if err == nil {
			row.weight, err = toFloat32(f)
		}
		if err != nil {
			return row, t.errorf("weight: %w%s", err, way("a table of other columns"))
		}
	}
	if hasData {
		l.data = true
		if err := l.edgeData(&data, &row); err != nil {
			return row, t.errorf("%w", err)
		}
	}
	if l.columns == 0 {
		l.columns = n
	}
	if n < l.columns && strings.ContainsAny(string(line[len(line)-1:]), ",;\t") {
		return row, t.errorf("the last of %d fields is empty", l.columns)
	}
	if n != l.columns {
		return row, t.errorf("%d fields, the lines before have %d", n, l.columns)
	}
	if l.sets {
		l.buf = append(append(append(append(l.buf[:0], 'r'), s...), 'c'), d...)
		row.src, row.dst = l.buf[:len(s)+1], l.buf[len(s)+1:]
	}
	return row, nil
}

// unquoted is a field without quotes around it.
func unquoted(f []byte) []byte {
	if n := len(f); n > 1 && f[0] == '"' && f[n-1] == '"' {
		return f[1 : n-1]
	}
	return f
}

// isRagged reports whether the first rows of a text have different numbers of fields, as lists of neighbours have.
func isRagged(path string) bool {
	t, err := openText(path)
	if err != nil {
		return false
	}
	defer t.Close()
	columns := 0
	for range 1000 {
		line, err := t.nextRow()
		if err != nil {
			return false
		}
		n := len(fields(line, nil))
		if columns > 0 && n != columns {
			return true
		}
		columns = n
	}
	return false
}

// checkEnd refuses an end that is no whole number.
func (l *edgeList) checkEnd(t *textFile, side string, f []byte, heading []string) error {
	_, err := parseUint(f)
	if err == nil {
		return nil
	}
	if _, _, ok := wholeID(f); ok {
		return nil
	}
	if len(f) > 0 {
		if err := checkID(f, false); err != nil {
			return t.errorf("%s: %w", side, err)
		}
	}
	hint := ""
	switch {
	case len(f) > 0:
		hint = "; ids that are text: " + l.wordsWay(heading)
	case heading != nil || t.line > 1:
	case side == "source":
		hint = "; a heading that pandas wrote, behind a column of row numbers: saga data convert --edges " + quotedPath(l.path) + " --heading yes --source 2 --target 3 --out graph.saga"
	default:
		hint = "; a count before the edges is no edge: leave the line out"
	}
	return t.errorf("%s: %w%s", side, err, hint)
}

// wordsWay is the command that reads ids that are text. A first line of words, heading, is an edge if one of them occurs again.
func (l *edgeList) wordsWay(heading []string) string {
	flags, note := " --heading no", ""
	switch {
	case heading == nil:
	case columnFlags(heading) != "" || len(heading) > 1 && isUsual(heading[0], usualSource) && isUsual(heading[1], usualTarget):
		flags = " --heading yes" + columnFlags(heading)
	case !l.occursAgain(heading):
		flags, note = " --heading yes", " (or --heading no, if line 1 is an edge)"
	}
	return fmt.Sprintf("saga data convert --edges %s%s --out graph.saga%s", quotedPath(l.path), flags, note)
}

// occursAgain reports whether one of the words of line 1, in small letters, is an id of the rows behind it, of which it reads some.
func (l *edgeList) occursAgain(words []string) bool {
	t, err := openText(l.path)
	if err != nil {
		return false
	}
	defer t.Close()
	for row := range 1 << 20 {
		line, err := t.nextRow()
		if err != nil {
			return false
		}
		a, rest := field(line)
		b, _ := field(rest)
		if row > 0 && (isUsual(string(a), words) || isUsual(string(b), words)) {
			return true
		}
	}
	return false
}

// edgeData takes the weight from the data of an edge, and the names of what is not read.
func (l *edgeList) edgeData(data *edgeData, row *listRow) error {
	for i, key := range data.keys {
		if key != "weight" {
			if len(l.names) < 200 && !slices.Contains(strings.Split(l.names, ", "), key) {
				l.names = strings.TrimPrefix(l.names+", "+key, ", ")
			}
			continue
		}
		f, err := parseFloat([]byte(data.values[i]))
		if err == nil {
			row.weight, err = toFloat32(f)
		}
		if err != nil {
			return fmt.Errorf("weight: %w", err)
		}
	}
	return nil
}

// isEdgeList reports whether a file has the ending of an edge list.
func isEdgeList(path string) bool {
	return isFile(path) && slices.Contains(edgeListEndings, endingOf(path)) && !isStore(path)
}

// openEdgeList reads the ids of an edge list and numbers the vertices.
func openEdgeList(path string, relabel Relabel) (*Stream, error) {
	d := &Data{Name: baseName(path), Report: Report{Form: edgeListForm}}
	l, s, ends := &edgeList{path: path, ids: &idTable{}}, &Stream{Data: d}, linkedEnds{}
	var err error
	if l.counts, err = countsLine(path); err != nil {
		return nil, err
	}
	pass := func() error {
		s.E, s.Weighted, ends = 0, false, linkedEnds{}
		if err := l.counts.addTo(l.ids); err != nil {
			return err
		}
		return l.scan(func(row listRow) error {
			s.E++
			s.Weighted = s.Weighted || row.weight != 1
			a, _, err := l.ids.add(row.src)
			if err != nil {
				return err
			}
			b, _, err := l.ids.add(row.dst)
			ends.see(a, b)
			return err
		})
	}
	if err = pass(); err == errTexts {
		l.ids = &idTable{texts: true, named: map[string]uint32{}}
		err = pass()
	}
	if err != nil {
		return nil, orForeign(path, err)
	}
	if s.E == 0 {
		return nil, fmt.Errorf("%s: no edges", path)
	}
	v, err := l.ids.sealEnds(relabel, s.E)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d.Edges = &chunk.Edges{V: v}
	l.tell(d, ends.both)
	s.EachEdges = func(fn func(*chunk.Edges) error) error { return l.each(s, fn) }
	return s, nil
}

// tell reports what was left out and what looks wrong.
func (l *edgeList) tell(d *Data, both bool) {
	d.warnBeside(l.path)
	if l.counts.edges > 0 {
		d.warn("%s: %s", l.path, l.counts)
	}
	if l.names != "" {
		d.warn("%s: nothing reads the edge data %.200s", l.path, l.names)
	}
	if l.columns == 4 {
		d.warn("%s: nothing reads column 4, the time of each edge", l.path)
	}
	if l.sets {
		d.Report.Changes = append(d.Report.Changes, "the columns number two sets of vertices: r1, r2, … are those of the first column, c1, c2, … those of the second")
	} else {
		l.ids.warnLinks(d, l.path, both || l.columns == 2 && !l.data && !l.ids.texts)
	}
	l.ids.give(d)
}

// each reads the edges again.
func (l *edgeList) each(s *Stream, fn func(*chunk.Edges) error) error {
	p := &chunk.Edges{V: s.Data.Edges.V}
	flush := func() error {
		err := fn(p)
		p.Src, p.Dst, p.Weight = p.Src[:0], p.Dst[:0], p.Weight[:0]
		return err
	}
	err := l.scan(func(row listRow) error {
		a, err := l.ids.find(row.src, p.V)
		if err != nil {
			return errChanged
		}
		b, err := l.ids.find(row.dst, p.V)
		if err != nil {
			return errChanged
		}
		p.Src, p.Dst = append(p.Src, a), append(p.Dst, b)
		if s.Weighted {
			p.Weight = append(p.Weight, row.weight)
		}
		if p.E() < pieceValues/2 {
			return nil
		}
		return flush()
	})
	if err != nil || p.E() == 0 {
		return err
	}
	return flush()
}

// scanEdges calls fn for every pair of whole numbers of a list in a TU or OGB set.
func scanEdges(t *textFile, fn func(src, dst uint64) error) error {
	return t.eachLine(func(line []byte) error {
		s, rest := field(line)
		d, rest := field(rest)
		src, err := parseUint(s)
		if err != nil {
			return t.errorf("source: %w", err)
		}
		dst, err := parseUint(d)
		if err != nil {
			return t.errorf("destination: %w", err)
		}
		if len(rest) > 0 {
			return t.errorf("more than two fields")
		}
		if err := fn(src, dst); err != nil {
			return t.errorf("%w", err)
		}
		return nil
	})
}

// baseName is the name of a text file without its folder and endings.
func baseName(path string) string {
	name := plainName(filepath.Base(path))
	return strings.TrimSuffix(name, filepath.Ext(name))
}
