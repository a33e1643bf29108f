package cuda

import (
	"slices"

	"sagann/kernel"
)

// Rows of tables that a launch reads by its list (kernel/indexed.go). For the far end of an edge the list is read once, whatever
// operands are read by it.

// rowAt is where the row of leaf l, of an own row or a far end, lies in its operand.
func rowAt(l *kernel.Leaf) string {
	switch {
	case l.From == kernel.Own && l.Indexed:
		return "(size_t)index[row]"
	case l.From == kernel.Own:
		return "row"
	case l.Indexed:
		return "(size_t)place"
	}
	return "(size_t)far"
}

// ifPlaces is text, where rows of far ends are read by the list.
func (c *Program) ifPlaces(text string) string {
	if slices.ContainsFunc(c.p.Leaves, func(l kernel.Leaf) bool { return l.From == kernel.Other && l.Indexed }) {
		return text
	}
	return ""
}

// edgePlace gives the edge at hand its place. In kernels of few edges those of a round are read together, roundPlaces, and edge u of it has placeOfRound.
const (
	edgePlace   = "const unsigned place = index[far]; (void)place;\n"
	roundPlaces = `		unsigned places[R];
		#pragma unroll
		for (int u = 0; u < R; u++) places[u] = index[ids[u]];
`
	placeOfRound = "\t\t\t\tconst unsigned place = places[u]; (void)place;\n"
)
