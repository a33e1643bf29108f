package domain

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"

	"sagann/mine/pattern"
)

// streamBytes is the buffer of a stream.
const streamBytes = 4 << 10

// encode writes found patterns.
func encode(to io.Writer, found []dealt) error {
	w := writer{b: bufio.NewWriterSize(to, streamBytes)}
	w.u32(uint32(len(found)))
	for i := range found {
		w.pattern(&found[i])
	}
	if w.err != nil {
		return w.err
	}
	return w.b.Flush()
}

// writer writes numbers until an error.
type writer struct {
	b    *bufio.Writer
	word [8]byte
	err  error
}

func (w *writer) put(n int) {
	if w.err == nil {
		_, w.err = w.b.Write(w.word[:n])
	}
}

func (w *writer) u8(x byte) {
	w.word[0] = x
	w.put(1)
}

func (w *writer) u32(x uint32) {
	binary.LittleEndian.PutUint32(w.word[:], x)
	w.put(4)
}

func (w *writer) u64(x uint64) {
	binary.LittleEndian.PutUint64(w.word[:], x)
	w.put(8)
}

// shape writes a pattern.
func (w *writer) shape(p pattern.Pattern) {
	w.u8(byte(p.Vertices()))
	for v := range p.Vertices() {
		w.u32(uint32(p.Label(v)))
		for u := range v {
			if !p.Adjacent(u, v) {
				w.u8(0)
				continue
			}
			w.u8(1)
			w.u32(uint32(p.EdgeLabel(u, v)))
		}
	}
}

// pattern writes a pattern with its domains, each once.
func (w *writer) pattern(f *dealt) {
	n := f.Pattern.Vertices()
	w.u32(uint32(f.parent))
	w.u32(uint32(f.child))
	w.u64(uint64(f.Support))
	w.shape(f.Pattern)
	if f.Domains == nil {
		w.u8(0)
		return
	}
	w.u8(1)
	for v, low := range f.Pattern.Orbits() {
		if v >= n || int(low) != v {
			continue
		}
		s := f.Domains[v]
		w.u32(uint32(len(s.list)))
		w.u32(uint32(len(s.bits)))
		for _, x := range s.list {
			w.u32(x)
		}
		for _, x := range s.bits {
			w.u64(x)
		}
	}
}

// reader reads numbers until an error, which may be that there are too few.
type reader struct {
	b     *bufio.Reader
	words int64 // most of a set
	word  [8]byte
	err   error
}

func (r *reader) take(n int) []byte {
	if r.err == nil {
		_, r.err = io.ReadFull(r.b, r.word[:n])
	}
	if r.err != nil {
		clear(r.word[:])
	}
	return r.word[:n]
}

func (r *reader) u8() byte    { return r.take(1)[0] }
func (r *reader) u32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) u64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

var errTorn = errors.New("the patterns of a rank are torn")

// decode reads what encode wrote, to the end, and calls add with each pattern. Bits of a set have at most so many words. A set of so many bytes is only
// kept if fits takes it; otherwise the pattern has no domains, and bytes that fits has taken for it are given back.
func decode(from io.Reader, words int, fits func(bytes int64) bool, add func(f dealt)) error {
	r := &reader{b: bufio.NewReaderSize(from, streamBytes), words: int64(words)}
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		f, err := r.pattern(fits)
		if err != nil {
			return err
		}
		if r.err == nil {
			add(f)
		}
	}
	if r.err == nil {
		if _, err := r.b.ReadByte(); err != io.EOF {
			return errTorn
		}
	}
	if r.err == io.EOF || r.err == io.ErrUnexpectedEOF {
		return errTorn
	}
	return r.err
}

// shape reads a pattern.
func (r *reader) shape() (p pattern.Pattern, err error) {
	n := int(r.u8())
	if n > most {
		return p, errTorn
	}
	for v := range n {
		p = p.Add(int32(r.u32()))
		for u := range v {
			if r.u8() == 1 {
				p = p.WithEdgeLabel(u, v, int32(r.u32()))
			}
		}
	}
	return p, nil
}

func (r *reader) pattern(fits func(bytes int64) bool) (f dealt, err error) {
	f = dealt{parent: int(r.u32()), child: int(r.u32())}
	f.Support = int64(r.u64())
	p, err := r.shape()
	if err != nil {
		return f, err
	}
	n := p.Vertices()
	f.Pattern = p
	if r.u8() != 1 {
		return f, nil
	}
	f.Domains = make([]Set, n)
	whole, taken := true, int64(0)
	for v, low := range p.Orbits() {
		switch {
		case v >= n:
		case int(low) < v:
			f.Domains[v] = f.Domains[low]
		default:
			f.Domains[v] = r.set(func(bytes int64) bool {
				if whole = whole && fits(bytes); whole {
					taken += bytes
				}
				return whole
			})
		}
	}
	if !whole {
		f.Domains = nil
		fits(-taken)
	}
	return f, nil
}

// set reads a set, or what stands in its place if it does not fit.
func (r *reader) set(fits func(bytes int64) bool) (s Set) {
	list, bits := int64(r.u32()), int64(r.u32())
	switch bytes := 4*list + 8*bits; {
	case r.err != nil:
		return s
	case bits > r.words || list > 64*r.words:
		r.err = errTorn
		return s
	case !fits(bytes):
		_, r.err = io.CopyN(io.Discard, r.b, bytes)
		return s
	}
	if list > 0 {
		s.list = make([]uint32, list)
	}
	if bits > 0 {
		s.bits = make([]uint64, bits)
	}
	for i := range s.list {
		s.list[i] = r.u32()
	}
	for i := range s.bits {
		s.bits[i] = r.u64()
	}
	return s
}
