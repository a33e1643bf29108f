package dataset

import (
	"fmt"
	"math"
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
	masks := 0
	for _, d := range h.parts() {
		d.settle()
		masks = max(masks, d.Report.Masks)
	}
	if opt.Mask > 0 && masks == 0 {
		return nil, fmt.Errorf("%s: split number %d is asked for (--mask), and the file does not have several", path, opt.Mask)
	}
	if opt.Relabel != RelabelAuto {
		h.Report.Warnings = append(h.Report.Warnings, "settings that have no effect on this data: --relabel (vertices of types keep their numbers)")
	}
	return s, nil
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
	have := map[string]bool{}
	for i := range h.Relations {
		have[h.FullName(i)] = true
	}
	for i, r := range h.Relations { // those before any is added
		d, from, to := r.Links, h.Types[r.Source].Name, h.Types[r.Target].Name
		back := to + ":" + reverseOf + r.Name + ":" + from
		isBack := len(r.Name) > len(reverseOf) && r.Name[:len(reverseOf)] == reverseOf && have[to+":"+r.Name[len(reverseOf):]+":"+from]
		switch {
		case r.Source == r.Target && d.Labelled(EdgeLabels):
			return fmt.Errorf("relation %.120q: the edges have labels or targets and cannot be rearranged", h.FullName(i))
		case r.Source == r.Target:
			before := d.Edges.E()
			d.Edges = d.Edges.Symmetric()
			if added := d.Edges.E() - before; added > 0 {
				d.change("%d reverse edges were added", added)
			}
		case !have[back] && !isBack:
			x := &Data{Edges: d.Edges.Reverse(), Schema: Schema{Edges: d.Schema.Edges}}
			x.Report.Changes = []string{"added: the reverse of " + r.Name}
			h.Relations = append(h.Relations, Relation{r.Target, reverseOf + r.Name, r.Source, x})
		}
	}
	return h.sorted()
}

// simplify drops repeated edges of every relation and, within a type, self loops.
func (h *Hetero) simplify() error {
	for i, r := range h.Relations {
		d := r.Links
		if split := d.EdgeSplit; d.Edges.E() > math.MaxUint32/2 || d.Labelled(EdgeLabels) || split.Train != nil || split.Val != nil || split.Test != nil {
			return fmt.Errorf("relation %.120q: edges that have labels, targets or a split, or are more than %d, cannot be rearranged", h.FullName(i), math.MaxUint32/2)
		}
		before := d.Edges.E()
		d.Edges = simplify(d.Edges, r.Source != r.Target)
		if dropped := before - d.Edges.E(); dropped > 0 {
			d.change("%d self loops and repeated edges were dropped, and edges were sorted", dropped)
		}
	}
	return nil
}
