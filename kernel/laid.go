package kernel

import "slices"

// Gathers for which a GPU lays rows of far ends out anew: it writes what edges want of each row to scratch memory, once for each row, and edges then
// read less. That pays where far ends have many edges each. What lies there changes no result.

const (
	// LaidCols: narrower rows are read as they are.
	LaidCols = 32
	// PairLine is the bytes of a line that has a slice of both rows of a pair.
	PairLine = 128
	// WonRanks is the number of words in the table of a far end whose terms are listed.
	WonRanks = 128
)

// LaidEdges is how many edges far ends have at least, in the mean, for which rows are laid out anew: the fewest that were measured. With 20, 40 and
// 80 edges epochs of resgated took 4, 11 and 18 % less on an H100, those of mpgcn 6, 15 and 25 %, those of ggcn 3, 11 and 19 % (bench/cuda/RESULTS-cuda.md).
const LaidEdges = 20

// Laying is how a GPU can lay rows of far ends out anew for a program.
type Laying struct {
	Pair, Terms bool   // two rows side by side; the terms of a maximum's gradient; neither: rows are read as they are
	Leaves      [2]int // of a pair its rows; of terms the ranks and the gradient
	Cols        int    // of each of these
}

// LayingOf finds what p gathers of its far ends.
func LayingOf(p *Program) (l Laying) {
	if l.Leaves[0], l.Leaves[1] = pairOf(p); l.Leaves[0] >= 0 {
		l.Pair = true
	} else if l.Leaves[0], l.Leaves[1] = termsOf(p); l.Leaves[0] >= 0 {
		l.Terms = true
	} else {
		return Laying{}
	}
	l.Cols = p.Leaves[l.Leaves[0]].Cols
	return l
}

// Row is the bytes of scratch memory that a row takes at least; 0: rows are not laid out.
func (l Laying) Row() int64 {
	switch {
	case l.Cols <= LaidCols:
		return 0
	case l.Terms:
		return 8*int64(l.Cols) + 4*WonRanks
	}
	return PairLine
}

// pairOf returns the two leaves of p whose rows edges read side by side then, or -1, -1: p gathers two rows of far ends, equally wide, and computes
// each column apart. Slices of both rows together are as wide as slices of a single row.
func pairOf(p *Program) (a, b int) {
	a, b = -1, -1
	if !p.Edges || p.dense() {
		return -1, -1
	}
	for i := range p.Leaves {
		l := &p.Leaves[i]
		switch {
		case l.Key != NoKey, l.Indexed, l.Half, l.From == EdgeBuf, l.From == Cell && l.Cols > 1:
			return -1, -1
		case l.From != Other:
		case a < 0:
			a = i
		case b < 0:
			b = i
		default:
			return -1, -1
		}
	}
	if b < 0 || p.Leaves[a].Cols != p.Leaves[b].Cols || !apart(p, p.Leaves[a].Cols) {
		return -1, -1
	}
	return a, b
}

// apart tells whether p computes each of w columns by itself, and sums all results. Only then is a slice of some columns a gather of its own.
func apart(p *Program, w int) bool {
	if w < 2 {
		return false
	}
	whole := func(r int) bool { // a Global that is read by address
		return slices.ContainsFunc(p.Leaves, func(l Leaf) bool { return l.Reg == r && l.From == Global && !l.Spread })
	}
	for i := range p.Instrs {
		switch in := &p.Instrs[i]; {
		case in.Role == GroupSum, in.Role == Mask, in.Role == Unpack, p.Widths[in.Dst] != 1 && p.Widths[in.Dst] != w:
			return false
		}
	}
	for r, n := range p.Widths {
		if n != 1 && n != w && !whole(r) {
			return false
		}
	}
	return !slices.ContainsFunc(p.Outs, func(o Out) bool { return o.Acc == Store || o.Key != NoKey })
}

// termsOf returns the leaves of p with the ranks and the gradient, if p is the gradient of a maximum, otherwise -1, -1: p sums, over the edges of a row, the columns
// of the far end's gradient where the far end's rank is the edge's. Only a column's maximum has a term there, so that the columns of a far end are one term
// each, whatever the number of its edges.
func termsOf(p *Program) (rank, grad int) {
	if !p.Edges || len(p.Instrs) != 3 || len(p.Leaves) != 3 || len(p.Outs) != 1 {
		return -1, -1
	}
	wide, eq, mask := &p.Instrs[0], &p.Instrs[1], &p.Instrs[2]
	o := &p.Outs[0]
	if wide.Role != Widen || eq.Role != Eq || mask.Role != Mask || mask.In[1] != eq.Dst || !slices.Contains(eq.In, wide.Dst) ||
		o.Acc != Sum || o.Key != NoKey || o.Reg != mask.Dst {
		return -1, -1
	}
	rank, grad = -1, -1
	for i := range p.Leaves {
		switch l := &p.Leaves[i]; {
		case l.Key != NoKey, l.Indexed, l.Half:
			return -1, -1
		case l.From == Cell && l.Array == Rank && l.Reg == wide.In[0]:
		case l.From == Other && l.Reg != wide.Dst && slices.Contains(eq.In, l.Reg):
			rank = i
		case l.From == Other && l.Reg == mask.In[0]:
			grad = i
		default:
			return -1, -1
		}
	}
	if rank < 0 || grad < 0 {
		return -1, -1
	}
	return rank, grad
}
