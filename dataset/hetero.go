package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sagann/chunk"
)

// Hetero is a graph with vertices of several types and relations between them. Vertices of a type are numbered from
// 0 on, as in the file. Types and relations are numbered in the order of their names, so that their order in a file
// changes nothing.
type Hetero struct {
	Name      string
	Types     []VertexType // ascending by name
	Relations []Relation   // ascending by the names of source, relation and target, which together are unique
	Report    Report       // what loading did to the whole; Report of a part is about this part
	Reverses  [][2]int     // pairs of relations of which each has the reverses of the other's edges, beside those whose names say so (Reverse)
}

// VertexType is the vertices of one type. Any text that is not empty is a name.
type VertexType struct {
	Name string
	// Rows has the features, labels, targets, splits, ids and names of the vertices. Its Edges have no edges: V
	// is the number of vertices, which may be 0 in no type. FeatureCols is 0 for a type without features.
	Rows *Data
}

// Relation is the edges of one kind, from vertices of one type to vertices of one type, which can be the same.
type Relation struct {
	Source int // number of the type
	Name   string
	Target int // number of the type
	// Links has the edges and what edges have: weights, types, numbers, labels, targets and splits. Edges.Src are
	// vertices of type Source, Edges.Dst of type Target, each numbered from 0 within its type; Edges.V is the larger
	// number of vertices of both. Links has no vertices of its own, so no features, labels or ids.
	Links *Data
}

// At is the vertices of type t with the graph behind them (Naming.Kinds) or, of a graph of one type and one relation,
// Single. It shares memory with h.
func (h *Hetero) At(t int) *Data {
	if d := h.Single(); d != nil {
		return d
	}
	return h.Typed(t)
}

// Typed is At with the graph behind the vertices, also where it has one type and one relation.
func (h *Hetero) Typed(t int) *Data {
	d := *h.Types[t].Rows
	d.Name, d.Vertices.Kinds, d.Report = h.Name, &Kinds{Graph: h, Type: t}, h.Whole()
	return &d
}

// Whole is the report of h with those of its parts, whose names stand before them.
func (h *Hetero) Whole() Report {
	r := h.Report
	for i := range h.Types {
		r.add(&h.Types[i].Rows.Report, h.Types[i].Name)
	}
	for i := range h.Relations {
		r.add(&h.Relations[i].Links.Report, h.FullName(i))
	}
	return r
}

// Idle says which types and relations the labels of a type do not depend on, "" if there are none.
func (h *Hetero) Idle(target int) string {
	types, relations := h.Reach(target)
	var names, full []string
	for t, reached := range types {
		if !reached {
			names = append(names, h.Types[t].Name)
		}
	}
	for r, reached := range relations {
		if !reached {
			full = append(full, h.FullName(r))
		}
	}
	if names == nil && full == nil {
		return ""
	}
	text := fmt.Sprintf("what is computed for vertices of type %.40s does not depend on", h.Types[target].Name)
	if names != nil {
		text += fmt.Sprintf(" vertices of %.200s", listed(names))
	}
	if names != nil && full != nil {
		text += " and"
	}
	if full != nil {
		text += fmt.Sprintf(" edges of %.400s", listed(full))
	}
	return text + ", as no relation leads from there to it; --undirected adds the reverse of relations"
}

// add adds what was changed in a part of that name.
func (r *Report) add(part *Report, name string) {
	named := func(texts []string) (list []string) {
		for _, text := range texts {
			list = append(list, name+": "+text)
		}
		return list
	}
	r.Changes, r.Warnings = slices.Concat(r.Changes, named(part.Changes)), slices.Concat(r.Warnings, named(part.Warnings))
	if part.Masks > 0 {
		r.Mask, r.Masks = part.Mask, part.Masks
	}
}

// MaxTypes is the largest number of types of vertices, and of relations.
const MaxTypes = 1<<16 - 1

// ErrSeveralTypes is in the error of Load if a file has several types of vertices or relations; LoadHetero reads it.
var ErrSeveralTypes = errors.New("several types of vertices or relations")

// V is the number of vertices of all types.
func (h *Hetero) V() (n int) {
	for _, t := range h.Types {
		n += t.Rows.Edges.V
	}
	return n
}

// E is the number of edges of all relations.
func (h *Hetero) E() (n int) {
	for _, r := range h.Relations {
		if n += r.Links.Edges.E(); r.Links.Shard != nil {
			n += r.Links.Shard.E
		}
	}
	return n
}

// FullName is the name of relation r with its ends: source:name:target.
func (h *Hetero) FullName(r int) string {
	triple := h.triple(r)
	return strings.Join(triple[:], ":")
}

// triple is the names of source, relation and target of relation r.
func (h *Hetero) triple(r int) [3]string {
	x := h.Relations[r]
	return [3]string{h.Types[x.Source].Name, x.Name, h.Types[x.Target].Name}
}

// Type is the number of the type of that name. The error lists the types.
func (h *Hetero) Type(name string) (int, error) {
	for t := range h.Types {
		if h.Types[t].Name == name {
			return t, nil
		}
	}
	return 0, fmt.Errorf("%s has no vertex type %.40q; there are %.400s", h.Name, name, listed(h.typeNames(nil)))
}

// Relation is the number of a relation by its name or by source:name:target. The error lists the relations that can be
// meant.
func (h *Hetero) Relation(name string) (int, error) {
	var found, all []string
	at := -1
	for r := range h.Relations { // names may have colons themselves
		full := h.FullName(r)
		if all = append(all, full); full == name || h.Relations[r].Name == name {
			found, at = append(found, full), r
		}
	}
	switch len(found) {
	case 0:
		return 0, fmt.Errorf("%s has no relation %.80q; there are %.400s", h.Name, name, listed(all))
	case 1:
		return at, nil
	}
	return 0, fmt.Errorf("%s has %d relations %.40q; name one of %.400s", h.Name, len(found), name, listed(found))
}

// typeNames lists the names of types; keep says of which, nil means all.
func (h *Hetero) typeNames(keep func(*Data) bool) (names []string) {
	for _, t := range h.Types {
		if keep == nil || keep(t.Rows) {
			names = append(names, t.Name)
		}
	}
	return names
}

// Labelled is the number of the type whose labels or targets are trained: the one named target or, for "", the only
// one that has some. The error lists the types that have labels.
func (h *Hetero) Labelled(target string) (int, error) {
	has := func(d *Data) bool { return d.Labelled(VertexLabels) && (d.Shard == nil || d.Shard.Target) }
	names := h.typeNames(has)
	if target != "" {
		t, err := h.Type(target)
		if err == nil && !has(h.Types[t].Rows) {
			err = fmt.Errorf("%s: vertices of type %.40q have no labels; %s", h.Name, target, cmp.Or(havingLabels(names), "no type has any"))
		}
		return t, err
	}
	switch len(names) {
	case 0:
		return 0, fmt.Errorf("%s: no vertex type has labels", h.Name)
	case 1:
		return h.Type(names[0])
	}
	return 0, fmt.Errorf("%s: several vertex types have labels: --target NAME names one of %.400s", h.Name, listed(names))
}

// havingLabels says which types have labels, "" if none does.
func havingLabels(names []string) string {
	if names == nil {
		return ""
	}
	return fmt.Sprintf("there are labels of %.400s", listed(names))
}

// Reach tells which types and relations the results of a type depend on, with any number of layers: the types from
// which a path of relations leads to it, and the relations that such paths go along.
func (h *Hetero) Reach(target int) (types, relations []bool) {
	return h.Within([]int{target}, len(h.Types))
}

// Within is Reach for the rows of some types through so many layers that gather.
func (h *Hetero) Within(ends []int, layers int) (types, relations []bool) {
	types, relations = make([]bool, len(h.Types)), make([]bool, len(h.Relations))
	for _, t := range ends {
		types[t] = true
	}
	for range layers {
		before := slices.Clone(types)
		for i, r := range h.Relations {
			if before[r.Target] {
				relations[i], types[r.Source] = true, true
			}
		}
	}
	return types, relations
}

// Single is a graph of one type and one relation as a graph without types, nil if h is another graph, or in shards, whose parts stay
// apart. It shares memory with h.
func (h *Hetero) Single() *Data {
	if len(h.Types) != 1 || len(h.Relations) != 1 || h.Types[0].Rows.Shard != nil {
		return nil
	}
	d, links := *h.Types[0].Rows, h.Relations[0].Links
	d.Name, d.Edges, d.Schema.Edges = h.Name, links.Edges, links.Schema.Edges
	edgeLabels(&d, links)
	d.Report = h.Report
	for _, part := range []*Data{h.Types[0].Rows, links} {
		d.Report.Changes = slices.Concat(d.Report.Changes, part.Report.Changes)
		d.Report.Warnings = slices.Concat(d.Report.Warnings, part.Report.Warnings)
	}
	return &d
}

// sorted puts types and relations into the order of their names. Two of one name are an error.
func (h *Hetero) sorted() error {
	to := make([]int, len(h.Types)) // new number of each type
	order := make([]int, len(h.Types))
	for t := range order {
		order[t] = t
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(h.Types[a].Name, h.Types[b].Name) })
	types := make([]VertexType, len(order))
	for n, t := range order {
		types[n], to[t] = h.Types[t], n
		if n > 0 && types[n-1].Name == types[n].Name {
			return fmt.Errorf("two vertex types are named %.40q", types[n].Name)
		}
	}
	h.Types = types
	for i := range h.Relations {
		r := &h.Relations[i]
		r.Source, r.Target = to[r.Source], to[r.Target]
	}
	byName := func(a, b Relation) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), strings.Compare(a.Name, b.Name), cmp.Compare(a.Target, b.Target))
	}
	slices.SortStableFunc(h.Relations, byName)
	for i := 1; i < len(h.Relations); i++ {
		if byName(h.Relations[i-1], h.Relations[i]) == 0 {
			return fmt.Errorf("two relations are named %.120q", h.FullName(i))
		}
	}
	return nil
}

// ValidateHetero checks that every part of h is good (see Validate), and that the ends of edges are vertices of the
// types that their relation says. Errors name the type or relation.
func ValidateHetero(h *Hetero) error {
	if err := h.problem(); err != nil {
		return fmt.Errorf("%s: %w", h.Name, err)
	}
	return nil
}

func (h *Hetero) problem() error {
	if len(h.Types) == 0 || len(h.Types) > MaxTypes || len(h.Relations) > MaxTypes {
		return fmt.Errorf("%d vertex types and %d relations: at least one type, and at most %d of each", len(h.Types), len(h.Relations), MaxTypes)
	}
	for i, r := range h.Relations {
		if min(r.Source, r.Target) < 0 || max(r.Source, r.Target) >= len(h.Types) {
			return fmt.Errorf("relation %d %.40q goes from type %d to type %d of %d", i, r.Name, r.Source, r.Target, len(h.Types))
		}
	}
	if name := h.notUTF8(); name != "" {
		return fmt.Errorf("the name %.40q is not in UTF-8", name)
	}
	order := Hetero{Types: h.Types, Relations: slices.Clone(h.Relations)}
	if err := order.sorted(); err != nil {
		return err
	}
	for i := range h.Types {
		if h.Types[i].Name != order.Types[i].Name {
			return fmt.Errorf("vertex type %.40q stands before %.40q: types are in the order of their names", h.Types[i].Name, order.Types[i].Name)
		}
	}
	for i := range h.Relations {
		if h.FullName(i) != order.FullName(i) {
			return fmt.Errorf("relation %.120q stands before %.120q: relations are in the order of their names", h.FullName(i), order.FullName(i))
		}
	}
	if i, err := firstProblem(len(h.Types), func(i int) error { return h.Types[i].problem() }); err != nil {
		return fmt.Errorf("vertex type %.40q: %w", h.Types[i].Name, err)
	}
	if v := h.V(); v > chunk.MaxVertices {
		return fmt.Errorf("%d vertices of all types: at most %d", v, chunk.MaxVertices)
	}
	if i, err := firstProblem(len(h.Relations), func(i int) error { return h.linkProblem(&h.Relations[i]) }); err != nil {
		return fmt.Errorf("relation %.120q: %w", h.FullName(i), err)
	}
	return nil
}

// firstProblem calls check for 0..n-1, side by side, and returns the first that has a problem, with that.
func firstProblem(n int, check func(i int) error) (int, error) {
	errs := make([]error, n)
	chunk.Each(n, func(i int) { errs[i] = check(i) })
	for i, err := range errs {
		if err != nil {
			return i, err
		}
	}
	return 0, nil
}

func (t *VertexType) problem() error {
	switch d := t.Rows; {
	case t.Name == "":
		return errors.New("a type has no name")
	case d.Edges == nil || d.Edges.V < 1 || d.Edges.E() > 0:
		return errors.New("a type has at least one vertex, and no edges")
	case d.GraphOf != nil || d.GraphLabels != nil || d.Targets.Graph.Rows != nil || d.Targets.GraphSets.Rows != nil:
		return errors.New("several graphs in one, and of vertices of several types only one graph is read")
	case d.Targets.Links != nil:
		return errors.New("links are of graphs without types")
	}
	return problem(t.Rows)
}

func (h *Hetero) linkProblem(r *Relation) error {
	d := r.Links
	if r.Name == "" {
		return errors.New("a relation has no name")
	}
	from, to := h.Types[r.Source], h.Types[r.Target]
	if d.Edges == nil || d.Edges.V != max(from.Rows.Edges.V, to.Rows.Edges.V) {
		return errors.New("the number of vertices is not that of the larger type")
	}
	if d.FeatureCols > 0 || d.Labels != nil || d.MultiLabels != nil || d.Targets.Vertex != nil || d.GraphOf != nil || d.HasIDs() || d.Train != nil || d.Val != nil || d.Test != nil {
		return errors.New("a relation has something of vertices")
	}
	if err := problem(d); err != nil {
		return err
	}
	for _, end := range []struct {
		ids []uint32
		of  VertexType
	}{{d.Edges.Src, from}, {d.Edges.Dst, to}} {
		if end.of.Rows.Edges.V == d.Edges.V { // ids are below that
			continue
		}
		if e := first(end.ids, func(v uint32) bool { return int(v) >= end.of.Rows.Edges.V }); e >= 0 {
			return fmt.Errorf("edge %d has vertex %d of type %.40q, which has %d", e, end.ids[e], end.of.Name, end.of.Rows.Edges.V)
		}
	}
	return nil
}
