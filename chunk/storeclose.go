package chunk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"
)

// Close merges the spilled edges, writes the block table, syncs, writes the
// header last, syncs again, and renames the file to the store's path. After an
// error the new file is removed, and a file that was at the path before is unchanged.
func (w *Writer) Close() error {
	if w.closed {
		return w.err
	}
	if w.err == nil && w.open != nil {
		w.fail(errors.New("a part is not closed"))
	}
	if w.err == nil {
		w.fail(w.finish())
	}
	w.closed = true
	w.spill.close()
	if w.outer != nil {
		return w.outer.addPart(w)
	}
	if err := w.f.Close(); w.err == nil {
		w.fail(err)
	}
	if w.err == nil {
		w.fail(os.Rename(w.f.Name(), w.path))
	}
	if w.err != nil {
		os.Remove(w.f.Name())
		return w.err
	}
	return w.fail(syncDir(filepath.Dir(w.path)))
}

// Abort ends the writing and removes the new file. After Close it does nothing, so it may be deferred.
func (w *Writer) Abort() {
	if !w.closed {
		w.fail(errors.New("store was given up"))
		w.Close()
	}
}

// finish does everything that Close does before renaming.
func (w *Writer) finish() error {
	if w.rows != w.meta.V && w.meta.FeatureCols > 0 {
		return fmt.Errorf("%d feature rows for %d vertices", w.rows, w.meta.V)
	}
	if !utf8.ValidString(w.meta.Name) {
		return errors.New("the name of the graph is not UTF-8")
	}
	if err := w.flushSequence(); err != nil {
		return err
	}
	if err := w.writeEdges(); err != nil {
		return err
	}
	if err := w.writeTimes(); err != nil {
		return err
	}
	if o := w.meta.Order; o != nil {
		if err := w.block(KindOrder, 0, 0, bytesOf(o.New)); err != nil {
			return err
		}
	}
	if w.meta.Name != "" {
		if err := w.block(KindName, 0, 0, []byte(w.meta.Name)); err != nil {
			return err
		}
	}
	return w.seal()
}

// writeEdges merges the runs cell by cell into blocks of whole columns.
func (w *Writer) writeEdges() error {
	w.spill.finish()
	words := int(w.h.edgeWords())
	per := max(edgesBlock/4/words, 1) // edges of a block
	per = int(min(int64(per), max(slices.Max(w.spill.total), 1)))
	scratch := make([]uint32, per*words)
	out := make([]uint32, per*words)
	for c, left := range w.spill.total {
		n, at := int(min(left, int64(per))), 0 // edges of the block being filled, and of these those already in it
		var err error
		merge := func(records []uint32) {
			for ; len(records) > 0 && err == nil; records = records[words:] {
				w.place(out[:n*words], at, records[:words])
				if at++; at == n {
					err = w.block(KindEdges, uint32(c/w.in.P), uint32(c%w.in.P), bytesOf(out[:n*words]))
					left -= int64(n)
					n, at = int(min(left, int64(per))), 0
				}
			}
		}
		if each := w.spill.each(c, scratch, merge); each != nil {
			return each
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// place writes a record as edge at to the columns of a block: sources, destinations,
// weights, types, then data row by row.
func (w *Writer) place(block []uint32, at int, record []uint32) {
	scalars := len(record) - w.meta.DataCols
	n := len(block) / len(record)
	for i, v := range record[:scalars] {
		block[i*n+at] = v
	}
	copy(block[scalars*n+at*w.meta.DataCols:], record[scalars:])
}

// seal writes the table and then the header, which makes the file a store.
func (w *Writer) seal() error {
	w.off = blockAlign(w.off)
	table := make([]byte, len(w.blocks)*blockBytes)
	w.h.version = 1
	for i, b := range w.blocks {
		w.h.version = max(w.h.version, b.Kind.version())
		b.encode(table[i*blockBytes:])
	}
	w.h.Blocks, w.h.TableOff, w.h.TableCRC = int64(len(w.blocks)), w.off, int64(checksum(table))
	w.h.FileBytes = w.off + int64(len(table))
	if _, err := w.f.WriteAt(table, w.base+w.off); err != nil {
		return err
	}
	// Blocks of length zero at the end may leave the file short.
	if err := errors.Join(w.f.Truncate(w.base+w.h.FileBytes), w.sync()); err != nil {
		return err
	}
	if _, err := w.f.WriteAt(w.h.encode(), w.base); err != nil {
		return err
	}
	return w.sync()
}

// sync waits until the file is on the disk. The store of which w is a part does that for all its parts.
func (w *Writer) sync() error {
	if w.outer != nil {
		return nil
	}
	return w.f.Sync()
}

// syncDir makes a rename in dir durable. It does nothing on systems that cannot sync a folder.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, os.ErrInvalid) {
		return fmt.Errorf("syncing folder %s: %w", dir, err)
	}
	return nil
}

// addPart takes the part p, which was closed.
func (w *Writer) addPart(p *Writer) error {
	w.open = nil
	if p.err != nil {
		if w.err == nil {
			w.err = p.err // which names the file
		}
		return p.err
	}
	n := uint32(0)
	for _, b := range w.blocks {
		if b.Kind == KindPart {
			n++
		}
	}
	w.blocks = append(w.blocks, Block{Kind: KindPart, I: n, CRC: checksum(p.h.encode()), Off: p.base, Len: p.h.FileBytes})
	w.off = p.base + p.h.FileBytes
	return nil
}
