package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sagann/chunk"
)

// HeteroTables says what is read from tables of vertices, one for each type, and tables of edges, one for each relation. A type
// that relations name may have no table: its vertices are then the ids that occur at edges.
type HeteroTables struct {
	Types     []TypeTable
	Relations []RelationTable
}

// TypeTable is a table of the vertices of a type: of Table, what concerns vertices.
type TypeTable struct {
	Name  string
	Table Tables
}

// RelationTable is a table of the edges of a relation: of Table, what concerns edges. The columns of sources and targets are
// ids of the two types.
type RelationTable struct {
	Source, Name, Target string
	Table                Tables
}

// LoadHeteroTables reads a graph of several types from tables, each by the rules of LoadTables.
func LoadHeteroTables(t HeteroTables, opt Options) (*Hetero, error) {
	s, err := t.open(opt)
	if err != nil {
		return nil, err
	}
	return s.collect(t.name(), opt)
}

// name is the first table of edges, for errors.
func (t HeteroTables) name() string { return t.Relations[0].Table.Edges }

// meant is err, which says that a table of vertices lacks a column, with the types that have tables if the name of the column is TYPE=COL and
// there is no table of such a type.
func (t HeteroTables) meant(err error) error {
	var e *columnError
	if !errors.As(err, &e) {
		return err
	}
	of, _, ok := strings.Cut(e.name, "=")
	var names []string
	for _, x := range t.Types {
		names = append(names, x.Name)
	}
	switch {
	case !ok && len(names) > 1:
		return fmt.Errorf("%w; a column of one table is named with its type, such as %s=%s", err, names[0], e.name)
	case !ok || slices.Contains(names, of):
		return err
	}
	return fmt.Errorf("%w; no table is of vertices of type %q, there are those of %s", err, of, strings.Join(names, ", "))
}

// typeTables is what the tables know of a type.
type typeTables struct {
	stream *Stream
	ids    *idTable
	edges  int    // of its relations
	seen   string // the first table of edges
}

// open reads the vertices, numbers the ids and counts the edges.
func (t HeteroTables) open(opt Options) (*heteroStream, error) {
	if len(t.Relations) == 0 {
		return nil, errors.New("no table of edges")
	}
	// Ids of types without a table may be numbered in the order in which they occur: not in that of the relations.
	t.Relations = slices.Clone(t.Relations)
	slices.SortStableFunc(t.Relations, func(a, b RelationTable) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Target, b.Target))
	})
	out := newHeteroStream()
	at := map[string]int{}
	var types []*typeTables
	add := func(name string, ids *idTable) *typeTables {
		x := &typeTables{&Stream{Data: &Data{Edges: &chunk.Edges{}}}, ids, 0, ""}
		x.stream.EachEdges = func(func(*chunk.Edges) error) error { return nil }
		at[name], types = len(types), append(types, x)
		out.addType(name, x.stream)
		return x
	}
	for _, table := range t.Types {
		if _, ok := at[table.Name]; ok {
			return nil, fmt.Errorf("%s: vertex type %.40q has two tables", table.Table.Vertices, table.Name)
		}
		x := add(table.Name, &idTable{ordered: true})
		if err := table.open(x); err != nil {
			return nil, t.meant(err)
		}
	}
	streams, tables := make([]*Stream, len(t.Relations)), make([]*edgeTable, len(t.Relations))
	for i, r := range t.Relations {
		for _, name := range []string{r.Source, r.Target} {
			if _, ok := at[name]; !ok {
				add(name, &idTable{}).seen = r.Table.Edges
			}
		}
		from, to := types[at[r.Source]], types[at[r.Target]]
		streams[i] = &Stream{Data: &Data{Edges: &chunk.Edges{}}}
		if err := orForeign(r.Table.Edges, nil); err != nil {
			return nil, err
		}
		var err error
		if tables[i], err = r.Table.beginEdges(streams[i], [2]tableSide{from.side(r.Source), to.side(r.Target)}); err != nil {
			return nil, err
		}
		tables[i].among = len(tables) > 1
		streams[i].EachEdges = tables[i].each
		out.addRelation(at[r.Source], r.Name, at[r.Target], streams[i])
	}
	if err := readTables(streams, tables); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(streams, func(s *Stream) bool { return s.E > 0 }) {
		return nil, fmt.Errorf("%s: no edges, nor in other tables", t.name())
	}
	for i, r := range t.Relations {
		types[at[r.Source]].edges += streams[i].E
		types[at[r.Target]].edges += streams[i].E
	}
	for _, x := range types {
		if err := x.seal(opt); err != nil {
			return nil, err
		}
	}
	for i, r := range t.Relations {
		from, to := types[at[r.Source]], types[at[r.Target]]
		tables[i].sides = [2]tableSide{from.side(r.Source), to.side(r.Target)}
		streams[i].Data.Edges.V = max(tables[i].sides[0].count, tables[i].sides[1].count)
		if err := tables[i].tell(streams[i]); err != nil {
			return nil, err
		}
	}
	path := t.Relations[0].Table.Edges
	out.h.Name = baseName(path)
	relabel := opt
	if slices.ContainsFunc(types, func(x *typeTables) bool { return !x.ids.ordered }) {
		relabel.Relabel = RelabelAuto // it had an effect
	}
	return out.settled(path, "tables of several types", relabel)
}

// open reads the vertices of a type.
func (t TypeTable) open(x *typeTables) error {
	if isSVMlight(t.Table.Vertices) {
		return t.Table.openSVMlight(x.stream, x.ids)
	}
	table := t.Table
	table.Prepare.LikeType = t.Name
	v, err := table.openVertices(x.stream.Data, x.ids)
	if err != nil {
		return err
	}
	return v.opened(table, x.stream)
}

// side is the type, of that name, as an end of edges.
func (x *typeTables) side(name string) tableSide {
	return tableSide{x.ids, x.stream.Data.Edges.V, name}
}

// seal ends the ids of a type.
func (x *typeTables) seal(opt Options) (err error) {
	d := x.stream.Data
	if !x.ids.ordered {
		if d.Edges.V, err = x.ids.sealEnds(opt.Relabel, x.edges); err != nil {
			return fmt.Errorf("%s: %w", x.seen, err)
		}
	}
	x.ids.give(d)
	return nil
}
