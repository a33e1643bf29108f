package cuda

import (
	"cmp"

	"sagann/kernel"
)

// When to gather slices of columns, measured on one H200 by bench/cuda -gather -degrees of commit 799cda2e: cells of 157,000 to 11 M rows
// of 1 to 128 edges. Each slice reads the row's list of edges again, so slices pay only if rows have at least sparse
// edges in the mean. From few edges on they also pay if whole rows do not fit the cache and slices of them exceed it at
// most four times. They do not pay in cells of more than tooLarge rows, of which even a slice is far larger than any
// cache, nor if a row has only two slices and whole rows fit the cache, nor if edges read far rows less than again times in the mean, as in
// sampled blocks. Where the number of far ends is not known, it is assumed to equal the number of own rows.
const (
	sparse   = 32
	few      = 4
	again    = 2 // edges of a far row
	tooLarge = 1 << 20
)

// When to give each row to a group of lanes instead of a warp: if rows have fewer than lean edges in the mean, and there
// are enough rows: leanRows, slices counted, or as many as fill the GPU with leanWarps warps per multiprocessor. In a small cell a warp per row uses
// more of the GPU. If whole rows are gathered, the limit is leanWhole, or leanLane edges per lane of a group if that is less, but at least leanFew:
// a warp that has a row of one to sixteen columns takes as long for two edges as for thirty, 0.36 ns beside all others of the GPU.
// With slices, groups are no slower on uniform cells up to 128 edges per row; but rows that share a warp wait for the
// longest of them, and a small cell waits for its longest row. So a row of more than leanFactor times the mean, at least leanLeast edges, is left to
// the kernel for rows of many edges; where there is none, all are with a row of leanLarge, if that is more than hubFactor times the mean. Where warps of that kernel take such rows
// (ofWarps) and the host knows the cell, rows of more than warpFactor times the mean, at least warpLeast edges, are left to it.
const (
	lean       = 96
	leanWhole  = 64
	leanLane   = 8
	leanFew    = 32
	leanLarge  = 256
	leanLeast  = 64
	leanFactor = 6
	warpLeast  = 32
	warpFactor = 3
	leanWarps  = 64  // per multiprocessor
	leanRows   = 192 // per multiprocessor
)

// isFew tells whether a cell with these edges and n entries in its row list is gathered with a group of lanes per row.
func (w *gatherKernels) isFew(chip kernel.Chip, edges, n int) bool {
	k, most := &w.few, lean
	if k.slices == 1 {
		most = min(leanWhole, max(leanFew, leanLane*k.lanes()))
	}
	return k.fn >= 0 && edges < most*n && n*k.slices >= min(leanRows, leanWarps*32/k.lanes())*chip.Processors
}

// lanes is the number of lanes of a group.
func (k *entry) lanes() int { return k.block / k.groups }

// way chooses the kernels for a cell of so many rows, of which n have edges. few tells whether to give each row to a
// group of lanes.
func (s *launcher) way(rows, edges, n int) (w *gatherKernels, few bool) {
	ways := s.c.gather
	w = &ways[len(ways)-1]
	switch s.l.Gather {
	case kernel.WarpSlice, kernel.FewSlice, kernel.WarpLaid, kernel.FewLaid:
		w = &ways[0]
	case kernel.ByCell:
		if ways[0].slices(s.c.Chip, rows, cmp.Or(s.l.Cell.Far, s.l.Far, rows), edges, n) {
			w = &ways[0]
		}
		return w, w.isFew(s.c.Chip, edges, n)
	}
	return w, w.few.fn >= 0 && (s.l.Gather == kernel.FewSlice || s.l.Gather == kernel.FewWhole || s.l.Gather == kernel.FewLaid)
}

// slices tells whether a cell of so many rows, of which n have edges, and so many far rows is gathered slice by slice.
func (w *gatherKernels) slices(chip kernel.Chip, rows, far, edges, n int) bool {
	cached := cached(chip)
	switch r := int64(far); {
	case rows > tooLarge:
		return false
	case edges >= sparse*n && !w.narrow:
		return true
	default:
		return edges >= few*n && edges >= again*far && r*w.far > cached && r*w.slice <= 4*cached
	}
}

// cached is how many bytes of the cache gathered rows can use: 40 MiB of the 60 of an H200.
func cached(chip kernel.Chip) int64 { return chip.Cache * 2 / 3 }
