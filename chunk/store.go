package chunk

import (
	"fmt"
	"io"

	"sagann/internal/regular"
)

// Store is an open graph store. It is a file with the edges of a graph in cells of a
// base grid, and features, labels, splits, vertex order and names. All are in blocks
// with a checksum, which is checked when the block is read. A Store
// may be used by several goroutines.
type Store struct {
	r      io.ReaderAt
	closer io.Closer // nil for NewStore
	path   string
	h      header
	blocks []Block
	in     Intervals

	cells    [][2]int // blocks first..end-1 of cell d*Base+s, empty when first = end
	cellNNZ  []int64
	features []int // block of each feature part
	sequence []int
	parts    []int        // block of each part
	single   [kindEnd]int // block of a kind that occurs once, or -1
}

// Open opens a store and checks its header and block table against the file's
// size; contents are checked when they are read, or all by Verify. Errors name
// the file and the byte.
//
// A store of parts is an error that wraps ErrParts; OpenParts opens it.
func Open(path string) (*Store, error) { return openFile(path, newStore) }

func openFile(path string, open func(io.ReaderAt, int64, string) (*Store, error)) (*Store, error) {
	f, size, err := regular.OpenSized(path)
	if err != nil {
		return nil, err
	}
	s, err := open(f, size, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	s.closer = f
	return s, nil
}

// NewStore opens a store of size bytes that is read through r, as Open does.
func NewStore(r io.ReaderAt, size int64) (*Store, error) { return newStore(r, size, "store") }

func newStore(r io.ReaderAt, size int64, path string) (*Store, error) {
	s, err := newOuter(r, size, path)
	if err == nil && len(s.parts) > 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrParts)
	}
	return s, err
}

// newOuter is newStore, also for a store of parts.
func newOuter(r io.ReaderAt, size int64, path string) (*Store, error) {
	s := &Store{r: r, path: path}
	if err := s.open(size); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func (s *Store) open(size int64) error {
	if !littleEndian {
		return fmt.Errorf("graph stores need a little-endian machine")
	}
	if size < headerBytes {
		return fmt.Errorf("%d bytes are too short for a graph store", size)
	}
	page := make([]byte, headerBytes)
	if err := s.readAt(page, 0); err != nil {
		return err
	}
	var err error
	if s.h, err = decodeHeader(page); err != nil {
		return err
	}
	if err := s.h.check(size); err != nil {
		return err
	}
	if s.in, err = NewIntervals(int(s.h.V), int(s.h.Base)); err != nil {
		return err
	}
	return s.readTable()
}

func (s *Store) readAt(b []byte, off int64) error {
	if n, err := s.r.ReadAt(b, off); n < len(b) {
		return fmt.Errorf("read %d of %d bytes at byte %d: %w", n, len(b), off, err)
	}
	return nil
}

// Close closes the file.
func (s *Store) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

// V is the number of vertices.
func (s *Store) V() int { return int(s.h.V) }

// E is the number of edges.
func (s *Store) E() int64 { return s.h.E }

// Types is the number of edge types, 0 when edges have none.
func (s *Store) Types() int { return int(s.h.Types) }

// Weighted reports whether edges have weights.
func (s *Store) Weighted() bool { return s.h.Flags&flagWeights != 0 }

// DataCols is the width of the edge data, 0 when there are none.
func (s *Store) DataCols() int { return int(s.h.DataCols) }

// FeatureCols is the width of the features, 0 when there are none.
func (s *Store) FeatureCols() int { return int(s.h.FeatureCols) }

// Classes is the number of classes of the labels.
func (s *Store) Classes() int { return int(s.h.Classes) }

// KeepsOrder reports whether ReadEdges returns the edges in the order in which they
// were appended. Otherwise it returns them cell by cell.
func (s *Store) KeepsOrder() bool { return s.h.Flags&flagSequence != 0 || s.h.Base == 1 }

// Intervals is the base grid: B intervals over new vertex ids.
func (s *Store) Intervals() Intervals { return s.in }

// Bytes is the size of the file.
func (s *Store) Bytes() int64 { return s.h.FileBytes }

// Blocks lists the block table, in file order.
func (s *Store) Blocks() []Block { return append([]Block(nil), s.blocks...) }

// CellNNZ is the number of edges from base interval src to base interval dst.
func (s *Store) CellNNZ(dst, src int) int64 { return s.cellNNZ[dst*s.in.P+src] }

// readBlock reads and checks a block into dst, which has the block's length.
func (s *Store) readBlock(b Block, dst []byte) error {
	if err := s.readAt(dst, b.Off); err != nil {
		return fmt.Errorf("%s: %v: %w", s.path, b, err)
	}
	if got := checksum(dst); got != b.CRC {
		return fmt.Errorf("%s: %v is damaged: checksum %08x, should be %08x", s.path, b, got, b.CRC)
	}
	return nil
}

// readSingle reads the block of a kind that occurs once, as values of 4 bytes. The result is nil if the
// store has no such block. Its length is bounded by the file, as the block table has been checked.
func readSingle[T uint32 | int32 | float32](s *Store, k Kind) ([]T, error) {
	i := s.single[k]
	if i < 0 {
		return nil, nil
	}
	x := make([]T, s.blocks[i].Len/4)
	return x, s.readBlock(s.blocks[i], bytesOf(x))
}

func (s *Store) readSingleBytes(k Kind) ([]byte, error) {
	i := s.single[k]
	if i < 0 {
		return nil, nil
	}
	x := make([]byte, s.blocks[i].Len)
	return x, s.readBlock(s.blocks[i], x)
}
