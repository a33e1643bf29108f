package npy

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"sagann/internal/regular"
)

// Reader reads an array in pieces, in C order. It holds one piece in memory; an
// array in Fortran order is held as a whole.
type Reader struct {
	Shape []int
	// Reuse has Next reuse memory: its result is then valid until the next call only.
	Reuse bool

	name string
	h    *header
	kind kind
	size int64
	r    *bufio.Reader
	from io.Closer
	held *Array // the whole array, if it is in memory; r is then nil
	last any    // with Reuse: the elements that Next returned last
	done int    // number of elements read
}

// Open opens the .npy file at path.
func Open(path string) (*Reader, error) {
	f, size, err := regular.OpenSized(path)
	if err != nil {
		return nil, err
	}
	return newReader(f, size, path)
}

// Pieces returns a Reader of an array in memory.
func Pieces(a *Array) *Reader { return &Reader{Shape: a.Shape, name: a.name, held: a} }

// Raw returns a Reader of an array without a header. descr is the type of its elements, as in a
// header, or bf2 for bfloat16. from has exactly the elements. In errors they begin at byte first of
// name. The Reader closes from.
func Raw(from io.ReadCloser, descr string, shape []int, fortran bool, name string, first int64) (*Reader, error) {
	r := &Reader{Shape: shape, name: name, from: from, r: bufio.NewReaderSize(from, 1<<16)}
	r.h = &header{descr: descr, shape: shape, fortran: fortran}
	err := r.h.setCount()
	if err == nil {
		var ok bool
		if r.kind, ok = kindOf(descr); !ok {
			err = fmt.Errorf("element type %q is not read", descr)
		}
	}
	if err != nil {
		from.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r.h.size, r.size = first, first+int64(r.h.count)*r.kind.size
	return r, nil
}

// newReader makes a Reader of from, which has size bytes. The Reader closes from.
func newReader(from io.ReadCloser, size int64, name string) (*Reader, error) {
	r := &Reader{name: name, size: size, from: from, r: bufio.NewReaderSize(from, 1<<16)}
	var err error
	if r.h, err = readHeader(r.r); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	} else {
		r.kind, err = r.h.fits(size, name)
	}
	if err != nil {
		from.Close()
		return nil, err
	}
	r.Shape = r.h.shape
	return r, nil
}

// Len is the number of elements.
func (r *Reader) Len() int {
	if r.held != nil {
		return r.held.Len()
	}
	return r.h.count
}

// Name is the file, or the member of an archive, that is read.
func (r *Reader) Name() string { return r.name }

// Done is how many elements have been read.
func (r *Reader) Done() int { return r.done }

// Where is Array.Where of element i.
func (r *Reader) Where(i int) string {
	if r.held != nil {
		return r.held.Where(i)
	}
	return r.array(nil, 0).Where(i)
}

// array is data, which begins at element first.
func (r *Reader) array(data any, first int) *Array {
	return &Array{Data: data, name: r.name, elemSize: r.kind.size, offset: r.h.size + int64(first)*r.kind.size}
}

// All returns the whole array. Nothing may have been read before.
func (r *Reader) All() (*Array, error) {
	if r.held != nil {
		return r.held, nil
	}
	a, err := decode(r.r, r.h, r.size, r.name)
	if err != nil {
		return nil, err
	}
	return a, r.finish()
}

// finish reads to the end, so that an archive checks the checksum.
func (r *Reader) finish() error {
	if _, err := io.Copy(io.Discard, r.r); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	return nil
}

// Next returns the next n elements as a vector, or fewer at the end of the array.
func (r *Reader) Next(n int) (*Array, error) {
	n = min(n, r.Len()-r.done)
	if r.held == nil && r.h.fortran && len(r.h.shape) > 1 {
		a, err := r.All()
		if err != nil {
			return nil, err
		}
		r.held = a
	}
	first := r.done
	r.done += n
	if r.held != nil {
		return r.held.part(first, n), nil
	}
	data, err := r.kind.read(r.r, n, r.kind.order, r.last)
	if err != nil {
		return nil, fmt.Errorf("%s: byte %d: %w", r.name, r.h.size+int64(first)*r.kind.size, err)
	}
	if r.Reuse {
		r.last = data
	}
	a := r.array(data, first)
	a.Shape = []int{n}
	if r.done == r.h.count {
		return a, r.finish()
	}
	return a, nil
}

// Skip skips n elements.
func (r *Reader) Skip(n int) error {
	n = min(n, r.Len()-r.done)
	if r.held == nil && !(r.h.fortran && len(r.h.shape) > 1) {
		for left := int64(n) * r.kind.size; left > 0; {
			k, err := r.r.Discard(int(min(left, 1<<30)))
			if left -= int64(k); err != nil {
				return fmt.Errorf("%s: byte %d: %w", r.name, r.h.size+int64(r.done)*r.kind.size, err)
			}
		}
	}
	r.done += n
	return nil
}

// Close closes the file.
func (r *Reader) Close() error {
	if r.from == nil {
		return nil
	}
	return r.from.Close()
}

// Before returns r after making its Close also close c.
func (r *Reader) Before(c io.Closer) *Reader {
	r.from = closers{r.from, c}
	return r
}

type closers [2]io.Closer

func (c closers) Close() error { return errors.Join(c[0].Close(), c[1].Close()) }
