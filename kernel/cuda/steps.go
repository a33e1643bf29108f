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

// args are the arguments of the program's own parameters.
func (s *launcher) args(x span) kernel.GPUArgs {
	list := make(kernel.GPUArgs, len(s.c.common))
	for i, p := range s.c.common {
		list[i] = kernel.GPUArg{Name: p.name, Value: p.of(s, &x), Pointer: p.typ != "ll "}
	}
	return list
}

func (s *launcher) call(fn, blocks, threads int, shared uint32, slices int, args kernel.GPUArgs) {
	s.out = append(s.out, kernel.GPUStep{Func: fn, Grid: [3]uint32{uint32(blocks), uint32(slices), 1}, Block: uint32(threads),
		Shared: shared, Args: args})
}

// at and num are arguments by the names of parameters.
func at(name string, address uint64) kernel.GPUArg { return kernel.GPUAt(name, address) }
func num(name string, x int) kernel.GPUArg         { return kernel.GPUNumber(name, x) }

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
