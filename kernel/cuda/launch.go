package cuda

import (
	"cmp"
	"slices"
	"sort"

	"sagann/kernel"
)

// Steps lists the kernels and products that a launch runs, in order.
func (c *Program) Steps(l *kernel.GPULaunch) []kernel.GPUStep {
	s := &launcher{c: c, l: l, scratch: make([]uint64, len(c.p.Widths))}
	at := l.Scratch
	tile := min(c.Tile(), l.Rows)
	if c.p.Edges {
		_, edges := l.Cell.Size()
		tile = min(c.Tile(), edges)
	}
	places := make([]uint64, len(c.Room))
	for i, room := range c.Room {
		places[i] = at
		at += uint64(kernel.Align(int64(tile) * int64(room) * 4))
	}
	for _, r := range c.Order {
		s.scratch[r] = places[c.Slot[r]]
	}
	s.partial = at
	if c.p.Edges {
		s.cell()
		return s.out
	}
	for lo := 0; lo < l.Rows; lo += c.Tile() {
		s.tile(lo, min(c.Tile(), l.Rows-lo))
	}
	return s.out
}

// cell runs an edge program.
func (s *launcher) cell() {
	c, l := s.c, s.l
	entries, nnz := l.Cell.Size()
	apart := c.start || c.Dense || l.Cell.RowIDs != 0 || entries < l.Rows
	if len(c.gather) > 0 && apart && l.First {
		s.whole("start")
	}
	switch {
	case !c.Dense:
		s.gather(0, entries, 0, nnz, l.First && !apart, l.Last && !apart)
	default:
		for lo := 0; lo < nnz; lo += c.Tile() {
			hi := min(nnz, lo+c.Tile())
			s.tile(lo, hi-lo)
			if len(c.gather) > 0 && l.Cell.Ptr == nil { // the host does not know which rows have edges in the tile: all take part
				s.gather(0, entries, lo, hi, false, false)
			} else if len(c.gather) > 0 {
				e0 := sort.Search(entries, func(i int) bool { return int(l.Cell.Ptr[i+1]) > lo })
				e1 := sort.Search(entries, func(i int) bool { return int(l.Cell.Ptr[i]) >= hi })
				s.gather(e0, e1-e0, lo, hi, false, false)
			}
		}
	}
	if len(c.gather) > 0 && apart && l.Last {
		s.whole("finish")
		if k := &c.last; k.block > 0 && l.Rows > 0 {
			s.call(k.fn, (l.Rows+k.groups-1)/k.groups, k.block, k.shared, 1, s.args(span{to: l.Rows, n: l.Rows, large: l.Rows}))
			s.count(k.row.times(l.Rows))
		}
	}
}

// whole calls a kernel over all own rows.
func (s *launcher) whole(name string) {
	if s.l.Rows > 0 {
		s.call(s.c.lookup(name), 1024, 256, 0, 1, s.args(span{n: s.l.Rows}))
	}
}

// hubFactor is how many times the mean number of edges a row of many edges has at least.
const hubFactor = 4

func (s *launcher) gather(first, n, from, to int, begin, end bool) {
	if n <= 0 || len(s.c.gather) == 0 {
		return
	}
	w, few := s.way(s.l.Rows, to-from, n)
	x := span{from: from, to: to, first: first, n: n, begin: begin, end: end}
	if each := s.pairsAtOnce(w, to-from); each > 0 {
		for p := s.c.pair; x.slice < p.rows.slices; x.slice += each {
			m := min(each, p.rows.slices-x.slice)
			s.layPairs(x.slice, m)
			s.gatherRows(p, nil, few, x, m)
		}
		return
	}
	if k := s.wonFor(w, few, to-from); k.fn >= 0 {
		s.layWon()
		x.rounds = !few
		s.gatherRows(w, &k, few, x, 0)
		return
	}
	s.gatherRows(w, nil, few, x, 0)
}

// gatherRows runs the kernels of way w over so many of its slices, 0 for all, with kernel other, if there is one, for rows of not many edges.
func (s *launcher) gatherRows(w *gatherKernels, other *entry, few bool, x span, slices int) {
	n, from, to := x.n, x.from, x.to
	mean := (to - from) / n
	k, h, large := &w.rows, &w.hub, max(w.large, min(hubFactor*(to-from)/n, mostRounds*roundEdges))
	if few {
		k, large = &w.few, max(leanLarge, hubFactor*mean)
		if h.fn >= 0 {
			large = max(leanLeast, min(leanFactor*mean, large))
			if w.most > 0 && s.l.Cell.Ptr != nil {
				large = max(warpLeast, warpFactor*mean)
			}
		}
	}
	rows, edges := s.hubs(x.first, n, from, to, large)
	if h.fn < 0 && rows > 0 { // without a hub kernel, a kernel with a warp per row takes all
		k, rows, edges = &w.rows, 0, 0
	}
	if rows == 0 {
		large = to - from
	}
	x.large = large
	many, theirs := rows, edges // of rows of many edges
	if other != nil {
		k = other
	}
	some := func(k *entry) int { return cmp.Or(slices, k.slices) }
	part := func(k *entry, rows, edges int) work {
		w := k.row.times(rows).plus(k.edge.times(edges))
		return work{w.bytes * int64(some(k)) / int64(k.slices), w.flops * int64(some(k)) / int64(k.slices)}
	}
	if other != nil {
		rows, edges = s.wonHubs(w, &x, rows, edges)
	}
	if rows > 0 { // started first and run beside the others, since the largest row takes long
		s.call(h.fn, (n+h.groups-1)/h.groups, h.block, h.shared, some(h), s.args(x))
		s.out[len(s.out)-1].Beside = true
		s.count(part(h, rows, edges))
	}
	x.large = large
	s.call(k.fn, (n+k.groups-1)/k.groups, k.block, k.shared, some(k), s.args(x))
	s.count(part(k, n-many, to-from-theirs))
}

// wonHubs adds the terms of those of so many rows of many edges that have one round, and returns how many others there are, and their edges. They are
// the hub kernel's: its limit in x is theirs then.
func (s *launcher) wonHubs(w *gatherKernels, x *span, rows, edges int) (others, theirs int) {
	fn := slices.Index(s.c.Names, "won_beside")
	if fn < 0 || rows == 0 || w != &s.c.gather[0] {
		return rows, edges
	}
	others, theirs = s.hubs(x.first, x.n, x.from, x.to, max(x.large, wonHubMost))
	if others == rows {
		return rows, edges
	}
	s.call(fn, (x.n+hubThreads-1)/hubThreads, hubThreads, 0, 1, s.args(*x))
	s.count(work{bytes: 4 * int64(s.c.laid.Cols)}.times(rows - others).plus(work{bytes: 12}.times(edges - theirs)))
	s.out[len(s.out)-1].Beside = others == 0
	x.large = max(x.large, wonHubMost)
	return others, theirs
}

// hubs counts the rows with more than large edges between from and to, among n entries from first on, and the edges of
// these rows. If only the device knows the rows, hubs counts one row if there may be any.
func (s *launcher) hubs(first, n, from, to, large int) (rows, edges int) {
	if s.l.Cell.Ptr == nil {
		return min(1, max(0, min(s.l.Cell.Most, to-from)-large)), 0
	}
	ptr := s.l.Cell.Ptr[first : first+n+1]
	for i := range n {
		if d := min(int(ptr[i+1]), to) - max(int(ptr[i]), from); d > large {
			rows++
			edges += d
		}
	}
	return rows, edges
}

// tile runs the row kernels, products and sums of n rows (or edges) from lo on, level by level.
func (s *launcher) tile(lo, n int) {
	c, p := s.c, s.c.p
	for level := range c.frags {
		if k := &c.frags[level]; k.fn >= 0 {
			s.call(k.fn, (n+k.groups-1)/k.groups, k.block, k.shared, 1, s.args(span{from: lo, to: lo + n, first: lo, n: n, large: n}))
			s.count(k.row.times(n))
		}
		for i := range p.Instrs {
			if in := &p.Instrs[i]; in.Role.Apart() && c.Level[in.In[0]] == level {
				s.product(in, lo, n)
			}
		}
		for i := range p.Outs {
			if o := &p.Outs[i]; c.Ready(o) == level {
				s.sum(o, lo, n)
			}
		}
	}
}

// sum adds the rows of a tile to the result o.
func (s *launcher) sum(o *kernel.Out, lo, n int) {
	p := s.c.p
	switch o.Acc {
	case kernel.SumTN:
		if !s.byGroupSums(o) {
			s.sumTN(o, lo, n)
		} else if first, second := s.together(o); o == first {
			s.groupSums(first, second, lo, n)
		}
	case kernel.SumBy, kernel.MaxBy:
		s.byKey(o, lo, n)
	case kernel.SumSparse:
		s.sumSparse(o, lo, n)
	case kernel.SumRows:
		if s.beside(o) != nil || s.besideGroups(o) != nil {
			return
		}
		x, ld := s.at(o.Reg, lo)
		w := p.Widths[o.Reg]
		s.call(s.c.lookup("saga_columns"), columnBlocks, columnThreads, 0, (w+columnTile-1)/columnTile,
			kernel.GPUArgs{at("x", x), num("ld", ld), num("rows", n), num("cols", w), at("part", s.partial)})
		s.count(work{bytes: 4 * int64(n) * int64(w), flops: int64(n) * int64(w)})
		s.addParts(parts{o, s.partial, 1, w, w, columnBlocks})
	}
}

func (s *launcher) product(in *kernel.Instr, lo, n int) {
	p := s.c.p
	var w *kernel.Leaf // the matrix, or the step of dropout
	for i := range p.Leaves {
		if p.Leaves[i].Reg == in.In[1] {
			w = &p.Leaves[i]
		}
	}
	switch in.Role {
	case kernel.SparseMatMul:
		s.sparseProduct(in, w, lo, n)
		return
	case kernel.SparseDrop:
		s.sparseDrop(in, w, lo, n)
		return
	}
	if s.byTiles(in, lo, n) {
		return
	}
	a, lda := s.at(in.In[0], lo)
	d, ldd := s.at(in.Dst, lo)
	s.gemm(kernel.GPUGemm{A: a, B: s.l.Bufs[w.Operand], C: d, M: n, N: p.Widths[in.Dst], K: p.Widths[in.In[0]],
		LDA: lda, LDB: w.LD, LDC: ldd, TransB: in.Role == kernel.MatMulNT})
}

// byTiles calls the kernel of in for n rows from lo on, if it has one.
func (s *launcher) byTiles(in *kernel.Instr, lo, n int) bool {
	c := s.c
	i := slices.IndexFunc(c.tiled, func(k tiled) bool { return slices.Contains(k.of, in) })
	if i < 0 {
		return false
	}
	k := &c.tiled[i]
	if s.l.TF32 && k.fn < 0 && k.groups < 0 {
		return false
	}
	if in != k.of[len(k.of)-1] {
		return true // with the later one
	}
	w, cols := k.follow.times(n), c.p.Widths[in.Dst]
	for _, x := range k.of {
		terms := int64(c.p.Widths[x.In[0]])
		w = w.plus(work{bytes: 4 * terms * int64(n+cols), flops: 2 * terms * int64(n) * int64(cols)})
	}
	args := s.args(span{from: lo, to: lo + n, first: lo, n: n, large: n})
	if s.l.TF32 && c.Chip.Groups && k.groups >= 0 {
		across := (cols + groupColumns(c, k.of) - 1) / groupColumns(c, k.of)
		s.call(k.groups, across*max(1, min(c.Chip.Processors/across, (n+191)/192)), groupThreads, groupShared, 1, args)
	} else if !s.l.TF32 && c.Chip.Groups {
		s.call(k.halves, s.halvesBlocks(cols, n), halvesThreads, groupShared, 1, args)
	} else {
		blocks := (n + tileSide - 1) / tileSide * ((cols + tileSide - 1) / tileSide)
		s.call(k.fn, blocks, tileThreads, 0, 1, append(args, kernel.GPUFlag("tf32", s.l.TF32)))
	}
	s.count(w)
	last := &s.out[len(s.out)-1]
	last.Tiles, last.Halves, last.Dense, last.Elem = last.Func == k.fn, last.Func == k.halves, last.Func == k.groups, k.elem*int64(n)
	return true
}
