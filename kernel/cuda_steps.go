package kernel

import "sort"

// CUDAStep is one command of a launch: a call of kernel Func, or a product.
type CUDAStep struct {
	Func   int // index into CUDA.Names; -1 for a product
	Grid   [3]uint32
	Block  uint32
	Shared uint32
	Args   []uint64
	Gemm   CUDAGemm
}

// CUDAGemm is C = A·B, or C += A·B with Add, row-major at device addresses; TransA
// and TransB read the transpose of what lies there.
type CUDAGemm struct {
	A, B, C        uint64
	M, N, K        int
	LDA, LDB, LDC  int
	TransA, TransB bool
	Add            bool
}

// CUDALaunch binds a program to device memory, for one interval or one cell.
type CUDALaunch struct {
	Rows        int       // own rows
	Bufs        []uint64  // addresses by operand
	Cell        *CUDACell // the cell's edges; nil in row programs
	First, Last bool      // edge programs: start the accumulators; finish them
	Scratch     uint64    // CUDA.Scratch bytes
}

// CUDACell is a cell on the device; addresses of absent parts are 0. Ptr is the list
// itself, in host memory.
type CUDACell struct {
	RowIDs, PtrAt, Other, Rank, Type, Weight, Data uint64
	Ptr                                            []uint32
}

// Steps lists what a launch does, in order.
func (c *CUDA) Steps(l *CUDALaunch) []CUDAStep {
	s := &cudaSteps{c: c, l: l, scratch: make([]uint64, len(c.p.Widths))}
	at := l.Scratch
	tile := min(cudaTile, l.Rows)
	if c.p.Edges {
		tile = min(cudaTile, int(l.Cell.Ptr[len(l.Cell.Ptr)-1]))
	}
	for _, r := range c.order {
		s.scratch[r] = at
		at += uint64(align256(int64(tile) * int64(c.room[r]) * 4))
	}
	s.partial = at
	if c.p.Edges {
		s.cell()
		return s.out
	}
	for lo := 0; lo < l.Rows; lo += cudaTile {
		s.tile(lo, min(cudaTile, l.Rows-lo))
	}
	return s.out
}

type cudaSteps struct {
	c       *CUDA
	l       *CUDALaunch
	scratch []uint64 // by register
	partial uint64
	out     []CUDAStep
}

// cell runs an edge program.
func (s *cudaSteps) cell() {
	c, l := s.c, s.l
	entries := len(l.Cell.Ptr) - 1
	nnz := int(l.Cell.Ptr[entries])
	apart := c.start || c.dense || l.Cell.RowIDs != 0 || entries < l.Rows
	if c.gather.fn >= 0 && apart && l.First {
		s.whole("start")
	}
	switch {
	case !c.dense:
		s.gather(0, entries, 0, nnz, l.First && !apart, l.Last && !apart)
	default:
		for lo := 0; lo < nnz; lo += cudaTile {
			hi := min(nnz, lo+cudaTile)
			s.tile(lo, hi-lo)
			if c.gather.fn >= 0 {
				e0 := sort.Search(entries, func(i int) bool { return int(l.Cell.Ptr[i+1]) > lo })
				e1 := sort.Search(entries, func(i int) bool { return int(l.Cell.Ptr[i]) >= hi })
				s.gather(e0, e1-e0, lo, hi, false, false)
			}
		}
	}
	if c.gather.fn >= 0 && apart && l.Last {
		s.whole("finish")
	}
}

// whole calls a kernel over all own rows.
func (s *cudaSteps) whole(name string) {
	if s.l.Rows > 0 {
		s.call(s.c.lookup(name), 1024, 256, 0, 1, s.args(0, 0, 0, s.l.Rows, false, false))
	}
}

func (s *cudaSteps) gather(first, n, from, to int, begin, end bool) {
	k := &s.c.gather
	if n > 0 && k.fn >= 0 {
		s.call(k.fn, (n+k.groups-1)/k.groups, k.block, k.shared, k.slices, s.args(from, to, first, n, begin, end))
		if h := &s.c.hub; h.fn >= 0 && s.hubs(first, n, from, to) {
			s.call(h.fn, (n+h.groups-1)/h.groups, h.block, h.shared, h.slices, s.args(from, to, first, n, begin, end))
		}
	}
}

// hubs tells whether one of n entries from first on has many edges between from and to.
func (s *cudaSteps) hubs(first, n, from, to int) bool {
	ptr := s.l.Cell.Ptr[first : first+n+1]
	for i := range n {
		if min(int(ptr[i+1]), to)-max(int(ptr[i]), from) > s.c.large {
			return true
		}
	}
	return false
}

// tile runs the fragments, the products and the sums of n rows (or edges) from lo on.
func (s *cudaSteps) tile(lo, n int) {
	c, p := s.c, s.c.p
	for level := range c.frags {
		if k := &c.frags[level]; k.fn >= 0 {
			s.call(k.fn, (n+k.groups-1)/k.groups, k.block, k.shared, 1, s.args(lo, lo+n, lo, n, false, false))
		}
		for i := range p.Instrs {
			if in := &p.Instrs[i]; in.Kind != Func && c.level[in.In[0]] == level {
				s.product(in, lo, n)
			}
		}
	}
	for i := range p.Outs {
		switch o := &p.Outs[i]; o.Acc {
		case SumTN:
			a, lda := s.at(o.Reg, lo)
			b, ldb := s.at(o.Reg2, lo)
			s.gemm(CUDAGemm{A: a, B: b, C: s.l.Bufs[o.Operand], M: p.Widths[o.Reg], N: p.Widths[o.Reg2], K: n,
				LDA: lda, LDB: ldb, LDC: p.Widths[o.Reg2], TransA: true, Add: true})
		case SumBy, MaxBy:
			s.byKey(o, lo, n)
		case SumRows:
			x, ld := s.at(o.Reg, lo)
			w := p.Widths[o.Reg]
			s.call(c.lookup("saga_columns"), cudaBlocks, 256, 0, 1, []uint64{x, uint64(ld), uint64(n), uint64(w), s.partial})
			s.call(c.lookup("saga_columns_add"), (w+255)/256, 256, 0, 1,
				[]uint64{s.l.Bufs[o.Operand], s.partial, uint64(w), cudaBlocks})
		}
	}
}

func (s *cudaSteps) product(in *Instr, lo, n int) {
	p := s.c.p
	var w *Leaf
	for i := range p.Leaves {
		if p.Leaves[i].Reg == in.In[1] {
			w = &p.Leaves[i]
		}
	}
	a, lda := s.at(in.In[0], lo)
	d, ldd := s.at(in.Dst, lo)
	s.gemm(CUDAGemm{A: a, B: s.l.Bufs[w.Operand], C: d, M: n, N: p.Widths[in.Dst], K: p.Widths[in.In[0]],
		LDA: lda, LDB: w.LD, LDC: ldd, TransB: in.Kind == MatMulNT})
}

// at is the address of register r for the tile that begins at row lo.
func (s *cudaSteps) at(r, lo int) (addr uint64, ld int) {
	h := s.c.home[r]
	skip := uint64(lo) * uint64(h.ld) * 4
	switch h.kind {
	case homeScratch:
		return s.scratch[r], h.ld
	case homeCell:
		return map[CellArray]uint64{Rank: s.l.Cell.Rank, Weight: s.l.Cell.Weight, Data: s.l.Cell.Data}[h.array] + skip, h.ld
	}
	return s.l.Bufs[h.operand] + skip, h.ld
}

// args are the parameters that params declares.
func (s *cudaSteps) args(from, to, first, n int, begin, end bool) []uint64 {
	a := append([]uint64{}, s.l.Bufs[:s.c.p.Operands]...)
	for _, r := range s.c.order {
		a = append(a, s.scratch[r])
	}
	if s.c.p.Edges {
		e := s.l.Cell
		a = append(a, e.RowIDs, e.PtrAt, e.Other, e.Rank, e.Type, e.Weight, e.Data,
			uint64(len(e.Ptr)-1), uint64(from), uint64(to))
	}
	flag := func(b bool) uint64 {
		if b {
			return 1
		}
		return 0
	}
	return append(a, uint64(first), uint64(n), flag(begin), flag(end))
}

func (s *cudaSteps) call(fn, blocks, threads int, shared uint32, slices int, args []uint64) {
	s.out = append(s.out, CUDAStep{Func: fn, Grid: [3]uint32{uint32(blocks), uint32(slices), 1}, Block: uint32(threads),
		Shared: shared, Args: args})
}

func (s *cudaSteps) gemm(g CUDAGemm) { s.out = append(s.out, CUDAStep{Func: -1, Gemm: g}) }
