package table

import (
	"errors"
	"math/bits"
)

// NearBits is the bits for which of a vertex's neighbours it is.
func (s *Spec) NearBits() int { return bits.Len(uint(max(s.Rows.MaxDegree, 1) - 1)) }

// Columns are the columns of the rows that begin at consecutive vertices: by size, from 1 on, the pages of the last edges or vertices, and those of how many rows
// go on from each. Of the first size they are as the CPU writes them, of others a place of the row before and, in the lower NearBits, which of the neighbours there. Of whole rows of more than one they are
// the words of PackedWords. Rows is how many rows there are.
type Columns struct {
	Values, Counts [][]Page
	Rows           int64
}

// Join is the table whose rows are those of the pieces, one after the other. Pages of a file lie in file, which may be nil. free gives back what pages in memory and
// elsewhere take; it is called once, and file closed, also after an error.
func (s *Spec) Join(pieces []Columns, file *File, free func() error) *Stored {
	t := s.stored()
	t.file, t.free, t.near = file, free, s.NearBits()
	t.packed = s.Size > 1
	for i := range pieces {
		m := mark{row: t.rows, whole: true}
		for k, c := range t.values {
			m.values[k] = c.words
		}
		if p := &pieces[i]; p.Rows > 0 {
			t.marks = append(t.marks, m)
			for k := range t.values {
				for _, x := range p.Values[k] {
					t.values[k].add(x)
				}
				for _, x := range p.Counts[k] {
					t.counts[k].add(x)
				}
			}
			t.rows += p.Rows
		}
	}
	return t
}

// Joined reports whether the rows are those of Join, which pieces of can be read.
func (t *Stored) Joined() bool { return t.free != nil }

// Pieces is how many pieces the rows can be read in. Each begins with a row that has nothing in common with the one before.
func (t *Stored) Pieces() int { return len(t.marks) }

// Piece is where a piece begins: by size, from 1 on, how many numbers of the column of last edges or vertices are before it. After the last piece that is all.
func (t *Stored) Piece(i int) (before []int64) {
	for k, c := range t.values {
		if i < len(t.marks) {
			before = append(before, t.marks[i].values[k])
		} else {
			before = append(before, c.words)
		}
	}
	return before
}

// Pages calls f with the parts of pages in which n numbers from one on lie: the last edges or vertices of rows of a size (or words, see Columns) or, with counts, how many rows go on from
// each. f gets a page, the place in it and how many.
func (t *Stored) Pages(size int, counts bool, from, n int64, f func(p *Page, skip, n int64) error) error {
	if t.values == nil {
		return errors.New("table: the stored rows are closed")
	}
	c := t.values[size-1]
	if counts {
		c = t.counts[size-1]
	}
	at := cursor{column: c}
	for at.seek(from); n > 0; at.page, at.skip = at.page+1, 0 {
		p := &c.full[at.page]
		k := min(n, p.N-at.skip)
		if err := f(p, at.skip, k); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// ReadFile reads bytes of a page that lies in the file, from one on.
func (t *Stored) ReadFile(p *Page, to []byte, from int64) error { return t.file.read(to, p.At+from) }

// Size is how many edges or vertices a row has.
func (t *Stored) Size() int { return t.spec.Size }
