package dataset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Schema says what the numbers of a graph mean: which class, relation or column each of them is. It is kept in
// stores, run folders and checkpoints, so that other data are matched by names and not by positions.
//
// A reader sets the names that a file has: Labels.Classes, Labels.Targets, Features.Columns, EdgeData.Relations and
// EdgeData.Columns. A list of names that is nil means that the file has none, and then class, relation or column k
// is called k. Everything else is counted by Data.Record.
type Schema struct {
	// Version is that of the record, SchemaVersion; 0 before Data.Record.
	Version int `json:"version"`
	// Older says that the data come from a store of a version that kept no names.
	Older bool `json:"older,omitempty"`
	// Needs lists what a program must know to read the data rightly. A program refuses words that it does not
	// know, so that later programs can add vertex types, say, without another version of stores.
	Needs    []string `json:"needs,omitempty"`
	Vertices int      `json:"vertices"`
	Vertex   Labels   `json:"vertex"`
	Edge     Labels   `json:"edge"`
	Graph    Labels   `json:"graph"`
	Features Features `json:"features"`
	Edges    EdgeData `json:"edges"`
	IDs      IDs      `json:"ids"`
	// Types and Relations are those of a graph with several, in the order of their names; then the fields above are of
	// the type that a run trains, or empty but for Vertices. nil: a graph without types.
	Types     []TypeSchema     `json:"types,omitempty"`
	Relations []RelationSchema `json:"relations,omitempty"`
	Target    string           `json:"target,omitempty"` // of a run: the type that it trains
}

// TypeSchema says what the numbers of the vertices of a type mean.
type TypeSchema struct {
	Name string  `json:"name"`
	Rows *Schema `json:"rows"`
}

// RelationSchema says between which types a relation is, and what the numbers of its edges mean.
type RelationSchema struct {
	Source string  `json:"source"`
	Name   string  `json:"name"`
	Target string  `json:"target"`
	Links  *Schema `json:"links"`
}

// needsTypes is the word of Schema.Needs for graphs of several types.
const needsTypes = "types of vertices"

// SchemaVersion is the version of the records that Data.Record makes.
const SchemaVersion = 1

// Labels says what vertices, edges or graphs have to be predicted.
type Labels struct {
	Form    LabelForm `json:"form,omitempty"`    // "": no classes
	Count   int       `json:"count,omitempty"`   // of classes
	Classes []string  `json:"classes,omitempty"` // names of classes 0, 1, …
	Cols    int       `json:"cols,omitempty"`    // of targets; 0: no targets
	Targets []string  `json:"targets,omitempty"` // names of the columns of targets
}

// LabelForm says how many classes one vertex, edge or graph has.
type LabelForm string

// The forms of labels.
const (
	OneClass       LabelForm = "one"
	SeveralClasses LabelForm = "several" // rows of 0, 1 and Unknown
)

// Features says what the columns of the features are.
type Features struct {
	Cols    int      `json:"cols,omitempty"`
	Sparse  bool     `json:"sparse,omitempty"`
	Columns []Column `json:"columns,omitempty"`
	// OfVertices says that there is a column for each vertex, which is 1 for this vertex only.
	OfVertices bool `json:"of_vertices,omitempty"`
	// Labels, unless "", is the Of of columns that are the labels of vertices: --task vertex learns them, and they are no features then.
	Labels string `json:"labels,omitempty"`
}

// labelColumns are the columns that are labels of vertices, which stand one behind the other.
func (f *Features) labelColumns() (first, count int) {
	if f.Labels == "" {
		return 0, 0
	}
	is := func(c Column) bool { return c.Of == f.Labels }
	for _, c := range f.Columns {
		if is(c) {
			count++
		}
	}
	return slices.IndexFunc(f.Columns, is), count
}

// Column is a column of features, and how it was prepared. All numbers in it were taken from the training rows.
// The value x of a table becomes (x − Mean) / Scale.
type Column struct {
	Name string `json:"name"` // unique
	// Of is the column of the table that this one was made of, where one column of a table has become several.
	// The column is 1 in rows where Of has the text Category or, if Missing is set, where Of has nothing; it is 0
	// in other rows.
	Of       string   `json:"of,omitempty"`
	Category string   `json:"category,omitempty"`
	Missing  bool     `json:"missing,omitempty"`
	Fill     *float64 `json:"fill,omitempty"`  // stands for missing values, before Mean and Scale; nil: none
	Mean     *float64 `json:"mean,omitempty"`  // nil: 0
	Scale    *float64 `json:"scale,omitempty"` // nil: 1
}

// EdgeData says what edges have.
type EdgeData struct {
	Weighted  bool     `json:"weighted,omitempty"`
	Types     int      `json:"types,omitempty"`     // relations, 0 for none
	Relations []string `json:"relations,omitempty"` // names of types 0, 1, …
	Cols      int      `json:"cols,omitempty"`      // numbers of an edge
	Columns   []string `json:"columns,omitempty"`   // their names
}

// IDs says how the file names vertices.
type IDs struct {
	Texts bool   `json:"texts,omitempty"` // some are no whole numbers
	Own   bool   `json:"own,omitempty"`   // there is an id for each vertex; otherwise ids count from First
	First uint64 `json:"first,omitempty"`
}

// Of is the part of s for labels of kind k.
func (s *Schema) Of(k LabelKind) *Labels {
	switch k {
	case EdgeLabels:
		return &s.Edge
	case GraphLabels:
		return &s.Graph
	}
	return &s.Vertex
}

// Names lists the names of the columns, nil if they have none.
func (f *Features) Names() []string {
	if f.Columns == nil {
		return nil
	}
	names := make([]string, len(f.Columns))
	for i, c := range f.Columns {
		names[i] = c.Name
	}
	return names
}

// NameColumns names the columns of features, which were not prepared.
func (f *Features) NameColumns(names []string) {
	f.Columns = nil
	for _, n := range names {
		f.Columns = append(f.Columns, Column{Name: n})
	}
}

// Tasks lists what has labels or targets.
func (s *Schema) Tasks() []LabelKind {
	var out []LabelKind
	for _, k := range []LabelKind{GraphLabels, VertexLabels, EdgeLabels} {
		if l := s.Of(k); l.Form != "" || l.Cols > 0 || k == VertexLabels && s.Features.Labels != "" {
			out = append(out, k)
		}
	}
	return out
}

// named is what readers set of s.
func (s *Schema) named() Schema {
	n := Schema{Older: s.Older, Features: Features{Columns: s.Features.Columns, OfVertices: s.Features.OfVertices, Labels: s.Features.Labels}, Edges: EdgeData{Relations: s.Edges.Relations, Columns: s.Edges.Columns}}
	for _, k := range []LabelKind{VertexLabels, EdgeLabels, GraphLabels} {
		*n.Of(k) = Labels{Classes: s.Of(k).Classes, Targets: s.Of(k).Targets}
	}
	return n
}

// Record is the schema of d: the names that d.Schema has, with everything that can be counted. Lists of names
// that take more than 1 MiB are left out.
func (d *Data) Record() *Schema {
	s := d.Schema.named()
	s.Version, s.Vertices = SchemaVersion, d.Edges.V
	for _, k := range []LabelKind{VertexLabels, EdgeLabels, GraphLabels} {
		l := s.Of(k)
		*l = Labels{Classes: kept(l.Classes), Cols: d.Targets.Of(k).Cols, Targets: kept(l.Targets)}
		if labels := d.classesOf(k); labels != nil {
			l.Form, l.Count = OneClass, k.ClassesOf(d)
		}
		if n := d.Sets(k); n.Rows != nil {
			l.Form, l.Count = SeveralClasses, n.Cols
		}
	}
	s.Features = Features{Cols: d.FeatureCols, Sparse: d.Late.Sparse != nil, Columns: d.Schema.Features.Columns, OfVertices: d.Schema.Features.OfVertices, Labels: d.Schema.Features.Labels}
	if kept(s.Features.Names()) == nil {
		s.Features.Columns, s.Features.Labels = nil, ""
	}
	e := d.Edges
	s.Edges = EdgeData{Weighted: e.Weight != nil, Types: e.Types, Relations: kept(s.Edges.Relations), Cols: e.DataCols, Columns: kept(s.Edges.Columns)}
	s.IDs = IDs{Texts: d.Vertices.Names != nil, Own: d.Vertices.Names != nil || d.Vertices.IDs != nil, First: d.Vertices.First}
	return &s
}

// classesOf is the labels of kind k of one class each.
func (d *Data) classesOf(k LabelKind) []int32 {
	switch k {
	case EdgeLabels:
		return d.EdgeLabels
	case GraphLabels:
		return d.GraphLabels
	}
	return d.Labels
}

// maxNames bounds the bytes of a list of names, which every checkpoint stores.
const maxNames = 1 << 20

// nameOf is the name of number k: its text where there are no names.
func nameOf(names []string, k int) string {
	if names == nil {
		return strconv.Itoa(k)
	}
	return names[k]
}

// kept is names, or nil if they take too much room.
func kept(names []string) []string {
	size := 0
	for _, n := range names {
		size += len(n)
	}
	if size > maxNames {
		return nil
	}
	return names
}

// Text is s as JSON.
func (s *Schema) Text() string {
	text, _ := json.Marshal(s) // numbers, texts and lists of them
	return string(text)
}

// ParseSchema reads the text that Schema.Text makes. It refuses a record that needs what this program does not
// know.
func ParseSchema(text string) (*Schema, error) {
	s := &Schema{}
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return nil, fmt.Errorf("the schema is damaged: %w", err)
	}
	if s.Version < 1 || s.Version > SchemaVersion {
		return nil, fmt.Errorf("a schema of version %d; this program reads version %d", s.Version, SchemaVersion)
	}
	if unknown := slices.DeleteFunc(slices.Clone(s.Needs), func(word string) bool { return word == needsTypes }); len(unknown) > 0 {
		return nil, fmt.Errorf("this program cannot read %s; a later one can", strings.Join(unknown, ", "))
	}
	for _, t := range s.Types {
		if t.Rows == nil {
			return nil, fmt.Errorf("the schema is damaged: type %.40q has none", t.Name)
		}
	}
	for _, r := range s.Relations {
		if r.Links == nil {
			return nil, fmt.Errorf("the schema is damaged: relation %.40q has none", r.Name)
		}
	}
	return s, nil
}

// checkSchema checks that lists of names have the right lengths and no name twice.
func checkSchema(d *Data) error {
	s := &d.Schema
	for _, x := range []struct {
		what  string
		names []string
		n     int
	}{
		{"classes of vertices", s.Vertex.Classes, d.Classes},
		{"classes of edges", s.Edge.Classes, d.EdgeClasses()},
		{"classes of graphs", s.Graph.Classes, d.GraphClasses()},
		{"targets of vertices", s.Vertex.Targets, d.Targets.Cols},
		{"targets of edges", s.Edge.Targets, d.Targets.Edge.Cols},
		{"targets of graphs", s.Graph.Targets, d.Targets.Graph.Cols},
		{"relations", s.Edges.Relations, d.Edges.Types},
		{"columns of edges", s.Edges.Columns, d.Edges.DataCols},
		{"columns of features", s.Features.Names(), d.FeatureCols},
	} {
		if x.names == nil {
			continue
		}
		if len(x.names) != x.n {
			return fmt.Errorf("%d names for %d %s", len(x.names), x.n, x.what)
		}
		sorted := slices.Sorted(slices.Values(x.names))
		for i, name := range sorted {
			if !utf8.ValidString(name) {
				return fmt.Errorf("the %s have the name %.40q, which is not in UTF-8", x.what, name)
			}
			if i > 0 && name == sorted[i-1] {
				return fmt.Errorf("two %s are named %.40q", x.what, name)
			}
		}
	}
	return nil
}
