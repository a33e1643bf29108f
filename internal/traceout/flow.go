package traceout

import (
	"slices"
	"strings"
)

// Flow is a graph of what is computed from what, with labels here and there. A
// compiler that mixes the layers of a model leaves no other trace of which operation
// works for which layer than its nearest labelled neighbours.
type Flow struct {
	next, prev map[Node][]Node
	labels     map[Node][]string
}

// Node is a value, as its maker numbers them.
type Node [3]int

// NewFlow makes an empty Flow.
func NewFlow() *Flow {
	return &Flow{next: map[Node][]Node{}, prev: map[Node][]Node{}, labels: map[Node][]string{}}
}

// Edge notes that b is computed from a.
func (f *Flow) Edge(a, b Node) {
	f.next[a], f.prev[b] = append(f.next[a], b), append(f.prev[b], a)
}

// Label gives n a label beside those that it has; "" is none.
func (f *Flow) Label(n Node, label string) {
	if label != "" {
		f.labels[n] = append(f.labels[n], label)
	}
}

// Nearest is the label found by the fewest steps from any of the nodes, along the
// edges or against them; with several at that distance all of them, as JoinSet joins
// them. It is "" when none can be reached.
func (f *Flow) Nearest(from []Node, along bool) string {
	seen := map[Node]bool{}
	for len(from) > 0 {
		var found []string
		var then []Node
		for _, n := range from {
			if seen[n] {
				continue
			}
			seen[n] = true
			found = append(found, f.labels[n]...)
			if along {
				then = append(then, f.next[n]...)
			} else {
				then = append(then, f.prev[n]...)
			}
		}
		if len(found) > 0 {
			return JoinSet(found)
		}
		from = then
	}
	return ""
}

// JoinSet sorts words, of which each may be a list with commas, and joins the
// different ones with commas.
func JoinSet(words []string) string {
	words = strings.FieldsFunc(strings.Join(words, ","), func(r rune) bool { return r == ',' })
	slices.Sort(words)
	return strings.Join(slices.Compact(words), ",")
}
