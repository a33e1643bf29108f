package cuda

import (
	"slices"

	"sagann/kernel"
)

// Rows of tables that a launch finds through its list of IDs (kernel/indexed.go). For the far end of an edge the list is
// read once, however many operands are tables.

// rowAt is the index of the row of leaf l in its operand, for the current own row or far end.
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

// ifPlaces returns text if rows of far ends are found through the list, otherwise "".
func (c *Program) ifPlaces(text string) string {
	if slices.ContainsFunc(c.p.Leaves, func(l kernel.Leaf) bool { return l.From == kernel.Other && l.Indexed }) {
		return text
	}
	return ""
}

// edgePlace reads the table row of the current edge's far end. In kernels for rows of few edges, roundPlaces reads those
// of a whole round, and placeOfRound takes the one of edge u.
const (
	edgePlace   = "const unsigned place = index[far]; (void)place;\n"
	roundPlaces = `		unsigned places[R];
		#pragma unroll
		for (int u = 0; u < R; u++) places[u] = index[ids[u]];
`
	placeOfRound = "\t\t\t\tconst unsigned place = places[u]; (void)place;\n"
)
