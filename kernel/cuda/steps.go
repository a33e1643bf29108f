package cuda

import "sagann/kernel"

// The steps of a launch, one by one.

type launcher struct {
	c       *Program
	l       *kernel.GPULaunch
	scratch []uint64 // by register
	partial uint64
	out     []kernel.GPUStep
}

// at is the address of register r for the tile that begins at row lo.
func (s *launcher) at(r, lo int) (addr uint64, ld int) {
	h := s.c.Home[r]
	skip := uint64(lo) * uint64(h.LD) * 4
	switch h.Kind {
	case kernel.InScratch:
		return s.scratch[r], h.LD
	case kernel.InCell:
		return map[kernel.CellArray]uint64{kernel.Rank: s.l.Cell.Rank, kernel.Weight: s.l.Cell.Weight, kernel.Data: s.l.Cell.Data}[h.Array] + skip, h.LD
	}
	return s.l.Bufs[h.Operand] + skip, h.LD
}

// args returns the arguments for the parameters that params declares.
func (s *launcher) args(from, to, first, n int, begin, end bool) []uint64 {
	a := append([]uint64{}, s.l.Bufs[:s.c.p.Operands]...)
	for _, r := range s.c.Order {
		a = append(a, s.scratch[r])
	}
	if s.c.p.Indexes() {
		a = append(a, s.l.Index)
	}
	if s.c.p.Edges {
		e := s.l.Cell
		entries, _ := e.Size()
		a = append(a, e.RowIDs, e.PtrAt, e.Other, e.Rank, e.Type, e.Weight, e.Data, uint64(e.Bits),
			uint64(entries), uint64(from), uint64(to))
	}
	flag := func(b bool) uint64 {
		if b {
			return 1
		}
		return 0
	}
	a = append(a, uint64(first), uint64(n), flag(begin), flag(end))
	if s.c.p.Edges {
		a = append(a, uint64(to-from)) // large: no row has more edges; gather sets it lower
	}
	return a
}

func (s *launcher) call(fn, blocks, threads int, shared uint32, slices int, args []uint64) {
	s.out = append(s.out, kernel.GPUStep{Func: fn, Grid: [3]uint32{uint32(blocks), uint32(slices), 1}, Block: uint32(threads),
		Shared: shared, Args: args})
}

func (s *launcher) gemm(g kernel.GPUGemm) {
	s.out = append(s.out, kernel.GPUStep{Func: -1, Gemm: g})
	s.count(gemmWork(&g))
}

func (c *Program) lookup(s string) int {
	for i, n := range c.Names {
		if n == s {
			return i
		}
	}
	panic("kernel " + c.p.Name + ": no CUDA kernel " + s)
}

// count sets the work of the last step.
func (s *launcher) count(w work) {
	last := &s.out[len(s.out)-1]
	last.Bytes, last.Flops = w.bytes, w.flops
}
