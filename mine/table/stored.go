package table

import (
	"context"
	"errors"
	"slices"
	"unsafe"

	"sagann/mine/run"
)

// Stored is the rows of a table in memory or, as far as they do not fit, in a file, or where a GPU keeps them. A size of rows is a column: a row has
// four bytes, its last vertex or edge, and those that begin with one row stand together. For each row that others begin with there is how many do. Only
// rows that lead to whole rows are there. Rows are read in their order.
type Stored struct {
	spec   Spec
	values []*column // by size, from 1 on
	counts []*column // by size: how many rows of the next size begin with a row
	rows   int64
	marks  []mark
	every  int64 // rows from one mark to the next
	file   *File // nil: none is allowed
	meter  *run.Meter
	free   func() error // gives back what GPUs keep; nil: nothing
	near   int          // with free: see NearBits
	packed bool         // of whole rows there are words of PackedWords
}

// mark is where the rows from one on stand, for readers that begin there.
type mark struct {
	row    int64
	values [most]int64      // by size: words before
	whole  bool             // no rows before and after it begin with the same row
	open   [most]uint32     // by size: rows before that begin with the last one before
	before [2 * most]uint32 // the row before
}

// mostMarks is how many marks there are at most: they take MarkBytes.
const (
	mostMarks = 256
	MarkBytes = mostMarks * int64(unsafe.Sizeof(mark{}))
)

// pageWords is the size of the pieces of a column that are moved.
const pageWords = 1 << 14

// PageBytes is the memory of a page.
const PageBytes = 4 * pageWords

// column is a list of numbers in pages.
type column struct {
	of    *Stored
	full  []Page
	last  []uint32 // the page that is written
	words int64
}

// Page is N numbers of a column: in memory, where Other reads them, or from an offset of the file on.
type Page struct {
	N     int64
	Words []uint32
	Other PageReader
	At    int64
	from  int64 // words before it
}

// PageReader reads bytes of a page that lies elsewhere, from one on.
type PageReader interface {
	Read(to []byte, from int64) error
}

// add adds a page to the column.
func (c *column) add(p Page) {
	p.from = c.words
	c.full, c.words = append(c.full, p), c.words+p.N
}

// OpenBytes is the memory of a page for each column of rows of a size: of those that are written while rows are stored, and then kept, and of
// those of each reader of a file.
func OpenBytes(size int) int64 { return int64(2*size) * PageBytes }

// Store stores the rows of a table. Pages take memory of meter, and go to a file in dir if there is none; with dir "" that is a *run.RoomError. The
// Stored must be closed.
func (s *Spec) Store(ctx context.Context, meter *run.Meter, dir string) (*Stored, error) {
	t := s.stored()
	t.meter, t.every = meter, 1<<8
	if dir != "" {
		t.file = NewFile(dir)
	}
	meter.Take(OpenBytes(s.Size) + MarkBytes)
	var err error
	before := make([]uint32, 0, 2*s.Size)
	open := make([]uint32, s.Size) // by size: rows that begin with the last one
	ended := s.Each(ctx, func(r *Row) bool {
		err = t.add(r, before, open)
		before = append(before[:0], r.at...)
		return err == nil
	})
	for k := range s.Size - 1 {
		if len(before) > 0 && err == nil {
			err = t.counts[k].push(open[k])
		}
	}
	if err = errors.Join(ended, err); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// stored is no rows of the table.
func (s *Spec) stored() *Stored {
	t := &Stored{spec: *s, marks: make([]mark, 0, mostMarks)}
	t.spec.Where, t.spec.Keep = nil, nil
	for range s.Size {
		t.values, t.counts = append(t.values, &column{of: t}), append(t.counts, &column{of: t})
	}
	return t
}

// add stores a row behind the row before.
func (t *Stored) add(r *Row, before, open []uint32) error {
	size, width := t.spec.Size, len(r.at)/t.spec.Size
	t.mark(before, open)
	same := 0 // sizes that both begin with
	for len(before) > 0 && slices.Equal(before[:width*(same+1)], r.at[:width*(same+1)]) {
		same++
	}
	if len(before) > 0 {
		for k := same; k < size-1; k++ {
			if err := t.counts[k].push(open[k]); err != nil {
				return err
			}
		}
	}
	for k := same; k < size; k++ {
		if k > 0 {
			open[k-1]++
		}
		open[k] = 0
		if err := t.values[k].push(t.code(r.at[width*k : width*(k+1)])); err != nil {
			return err
		}
	}
	t.rows++
	return nil
}

// mark marks the next row, if it is time to.
func (t *Stored) mark(before, open []uint32) {
	if t.rows%t.every == 0 && len(t.marks) == mostMarks {
		t.every *= 2
		for i := range mostMarks / 2 {
			t.marks[i] = t.marks[2*i]
		}
		t.marks = t.marks[:mostMarks/2]
	}
	if t.rows%t.every != 0 {
		return
	}
	m := mark{row: t.rows}
	for k, c := range t.values {
		m.values[k] = c.length()
	}
	copy(m.open[:], open)
	copy(m.before[:], before)
	t.marks = append(t.marks, m)
}

// code is a vertex, or the place of an edge in the rows of the graph.
func (t *Stored) code(at []uint32) uint32 {
	if t.spec.Vertices {
		return at[0]
	}
	r := t.spec.Rows
	k, _ := slices.BinarySearch(r.Of(at[0]), at[1])
	return uint32(r.Off[at[0]]) + uint32(k)
}

// append adds what a code stands for to a row.
func (t *Stored) append(at []uint32, code uint32) []uint32 {
	r, place := t.spec.Rows, int64(code)
	if t.free != nil && len(at) > 0 {
		x := at[code>>t.near]
		y := r.Of(x)[code&(1<<t.near-1)]
		if t.spec.Vertices {
			return append(at, y)
		}
		return append(at, min(x, y), max(x, y))
	}
	if t.spec.Vertices {
		return append(at, code)
	}
	for _, x := range at { // most edges have their lower end in the row
		if r.Off[x] <= place && place < r.Off[x+1] {
			y := r.Col[code]
			return append(at, min(x, y), max(x, y))
		}
	}
	low, high := 0, r.V()-1
	for low < high {
		if mid := int(uint(low+high) >> 1); r.Off[mid+1] > place {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return append(at, uint32(low), r.Col[code])
}

// push writes a number. A page that is full stays in memory if there is room.
func (c *column) push(x uint32) error {
	if c.last == nil {
		c.last = make([]uint32, 0, pageWords)
	}
	c.last = append(c.last, x)
	if len(c.last) < pageWords {
		return nil
	}
	if t := c.of; !t.meter.Take(PageBytes) {
		t.meter.Give(PageBytes)
		if err := t.write(c); err != nil {
			return err
		}
		c.last = c.last[:0]
		return nil
	}
	c.add(Page{N: pageWords, Words: c.last})
	c.last = nil
	return nil
}

// length is how many numbers the column has.
func (c *column) length() int64 { return c.words + int64(len(c.last)) }

// write writes the page of a column to the file.
func (t *Stored) write(c *column) error {
	if t.file == nil {
		t.meter.Take(PageBytes) // the peak says so
		t.meter.Stop()
		return t.meter.Err()
	}
	at, err := t.file.Write(c.last)
	if err == nil {
		c.add(Page{N: int64(len(c.last)), At: at})
	}
	return err
}

func bytesOf(words []uint32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 4*len(words))
}

// Rows is how many rows there are, Bytes what their columns take, and Spilled what of it is in the file.
func (t *Stored) Rows() int64 { return t.rows }

// Bytes is the bytes of all columns.
func (t *Stored) Bytes() (n int64) {
	for k := range t.values {
		n += 4 * (t.values[k].length() + t.counts[k].length())
	}
	return n
}

// Held is the bytes that are in memory, and Reader what each reader takes beside them.
func (t *Stored) Held() (n int64) {
	n = MarkBytes
	for _, c := range slices.Concat(t.values, t.counts) {
		for _, p := range c.full {
			if p.Words != nil {
				n += 4 * int64(len(p.Words))
			}
		}
		if c.last != nil {
			n += PageBytes
		}
	}
	return n
}

// Reader is the bytes of a reader.
func (t *Stored) Reader() int64 {
	if t.Spilled() == 0 && t.free == nil {
		return 0
	}
	return OpenBytes(t.spec.Size)
}

// Spilled is the bytes that are in the file.
func (t *Stored) Spilled() int64 {
	if t.file == nil {
		return 0
	}
	return t.file.Bytes()
}

// Close frees the memory and removes the file.
func (t *Stored) Close() (err error) {
	t.values, t.counts = nil, nil
	if t.free != nil {
		err = t.free()
		t.free = nil
	}
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
		t.file = nil
	}
	return err
}
