package dataset

import (
	"slices"

	"sagann/chunk"
)

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
	edgeLabels(&rows, &Data{})
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

// behind is the number of the first vertex of the target type in pairs.
func (k *Kinds) behind() uint32 {
	if r := &k.Graph.Relations[k.Relation]; r.Source != r.Target {
		return uint32(k.Graph.Types[r.Source].Rows.Edges.V)
	}
	return 0
}

// PairV is how many vertices pairs of d may name: those of d or, of several types, those of both ends of the relation.
func PairV(d *Data) int {
	if k := d.Vertices.Kinds; k != nil {
		return k.PairV
	}
	return d.Edges.V
}

// LabelledEdges are the edges whose labels d has: its own or, of several types, those of the relation of d (Hetero.Edges).
func LabelledEdges(d *Data) *chunk.Edges {
	if k := d.Vertices.Kinds; k != nil && k.PairV > 0 {
		return k.Graph.Relations[k.Relation].Links.Edges
	}
	return d.Edges
}

// EdgePairs are the edges of d as pairs, with their types where pairs have some; of several types of vertices those of the relation of d.
func EdgePairs(d *Data, types bool) *Pairs {
	e, at := d.Edges, uint32(0)
	if k := d.Vertices.Kinds; k != nil {
		e, at = k.Graph.Relations[k.Relation].Links.Edges, k.behind()
	}
	p := &Pairs{Src: e.Src, Dst: slices.Clone(e.Dst)}
	for i := range p.Dst {
		p.Dst[i] += at
	}
	if types {
		p.Type = e.Type
	}
	return p
}

// edgeLabels gives d the labels, targets and splits that the edges of from have.
func edgeLabels(d, from *Data) {
	d.EdgeLabels, d.EdgeSplit, d.Schema.Edge = from.EdgeLabels, from.EdgeSplit, from.Schema.Edge
	d.Targets.Edge, d.Targets.EdgeSets = from.Targets.Edge, from.Targets.EdgeSets
}
