package cuda

import "sagann/kernel"

// Measured on one H200 by bench/cuda -gather -degrees: cells of 157,000 to 11 M rows of 1 to
// 128 edges. Slices do not pay where rows have fewer edges than sparse in the mean, for each
// slice reads the row's list again, unless whole rows are more than a cache holds and slices
// not far more: then few do. Nor do they in cells of so many rows that a slice of them is
// far larger than any cache, nor where two slices make a narrow row that the cache holds. The
// far ends are taken to be as many as the own rows.
const (
	sparse   = 32
	few      = 4
	tooLarge = 1 << 20
)

// Groups of lanes have a row each where rows have fewer edges in the mean than lean
// (leanWhole where they are gathered whole), or than leanLane a lane of the group if that is
// less, and where such rows fill a GPU's warps: a row a warp makes more of a small cell. Up
// to 128 edges a row in slices they are no slower on uniform cells; but rows that share a
// warp wait for the longest. A row has at most leanLarge edges there.
const (
	lean      = 96
	leanWhole = 64
	leanLane  = 8
	leanLarge = 256
	leanWarps = 64 // a multiprocessor
)

// isFew tells whether a cell of edges among n rows is gathered by groups that have a row each.
func (w *gatherKernels) isFew(chip kernel.Chip, edges, n int) bool {
	k, most := &w.few, lean
	if k.slices == 1 {
		most = min(leanWhole, leanLane*k.lanes())
	}
	return k.fn >= 0 && edges < most*n && n/(32/k.lanes())*k.slices >= leanWarps*chip.Processors
}

// lanes is how many of them have a row.
func (k *entry) lanes() int { return k.block / k.groups }

// way is the kernels for a cell of so many rows, edges among n of them: rows of the list
// and, with few, by groups that have a row each.
func (s *launcher) way(rows, edges, n int) (w *gatherKernels, few bool) {
	ways := s.c.gather
	w = &ways[len(ways)-1]
	switch s.l.Gather {
	case kernel.WarpSlice, kernel.FewSlice:
		w = &ways[0]
	case kernel.ByCell:
		if ways[0].slices(s.c.Chip, rows, edges, n) {
			w = &ways[0]
		}
		return w, w.isFew(s.c.Chip, edges, n)
	}
	return w, w.few.fn >= 0 && (s.l.Gather == kernel.FewSlice || s.l.Gather == kernel.FewWhole)
}

// slices tells whether a cell of so many rows, edges among n of them, is gathered slice by
// slice.
func (w *gatherKernels) slices(chip kernel.Chip, rows, edges, n int) bool {
	cached := chip.Cache * 2 / 3 // what it holds of gathered rows: 40 MiB of the 60 of an H200
	switch r := int64(rows); {
	case rows > tooLarge:
		return false
	case edges >= sparse*n && !w.narrow:
		return true
	default:
		return edges >= few*n && r*w.far > cached && r*w.slice <= 4*cached
	}
}
