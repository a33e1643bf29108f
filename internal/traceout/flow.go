package traceout

import (
	"slices"
	"strings"
)

// Flow is a data-flow graph in which some nodes have labels, such as the layers of parameters. The compiler
// mixes the operations of all layers. Which layer an operation belongs to is found from its nearest
// labelled neighbours.
type Flow struct {
	next, prev map[Node][]Node
	labels     map[Node][]string
}

// Node identifies a value; the caller chooses the numbers.
type Node [3]int

// NewFlow makes an empty Flow.
func NewFlow() *Flow {
	return &Flow{next: map[Node][]Node{}, prev: map[Node][]Node{}, labels: map[Node][]string{}}
}

// Edge adds an edge: b is computed from a.
func (f *Flow) Edge(a, b Node) {
	f.next[a], f.prev[b] = append(f.next[a], b), append(f.prev[b], a)
}

// Label adds a label to n; "" is ignored.
func (f *Flow) Label(n Node, label string) {
	if label != "" {
		f.labels[n] = append(f.labels[n], label)
	}
}

// Nearest is the label that is fewest steps away from any of the nodes, along the
// edges or against them. Several labels at that distance are joined by JoinSet.
// It is "" if no label can be reached.
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

// JoinSet sorts words, each of which may be a comma-separated list, and joins the
// different ones with commas.
func JoinSet(words []string) string {
	words = strings.FieldsFunc(strings.Join(words, ","), func(r rune) bool { return r == ',' })
	slices.Sort(words)
	return strings.Join(slices.Compact(words), ",")
}
