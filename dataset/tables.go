package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"sagann/chunk"
)

// Tables says what is read from a table of edges and a table of vertices, in CSV or TSV format,
// plain or packed. A column is given by its name in the heading or by its number from 1.
// "" means the column with a usual name, if there is one.
type Tables struct {
	Edges    string // path of the table of edges
	Vertices string // path of the table of vertices, or of an SVMlight file (.svm) whose line v is vertex v; "": none
	Heading  string // "yes", "no" or "auto"

	Source, Target string   // columns of Edges; "" can also mean the first two columns
	Weight         string   // column of Edges
	EdgeType       string   // column of Edges
	EdgeTime       string   // column of Edges with times; "none": edges have none
	EdgeFeatures   []string // columns of Edges, as patterns such as f*
	SkipUnknown    bool     // leave out edges whose ends are not in Vertices

	ID       string   // column of Vertices; "" can also mean the first column
	Label    []string // column of Vertices with classes; or several columns of 0 and 1 (multi-labels)
	Targets  []string // columns of Vertices with numbers to predict, as patterns; empty in all columns: no target
	Time     string   // column of Vertices with times
	Split    string   // column of Vertices with train, val, test, or nothing
	Features []string // columns of Vertices, as patterns such as f*
	Prepare  Preparation

	added bool // edges are added to a graph: no row of counts stands before them
}

// LoadTables reads a graph from tables. Vertices are numbered in the order of their
// table. Without a table of vertices, ids that are whole numbers are treated as in an edge list (see
// Relabel), and other ids are numbered in the order in which they occur. Errors name the file and line.
func LoadTables(t Tables, opt Options) (*Data, error) {
	s, err := t.open(opt)
	if err != nil {
		return nil, err
	}
	d, err := s.collect(opt)
	if err != nil {
		return nil, err
	}
	return finish(d, t.Edges, opt)
}

// open reads the vertices, numbers the ids and counts the edges.
func (t Tables) open(opt Options) (*Stream, error) {
	if err := opt.idleMask(t.Edges, 0); err != nil {
		return nil, err
	}
	d := &Data{Edges: &chunk.Edges{}, Report: Report{Form: "tables"}}
	d.Name = baseName(t.Edges)
	s := &Stream{Data: d}
	ids := &idTable{ordered: t.Vertices != ""}
	switch {
	case isSVMlight(t.Vertices):
		if err := t.openSVMlight(s, ids); err != nil {
			return nil, err
		}
	case t.Vertices != "":
		v, err := t.openVertices(d, ids)
		if err != nil {
			return nil, err
		}
		if err := v.opened(t, s); err != nil {
			return nil, err
		}
	}
	if err := orForeign(t.Edges, nil); err != nil {
		return nil, err
	}
	e, err := t.openEdges(s, ids, opt)
	if err != nil {
		return nil, err
	}
	s.EachEdges = e.each
	d.settle()
	return s, nil
}

// opened prepares the features of v, if asked for, and makes them the rows of s.
func (v *vertexTable) opened(t Tables, s *Stream) error {
	d := s.Data
	if t.Prepare.asked() {
		d.settle()
		if err := DefaultSplit(d, VertexLabels, t.Prepare.Seed); err != nil {
			return err
		}
		if err := v.prepare(&t.Prepare, d); err != nil {
			return err
		}
	}
	if s.EachRows = v.eachRows; len(v.made) == 0 {
		s.EachRows = nil
	}
	return nil
}

// openSVMlight reads vertices from an SVMlight file. Their ids are the numbers of their lines, from 0.
func (t Tables) openSVMlight(s *Stream, ids *idTable) error {
	if t.ID != "" || t.Split != "" || len(t.Label)+len(t.Features)+len(t.Targets) > 0 {
		return fmt.Errorf("%s: the columns of an SVMlight file have no names to choose by", t.Vertices)
	}
	rows, err := loadSVMlight(t.Vertices, s.Data)
	if err != nil {
		return err
	}
	n := len(rows.Ptr) - 1
	s.kept, s.from, s.Data.Edges.V, ids.column = rows, t.Vertices, n, "the number of a line, from 0"
	s.EachRows = func(fn func([]float32) error) error { return rows.eachRows(s.Data.FeatureCols, fn) }
	ids.numbers = make([]uint64, n)
	for v := range ids.numbers {
		ids.numbers[v] = uint64(v)
	}
	ids.seal()
	return nil
}

// warnColumns warns of columns that nothing reads; hint says how to read them.
func (t *tableFile) warnColumns(d *Data, used []int, hint string) {
	var idle []string
	for i, c := range t.columns {
		if !slices.Contains(used, i) {
			idle = append(idle, c)
		}
	}
	if len(idle) > 0 {
		d.Report.Warnings = append(d.Report.Warnings, fmt.Sprintf("%s: nothing reads the columns %.200s (%s)", t.name, strings.Join(idle, ", "), hint))
	}
}

// float reads a finite number of the row.
func (t *tableFile) float(row [][]byte, i int) (float32, error) {
	f, err := parseFloat(bytes.TrimSpace(row[i]))
	var x float32
	if err == nil {
		x, err = toFloat32(f)
	}
	if err != nil {
		return 0, t.errorf("column %s: %w", t.columns[i], err)
	}
	return x, nil
}

// time reads the time in a column of the row. A column has days and moments, or numbers in a unit that is not that of days,
// seconds since 1970.
func (t *tableFile) time(row [][]byte, i int) (float64, error) {
	text := bytes.TrimSpace(row[i])
	if isMissing(text, false) {
		return 0, t.errorf("column %s: no time", t.columns[i])
	}
	x, day, err := timeOf(text)
	if err != nil {
		return 0, t.errorf("column %s: %w", t.columns[i], err)
	}
	if !day && DayText(x) != "" { // seconds since 1970, as days become
		return x, nil
	}
	if was, seen := t.days[i]; !seen {
		if t.days == nil {
			t.days = map[int]bool{}
		}
		t.days[i] = day
	} else if was != day {
		is, others := "a number that is no second since 1990", "days or moments"
		if day {
			is, others = "a day or moment", "numbers that are no seconds since 1990"
		}
		return 0, t.errorf("column %s: %q is %s, and times before it are %s: they have one unit", t.columns[i], text, is, others)
	}
	return x, nil
}

// classText collects the labels of a column. If all of them are whole numbers from -1 on, they are the
// classes. Otherwise they are texts, which are numbered in alphabetical order. An empty field, nan and -1 mean
// no label.
type classText struct {
	none  string           // another text that means no label
	nones bool             // it was there
	most  int              // different texts that may be; 0: maxClasses
	value map[string]int32 // number of each text, in order of appearance
	texts []string
	of    []int32 // V: text of each vertex, -1 for none, minusOne for the text -1
}

// minusOne is the text -1, which is a number in a column of numbers and no label in one of classes.
const minusOne = -2

// maxClasses bounds the number of classes of a column.
const maxClasses = 1 << 20

// isNone reports whether a text is the word for no label.
func (c *classText) isNone(text []byte) bool {
	is := c.none != "" && string(text) == c.none
	c.nones = c.nones || is
	return is
}

// flag is a label among several: 0, 1, or Unknown for an empty field, nan and the word for no label.
func (c *classText) flag(text []byte) (float32, error) {
	if isMissing(text, false) || c.isNone(text) {
		return Unknown, nil
	}
	switch x, err := parseFloat(text); {
	case err == nil && (x == 0 || x == 1):
		return float32(x), nil
	case strings.EqualFold(string(text), "false"):
		return 0, nil
	case strings.EqualFold(string(text), "true"):
		return 1, nil
	}
	return 0, fmt.Errorf("%.40q: several columns of labels have 0 and 1 (or false and true), and nothing where a label is not known (--unlabelled WORD names another text for that)", text)
}

func (c *classText) add(text []byte) error {
	switch {
	case isMissing(text, true) || c.isNone(text):
		c.of = append(c.of, -1)
		return nil
	case string(text) == "-1":
		c.of = append(c.of, minusOne)
		return nil
	}
	k, ok := c.value[string(text)]
	if !ok {
		if c.value == nil {
			c.value = map[string]int32{}
		}
		if most := cmp.Or(c.most, maxClasses); len(c.texts) == most {
			return fmt.Errorf("more than %d classes", most)
		}
		k = int32(len(c.texts))
		c.value[string(text)] = k
		c.texts = append(c.texts, string(text))
	}
	c.of = append(c.of, k)
	return nil
}

// listed is the texts with commas between, in quotation marks where one has a comma itself.
func listed(texts []string) string {
	if text := strings.Join(texts, ", "); strings.Count(text, ",") < len(texts) {
		return text
	}
	var quoted []string
	for _, text := range texts {
		quoted = append(quoted, strconv.Quote(text))
	}
	return strings.Join(quoted, ", ")
}

// numbers is the labels of all vertices, NaN for none, if all texts are numbers, or words for a missing one, and one number at least
// is no class: not whole, or below -1. It is nil otherwise.
func (c *classText) numbers() []float32 {
	values, isNumber := make([]float32, len(c.texts)), false
	for i, text := range c.texts {
		if isMissing([]byte(text), false) {
			values[i] = float32(math.NaN())
			continue
		}
		x, err := parseFloat([]byte(text))
		if err != nil || math.Abs(x) > math.MaxFloat32 {
			return nil
		}
		values[i] = float32(x)
		isNumber = isNumber || x < -1 || x != math.Trunc(x)
	}
	if !isNumber {
		return nil
	}
	list := make([]float32, len(c.of))
	for v, k := range c.of {
		switch list[v] = float32(math.NaN()); {
		case k == minusOne:
			list[v] = -1
		case k >= 0:
			list[v] = values[k]
		}
	}
	return list
}

func (c *classText) classes(d *Data) ([]int32, error) {
	if len(c.texts) == 0 {
		return nil, errors.New("no vertex has a label")
	}
	to := make([]int32, len(c.texts)) // class of each text
	for i, text := range c.texts {
		n, err := parseInt([]byte(text))
		if err != nil || n < 0 || n >= int64(maxClasses+len(c.of)) {
			to = nil
			break
		}
		to[i] = int32(n)
		d.Classes = max(d.Classes, int(n)+1)
	}
	if to == nil {
		sorted := slices.Sorted(slices.Values(c.texts))
		to = make([]int32, len(c.texts))
		for i, text := range c.texts {
			k, _ := slices.BinarySearch(sorted, text)
			to[i] = int32(k)
		}
		d.Classes = len(sorted)
		like := map[string]string{} // by small letters, without blanks
		for _, text := range sorted {
			plain := strings.ToLower(strings.Join(strings.Fields(text), " "))
			if other, twice := like[plain]; twice {
				d.warn("%q and %q are two classes, which differ in blanks or capital letters alone", other, text)
			}
			like[plain] = text
			if isUsual(text, unknownLabels) {
				d.warn("%q is a class of its own; --unlabelled %s makes such vertices unlabelled", text, quotedPath(text))
			}
		}
		d.Schema.Vertex.Classes = sorted
		d.Report.Changes = append(d.Report.Changes, fmt.Sprintf("labels were numbered by the alphabet: %.200s are 0 to %d", listed(sorted), len(sorted)-1))
	}
	for v, k := range c.of {
		if c.of[v] = -1; k >= 0 {
			c.of[v] = to[k]
		}
	}
	return c.of, nil
}
