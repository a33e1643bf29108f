package dataset

import (
	"fmt"
	"slices"
)

// Links of graphs with several types of vertices: the edges of one relation are predicted. Pairs number the vertices of its target type
// behind those of its source type, where these are two types, so that what works on pairs need not know of types.

// Along is At for the source type of relation r, whose edges SplitRelation and UseRelation divide. If they have a split, it is the one that is
// given (Targets.Given).
func (h *Hetero) Along(r int) *Data {
	x := &h.Relations[r]
	d := h.At(x.Source)
	k := &Kinds{Graph: h, Type: x.Source, Relation: r}
	k.PairV = int(k.behind()) + h.Types[x.Target].Rows.Edges.V
	if d.Vertices.Kinds != nil {
		d.Vertices.Kinds = k
	}
	e, s := x.Links.Edges, x.Links.EdgeSplit
	if len(s.Train) == 0 && len(s.Val) == 0 && len(s.Test) == 0 {
		return d
	}
	given := &LinkSplit{}
	for i, ids := range [][]uint32{s.Train, s.Val, s.Test} {
		to := []*Pairs{&given.Train, &given.Val, &given.Test}[i]
		for _, id := range ids {
			to.add(e.Src[id], e.Dst[id]+k.behind())
		}
	}
	d.Targets.Given = given
	return d
}

// Edges is At for the source type of relation r, with the labels and targets of its edges, and their split.
func (h *Hetero) Edges(r int) *Data {
	x := &h.Relations[r]
	d := h.At(x.Source)
	if d.Vertices.Kinds == nil {
		return d
	}
	k := &Kinds{Graph: h, Type: x.Source, Relation: r}
	k.PairV = int(k.behind()) + h.Types[x.Target].Rows.Edges.V
	d.Vertices.Kinds = k
	edgeLabels(d, x.Links)
	return d
}

// LabelledRelation is the relation of that name or, for "", the only one whose edges have labels or targets. The error lists those that have some.
func (h *Hetero) LabelledRelation(name string) (int, error) {
	if name != "" {
		return h.Relation(name)
	}
	at, all := -1, []string{}
	for r := range h.Relations {
		if h.Relations[r].Links.Labelled(EdgeLabels) {
			at, all = r, append(all, h.FullName(r))
		}
	}
	switch len(all) {
	case 0:
		return 0, fmt.Errorf("%s: edges of no relation have labels", h.Name)
	case 1:
		return at, nil
	}
	return 0, fmt.Errorf("%s: edges of several relations have labels: --relation NAME names one of %.400s", h.Name, listed(all))
}

// Predicted is the relation of that name or, for "", the only one whose edges have a split, or the only one. The error lists the relations.
func (h *Hetero) Predicted(name string) (int, error) {
	if name != "" {
		return h.Relation(name)
	}
	at, all := -1, make([]string, 0, len(h.Relations))
	split := 0
	for r := range h.Relations {
		all = append(all, h.FullName(r))
		if len(h.Relations[r].Links.EdgeSplit.Train) > 0 {
			at, split = r, split+1
		}
	}
	if len(h.Relations) == 1 {
		return 0, nil
	}
	if split == 1 {
		return at, nil
	}
	return 0, fmt.Errorf("%s has several relations: --relation NAME names the one that is predicted, of %.400s", h.Name, listed(all))
}

// Span is the vertices of pairs from First up to End.
type Span struct{ First, End uint32 }

// PairEnds are the vertices that may stand first and second in pairs of d.
func PairEnds(d *Data) [2]Span {
	k := d.Vertices.Kinds
	if k == nil || k.behind() == 0 {
		all := Span{0, uint32(d.Edges.V)}
		return [2]Span{all, all}
	}
	return [2]Span{{0, k.behind()}, {k.behind(), uint32(k.PairV)}}
}

// PairID is the user's id of vertex v of a pair.
func PairID(d *Data, v uint32) string {
	k := d.Vertices.Kinds
	if k == nil {
		return d.ID(int(v))
	}
	r := &k.Graph.Relations[k.Relation]
	if at := k.behind(); v >= at {
		return k.Graph.Types[r.Target].Rows.ID(int(v - at))
	}
	return k.Graph.Types[r.Source].Rows.ID(int(v))
}

// SplitRelation is SplitLinks for the edges of the relation of d (Hetero.Along). What passes no messages there passes none in the relations
// that have the reverses of its edges: by name, rev_NAME of NAME, by Hetero.Reverses, or where all its edges are turned round in another one.
// Reverses of reverses are the relation again.
func SplitRelation(d *Data, s LinkShares, seed uint64) (*Data, error) {
	return overRelation(d, func(x *Data) (*Data, error) { return SplitLinks(x, s, seed) })
}

// UseRelation is UseLinks for the edges of the relation of d, as SplitRelation is SplitLinks.
func UseRelation(d *Data, s *LinkSplit, seed uint64) (*Data, error) {
	return overRelation(d, func(x *Data) (*Data, error) { return UseLinks(x, s, seed) })
}

// overRelation is d with the edges of its relation divided by split.
func overRelation(d *Data, split func(*Data) (*Data, error)) (*Data, error) {
	k := d.Vertices.Kinds
	r, at := k.Graph.Relations[k.Relation], k.behind()
	all := *r.Links.Edges
	all.V, all.Dst = k.PairV, slices.Clone(all.Dst)
	for i := range all.Dst {
		all.Dst[i] += at
	}
	divided, err := split(&Data{Name: d.Name, Edges: &all, Report: d.Report})
	if err != nil {
		return nil, fmt.Errorf("edges of %s: %w", k.Graph.FullName(k.Relation), err)
	}
	out, h := *d, *k.Graph
	h.Relations = slices.Clone(h.Relations)
	before, after := indexEdges(all.V, all.Src, all.Dst), indexEdges(all.V, divided.Edges.Src, divided.Edges.Dst)
	passes := *divided.Edges
	passes.V, passes.Dst = r.Links.Edges.V, slices.Clone(passes.Dst)
	for i := range passes.Dst {
		passes.Dst[i] -= at
	}
	out.Report = divided.Report
	h.withheld(k.Relation, at, before, after, divided.Targets.Links, &out.Report)
	h.Relations[k.Relation].Links = &Data{Name: r.Links.Name, Edges: &passes, Schema: r.Links.Schema}
	out.Vertices.Kinds = &Kinds{Graph: &h, Type: k.Type, Relation: k.Relation, PairV: k.PairV}
	out.Targets.Links, out.Targets.Given = divided.Targets.Links, nil
	return &out, nil
}
