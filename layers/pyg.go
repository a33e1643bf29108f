package layers

import (
	"fmt"
	"slices"
	"strings"

	"sagann/saga"
)

// Layers of PyTorch Geometric keep the same numbers under other names and in other shapes. A layer that has a counterpart there has
// a table of them beside its formula, which pyg makes known.

// row says which tensor of PyG's layer a parameter is. theirs may have several names, with | between, of which the first is
// written. # stands for a number in both.
type row struct {
	ours, theirs string
	form         form
}

// form is the shape of a tensor in PyG that is a parameter of rows×cols here, and tells whether it is the transpose.
type form func(u *unit, rows, cols int) (shape []int, turned bool)

func transposed(_ *unit, rows, cols int) ([]int, bool) { return []int{cols, rows}, true }
func matrix(_ *unit, rows, cols int) ([]int, bool)     { return []int{rows, cols}, false }
func vector(_ *unit, rows, cols int) ([]int, bool)     { return []int{rows * cols}, false }

// perHead has the columns of each head in a row of their own.
func perHead(u *unit, _, cols int) ([]int, bool) { return []int{1, u.heads, cols / u.heads}, false }

// lastOf has as many numbers in a row as the parameter name has columns.
func lastOf(name string) form {
	return func(u *unit, rows, cols int) ([]int, bool) {
		n := max(1, u.sizes[name][1])
		return []int{rows * cols / n, n}, false
	}
}

// stackOf is matrices with as many rows as the parameter name has.
func stackOf(name string) form {
	return func(u *unit, rows, cols int) ([]int, bool) {
		n := max(1, u.sizes[name][0])
		return []int{rows / n, n, cols}, false
	}
}

// counterparts are the tables, by names of layers.
var counterparts = map[string][]row{}

// pyg makes the table of a layer known.
func pyg(layer string, rows ...row) bool {
	counterparts[layer] = rows
	return true
}

// placed is a row of a unit: its parameter, and the names of the tensor that it is made of, of which the first is written.
type placed struct {
	ours   string
	theirs []string
	form   form
	share  share // nil: the parameter is all of the tensor
	per    per
	of     *saga.Part
}

// unit is a part of a model whose tensors have one prefix in PyG.
type unit struct {
	scope string // of the parameters
	kind  string // key of counterparts
	rows  []placed
	sizes map[string][2]int
	heads int
	next  string   // the prefix that is written
	order []string // of relations whose matrices a tensor stacks: their names in PyG
	parts []saga.Part
}

// write says where a unit of a kind is written: convs. and its number for layers, as PyG's own models have it.
var write = map[string]string{"linear": "lins.", "norm": "norms.", "residual": "residuals.", "root": "roots.", jumping: "lin.", "head": "head.", "embedding": "embedding."}

var _ = pyg("embedding", row{"", "weight", matrix})

// tables are the tables of a layer, its own before those of what stands around it: of a name behind a slash.
var tables = []string{"", "norm", "residual", "root"}

// unitsOf divides the parameters of m, made with o, into units, in the order of the layers. Of a graph of several types parts are those that
// names of parameters tell of. It also returns the names of those that have no counterpart.
func unitsOf(m saga.Model, o Options, params []saga.Param, parts []saga.Part) (units []*unit, alone []string) {
	kinds, order := map[string]string{"embedding": "embedding", "head": "head"}, []string{"embedding"}
	last := map[string]bool{}
	for i, l := range m.Layers {
		scope := l.Scope
		if scope == "" {
			scope = fmt.Sprint("layer", i+1)
		}
		kinds[scope], last[scope] = l.Name, i == len(m.Layers)-1
		order = append(order, scope)
	}
	order = append(order, "head")
	found, count := map[string]*unit{}, map[string]int{}
	for _, q := range params {
		scope, name := q.Name, ""
		for scope != "" && kinds[scope] == "" {
			scope = scope[:max(0, strings.LastIndexByte(scope, '.'))]
		}
		if name = strings.TrimPrefix(q.Name[len(scope):], "."); scope == "" || !place(found, scope, kinds[scope], name, q, parts) {
			alone = append(alone, q.Name)
		}
	}
	for _, scope := range slices.Compact(order) {
		for _, part := range tables {
			u := found[scope+"/"+part]
			if u == nil || slices.Contains(units, u) {
				continue
			}
			if u.heads = max(1, o.Heads); last[scope] && !summed[u.kind] {
				u.heads = max(1, o.OutHeads)
			}
			u.end()
			if at, ok := write[u.kind]; !ok {
				u.next = fmt.Sprint("convs.", count[""], ".")
				count[""]++
			} else if u.next = at; strings.HasSuffix(at, "s.") {
				u.next = fmt.Sprint(at, count[at], ".")
				count[at]++
				if _, batch := u.sizes["norm.mean"]; batch { // PyG wraps torch's
					u.next += "module."
				}
			}
			units = append(units, u)
		}
	}
	return units, alone
}

// place puts the parameter name of a scope into its unit, if a table has it.
func place(found map[string]*unit, scope, kind, name string, q saga.Param, parts []saga.Part) bool {
	if parts != nil {
		return placeTyped(found, scope, kind, name, q, parts)
	}
	table := kind
	if kind == "head" {
		table = "linear"
	}
	for _, part := range tables {
		rows := counterparts[table]
		if part != "" {
			kind, rows = part, counterparts[part]
		}
		for _, r := range rows {
			n, ok := numbered(r.ours, name)
			if !ok {
				continue
			}
			u := within(found, scope+"/"+part, scope, kind, nil)
			u.sizes[name] = [2]int{q.Rows, q.Cols}
			u.rows = append(u.rows, placed{ours: name, theirs: strings.Split(strings.ReplaceAll(r.theirs, "#", n), "|"), form: r.form})
			return true
		}
	}
	return false
}

// within is the unit of a key, made if there is none.
func within(found map[string]*unit, key, scope, kind string, parts []saga.Part) *unit {
	if found[key] == nil {
		found[key] = &unit{scope: scope, kind: kind, sizes: map[string][2]int{}, parts: parts}
	}
	return found[key]
}

// numbered tells whether name is pattern, a # in which stands for the number n.
func numbered(pattern, name string) (n string, ok bool) {
	before, after, has := strings.Cut(pattern, "#")
	if !has {
		return "", name == pattern
	}
	n, ok = strings.CutPrefix(name, before)
	if !ok || !strings.HasSuffix(n, after) {
		return "", false
	}
	n = strings.TrimSuffix(n, after)
	return n, n != "" && strings.Trim(n, "0123456789") == ""
}

// full is the name of a unit's parameter.
func (u *unit) full(name string) string {
	if name == "" {
		return u.scope
	}
	return u.scope + "." + name
}
