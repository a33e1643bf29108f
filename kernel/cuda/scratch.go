package cuda

import "sagann/kernel"

// columnBlocks is the number of partial sums of a sum over rows.
const columnBlocks = 256

// Scratch is the device memory in bytes that launches of p, which Check accepts, need
// beside their operands: over at most so many own rows, or edges of a cell. Nothing is rendered.
func Scratch(p *kernel.Program, chip kernel.Chip, rows, edges int) int64 {
	return scratch(kernel.NewLayout(p, chip), rows, edges)
}

// Scratch is Scratch of the rendered program.
func (c *Program) Scratch(rows, edges int) int64 { return scratch(c.Layout, rows, edges) }

func scratch(l *kernel.Layout, rows, edges int) int64 {
	return l.Scratch(rows, edges) + partials(l.Program, l.Most(rows, edges))
}

// partials is the room of partial sums over tiles of at most n rows.
func partials(p *kernel.Program, n int) int64 {
	var most int64
	for _, o := range p.Outs {
		switch w := p.Widths[o.Reg]; o.Acc {
		case kernel.SumRows:
			most = max(most, kernel.Align(int64(w)*columnBlocks*4))
		case kernel.SumTN:
			w2 := p.Widths[o.Reg2]
			most = max(most, kernel.Align(int64(w)*int64(partialLD(w2))*int64(productRoom(w, w2, n))*4))
		case kernel.SumBy:
			most = max(most, byBytes(w*o.Blocks))
		case kernel.SumSparse:
			most = max(most, sparseBytes(n, p.Widths[o.Reg2]/2, w, o.Blocks))
		}
	}
	return most
}
