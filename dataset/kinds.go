package dataset

import "slices"

// Kinds says of which graph a Data is the vertices of one type. Validate checks this one type; ValidateHetero checks
// the graph.
type Kinds struct {
	Graph    *Hetero
	Type     int // number of the type
	Relation int // number of the relation whose edges, or whose labels of edges, are predicted (Hetero.Along, Hetero.Edges)
	PairV    int // how many vertices pairs of the two ends of Relation may name; 0: none is predicted
}

// With is the graph with d as the vertices of its type. It shares memory with both.
func (k *Kinds) With(d *Data) *Hetero {
	h, rows := *k.Graph, *d
	rows.Vertices.Kinds, rows.Targets.Links, rows.Targets.Given = nil, nil, nil // links are of the whole
	rows.edgeLabels(&Data{})
	h.Types = slices.Clone(h.Types)
	h.Types[k.Type].Rows = &rows
	return &h
}

// Others are the vertices of the other types; none for nil.
func (k *Kinds) Others() (list []*Data) {
	if k == nil {
		return nil
	}
	for t, x := range k.Graph.Types {
		if t != k.Type {
			list = append(list, x.Rows)
		}
	}
	return list
}

// Changed is k of a graph of whose other types f has changed copies; nil for nil. It shares all else with k.
func (k *Kinds) Changed(f func(*Data)) *Kinds {
	if k == nil {
		return nil
	}
	h := *k.Graph
	h.Types = slices.Clone(h.Types)
	for t := range h.Types {
		if t != k.Type {
			rows := *h.Types[t].Rows
			f(&rows)
			h.Types[t].Rows = &rows
		}
	}
	return &Kinds{Graph: &h, Type: k.Type, Relation: k.Relation, PairV: k.PairV}
}
