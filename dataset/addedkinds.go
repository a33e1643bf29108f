package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sagann/chunk"
	"sagann/internal/words"
)

// HeteroAdded are vertices and edges that a graph of several types does not have.
type HeteroAdded struct {
	Types     map[int]*Added       // by type: vertices, without edges
	Relations map[int]*chunk.Edges // by relation: edges among the vertices of its two types with the added ones
	Report    Report               // what reading them did
}

// AddedTable is a table of added vertices of a type of that name, or of edges of a relation.
type AddedTable struct{ Name, Path string }

// ParseAdded reads NAME=FILE: a table of vertices of the type NAME of h, or of edges of the relation NAME (or SOURCE:NAME:TARGET). Names may have equals
// signs themselves.
func (h *Hetero) ParseAdded(text string) (t AddedTable, err error) {
	err = fmt.Errorf("%.80q: want TYPE=FILE, a table of vertices, or RELATION=FILE, a table of edges; there are types %.300s and relations %.400s", text, listed(h.typeNames(nil)), listed(h.fullNames()))
	for at := range text {
		if text[at] != '=' || at+1 == len(text) {
			continue
		}
		name := text[:at]
		_, noType := h.Type(name)
		_, noRelation := h.Relation(name)
		switch {
		case noType == nil && noRelation == nil:
			return t, fmt.Errorf("%.80q: %.40q is a type of vertices and a relation: name the relation SOURCE:NAME:TARGET, or give the type's rows another file", text, name)
		case noType == nil || noRelation == nil:
			return AddedTable{name, text[at+1:]}, nil
		}
	}
	return t, err
}

// fullNames are the names of the relations with their ends.
func (h *Hetero) fullNames() (list []string) {
	for r := range h.Relations {
		list = append(list, h.FullName(r))
	}
	return list
}

// ReadAdded reads tables as ReadAdded does for a graph of one type. Ends of edges are ids of the vertices of their types, or of the added ones.
func (h *Hetero) ReadAdded(tables []AddedTable) (*HeteroAdded, error) {
	out := &HeteroAdded{Types: map[int]*Added{}, Relations: map[int]*chunk.Edges{}}
	readers := make([]*addedReader, len(h.Types))
	for _, table := range tables {
		t, err := h.Type(table.Name)
		if err != nil {
			continue // a relation's
		}
		if readers[t] != nil {
			return nil, fmt.Errorf("two tables of vertices of type %.40q", table.Name)
		}
		d := new(Data) // which has a name for errors, as parts have none
		*d = *h.Types[t].Rows
		d.Name = h.Types[t].Name
		r := &addedReader{a: &Added{}, d: d, ids: d.finder(), own: &idTable{ordered: true}, said: &Data{Name: d.Name, Edges: &chunk.Edges{}}}
		if err := r.vertices(table.Path); err != nil {
			return nil, err
		}
		r.name()
		out.Report.add(&r.said.Report, table.Name)
		if err := r.a.fits(d); err != nil {
			return nil, fmt.Errorf("vertices that are added to type %.40q: %w", table.Name, err)
		}
		readers[t], out.Types[t] = r, r.a
	}
	side := func(t int) tableSide {
		x := tableSide{ids: h.Types[t].Rows.finder(), count: h.Types[t].Rows.Edges.V, of: h.Types[t].Name}
		if x.ids.added = (&idTable{ordered: true}); readers[t] != nil {
			x.ids.added, x.ids.column, x.count = readers[t].own, readers[t].own.column, x.count+readers[t].own.len()
		}
		return x
	}
	for _, table := range tables {
		if _, err := h.Type(table.Name); err == nil {
			continue
		}
		n, err := h.Relation(table.Name)
		if err != nil {
			return nil, err
		}
		if out.Relations[n] != nil {
			return nil, fmt.Errorf("two tables of edges of %s", h.FullName(n))
		}
		x := &h.Relations[n]
		of := &Data{Name: x.Name, Edges: x.Links.Edges, Schema: x.Links.Schema}
		r := &addedReader{a: &Added{}, d: of, said: &Data{Name: x.Name, Edges: &chunk.Edges{}}, own: &idTable{}}
		sides := [2]tableSide{side(x.Source), side(x.Target)}
		if x.Source == x.Target {
			sides[1] = sides[0]
		}
		if err := r.edges(table.Path, sides); err != nil {
			return nil, err
		}
		out.Report.add(&r.said.Report, h.FullName(n))
		out.Relations[n] = r.a.Edges
	}
	return out, nil
}

// To is h with the vertices and edges of a behind its own; h is unchanged. Options Undirected and Simple rearrange all edges. A relation whose edges
// another one turns round has the reverses of its added edges added, unless a has edges of both, and a relation within a type whose edges all have
// their reverses those of its own. Labels, targets and splits of edges of relations that change are left out.
func (a *HeteroAdded) To(h *Hetero, opt Options) (*Hetero, error) {
	out := *h
	out.Types, out.Relations, out.Report = slices.Clone(h.Types), slices.Clone(h.Relations), a.Report
	for t, x := range a.Types {
		rows, err := x.To(h.Types[t].Rows, Options{})
		if err != nil {
			return nil, fmt.Errorf("type %.40q: %w", h.Types[t].Name, err)
		}
		out.Types[t].Rows = rows
	}
	edges, err := a.reversed(h, &out.Report)
	if err != nil {
		return nil, err
	}
	for r := range out.Relations {
		x := &out.Relations[r]
		v := max(out.Types[x.Source].Rows.Edges.V, out.Types[x.Target].Rows.Edges.V)
		if edges[r] == nil {
			links := *x.Links
			links.Edges = then(x.Links.Edges, nil, v)
			x.Links = &links
			continue
		}
		if err := fitsEdges(edges[r], x.Links.Edges, v); err != nil {
			return nil, fmt.Errorf("edges that are added to %s: %w", h.FullName(r), err)
		}
		own := x.Links.Edges
		if n := x.Links.Report.Turned; n[1] == own.E() { // reverses were added behind these: all are found anew
			own = selected(own, func(k int) bool { return k < n[0] })
		}
		paired := x.Source == x.Target && !opt.Undirected && (own.E() < x.Links.Edges.E() || allReversed(own))
		x.Links = &Data{Name: x.Links.Name, Edges: then(own, edges[r], v), Schema: Schema{Edges: x.Links.Schema.Edges}}
		if paired {
			before := h.Relations[r].Links.Edges.E() + edges[r].E()
			x.Links.Edges = x.Links.Edges.Symmetric()
			out.Report.Changes = append(out.Report.Changes, words.Text("every edge of %s has its reverse, so %d reverse {edge was|edges were} added", h.FullName(r), max(0, x.Links.Edges.E()-before)))
		}
	}
	return &out, out.rearranged(opt)
}

// allReversed reports whether all edges of e that are looked up have their reverses.
func allReversed(e *chunk.Edges) bool {
	look := LookAtEdges(e)
	return look.Looked > 0 && look.Reversed == look.Looked
}

// rearranged does what options say to the edges, and checks the graph.
func (h *Hetero) rearranged(opt Options) error {
	if err := h.problem(); err != nil {
		return err
	}
	if opt.Undirected {
		if err := h.undirect(); err != nil {
			return err
		}
	}
	if opt.Simple {
		return h.simplify()
	}
	return nil
}

// reversed is the edges of a by relation, with those that relations get which have the reverses of another one's edges.
func (a *HeteroAdded) reversed(h *Hetero, report *Report) ([]*chunk.Edges, error) {
	list := make([]*chunk.Edges, len(h.Relations))
	for r, e := range a.Relations {
		if r < 0 || r >= len(list) || e == nil {
			return nil, errors.New("edges that are added are of a relation that the graph has")
		}
		list[r] = e
	}
	queue := make([]int, 0, len(list))
	for r, e := range list {
		if e != nil {
			queue = append(queue, r)
		}
	}
	for len(queue) > 0 { // also reverses of reverses
		r := queue[0]
		queue = queue[1:]
		e := list[r]
		for b := range h.Relations {
			x, y := &h.Relations[r], &h.Relations[b]
			if b == r || list[b] != nil || x.Source != y.Target || x.Target != y.Source || !turned(x, y) {
				continue
			}
			list[b], queue = e.Reverse(), append(queue, b)
			report.Changes = append(report.Changes, words.Text("%s has the edges of %s turned round, and %d more of them", h.FullName(b), h.FullName(r), e.E()))
			for name, has := range map[string][2]bool{"weights": {e.Weight != nil, y.Links.Edges.Weight != nil}, "times": {e.Time != nil, y.Links.Edges.Time != nil},
				"types": {e.Types > 0, y.Links.Edges.Types > 0}, "numbers": {e.DataCols > 0, y.Links.Edges.DataCols > 0}} {
				if has[0] != has[1] {
					return nil, fmt.Errorf("%s has the edges of %s turned round, and other %s: give its added edges, too: %s=FILE", h.FullName(b), h.FullName(r), name, strings.TrimSpace(h.FullName(b)))
				}
			}
		}
	}
	return list, nil
}

// AddedTo is d, vertices of a type of a graph of several, with what a adds to the graph.
func (a *HeteroAdded) AddedTo(d *Data, opt Options) (*Data, error) {
	k := d.Vertices.Kinds
	h, err := a.To(k.With(d), opt)
	if err != nil {
		return nil, fmt.Errorf("what is added to %s: %w", d.Name, err)
	}
	name, relation := h.Types[k.Type].Name, k.Graph.FullName(k.Relation)
	t, err := h.Type(name)
	if err != nil {
		return nil, err
	}
	out := h.At(t)
	out.Vertices.Kinds = &Kinds{Graph: h, Type: t}
	if k.PairV > 0 { // of links
		r, err := h.Relation(relation)
		if err != nil {
			return nil, err
		}
		out = h.Along(r)
	}
	out.Report = h.Report
	return out, nil
}
