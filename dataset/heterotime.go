package dataset

import (
	"fmt"
	"slices"

	"sagann/internal/words"
)

// times are those of the edges of the relation that is predicted, self loops left out.
func (k *Kinds) times() (list []float64, err error) {
	r := &k.Graph.Relations[k.Relation]
	e := r.Links.Edges
	if e.Time == nil {
		return nil, fmt.Errorf("%s: edges of %s have no times (edge_time) to divide by", k.Graph.Name, k.Graph.FullName(k.Relation))
	}
	for i, t := range e.Time {
		if r.Source != r.Target || e.Src[i] != e.Dst[i] {
			list = append(list, t)
		}
	}
	return list, nil
}

// relationByTime is SplitLinksByTime for the edges of the relation of d.
func relationByTime(d *Data, c TimeCut, seed uint64) (*Data, error) {
	if _, err := d.Vertices.Kinds.times(); err != nil {
		return nil, err
	}
	out, err := overRelation(d, func(x *Data) (*Data, error) { return SplitLinksByTime(x, c, seed) })
	if err != nil {
		return nil, err
	}
	h := out.Vertices.Kinds.Graph // a copy
	for i := range h.Relations {
		x := h.Relations[i].Links
		if i == out.Vertices.Kinds.Relation || x.Edges.Time == nil {
			continue
		}
		early := selected(x.Edges, func(n int) bool { return x.Edges.Time[n] < c.Val })
		if n := x.Edges.E() - early.E(); n > 0 {
			h.Relations[i].Links = &Data{Name: x.Name, Edges: early, Schema: x.Schema}
			out.Report.Changes = append(slices.Clip(out.Report.Changes), words.Text("%d {edge|edges} of %s {passes|pass} no messages, as {it is|they are} from %s or later", n, h.FullName(i), TimeText(c.Val)))
		}
	}
	return out, nil
}

// Untimed names the relations without times that rows of some types depend on, where others have times, and among them those whose edges
// are the reverses of edges with times, and the relations of these.
func (h *Hetero) Untimed(targets ...int) (none []string, shown [][2]string) {
	reached := make([]bool, len(h.Relations))
	for _, t := range targets {
		_, more := h.Reach(t)
		for r, is := range more {
			reached[r] = reached[r] || is
		}
	}
	has := func(r int) bool { return h.Relations[r].Links.Edges.Time != nil }
	for r := range h.Relations {
		if !reached[r] || has(r) {
			continue
		}
		none = append(none, h.FullName(r))
		x, _ := h.reversals(r)
		for _, a := range x.of(r) {
			if has(a.relation) {
				shown = append(shown, [2]string{h.FullName(r), h.FullName(a.relation)})
				break
			}
		}
	}
	return none, shown
}

// pastOfRelation is LinksOfPast for the edges of the relation of d.
func pastOfRelation(d *Data, c TimeCut, seed uint64) (*Data, error) {
	if _, err := d.Vertices.Kinds.times(); err != nil {
		return nil, err
	}
	k := d.Vertices.Kinds
	name := k.Graph.FullName(k.Relation)
	x, found := k.Graph.reversals(k.Relation)
	for _, a := range x.of(k.Relation) {
		if k.Graph.Relations[a.relation].Links.Edges.Time == nil {
			return nil, fmt.Errorf("%s: %s has the edges of %s, which have times, turned round and without times: pairs would be seen before they come; give them times", d.Name, k.Graph.FullName(a.relation), name)
		}
	}
	all := *k.Graph.Relations[k.Relation].Links.Edges
	all.V, all.Dst = k.PairV, slices.Clone(all.Dst)
	for i := range all.Dst {
		all.Dst[i] += k.behind()
	}
	divided, err := LinksOfPast(&Data{Name: d.Name, Edges: &all}, c, seed)
	if err != nil {
		return nil, fmt.Errorf("edges of %s: %w", name, err)
	}
	out, l := *d, divided.Targets.Links
	l.past.ends, l.Reverses = PairEnds(d), slices.Concat(k.Graph.Reverses, found)
	out.Targets.Links, out.Targets.Given = l, nil
	return &out, nil
}
