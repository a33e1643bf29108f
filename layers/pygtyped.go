package layers

import (
	"slices"
	"strings"

	"sagann/saga"
)

// Layers over several types in PyTorch Geometric: HeteroConv and to_hetero have a layer for each relation, HGTConv and HANConv tensors for relations
// and vertex types, and norms and linear layers one for each type. So a tensor's name is that of the layer's table behind the name of the
// relation or type, or has it within.

// per says of what a parameter is.
type per int

const (
	perRelation per = iota
	perType
	perLayer
)

// share says which part of a tensor, of so many along its first axis, a parameter is. n is what # stands for.
type share func(u *unit, of *saga.Part, n int) (at, parts int)

// ofThree is the k-th of three equal parts.
func ofThree(k int) share { return func(*unit, *saga.Part, int) (int, int) { return k, 3 } }

// stackedByHead is the matrix of a head and a relation: of a head there are those of all relations.
func stackedByHead(u *unit, of *saga.Part, head int) (at, parts int) {
	return head*len(u.order) + slices.IndexFunc(u.order, func(name string) bool { return slices.Contains(internal(joinedName(of)), name) }), u.heads * len(u.order)
}

// typedRow is a row of a layer over several types. * in the name of the tensor stands for the name of the relation or type, which otherwise
// stands before it.
type typedRow struct {
	row
	per   per
	share share
}

// ofType and ofLayer are rows of parameters of vertex types, and of the layer.
func ofType(ours, theirs string, f form) typedRow {
	return typedRow{row: row{ours, theirs, f}, per: perType}
}
func ofLayer(ours, theirs string, f form) typedRow {
	return typedRow{row: row{ours, theirs, f}, per: perLayer}
}

// ofRelation is a row of a parameter of relations, and by those of one that is a share of a tensor.
func ofRelation(ours, theirs string, f form) typedRow { return typedRow{row: row{ours, theirs, f}} }
func (r typedRow) by(s share) typedRow {
	r.share = s
	return r
}

// typed are the tables of layers whose parameters are not those of a layer for each relation.
var typed = map[string][]typedRow{}

// pygTyped makes the table of such a layer known.
func pygTyped(layer string, rows ...typedRow) bool {
	typed[layer] = rows
	return true
}

// single are the layers that HeteroConv has for each relation as the model has them.
var single = map[string]bool{"sage": true, "graphconv": true, "gat": true, "gatv2": true, "transformer": true, "resgated": true, "film": true, "gen": true, "nnconv": true,
	"gin": true, "gine": true, "edgeconv": true, "gcn": true}

// rowsOf is the table of a kind of layer over several types; nil: it has no counterpart.
func rowsOf(kind string) (list []typedRow) {
	if rows := typed[kind]; rows != nil {
		return rows
	}
	of := perRelation
	if write[kind] != "" {
		of = perType
	} else if !single[kind] {
		return nil
	}
	for _, r := range counterparts[kind] {
		list = append(list, typedRow{row: r, per: of})
	}
	return list
}

// placeTyped is place over several types.
func placeTyped(found map[string]*unit, scope, kind, name string, q saga.Param, parts []saga.Part) bool {
	if placeOf(found, scope, kind, name, name, q, parts, nil) {
		return true
	}
	for i := range parts {
		of := &parts[i]
		if !of.Read {
			continue
		}
		if own, ok := strings.CutPrefix(name, of.Scope+"."); ok && placeOf(found, scope, kind, name, own, q, parts, of) {
			return true
		}
		if of.Scope != "" {
			continue
		}
		// The only one: layers that share parameters by the name of a type (Params.Of) have it in the names of these.
		if own, ok := strings.CutPrefix(name, of.Type+"."); placeOf(found, scope, kind, name, name, q, parts, of) || ok && placeOf(found, scope, kind, name, own, q, parts, of) {
			return true
		}
	}
	return false
}

// placeOf is placeTyped where the parameter is of a part, nil for the layer, in which its name is own.
func placeOf(found map[string]*unit, scope, kind, name, own string, q saga.Param, parts []saga.Part, of *saga.Part) bool {
	is := perLayer
	if of != nil {
		if is = perRelation; of.Type != "" {
			is = perType
		}
	}
	for _, part := range tables {
		table := kind
		if part != "" {
			table = part
		}
		if part == "root" && kind != "rgcn" || kind == "gcn" && is == perRelation && of.Src != of.Dst {
			continue
		}
		for _, r := range rowsOf(table) {
			n, ok := numbered(r.ours, own)
			if !ok || r.per != is {
				continue
			}
			u := within(found, scope+"/"+part, scope, table, parts)
			u.sizes[name] = [2]int{q.Rows, q.Cols}
			u.rows = append(u.rows, u.placed(r, name, n, of))
			return true
		}
	}
	return false
}

// placed is row r for parameter name of a part.
func (u *unit) placed(r typedRow, name, n string, of *saga.Part) placed {
	x := placed{ours: name, per: r.per, of: of}
	names := strings.Split(strings.ReplaceAll(r.theirs, "#", n), "|")
	if of != nil && of.Src != of.Dst { // a layer between two types has a name of its own for what sources get
		slices.SortStableFunc(names, func(a, b string) int { return strings.Index(b, "lin_src.") - strings.Index(a, "lin_src.") })
	}
	for _, theirs := range names {
		x.theirs = append(x.theirs, r.named(theirs, of)...)
	}
	head := 0
	for _, digit := range n {
		head = 10*head + int(digit-'0')
	}
	if r.share != nil {
		x.share = func(u *unit, of *saga.Part, _ int) (int, int) { return r.share(u, of, head) }
	}
	before := strings.TrimSuffix(name, strings.ReplaceAll(r.ours, "#", n))
	x.form = func(u *unit, rows, cols int) ([]int, bool) {
		own := &unit{heads: u.heads, order: u.order, sizes: map[string][2]int{}}
		for name, size := range u.sizes {
			if rest, ok := strings.CutPrefix(name, before); ok {
				own.sizes[rest] = size
			}
		}
		return r.form(own, rows, cols)
	}
	return x
}

// end has the norms of a unit be those that PyG wraps around torch's, where these are of batches.
func (u *unit) end() {
	if u.parts == nil || u.kind != "norm" || !slices.ContainsFunc(u.rows, func(r placed) bool { return strings.HasSuffix(r.ours, "norm.mean") }) {
		return
	}
	for i := range u.rows {
		r := &u.rows[i]
		before := internal(r.of.Type)[0] + "."
		r.theirs = append([]string{before + "module." + strings.TrimPrefix(r.theirs[0], before)}, r.theirs...)
	}
}

// bare is u without the names of types, as modules have it that are for one; nil where u is for several, or has no layer of its own.
func (u *unit) bare() *unit {
	if u.parts == nil || write[u.kind] == "" || u.kind == "root" || slices.ContainsFunc(u.rows, func(r placed) bool { return r.of != u.rows[0].of }) {
		return nil
	}
	x := *u
	x.rows = slices.Clone(u.rows)
	for i := range x.rows {
		r := &x.rows[i]
		r.theirs = []string{strings.TrimPrefix(r.theirs[0], internal(r.of.Type)[0]+".")}
	}
	return &x
}

// joinedName is the name of a relation or type where PyG joins its words.
func joinedName(of *saga.Part) string {
	if of.Type != "" {
		return of.Type
	}
	return of.Src + "__" + of.Name + "__" + of.Dst
}

// internal is a name as the keys of PyG's dictionaries have it: with other letters in place of those that torch does not take. Names that
// are those of torch's methods are in angles.
func internal(name string) []string {
	plain := strings.ReplaceAll(name, ".", "#")
	if other := strings.NewReplacer(" ", "_", "-", "_", ":", "_").Replace(plain); other != plain {
		return []string{plain, other, "<" + plain + ">"}
	}
	return []string{plain, "<" + plain + ">"}
}

// named is the name of a tensor of a part, as its different modules have it.
func (r *typedRow) named(theirs string, of *saga.Part) (list []string) {
	if of == nil || r.share != nil && !strings.Contains(theirs, "*") { // of the layer, also where a part has a share of it
		return []string{theirs}
	}
	for _, name := range internal(joinedName(of)) {
		switch {
		case strings.Contains(theirs, "*"):
			list = append(list, strings.ReplaceAll(theirs, "*", name))
		case of.Type != "":
			list = append(list, name+"."+theirs, "lins."+name+"."+theirs, name+".module."+theirs)
		default:
			list = append(list, name+"."+theirs)
		}
	}
	if of.Type == "" && !strings.Contains(theirs, "*") {
		list = append([]string{"convs.<" + strings.ReplaceAll(of.Src+"___"+of.Name+"___"+of.Dst, ".", "#") + ">." + theirs}, list...)
	}
	return list
}

// orders begins the names of tensors whose order is that of the relations that a unit of a kind stacks.
var orders = map[string]string{"hgt": "p_rel."}

// orderOf is the order in which the tensors of u behind a prefix stack relations.
func (f *fitting) orderOf(u *unit, prefix string) (list []string) {
	if begin := orders[u.kind]; begin != "" && u.parts != nil {
		for _, t := range f.w.list {
			if name, ok := strings.CutPrefix(t.Name, prefix+begin); ok {
				list = append(list, name)
			}
		}
	}
	return list
}

// ordered sets the order in which relations are written, that of their names, and lists the tensors that have it.
func (u *unit) ordered() (names []string) {
	begin := orders[u.kind]
	if begin == "" || u.parts == nil {
		return nil
	}
	u.order = nil
	for i := range u.parts {
		if of := &u.parts[i]; of.Type == "" && of.Read {
			name := internal(joinedName(of))[0]
			u.order, names = append(u.order, name), append(names, begin+name)
		}
	}
	return names
}

// idle takes the tensors of u behind prefix that are of types and relations of which the layer reads nothing, as no label depends on them there.
func (f *fitting) idle(u *unit, prefix string) {
	reads := func(of *saga.Part) bool {
		return typed[u.kind] == nil && slices.ContainsFunc(u.rows, func(r placed) bool { return r.of == of })
	}
	for _, t := range f.w.list {
		rest, ok := strings.CutPrefix(t.Name, prefix)
		if !ok || f.left[t.Name] == nil || u.parts == nil {
			continue
		}
		for i := range u.parts {
			of := &u.parts[i]
			if !reads(of) && slices.ContainsFunc(rowsOf(u.kind), func(r typedRow) bool { return r.names(of, rest) }) {
				delete(f.left, t.Name)
				f.w.idle = append(f.w.idle, t.Name)
				break
			}
		}
	}
}

// names tells whether a tensor of a part has that name.
func (r *typedRow) names(of *saga.Part, name string) bool {
	if (r.per == perType) != (of.Type != "") || r.per == perLayer {
		return false
	}
	for _, theirs := range strings.Split(r.theirs, "|") {
		for _, pattern := range r.named(theirs, of) {
			if pattern == name || strings.Contains(r.theirs, "#") && isNumbered(pattern, name) {
				return true
			}
		}
	}
	return false
}

func isNumbered(pattern, name string) bool {
	_, ok := numbered(pattern, name)
	return ok
}
