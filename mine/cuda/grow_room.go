package cuda

import (
	"math"
	"slices"
	"sort"

	"sagann/device"
	"sagann/mine/table"
)

// mostRows is how many rows of the last size but one a GPU makes at a time: with more it is no faster. Of each size before there are fewer, as several rows follow each. There are as many slots, of one edge or
// vertex slotsOfOne times as many; and rowWords times as many words of bits for what follows.
const (
	mostRows   = 1 << 21
	fewerRows  = 4
	slotsOfOne = 8
	rowWords   = 3
)

// growRoom is how the memory of a GPU is divided.
type growRoom struct {
	slots    int64   // neighbours at a time
	words    int64   // words of a bit for each neighbour that may follow a row, at a time
	rows     []int64 // by size, from 0 on
	counters int64   // places of keys, a power of two; 0: rows are stored
	codes    int64   // places of codes that filters know, a power of two; 0: there is no filter
	left     int64   // bytes for columns
}

// packed is how many keys are given up at a time.
func (t *growRoom) packed() int64 { return min(t.counters, max(leastCounters, t.counters/64)) }

// out is the numbers that are written to a column at a time.
func (t *growRoom) out() int64 {
	n := max(t.words, slices.Max(t.rows[:len(t.rows)-1]))
	if t.words == 0 { // rows of one edge or vertex
		n = max(n, t.slots)
	}
	return n
}

// most is the neighbours at a time, as slots or bits.
func (t *growRoom) most() int64 { return max(t.slots, 32*t.words) }

// withBits reports whether there is a bit for each neighbour that may follow a row of a size: of the last size but one, and where such bits are stored. isPacked reports whether they are.
func withBits(s *table.Spec, size int) bool { return size > 0 && size+1 == s.Size || isPacked(s, size) }
func isPacked(s *table.Spec, size int) bool {
	return s.From != nil && size > 0 && size+1 == s.From.Size()
}

// growBounds are by size the most neighbours that may follow a row: those of the vertices with the most.
func growBounds(s *table.Spec) []int64 {
	var most [mostVertices + 1]int64 // descending
	for v := range s.Rows.V() {
		d := int64(s.Rows.Degree(uint32(v)))
		for i := range most {
			if d > most[i] {
				d, most[i] = most[i], d
			}
		}
	}
	bound := make([]int64, s.Size)
	for size := range bound {
		for _, d := range most[:size+btoi(!s.Vertices)] {
			bound[size] += d
		}
		bound[size] = max(bound[size]+31, 32) &^ 31 // a word of bits has 32
	}
	return bound
}

// Use is what rows are made for.
type Use uint8

// Uses of rows.
const (
	ForStore Use = iota
	ForKeys
	ForCodes
)

// growCase is what decides the memory.
type growCase struct {
	spec    *table.Spec
	use     Use
	filters bool
	bound   []int64 // see growBounds
	extra   int64   // bytes of numbers of labels
}

func newCase(m *Making, use Use) *growCase {
	c := &growCase{spec: m.Spec, use: use, filters: m.Filters.any(), bound: growBounds(m.Spec)}
	if c.filters || use == ForCodes {
		q, _ := table.QuickOf(m.Spec, 1)
		c.extra = block(4*int64(len(m.Spec.Rows.Label))) + block(4*int64(len(q.Kinds))) + 2*device.Align
	}
	return c
}

// bytes is what a room takes.
func (c *growCase) bytes(t *growRoom) int64 {
	s := c.spec
	shape := growShape{vertices: s.Vertices}
	n := c.extra + block(8*int64(len(s.Rows.Off))) + block(8*stateWords) + block(8*growWords) + block(4*t.slots) + block(4*t.words) + block(8*(slices.Max(t.rows)/sumsTile+2)) + block(counterBytes*t.counters) + block(counterBytes*t.packed()) + block(leftBytes(t.counters))
	if s.Kinds != nil {
		n += block(4 * int64(len(s.Rows.Col)))
	}
	if c.use == ForStore {
		n += 2 * block(4*t.out())
	}
	if s.From != nil && s.From.Size() > 1 {
		n += 2 * block(4*t.words)
	}
	if c.filters {
		n += block(4*t.most()) + block(8*t.codes) + block(4*t.codes) + block(16*t.codes)
	}
	for size, k := range t.rows {
		if size < s.Size {
			n += 2*block(8*(k+1)) + 2*block(4*k) + block(4*int64(shape.places(size))*k)
			if withBits(s, size) {
				n += block(4 * k)
			}
			if isPacked(s, size) {
				n += block(8 * (k + 1))
			}
		}
	}
	return n
}

// divide divides so many bytes: half of them at most, if that is enough, for what is made at a time, the rest for keys or columns. ok is false if it is too little.
func (c *growCase) divide(bytes int64) (t growRoom, ok bool) {
	s, least := c.spec, slices.Max(c.bound)
	if c.filters {
		for t.codes = 1 << 20; t.codes > leastCounters && 28*t.codes > bytes/16; t.codes /= 2 {
		}
	}
	for n := int64(mostRows); ; n = n / 4 * 3 {
		t.rows, t.counters = make([]int64, s.Size+1), int64(btoi(c.use != ForStore)*leastCounters)
		for size, k := s.Size-1, n; size >= 0; size, k = size-1, k/fewerRows {
			t.rows[size] = max(k, c.bound[max(size-1, 0)])
		}
		switch t.slots = max(n, least); {
		case s.Size == 1:
			t.slots = max(slotsOfOne*n, least)
		case c.filters: // they have four bytes for each neighbour
			t.words = t.slots / 32
		default:
			t.words = max(rowWords*n, least/32)
		}
		t.slots = (t.slots + 31) &^ 31
		t.rows[s.Size] = t.slots
		if c.bytes(&t) <= bytes/2 || n == 0 {
			break
		}
	}
	for t.codes > leastCounters && c.bytes(&t) > bytes {
		t.codes /= 2
	}
	if t.left = bytes - c.bytes(&t); t.left < 0 {
		return t, false
	}
	for t.counters > 0 && t.counters < mostCounters {
		if t.counters *= 2; c.bytes(&t) > bytes {
			t.counters /= 2
			break
		}
	}
	t.left = bytes - c.bytes(&t)
	return t, true
}

// fits reports whether so many bytes are enough.
func (c *growCase) fits(bytes int64) bool {
	_, ok := c.divide(bytes)
	return ok
}

// leastCounters and mostCounters bound the number of places for keys: with more it is no faster, and they take time to clear.
const (
	leastCounters = 1 << 10
	mostCounters  = 1 << 26
)

// GrowNeed is the bytes that the use of rows takes on a GPU in addition to the graph: the least that works, and what it uses well.
func GrowNeed(m *Making, use Use) (least, most int64) {
	c := newCase(m, use)
	for least = 1 << 12; !c.fits(least); {
		least *= 2
	}
	least -= int64(sort.Search(int(least/2), func(i int) bool { return !c.fits(least - int64(i) - 1) }))
	if use == ForStore {
		return least, math.MaxInt64 / 4
	}
	return least, max(least, 8<<30)
}

// ColumnRoom is the bytes for columns of stored rows on a GPU.
func ColumnRoom(m *Making) int64 {
	lanes, room := m.lanes(ForStore)
	t, _ := newCase(m, ForStore).divide(room)
	return int64(lanes) * t.left
}
