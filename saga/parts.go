package saga

import "sagann/dataset"

// Part is a relation or a vertex type of a graph with several, as far as names of parameters tell of it.
type Part struct {
	Relation        // empty: a vertex type
	Type     string // the vertex type; "": a relation
	Scope    string // stands behind the layer's in names of its parameters; "": nothing does, as there is one
	Read     bool   // labels, or the rows at the ends of links, depend on it
}

// PartsOf lists the vertex types of the graph of d, and behind them its relations, in the order of their names. nil: there is one type and one relation.
func PartsOf(m *Model, d *dataset.Data) []Part {
	k := d.Vertices.Kinds
	if k == nil {
		return nil
	}
	return partsOf(k.Graph, endsOf(k.Graph, m, k.Type, k.Relation), m.gathers())
}

// Parts is PartsOf for the graph of a run of m. link names the relation of its links or labelled edges.
func (k *Stored) Parts(m *Model, link string) ([]Part, error) {
	s := k.about.Schema
	if s == nil || s.Types == nil {
		return nil, nil
	}
	h := &dataset.Hetero{Name: k.path}
	at := map[string]int{}
	for i, t := range s.Types {
		at[t.Name], h.Types = i, append(h.Types, dataset.VertexType{Name: t.Name})
	}
	for _, r := range s.Relations {
		h.Relations = append(h.Relations, dataset.Relation{Source: at[r.Source], Name: r.Name, Target: at[r.Target]})
	}
	target, err := h.Type(s.Target)
	relation := 0
	if err == nil && (m.Task == LinkTask || m.Task == EdgeTask) {
		relation, err = h.Relation(link)
	}
	if err != nil {
		return nil, err
	}
	return partsOf(h, endsOf(h, m, target, relation), m.gathers()), nil
}

func partsOf(h *dataset.Hetero, ends []int, layers int) (list []Part) {
	types, relations := h.Within(ends, layers)
	var names []string
	var read []Relation
	for t, x := range h.Types {
		if list = append(list, Part{Type: x.Name, Read: types[t]}); types[t] {
			names = append(names, x.Name)
		}
	}
	for r, x := range h.Relations {
		of := Relation{Name: x.Name, Src: h.Types[x.Source].Name, Dst: h.Types[x.Target].Name}
		if list = append(list, Part{Relation: of, Read: relations[r]}); relations[r] {
			read = append(read, of)
		}
	}
	scopes := relationScopes(names, read)
	for i := range list {
		switch p := &list[i]; {
		case !p.Read:
		case p.Type != "" && len(names) > 1:
			p.Scope = p.Type
		case p.Type == "":
			p.Scope, scopes = scopes[0], scopes[1:]
		}
	}
	return list
}
