package kernel

// columnBlocks is the number of partial sums of a sum over rows.
const columnBlocks = 256

// ScratchCUDA is the device memory in bytes that launches of p, which Check accepts, need
// beside their operands: over at most so many own rows, or edges of a cell. Nothing is rendered.
func ScratchCUDA(p *Program, chip Chip, rows, edges int) int64 {
	return scratch(NewLayout(p, chip), rows, edges)
}

// Scratch is ScratchCUDA of the rendered program.
func (c *CUDA) Scratch(rows, edges int) int64 { return scratch(c.Layout, rows, edges) }

func scratch(l *Layout, rows, edges int) int64 {
	return l.Scratch(rows, edges) + partials(l.Program, l.Most(rows, edges))
}

// partials is the room of partial sums over tiles of at most n rows.
func partials(p *Program, n int) int64 {
	var most int64
	for _, o := range p.Outs {
		switch w := p.Widths[o.Reg]; o.Acc {
		case SumRows:
			most = max(most, Align(int64(w)*columnBlocks*4))
		case SumTN:
			size := w * p.Widths[o.Reg2]
			most = max(most, Align(int64(size)*int64(productRoom(size, n))*4))
		case SumBy:
			most = max(most, byBytes(w*o.Blocks))
		}
	}
	return most
}
