package table

import (
	"errors"
	"sort"
	"sync/atomic"
)

// cursor reads a column from a place on.
type cursor struct {
	*column
	page int   // the next page
	skip int64 // words of it that are left out
	now  []uint32
	room []uint32
}

func (c *cursor) seek(word int64) {
	c.page = sort.Search(len(c.full), func(i int) bool { return c.full[i].from+c.full[i].N > word })
	c.skip, c.now = word-c.words, nil
	if c.page < len(c.full) {
		c.skip = word - c.full[c.page].from
	}
}

func (c *cursor) next() (uint32, error) {
	if len(c.now) == 0 {
		if err := c.more(); err != nil {
			return 0, err
		}
	}
	x := c.now[0]
	c.now = c.now[1:]
	return x, nil
}

// more reads what comes next: the rest of a page in memory, or a part of one that lies elsewhere.
func (c *cursor) more() error {
	if c.page == len(c.full) {
		c.now = c.last[c.skip:]
		return nil
	}
	p := &c.full[c.page]
	if p.Words != nil {
		c.now = p.Words[c.skip:]
		c.page, c.skip = c.page+1, 0
		return nil
	}
	if c.room == nil {
		c.room = make([]uint32, pageWords)
	}
	c.now = c.room[:min(pageWords, p.N-c.skip)]
	if err := c.of.read(p, bytesOf(c.now), 4*c.skip); err != nil {
		return err
	}
	if c.skip += int64(len(c.now)); c.skip == p.N {
		c.page, c.skip = c.page+1, 0
	}
	return nil
}

// read reads bytes of a page that is not in memory, from one on.
func (t *Stored) read(p *Page, to []byte, from int64) error {
	if p.Other != nil {
		return p.Other.Read(to, from)
	}
	return t.file.read(to, p.At+from)
}

// rowReader reads rows in their order.
type rowReader struct {
	*Stored
	values, counts []cursor // by size
	left           []uint32 // by size: rows that still begin with this one
	row            []uint32
	width          int
	all, room      []following // of packed rows: memory for what may follow the beginning of a row
	words          []uint32
	that           []following // what follows it and is still to come
}

func (t *Stored) reader() *rowReader {
	r := &rowReader{Stored: t, values: make([]cursor, len(t.values)), counts: make([]cursor, len(t.counts)), left: make([]uint32, len(t.values)), width: 2}
	for k := range r.values {
		r.values[k].column, r.counts[k].column = t.values[k], t.counts[k]
	}
	if t.spec.Vertices {
		r.width = 1
	}
	return r
}

// begin goes to a mark.
func (r *rowReader) begin(m *mark) error {
	last := len(r.values) - 1
	r.row, r.that = append(r.row[:0], m.before[:r.width*last]...), nil
	for k := range r.values {
		r.values[k].seek(m.values[k])
		if r.left[k] = 0; k == last || m.values[k] == 0 {
			continue
		}
		if m.whole {
			r.counts[k].seek(m.values[k])
			continue
		}
		r.counts[k].seek(m.values[k] - 1)
		all, err := r.counts[k].next()
		if err != nil {
			return err
		}
		r.left[k] = all - m.open[k]
	}
	return nil
}

// next is the next row; it is valid until the one after it.
func (r *rowReader) next() ([]uint32, error) {
	last := len(r.values) - 1
	k := last
	for k > 0 && r.left[k-1] == 0 {
		k--
	}
	for r.row = r.row[:r.width*k]; k <= last; k++ {
		x, err := r.value(k)
		if err == nil && k < last {
			r.left[k], err = r.counts[k].next()
		}
		if err != nil {
			return nil, err
		}
		if k > 0 {
			r.left[k-1]--
		}
		r.row = r.append(r.row, x)
	}
	return r.row, nil
}

// value is the number of the next row of a size.
func (r *rowReader) value(k int) (x uint32, err error) {
	if !r.packed || k+1 < len(r.values) {
		return r.values[k].next()
	}
	if len(r.that) == 0 {
		if err := r.unpack(int64(r.left[k-1])); err != nil {
			return 0, err
		}
	}
	x, r.that = r.that[0].code, r.that[1:]
	return x, nil
}

// Each calls yield with the rows in their order, until it returns false.
func (t *Stored) Each(yield func(row []uint32) bool) error {
	return t.share(new(atomic.Int64), yield)
}

// share is Each for one of several workers, who take the rows from one mark to the next in turn. taken is how many they have taken.
func (t *Stored) share(taken *atomic.Int64, yield func(row []uint32) bool) error {
	if t.values == nil {
		return errors.New("table: the stored rows are closed")
	}
	r := t.reader()
	for {
		i := int(taken.Add(1)) - 1
		if i >= len(t.marks) {
			return nil
		}
		end := t.rows
		if i+1 < len(t.marks) {
			end = t.marks[i+1].row
		}
		if err := r.begin(&t.marks[i]); err != nil {
			return err
		}
		for range end - t.marks[i].row {
			row, err := r.next()
			if err != nil {
				return err
			}
			if !yield(row) {
				return nil
			}
		}
	}
}
