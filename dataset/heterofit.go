package dataset

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// FitTypes is Fit for a graph of several types: s is the schema of a run over such a graph. Types and relations are matched by their
// names, and each part is fitted as Fit does. Parts that the run does not know are left out, with a note; an error lists those that the data
// lack. h is unchanged.
func (s *Schema) FitTypes(h *Hetero, by Sides) (fitted *Hetero, notes []string, err error) {
	fitted = &Hetero{Name: h.Name, Report: h.Report}
	var missing []string
	at := map[string]int{}
	for _, t := range s.Types {
		n, err := h.Type(t.Name)
		if err != nil {
			missing = append(missing, t.Name)
			continue
		}
		d, more, err := t.Rows.Fit(h.Types[n].Rows, by.of("vertex type "+t.Name))
		if err != nil {
			return nil, nil, err
		}
		at[t.Name], notes = len(fitted.Types), append(notes, more...)
		fitted.Types = append(fitted.Types, VertexType{t.Name, d})
	}
	if missing != nil {
		return nil, nil, fmt.Errorf("%s lacks the vertex types %.400s of %s; it has %.400s", by.Data, listed(missing), by.Run, listed(h.typeNames(nil)))
	}
	have := map[[3]string]int{}
	for r := range h.Relations {
		have[h.triple(r)] = r
	}
	to := map[int]int{} // of relations of h, their numbers in fitted
	for _, r := range s.Relations {
		triple := [3]string{r.Source, r.Name, r.Target}
		full := strings.Join(triple[:], ":")
		n, ok := have[triple]
		if !ok {
			missing = append(missing, full)
			continue
		}
		delete(have, triple)
		d, more, err := r.Links.Fit(h.Relations[n].Links, by.of("relation "+full))
		if err != nil {
			return nil, nil, err
		}
		notes, to[n] = append(notes, more...), len(fitted.Relations)
		fitted.Relations = append(fitted.Relations, Relation{at[r.Source], r.Name, at[r.Target], d})
	}
	if missing != nil {
		return nil, nil, fmt.Errorf("%s lacks the relations %.400s of %s (--undirected adds those that begin with rev_)", by.Data, listed(missing), by.Run)
	}
	for _, pair := range h.Reverses {
		a, first := to[pair[0]]
		b, second := to[pair[1]]
		if first && second {
			fitted.Reverses = append(fitted.Reverses, [2]int{a, b})
		}
	}
	unknown := make([]string, 0, len(have))
	for triple := range have {
		unknown = append(unknown, strings.Join(triple[:], ":"))
	}
	if slices.Sort(unknown); len(unknown) > 0 {
		notes = append(notes, fmt.Sprintf("%s: the run does not know the relations %s, which are left out", by.Data, some(unknown)))
	}
	if len(fitted.Types) < len(h.Types) {
		notes = append(notes, fmt.Sprintf("%s: the run knows %d of the %d vertex types; the others are left out", by.Data, len(fitted.Types), len(h.Types)))
	}
	return fitted, notes, nil
}

// FitTarget is FitTypes for the vertices of one type, with the graph behind them (Hetero.At). A graph of one type for a run over several, or the
// other way round, is an error.
func (s *Schema) FitTarget(d *Data, by Sides) (fitted *Data, notes []string, err error) {
	kinds := d.Vertices.Kinds
	if s.Types == nil || kinds == nil {
		return nil, nil, fmt.Errorf("%s was trained on vertices of %s, and %s has %s", by.Run, severalOr(s.Types != nil), by.Data, severalOr(kinds != nil))
	}
	name := kinds.Graph.Types[kinds.Type].Name
	if s.Target != "" && s.Target != name {
		return nil, nil, fmt.Errorf("%s was trained on vertices of type %.40q, and those of %s are of type %.40q", by.Run, s.Target, by.Data, name)
	}
	h, notes, err := s.FitTypes(kinds.With(d), by)
	if err != nil {
		return nil, nil, err
	}
	t, err := h.Type(name)
	if err != nil {
		return nil, nil, err
	}
	x := *h.Types[t].Rows
	x.Vertices.Kinds = &Kinds{Graph: h, Type: t, PairV: kinds.PairV}
	if kinds.PairV > 0 {
		if x.Vertices.Kinds.Relation, err = h.Relation(kinds.Graph.FullName(kinds.Relation)); err != nil {
			return nil, nil, err
		}
		x.Targets.Links, x.Targets.Given = d.Targets.Links, d.Targets.Given
		edgeLabels(&x, d)
	}
	return &x, notes, nil
}

// severalOr says whether vertices are of one type.
func severalOr(several bool) string {
	if several {
		return "several types"
	}
	return "one type"
}

// of names a part of both sides.
func (s Sides) of(part string) Sides { return Sides{s.Run + ": " + part, s.Data + ": " + part} }

// IDSum is a checksum of the names of the types that have no features, of their numbers of vertices and of the ids of these.
// Learned rows belong to the vertices of equal sums only.
func (h *Hetero) IDSum() string { return h.idSum(func(d *Data) bool { return d.FeatureCols == 0 }) }

// HasIDSum reports whether sum is that of h or, as earlier versions made it, of all types.
func (h *Hetero) HasIDSum(sum string) bool {
	return sum == h.IDSum() || sum == h.idSum(func(*Data) bool { return true })
}

func (h *Hetero) idSum(of func(*Data) bool) string {
	sum := crc32.NewIEEE()
	for _, t := range h.Types {
		if !of(t.Rows) {
			continue
		}
		fmt.Fprintf(sum, "%q %d %v", t.Name, t.Rows.Edges.V, t.Rows.HasIDs())
		if !t.Rows.HasIDs() {
			continue
		}
		for v := range t.Rows.Edges.V {
			sum.Write([]byte(strconv.Quote(t.Rows.ID(v))))
		}
	}
	return strings.ToLower(strconv.FormatUint(uint64(sum.Sum32()), 16))
}

// notUTF8 is a name of a type or relation that is not in UTF-8, or "".
func (h *Hetero) notUTF8() string {
	for i := range h.Types {
		if !utf8.ValidString(h.Types[i].Name) {
			return h.Types[i].Name
		}
	}
	for i := range h.Relations {
		if !utf8.ValidString(h.Relations[i].Name) {
			return h.Relations[i].Name
		}
	}
	return ""
}
