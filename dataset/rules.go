package dataset

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"sagann/chunk"
)

// The rules by which every reader of texts decides what a line and a column are.

// Usual names of columns. A column with another name has this use only if a flag says so.
var (
	usualSource = []string{"source", "src", "from", "source_id", "from_id", "node1", "id1", "u", "fromnodeid"}
	usualTarget = []string{"target", "dst", "destination", "to", "target_id", "to_id", "node2", "id2", "v", "tonodeid"}
	usualWeight = []string{"weight", "weights", "edge_weight", "w", "wt", "value", "val", "count", "counts", "score", "rating", "strength", "frequency"}
	usualType   = []string{"edge_type", "type", "relation"}
	usualTime   = []string{"edge_time", "time", "timestamp"}
	usualID     = []string{"id", "vertex", "node", "node_id", "vertex_id"}
	usualLabel  = []string{"label", "class", "y"}
	usualSplit  = []string{"split"}
)

// unknownLabels are classes that more likely mean that there is no label.
var unknownLabels = []string{"unknown", "none", "null", "na", "n/a", "missing", "unlabelled", "unlabeled", "undefined", "?", "-"}

// notEnds are names of a first column of an edge list that are no ends: such a column numbers the edges.
var notEnds = []string{"edge_id", "edgeid", "eid", "edge", "index", "row"}

// isUsual reports whether a name is one of the usual ones, in capitals or not.
func isUsual(name string, usual []string) bool {
	return slices.ContainsFunc(usual, func(u string) bool { return strings.EqualFold(u, name) })
}

// endsInID reports whether a name ends in the word id: user_id, userId, USERID, "user id".
func endsInID(name string) bool {
	rest, ok := strings.CutSuffix(strings.ToLower(name), "id")
	if !ok || rest == "" {
		return ok
	}
	before, last := name[len(rest)-1], name[len(rest):]
	letter := before|0x20 >= 'a' && before|0x20 <= 'z'
	return !letter || last[0] == 'I' && before >= 'a' || name == strings.ToUpper(name)
}

// typeColumns are the usual names of the column with ids of vertices of a type; none for "".
func typeColumns(of string) (names []string) {
	if of == "" {
		return nil
	}
	for _, ending := range []string{"", "s", "id", "_id", " id", "-id", ".id"} {
		names = append(names, of+ending)
	}
	return names
}

// isNumber reports whether a field is a number.
func isNumber(f []byte) bool {
	_, err := parseFloat(bytes.Trim(bytes.TrimSpace(f), `"'`))
	return err == nil
}

// onlyNumbers reports whether a line has numbers only. Such a line is no heading unless --heading yes says so.
func onlyNumbers(fields [][]byte) bool {
	return len(fields) > 0 && !slices.ContainsFunc(fields, func(f []byte) bool { return !isNumber(f) })
}

// isHeading reports whether a line of an edge list names columns: its first two fields are words. In an edge list ids are numbers.
func isHeading(line []byte) bool {
	a, rest := field(line)
	b, _ := field(rest)
	word := func(f []byte) bool {
		f = bytes.TrimLeft(f, `"'`)
		return len(f) > 0 && (f[0]|0x20 >= 'a' && f[0]|0x20 <= 'z' || f[0] == '_')
	}
	unnamed := len(bytes.Trim(a, `"'`)) == 0 // pandas writes its index in a column without a name
	return (word(a) || unnamed) && word(b)
}

// isComment reports whether the first field of a line begins a comment. Ids such as #go do not.
func isComment(f []byte) bool {
	return len(f) > 0 && (f[0] == '#' || f[0] == '%') && (len(f) == 1 || isSeparator(f[1]))
}

// position is the column, from 0, that a flag with a number means.
func position(flag string) (column int, ok bool) {
	n, err := strconv.Atoi(flag)
	return n - 1, err == nil
}

// convertWay is the command, for error messages, that reads the columns of an edge list by name. names are those of the heading, nil
// if there is none.
func convertWay(path string, names []string) string {
	return fmt.Sprintf("saga data convert --edges %s%s --out graph.saga", quotedPath(path), columnFlags(names))
}

// quotedPath is a path as a shell takes it.
func quotedPath(path string) string {
	if strings.ContainsAny(path, " \t'\"&;()<>|*?$`\\") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// columnFlags are the flags that choose the ends, where the names alone do not.
func columnFlags(names []string) string {
	has := func(usual []string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return isUsual(n, usual) })
	}
	switch {
	case names == nil:
		return " --heading no --source 1 --target 2"
	case len(names) > 2 && !(has(usualSource) && has(usualTarget)):
		return " --source COL --target COL"
	}
	return ""
}

// checkHeading returns an error if a heading says that the columns are others than those of an edge list:
// a source, a target and perhaps a weight.
func checkHeading(t *textFile, line []byte) (names []string, err error) {
	for _, f := range fields(line, nil) {
		names = append(names, strings.ToLower(strings.Trim(string(f), `"'`)))
	}
	way := convertWay(t.name, names)
	for i, name := range names {
		for place, usual := range [][]string{usualSource, usualTarget} {
			if i != place && isUsual(name, usual) {
				return nil, t.errorf("the heading has %q as column %d; in an edge list columns 1 and 2 are source and target. By names: %s", name, i+1, way)
			}
		}
	}
	switch {
	case len(names) > 2 && isUsual(names[0], notEnds):
		return nil, t.errorf("the heading has %q as column 1; in an edge list columns 1 and 2 are source and target. By names: %s", names[0], way)
	case len(names) > 3:
		return nil, t.errorf("an edge list has at most three columns (source, target, weight), and the heading has %s: %s (a table of vertices: saga data convert --edges EDGES --vertices %s --features COLUMNS --label COLUMN --out graph.saga)", listColumns(names), way, quotedPath(t.name))
	case len(names) == 3 && !isUsual(names[2], usualWeight):
		return nil, t.errorf("the heading has %q as column 3, which in an edge list is the weight of the edge. As what its name says, or with --weight %s or --edge-type %s: %s",
			names[2], names[2], names[2], way)
	}
	return names, nil
}

// listColumns names columns, for errors.
func listColumns(columns []string) string {
	const most = 20
	text := strings.Join(columns[:min(most, len(columns))], ", ")
	if n := len(columns); n > most {
		text += fmt.Sprintf(" and %d more", n-most)
	}
	return fmt.Sprintf("%.400s", text)
}

// largeWeight is a size from which on whole numbers are more likely times or ids than weights.
const largeWeight = 1e8

// watchWeights checks the weights of edges while they are read, and warns of what is likely no weight.
func (s *Stream) watchWeights() {
	each, told := s.EachEdges, false
	if !s.Weighted {
		return
	}
	s.EachEdges = func(fn func(*chunk.Edges) error) error {
		zero, whole, largest, edges := true, true, float32(0), 0
		err := each(func(p *chunk.Edges) error {
			edges += len(p.Weight)
			for _, w := range p.Weight {
				zero, whole = zero && w == 0, whole && w == float32(math.Trunc(float64(w)))
				largest = max(largest, w)
			}
			return fn(p)
		})
		switch {
		case err != nil || told || edges == 0:
		case zero:
			s.Data.warn("all weights of edges are 0: walks stop at once, and sums over neighbours are 0")
		case whole && largest >= largeWeight:
			s.Data.warn("weights of edges are whole numbers up to %.0f, as times and ids are; a column of times is left out by saga data convert --edges FILE --source COL --target COL (columns are named, or 1, 2, …)", largest)
		}
		told = told || err == nil
		return err
	}
}

// checkID returns an error if a text is no id but a piece of some notation that the reader does not know. Those that a table of vertices
// names (known) may have brackets.
func checkID(id []byte, known bool) error {
	if i := bytes.IndexFunc(id, unicode.IsControl); i >= 0 {
		return fmt.Errorf("the id %.40q has a control character", id)
	}
	if known {
		return nil
	}
	const pairs = "()[]{}"
	var open []byte
	for _, c := range id {
		switch i := strings.IndexByte(pairs, c); {
		case i < 0:
		case i%2 == 0:
			open = append(open, pairs[i+1])
		case len(open) == 0 || open[len(open)-1] != c:
			open = append(open, 0) // closed, but not opened
		default:
			open = open[:len(open)-1]
		}
	}
	if bytes.IndexFunc(id, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsSymbol(r) && r > 127 }) < 0 {
		return fmt.Errorf("%.40q has neither a letter nor a digit, and is no id: columns are parted elsewhere", id)
	}
	if len(open) > 0 {
		return fmt.Errorf("the id %.40q has a bracket without the other one: columns are parted elsewhere, or the file has another format", id)
	}
	return nil
}

// counts is a first row that counts the vertices, whose ids begin with first, and the rows behind it. The zero value is none.
type counts struct{ vertices, first, edges uint64 }

// String says that the row was left out.
func (c counts) String() string {
	return fmt.Sprintf("the first row counts %d vertices, %d to %d, and the rows behind it; it is no edge (if it is one, move it down)", c.vertices, c.first, c.vertices+c.first-1)
}

// countsLine reads the first row of a text and reports whether it counts vertices and edges: two numbers V and E, in either order, or three,
// V, V and E, behind which come E rows whose ends are 0 to V-1 or 1 to V. It reads no more than E+1 rows.
func countsLine(path string) (c counts, err error) {
	t, err := openText(path)
	if err != nil {
		return c, err
	}
	defer t.Close()
	line, err := t.nextRow()
	if err != nil {
		return c, nil // who reads the file says what is wrong
	}
	var head []uint64
	for _, f := range fields(line, nil) {
		n, err := parseUint(f)
		if err != nil || len(head) == 3 {
			return c, nil
		}
		head = append(head, n)
	}
	if len(head) < 2 || len(head) == 3 && head[0] != head[1] {
		return c, nil
	}
	v, e := head[0], head[len(head)-1]
	smallest, largest, rows := v, uint64(0), uint64(0)
	for ; rows <= max(v, e) && largest <= max(v, e); rows++ {
		line, err := t.nextRow()
		if err != nil {
			break
		}
		a, rest := field(line)
		b, _ := field(rest)
		src, no := parseUint(a)
		dst, nor := parseUint(b)
		if no != nil || nor != nil {
			return c, nil
		}
		smallest, largest = min(smallest, src, dst), max(largest, src, dst)
	}
	if rows == v && rows != e {
		v, e = e, v
	}
	if rows != e || e == 0 || largest > v || largest == v && smallest == 0 {
		return c, nil
	}
	if checkVertexCount(v, int(e)) != nil {
		return c, nil // no count of vertices
	}
	return counts{v, min(smallest, 1), e}, nil
}

// addTo gives the counted vertices numbers.
func (c counts) addTo(ids *idTable) error {
	for v := range c.vertices {
		if _, _, err := ids.add(strconv.AppendUint(nil, v+c.first, 10)); err != nil {
			return err
		}
	}
	return nil
}

// edgeData is what networkx writes behind the ends of an edge, {'weight': 3, 'kind': 'x'}.
type edgeData struct{ keys, values []string }

// cutEdgeData cuts such data off a line; ok is false if it has none.
func cutEdgeData(line []byte) (rest []byte, d edgeData, ok bool, err error) {
	line = bytes.TrimSpace(line)
	begin := bytes.IndexByte(line, '{')
	if begin < 1 || line[len(line)-1] != '}' || !isSeparator(line[begin-1]) {
		return line, d, false, nil
	}
	text := string(bytes.TrimSpace(line[begin+1 : len(line)-1]))
	for text != "" {
		key, more, quoted := pythonItem(text)
		value, last := "", false
		if text, last = strings.CutPrefix(strings.TrimSpace(more), ":"); quoted && last {
			value, text, quoted = pythonItem(strings.TrimSpace(text))
		} else {
			quoted = false
		}
		text = strings.TrimSpace(text)
		if !quoted && (value == "" || strings.ContainsAny(value, `([{'"`)) || text != "" && text[0] != ',' {
			return nil, d, true, fmt.Errorf("the data of the edge, %.60q, are no list of names and values", line[begin:])
		}
		text = strings.TrimSpace(strings.TrimPrefix(text, ","))
		d.keys, d.values = append(d.keys, key), append(d.values, value)
	}
	return bytes.TrimRight(line[:begin], " \t,;"), d, true, nil
}

// pythonItem cuts a text in quotes, or what stands before a comma or colon, off s.
func pythonItem(s string) (item, rest string, quoted bool) {
	if s != "" && (s[0] == '\'' || s[0] == '"') {
		if end := strings.IndexByte(s[1:], s[0]); end >= 0 && !strings.Contains(s[1:1+end], `\`) {
			return s[1 : 1+end], s[end+2:], true
		}
		return "", s, false
	}
	end := strings.IndexAny(s, ",:")
	if end < 0 {
		end = len(s)
	}
	item = strings.TrimSpace(s[:end])
	if item == "None" {
		return "", s[end:], true
	}
	return item, s[end:], false
}

// value is the value of a key.
func (d *edgeData) value(key string) (string, bool) {
	i := slices.Index(d.keys, key)
	if i < 0 {
		return "", false
	}
	return d.values[i], true
}
