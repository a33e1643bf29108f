package kernel

import "cmp"

// A launch works on so many rows (or edges, where products stand on edges) at a time as
// Program.Tile says: what lies between its kernels is a few such tiles, not whole tensors.
const (
	largestTile = 1 << 18
	leastTile   = 1 << 12
)

// Tile is the rows that the program's launches work on at a time.
func (l *Layout) Tile() int { return cmp.Or(l.Program.Tile, 4*l.Chip.wave()) }

// Scratch is the device memory in bytes of registers that pass from one kernel to another,
// in launches over at most so many own rows and edges of a cell.
func (l *Layout) Scratch(rows, edges int) int64 {
	n := l.Most(rows, edges)
	var at int64
	for _, room := range l.Room {
		at += Align(int64(n) * int64(room) * 4)
	}
	return at
}

// Most is the rows, or edges, of the largest tile of such launches.
func (l *Layout) Most(rows, edges int) int {
	if l.Program.Edges {
		return min(edges, l.Tile())
	}
	return min(rows, l.Tile())
}

// Align is n bytes up to the alignment of scratch memory.
func Align(n int64) int64 { return (n + 255) &^ 255 }

// TileWithin is the Tile with which p, which Check accepts, has about so many bytes of scratch
// memory on a chip; 0 bytes is no bound.
func TileWithin(p *Program, chip Chip, bytes int64) int {
	if bytes == 0 {
		return largestTile
	}
	row := int64(0)
	for _, n := range NewLayout(p, chip).Room {
		row += 4 * int64(n)
	}
	n, wave := min(largestTile, bytes/max(1, row)), int64(chip.wave())
	switch {
	case n < wave:
		n = min(wave, 2*n)
	case wave > 0 && n < largestTile:
		n = n / wave * wave
	}
	return int(max(leastTile, n))
}
