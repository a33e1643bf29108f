package domain

import (
	"math"
	"math/bits"
	"slices"
)

// Square is a cycle of four vertices of a pattern, seen from one of them: between it and Far, which is not adjacent to it, are Mark and Test. A
// search for the fourth side of a square looks at a row for every two edges that it has walked. So what two edges reach is marked first.
type Square struct {
	Far, Mark, Test uint8
	Peers           bool // Mark and Test stand for the same: two vertices must lead to what stands at Far
	Whole           bool // the pattern has nothing else
}

// square is a square that begins in a vertex of a pattern, if there is one.
func square[A comparable](near *[most]uint8, arcs *[most][most]A, n, from int) (s Square, ok bool) {
	for far := range n {
		between := near[from] & near[far]
		if far == from || near[from]>>far&1 == 1 {
			continue
		}
		for rest := between; rest != 0; rest &= rest - 1 {
			a := bits.TrailingZeros8(rest)
			for others := rest & (rest - 1); others != 0; others &= others - 1 {
				b := bits.TrailingZeros8(others)
				same := arcs[from][a] == arcs[from][b] && arcs[far][a] == arcs[far][b]
				if same && !s.Peers || !ok {
					s = Square{uint8(far), uint8(a), uint8(b), same, n == 4 && near[from] == near[far] && near[a] == near[b] && bits.OnesCount8(near[a]) == 2}
					ok = true
				}
			}
		}
	}
	return s, ok
}

// square is a square of the candidate that begins in v, nil if there is none.
func (w *worker) square(v int) *Square {
	if s, ok := square(&w.near, &w.arcs, w.n, v); ok {
		return &s
	}
	return nil
}

// alone is how many entries of rows a search looks at before it asks whether there is a square at all: most that find one have by then. With 4, 16, 64 and 256
// four edges of citations with 300,000 vertices take 10.4, 10.1, 11.0 and 10.5 processor seconds, each the middle of three that differ by up to 1.6.
const alone = 16

// walk is how far a search may go.
type walk struct {
	left  int      // entries of rows that it may look at
	alone int      // and those before it asks for a square
	marks []uint64 // what two edges from a vertex lead to
}

// find looks for an embedding with what image has for v, the root of the steps, and leaves it in image. s is a square of the pattern there, or nil.
func (w *worker) find(v int, s *Square) bool {
	w.walk.left = math.MaxInt
	if s == nil {
		return w.extend(1)
	}
	w.walk.left = w.walk.alone
	if found := w.extend(1); found || w.walk.left >= 0 {
		return found
	}
	w.walk.left = math.MaxInt
	return w.closes(v, s) && (s.Whole && !w.induced || w.extend(1))
}

// closes looks for a square of the graph that begins in image[v]. It leaves the square in image.
func (w *worker) closes(v int, s *Square) (found bool) {
	w.walk.marks = w.words(2*most, w.label[s.Far]) // all 0
	w.list = w.list[:0]
	if found = w.reach(v, s, s.Mark, s.Peers); !found && !s.Peers && len(w.list) > 0 {
		found = w.reach(v, s, s.Test, true)
	}
	if len(w.list) < len(w.walk.marks) {
		for _, i := range w.list {
			w.walk.marks[i] = 0
		}
	} else {
		clear(w.walk.marks)
	}
	if found {
		w.image[s.Mark] = w.other(v, s)
	}
	return found
}

// reach takes the two edges from image[v] by way of the pattern's vertex b, and marks where they lead, or, to test, stops where a mark is.
func (w *worker) reach(v int, s *Square, b uint8, test bool) bool {
	x, far, again := w.image[v], w.sets[s.Far], w.label[s.Far] == w.label[v]
	second := w.arcs[b][s.Far]
	for _, y := range w.arcs[v][b].row(x) {
		if !w.between(s, b, y) {
			continue
		}
		for _, z := range second.row(y) {
			i, bit := z>>6, uint64(1)<<(z&63)
			if far[i]&bit == 0 || again && z == x {
				continue
			}
			switch {
			case w.walk.marks[i]&bit == 0:
				if test && !s.Peers {
					continue
				}
				if w.walk.marks[i] == 0 && len(w.list) < len(w.walk.marks) {
					w.list = append(w.list, i)
				}
				w.walk.marks[i] |= bit
			case test:
				w.image[s.Far], w.image[s.Test] = z, y
				return true
			}
		}
	}
	return false
}

// between reports whether y can stand at vertex b of a square, which is one of the two between its ends.
func (w *worker) between(s *Square, b uint8, y uint32) bool {
	bits := w.sets[b][y>>6]
	if s.Peers {
		bits |= w.sets[s.Mark^s.Test^b][y>>6]
	}
	return bits>>(y&63)&1 != 0
}

// other is what stands at s.Mark in the square that was found.
func (w *worker) other(v int, s *Square) uint32 {
	last := link{to: w.arcs[s.Mark][s.Far], from: w.arcs[s.Far][s.Mark]}
	row := w.arcs[v][s.Mark].row(w.image[v])
	return row[slices.IndexFunc(row, func(y uint32) bool {
		return !(s.Peers && y == w.image[s.Test]) && w.between(s, s.Mark, y) && last.joins(y, w.image[s.Far])
	})]
}
