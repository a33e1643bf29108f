package chunk

import (
	"errors"
	"fmt"
	"io"
)

// ErrParts is in the error of Open if a store has parts.
var ErrParts = errors.New("the store has parts: a graph of several types")

// Parts is an open store that has whole stores as blocks: the vertices of each type and the edges of each relation of a graph
// with several types. It has no vertices and edges of its own, only a name, notes and a schema. It may be used by several goroutines.
type Parts struct{ s *Store }

// OpenParts opens a store of parts, as Open does. A store without parts is an error.
func OpenParts(path string) (*Parts, error) {
	s, err := openFile(path, newOuter)
	if err == nil && len(s.parts) == 0 {
		s.Close()
		err = fmt.Errorf("%s: the store has no parts", path)
	}
	if err != nil {
		return nil, err
	}
	return &Parts{s}, nil
}

// Close closes the file.
func (p *Parts) Close() error { return p.s.Close() }

// Len is the number of parts.
func (p *Parts) Len() int { return len(p.s.parts) }

// Bytes is the size of the file.
func (p *Parts) Bytes() int64 { return p.s.Bytes() }

// Name, Notes and Schema are those of the whole.
func (p *Parts) Name() (string, error) { return p.s.Name() }

// Notes is how the whole was made; see Store.Notes.
func (p *Parts) Notes() (string, error) { return p.s.Notes() }

// Schema is what the numbers of the whole mean; see Store.Schema.
func (p *Parts) Schema() (string, error) { return p.s.Schema() }

// Open opens part i, which need not be closed, and which needs p to be open. Errors name the file, the part, and bytes from the
// part's beginning.
func (p *Parts) Open(i int) (*Store, error) {
	s := p.s
	b := s.blocks[s.parts[i]]
	page := make([]byte, headerBytes)
	if err := s.readAt(page, b.Off); err != nil {
		return nil, fmt.Errorf("%s: %v: %w", s.path, b, err)
	}
	if got := checksum(page); got != b.CRC {
		return nil, fmt.Errorf("%s: %v is damaged: checksum %08x of its header, should be %08x", s.path, b, got, b.CRC)
	}
	return newStore(io.NewSectionReader(s.r, b.Off, b.Len), b.Len, fmt.Sprintf("%s: part %d, which begins at byte %d", s.path, i, b.Off))
}

// Verify reads and checks the whole store and all parts, as Store.Verify does.
func (p *Parts) Verify() error {
	if err := p.s.Verify(); err != nil {
		return err
	}
	for i := range p.s.parts {
		part, err := p.Open(i)
		if err == nil {
			err = part.Verify()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Part begins the next part of a store that has neither vertices nor features. The part's Close ends it, and must come
// before anything else is written. An error of the part is one of w.
func (w *Writer) Part(meta Meta) (*Writer, error) {
	if err := w.ready(); err != nil {
		return nil, err
	}
	if w.open != nil || w.outer != nil || w.meta.V != 0 {
		return nil, w.fail(errors.New("a part begins where another is open, or in a store with vertices"))
	}
	p := &Writer{path: w.path, meta: meta, f: w.f, outer: w, base: blockAlign(w.off), off: headerBytes}
	if err := p.init(); err != nil {
		return nil, w.fail(fmt.Errorf("part %d: %w", len(w.blocks), err))
	}
	w.open = p
	return p, nil
}
