package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sagann/chunk"
	"sagann/internal/words"
)

// heteroStream is a graph of several types whose edges and features are read in pieces: a Stream for each part.
type heteroStream struct {
	h  *Hetero           // the parts' Data are those of the streams
	of map[*Data]*Stream // by part; nil: all of h is in memory
}

// stream is the stream of a part.
func (s *heteroStream) stream(d *Data) *Stream {
	if s.of == nil {
		return streamOf(d)
	}
	return s.of[d]
}

func newHeteroStream() *heteroStream {
	return &heteroStream{&Hetero{}, map[*Data]*Stream{}}
}

func (s *heteroStream) addType(name string, rows *Stream) {
	s.h.Types = append(s.h.Types, VertexType{name, rows.Data})
	s.of[rows.Data] = rows
}

func (s *heteroStream) addRelation(source int, name string, target int, links *Stream) {
	s.h.Relations = append(s.h.Relations, Relation{source, name, target, links.Data})
	s.of[links.Data] = links
}

// parts lists the data of types, then of relations.
func (h *Hetero) parts() (list []*Data) {
	for _, t := range h.Types {
		list = append(list, t.Rows)
	}
	for _, r := range h.Relations {
		list = append(list, r.Links)
	}
	return list
}

// partName says which part number i of parts is.
func (h *Hetero) partName(i int) string {
	if i < len(h.Types) {
		return fmt.Sprintf("vertex type %.40q", h.Types[i].Name)
	}
	return fmt.Sprintf("relation %.120q", h.FullName(i-len(h.Types)))
}

// settled is what every reader of types ends with: it sorts the parts, and settles the labels and splits of each.
func (s *heteroStream) settled(path, form string, opt Options) (*heteroStream, error) {
	h := s.h
	if err := h.sorted(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	h.Report.Form = form
	h.warnAlone()
	masks := 0
	for _, d := range h.parts() {
		d.settle()
		masks = max(masks, d.Report.Masks)
	}
	if err := opt.idleMask(path, masks); err != nil {
		return nil, err
	}
	if opt.Relabel != RelabelAuto {
		h.Report.Warnings = append(h.Report.Warnings, "settings that have no effect on this data: --relabel (vertices of types keep their numbers)")
	}
	return s, nil
}

// warnAlone warns of types that no relation has at an end, which a relation may have meant by another name.
func (h *Hetero) warnAlone() {
	ends := make([]bool, len(h.Types))
	for _, r := range h.Relations {
		ends[r.Source], ends[r.Target] = true, true
	}
	var joined []string
	for t, has := range ends {
		if has {
			joined = append(joined, h.Types[t].Name)
		}
	}
	for t, has := range ends {
		if !has {
			h.Report.Warnings = append(h.Report.Warnings, fmt.Sprintf("no relation has vertices of type %.40q; relations are of %.400s", h.Types[t].Name, listed(joined)))
		}
	}
}

// collect reads the edges and features into memory, rearranges edges as asked, and checks the result.
func (s *heteroStream) collect(path string, opt Options) (*Hetero, error) {
	h := s.h
	for _, d := range h.parts() {
		if s.of == nil {
			break
		}
		if _, err := s.of[d].collect(opt); err != nil {
			return nil, err
		}
	}
	if err := h.problem(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if opt.Undirected {
		if err := h.undirect(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	for i, d := range h.parts() {
		d.warnScale(d.Features, 0)
		if err := opt.sparse(d); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, h.partName(i), err)
		}
	}
	if opt.Simple {
		if err := h.simplify(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return h, nil
}

// reverseOf begins the names of relations that undirect adds.
const reverseOf = "rev_"

// undirect adds the reverse of every edge that has none to relations within a type, and a relation rev_NAME to those
// between two types. Edge k of rev_NAME is edge k of NAME turned round, with its weight, type and numbers; labels,
// targets and splits of edges stay with NAME. A relation that has its rev_ already gets no other.
func (h *Hetero) undirect() error {
	type key struct {
		source int
		name   string
		target int
	}
	at := map[key]*Relation{}
	for i, r := range h.Relations {
		at[key{r.Source, r.Name, r.Target}] = &h.Relations[i]
	}
	for i, r := range h.Relations { // those before any is added
		d := r.Links
		back := at[key{r.Target, reverseOf + r.Name, r.Source}]
		forth, isBack := strings.CutPrefix(r.Name, reverseOf)
		isBack = isBack && at[key{r.Target, forth, r.Source}] != nil
		switch {
		case r.Source == r.Target && d.Labelled(EdgeLabels):
			return fmt.Errorf("relation %.120q: the edges have labels or targets and cannot be rearranged", h.FullName(i))
		case r.Source == r.Target:
			before := d.Edges.E()
			d.Edges = d.Edges.Symmetric()
			if added := d.Edges.E() - before; added > 0 {
				d.Report.Turned = [2]int{before, before + added}
				d.change("%d reverse edges were added", added)
			}
		case back != nil:
			if !reversed(d.Edges, back.Links.Edges) {
				h.Report.Warnings = append(h.Report.Warnings, words.Text("%.120s stays as it is: its %d {edge is|edges are} not those of %.120s turned round, which has %d", h.Types[r.Target].Name+":"+back.Name+":"+h.Types[r.Source].Name, back.Links.Edges.E(), h.FullName(i), d.Edges.E()))
			}
		case !isBack:
			x := &Data{Edges: d.Edges.Reverse(), Schema: Schema{Edges: d.Schema.Edges}}
			x.Report.Changes = []string{"added: the reverse of " + r.Name}
			h.Relations = append(h.Relations, Relation{r.Target, reverseOf + r.Name, r.Source, x})
		}
	}
	return h.sorted()
}

// reversed reports whether back has the edges of e turned round, in any order.
func reversed(e, back *chunk.Edges) bool {
	if slices.Equal(e.Src, back.Dst) && slices.Equal(e.Dst, back.Src) {
		return true
	}
	if e.E() != back.E() {
		return false
	}
	sorted := func(from, to []uint32) []uint64 {
		pairs := make([]uint64, len(from))
		for k, u := range from {
			pairs[k] = uint64(u)<<32 | uint64(to[k])
		}
		slices.Sort(pairs)
		return pairs
	}
	return slices.Equal(sorted(e.Src, e.Dst), sorted(back.Dst, back.Src))
}

// simplify drops repeated edges of every relation and, within a type, self loops.
func (h *Hetero) simplify() error {
	for i, r := range h.Relations {
		d := r.Links
		if split := d.EdgeSplit; d.Edges.E() > math.MaxUint32/2 || d.Labelled(EdgeLabels) || split.Train != nil || split.Val != nil || split.Test != nil {
			return fmt.Errorf("relation %.120q: edges that have labels, targets or a split, or are more than %d, cannot be rearranged", h.FullName(i), math.MaxUint32/2)
		}
		before := d.Edges.E()
		d.Edges, d.Report.Turned = simplify(d.Edges, r.Source != r.Target), [2]int{}
		if dropped := before - d.Edges.E(); dropped > 0 {
			d.change("%d self loops and repeated edges were dropped, and edges were sorted", dropped)
		}
	}
	return nil
}
