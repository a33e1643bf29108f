package table

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// cursor reads a column from a place on.
type cursor struct {
	*column
	page, skip int // the next page, and words of it that are left out
	now        []uint32
	room       []uint32
}

func (c *cursor) seek(word int64) {
	c.page, c.skip, c.now = int(word/pageWords), int(word%pageWords), nil
}

func (c *cursor) next() (uint32, error) {
	if len(c.now) == 0 {
		switch {
		case c.page == len(c.full):
			c.now = c.last
		case c.full[c.page].words != nil:
			c.now = c.full[c.page].words
		default:
			if c.room == nil {
				c.room = make([]uint32, pageWords)
			}
			if _, err := c.of.file.ReadAt(bytesOf(c.room), c.full[c.page].at); err != nil {
				return 0, fmt.Errorf("table: %w", err)
			}
			c.now = c.room
		}
		c.now = c.now[c.skip:]
		c.page, c.skip = c.page+1, 0
	}
	x := c.now[0]
	c.now = c.now[1:]
	return x, nil
}

// rowReader reads rows in their order.
type rowReader struct {
	*Stored
	values, counts []cursor // by size
	left           []uint32 // by size: rows that still begin with this one
	row            []uint32
	width          int
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
	r.row = append(r.row[:0], m.before[:r.width*last]...)
	for k := range r.values {
		r.values[k].seek(m.values[k])
		if r.left[k] = 0; k == last || m.values[k] == 0 {
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
		x, err := r.values[k].next()
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

// each calls yield with the rows in their order, until it returns false.
func (t *Stored) each(yield func(row []uint32) bool) error {
	return t.share(new(atomic.Int64), yield)
}

// share is each for one of several workers, who take the rows from one mark to the next in turn. taken is how many they have taken.
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
