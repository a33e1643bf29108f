package cuda

import "sagann/kernel"

// columnBlocks is the number of partial sums of a sum over rows.
const columnBlocks = 256

// Scratch returns the device memory in bytes that a launch of p needs beside its operands, over at most rows own rows, or
// edges edges of a cell. p must be a program that Check accepts. Scratch renders nothing.
func Scratch(p *kernel.Program, chip kernel.Chip, rows, edges int) int64 {
	return scratch(kernel.NewLayout(p, chip), rows, edges)
}

// Scratch is the same as the function Scratch, for the rendered program.
func (c *Program) Scratch(rows, edges int) int64 { return scratch(c.Layout, rows, edges) }

func scratch(l *kernel.Layout, rows, edges int) int64 {
	return l.Scratch(rows, edges) + partials(l, l.Most(rows, edges))
}

// partials is the size in bytes of the partial sums over a tile of at most n rows.
func partials(l *kernel.Layout, n int) int64 {
	var most int64
	p := l.Program
	for _, o := range p.Outs {
		switch w := p.Widths[o.Reg]; o.Acc {
		case kernel.SumRows:
			most = max(most, kernel.Align(int64(w)*columnBlocks*4))
		case kernel.SumTN:
			w2 := p.Widths[o.Reg2]
			parts, row := int64(productRoom(w, w2, n)), 4*int64(partialLD(w2))
			if l.Chip.Groups && w2 >= l.Chip.LeastTiled() {
				parts = max(parts, 2) // of two sums
			}
			most = max(most, kernel.Align(int64(w)*row*parts)+kernel.Align(2*row*parts))
		case kernel.SumBy:
			most = max(most, byBytes(w*o.Blocks))
		case kernel.SumSparse:
			most = max(most, sparseBytes(n, p.Widths[o.Reg2]/2, w, o.Blocks))
		}
	}
	return most
}
