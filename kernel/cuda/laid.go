package cuda

import (
	"slices"

	"sagann/kernel"
)

// When rows of far ends are laid out anew (pairs.go, won.go), and in how much scratch memory.

// pairSpare bounds the scratch memory that pairs want: more slices at a time make fewer launches.
const pairSpare = 128 << 20

// wonThreads is the size of the blocks that add terms: a row a warp.
const wonThreads = 64

// pairsAtOnce is how many slices of pairs are laid out and gathered at a time; 0: none. Slices of both rows that three quarters of the cache hold are read
// where they lie (bench/results/offload.md).
func (s *launcher) pairsAtOnce(w *gatherKernels, edges int) int {
	c, l := s.c, s.l
	if c.pair == nil || w != &c.gather[0] || l.Far == 0 || l.Gather == kernel.WarpSlice || l.Gather == kernel.FewSlice {
		return 0
	}
	if l.Gather == kernel.ByCell && (edges < kernel.LaidEdges*l.Far || !pairsPay(c.Chip, l.Far, w.slice)) {
		return 0
	}
	return min(c.pair.rows.slices, int(l.Room/(kernel.PairLine*int64(l.Far))))
}

// layPairs lays out n slices of pairs from slice on.
func (s *launcher) layPairs(slice, n int) {
	far := s.l.Far
	s.call(s.c.lookup("pair_lay"), min(16*max(1, s.c.Chip.Processors), (far*n*8+255)/256), 256, 0, 1, s.args(span{n: n, slice: slice}))
	s.count(work{bytes: 2 * kernel.PairLine * int64(n) * int64(far)})
}

// laidBytes is the scratch memory, at most room, in which rows of so many far ends are laid out anew for cells of so many edges; 0: they are not, or too
// little is left.
func laidBytes(laid kernel.Laying, chip kernel.Chip, edges, far int, room int64) int64 {
	row := laid.Row() * int64(far)
	if row == 0 || row > room || edges < kernel.LaidEdges*far || laid.Pair && !pairsPay(chip, far, 8*sliceWidth) {
		return 0
	}
	if laid.Pair {
		row *= max(1, min(int64(laid.Cols+pairCols-1)/pairCols, min(pairSpare, room)/row))
	}
	return kernel.Align(row)
}

// pairsPay tells whether laying out anew pays where slices of both rows take so many bytes: not if three quarters of the cache hold those of all far ends,
// nor if it does not hold what is laid out.
func pairsPay(chip kernel.Chip, far int, slice int64) bool {
	return int64(far)*slice > chip.Cache/4*3 && int64(far)*kernel.PairLine <= cached(chip)
}

// wonFor is the kernel that adds terms in place of the one of way w; fn is -1 where that one reads whole rows.
func (s *launcher) wonFor(w *gatherKernels, few bool, edges int) entry {
	c, l := s.c, s.l
	sums := w.sums
	if few {
		sums = 1
	}
	k := slices.IndexFunc(c.won, func(x wonWay) bool { return x.sums == sums })
	if k < 0 || l.Far == 0 || l.Gather != kernel.ByCell && l.Gather != kernel.WarpLaid && l.Gather != kernel.FewLaid ||
		l.Gather == kernel.ByCell && edges < kernel.LaidEdges*l.Far || l.Room < c.laid.Row()*int64(l.Far) {
		return entry{fn: -1}
	}
	cols := int64(c.laid.Cols)
	return entry{fn: c.won[k].fn, groups: wonThreads / 32, block: wonThreads, shared: uint32(wonShared(sums, int(cols))), slices: 1,
		row: work{bytes: 4 * cols}, edge: work{bytes: 12}}
}

// layWon lists the terms of all far ends.
func (s *launcher) layWon() {
	cols := s.c.laid.Cols
	s.call(s.c.lookup("won_lay"), min(16*max(1, s.c.Chip.Processors), s.l.Far), kernel.WonRanks, uint32(wonListShared(cols)), 1, s.args(span{}))
	s.count(work{bytes: int64(s.l.Far) * int64(16*cols+4*kernel.WonRanks)})
}

// wonShared is the shared memory of a block that adds terms, wonListShared that of one that lists them.
func wonShared(sums, cols int) int { return wonThreads / 32 * sums * cols * 4 }
func wonListShared(cols int) int   { return 8*cols + 4*kernel.WonRanks + 4*kernel.WonRanks/32 + 2*cols }
