package chunk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Meta describes a store before anything is appended.
type Meta struct {
	Name        string // of the graph
	V           int
	Base        int    // intervals of the base grid, 1..MaxBase; 0 means 1
	Order       *Order // vertex order that the base grid cuts; nil for the user's own
	KeepOrder   bool   // ReadEdges restores the appended order; takes one more byte an edge, two when Base > 16
	Weighted    bool   // edges have weights
	Timed       bool   // edges have times; with a Base above 1 it needs KeepOrder
	Types       int    // edge types; 0 when edges have none
	DataCols    int    // width of the edge data
	FeatureCols int    // width of the features; 0 when there are none
	BlockRows   int    // rows of a features block; 0 chooses about 1 MiB
	Classes     int    // classes of the labels

	// Memory is how many bytes edges may take before they are spilled to disk;
	// 0 means 256 MiB. Buffers of about 32 MiB and the order come on top. The
	// file does not depend on it.
	Memory int64
}

// Writer writes a store. Edges and features are appended in batches; graphs may
// be larger than memory. Until Close has returned without error the target does
// not exist, or is the file it was before.
//
// The first error sticks: later calls return it, and Close removes what was
// written. A Writer is not for concurrent use.
type Writer struct {
	path   string
	meta   Meta
	in     Intervals
	h      header
	f      *os.File
	open   *Writer // nil, or the part that is being written
	outer  *Writer // nil, or the writer of the store of which this is a part
	base   int64   // where the store begins in f
	off    int64   // in the store
	blocks []Block
	spill  *spill
	seq    []byte    // sequence not yet written
	parts  uint32    // sequence blocks written
	feat   []float32 // features not yet written: less than a block
	rows   int       // feature rows appended
	graphs int64     // number of graphs with targets
	times  []float64 // of the edges appended
	set    [kindEnd]bool
	err    error
	closed bool
}

const (
	defaultMemory = 256 << 20
	featureBlock  = 1 << 20 // bytes of a features block, about
	edgesBlock    = 8 << 20 // bytes of an edges block, at most
	sequenceBlock = 4 << 20 // bytes of a sequence block
)

// Create starts a store that Close will put at path. It is an error when meta is
// out of range or the folder cannot be written to.
func Create(path string, meta Meta) (*Writer, error) {
	w := &Writer{path: path, meta: meta}
	if err := w.init(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f, err := TempFile(path)
	if err != nil {
		return nil, err
	}
	w.f, w.off = f, headerBytes
	return w, nil
}

func (w *Writer) init() error {
	m := &w.meta
	if !littleEndian {
		return errors.New("graph stores need a little-endian machine")
	}
	if m.Base == 0 {
		m.Base = 1
	}
	if m.Memory == 0 {
		m.Memory = defaultMemory
	}
	if m.BlockRows == 0 && m.FeatureCols > 0 {
		m.BlockRows = max(1, featureBlock/4/m.FeatureCols)
	}
	w.h = header{V: int64(m.V), Base: int64(m.Base), Types: int64(m.Types), DataCols: int64(m.DataCols),
		FeatureCols: int64(m.FeatureCols), BlockRows: int64(m.BlockRows), Classes: int64(m.Classes)}
	if m.Weighted {
		w.h.Flags |= flagWeights
	}
	if m.KeepOrder && m.Base > 1 {
		w.h.Flags |= flagSequence
	}
	// The reader's own limits, as if the file were as large as files get.
	limits := w.h
	limits.FileBytes, limits.TableOff = 1<<62, 1<<62
	if err := limits.check(1 << 62); err != nil {
		return err
	}
	if m.Timed && m.Base > 1 && !m.KeepOrder {
		return errors.New("times of edges need the order of the edges, which is not kept")
	}
	if err := m.Order.Validate(m.V); err != nil {
		return err
	}
	var err error
	w.in, err = NewIntervals(m.V, m.Base)
	w.spill = newSpill(m.Base*m.Base, int(w.h.edgeWords()), m.Memory, filepath.Dir(w.path))
	return err
}

// fail keeps the first error.
func (w *Writer) fail(err error) error {
	if w.err == nil && err != nil {
		w.err = fmt.Errorf("%s: %w", w.path, err)
	}
	return w.err
}

// ready returns the error that prevents writing more, if any.
func (w *Writer) ready() error {
	if w.closed && w.err == nil {
		w.fail(errors.New("store is closed"))
	}
	return w.err
}

// AppendEdges appends a batch of edges, in user ids. They must be valid, for the
// V, the types and the data width of the store, and weighted if the store is.
func (w *Writer) AppendEdges(e *Edges) error {
	if err := w.ready(); err != nil {
		return err
	}
	if err := w.fits(e); err != nil {
		return w.fail(err)
	}
	newID, div, s := w.meta.Order.newIDs(), newDivider(w.in.Width), w.spill
	for k, src := range e.Src {
		dst := e.Dst[k]
		ns, nd := src, dst
		if newID != nil {
			ns, nd = newID[src], newID[dst]
		}
		d, _ := div.split(nd)
		x, _ := div.split(ns)
		c := d*w.in.P + x
		if err := s.room(c); err != nil {
			return w.fail(err)
		}
		s.buf = append(s.buf, src, dst)
		if e.Weight != nil {
			s.buf = append(s.buf, float32bits(e.Weight[k]))
		}
		if e.Type != nil {
			s.buf = append(s.buf, e.Type[k])
		}
		for _, v := range e.Data[k*e.DataCols : (k+1)*e.DataCols] {
			s.buf = append(s.buf, float32bits(v))
		}
		if w.h.Flags&flagSequence != 0 {
			if err := w.appendSequence(c); err != nil {
				return w.fail(err)
			}
		}
	}
	w.h.E += int64(e.E())
	w.times = append(w.times, e.Time...)
	return nil
}

// fits returns an error unless a batch is valid and has the form that Meta says.
func (w *Writer) fits(e *Edges) error {
	if e.V != w.meta.V {
		return fmt.Errorf("edges of a graph of %d vertices, the store has %d", e.V, w.meta.V)
	}
	if err := e.Validate(); err != nil {
		return err
	}
	if e.E() == 0 {
		return nil
	}
	if (e.Weight != nil) != w.meta.Weighted {
		return fmt.Errorf("edges with weights: %v, the store's: %v", e.Weight != nil, w.meta.Weighted)
	}
	if (e.Time != nil) != w.meta.Timed {
		return fmt.Errorf("edges with times: %v, the store's: %v", e.Time != nil, w.meta.Timed)
	}
	if e.Types != w.meta.Types || e.DataCols != w.meta.DataCols {
		return fmt.Errorf("edges with %d types and %d columns of data, the store's have %d and %d", e.Types, e.DataCols, w.meta.Types, w.meta.DataCols)
	}
	return nil
}

func (w *Writer) appendSequence(c int) error {
	w.seq = append(w.seq, byte(c))
	if w.h.seqBytes() == 2 {
		w.seq = append(w.seq, byte(c>>8))
	}
	if len(w.seq) < sequenceBlock {
		return nil
	}
	return w.flushSequence()
}

func (w *Writer) flushSequence() error {
	if len(w.seq) == 0 {
		return nil
	}
	err := w.block(KindSequence, w.parts, 0, w.seq)
	w.seq, w.parts = w.seq[:0], w.parts+1
	return err
}

// block writes one block at the next page boundary. The gap before it is a hole in the file, which
// reads as zeros.
func (w *Writer) block(k Kind, i, j uint32, data []byte) error {
	w.off = blockAlign(w.off)
	if _, err := w.f.WriteAt(data, w.base+w.off); err != nil {
		return err
	}
	w.blocks = append(w.blocks, Block{Kind: k, I: i, J: j, CRC: checksum(data), Off: w.off, Len: int64(len(data))})
	w.off += int64(len(data))
	return nil
}
