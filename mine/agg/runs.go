package agg

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"sagann/mine/run"
)

// runs are the files of a Counter or Sorter, in a folder of its own. A file is a heading, records of ascending keys, and a checksum.
type runs struct {
	o       Options
	own     string // the folder; "": not made yet
	width   int    // bytes of a record: 8 for a key, 16 with its count
	paths   []string
	bytes   int64
	written int // files so far
}

const heading = "sagann run 1, %2d bytes\n"

var table = crc64.MakeTable(crc64.ECMA)

func newRuns(o Options, width int) (*runs, error) {
	if err := checkMem(o); err != nil {
		return nil, err
	}
	return &runs{o: o, width: width}, nil
}

func (r *runs) count() int { return len(r.paths) }

// join takes the files of q, which still removes them, and its memory.
func (r *runs) join(q *runs) {
	r.paths, r.o.Mem = append(r.paths, q.paths...), r.o.Mem+q.o.Mem
}

// write writes entries to a run.
func (r *runs) write(list []Entry) error {
	w, err := r.create()
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := w.add(e.Key, e.Count); err != nil {
			return w.fail(err)
		}
	}
	return w.finish()
}

// writeKeys writes keys to a run.
func (r *runs) writeKeys(list []uint64) error {
	w, err := r.create()
	if err != nil {
		return err
	}
	for _, k := range list {
		if err := w.add(k, 1); err != nil {
			return w.fail(err)
		}
	}
	return w.finish()
}

// close removes the files.
func (r *runs) close() error {
	if r.own == "" {
		return nil
	}
	if err := os.RemoveAll(r.own); err != nil {
		return fmt.Errorf("agg: %w", err)
	}
	return nil
}

// writer writes a run.
type writer struct {
	of   *runs
	f    *os.File
	w    *bufio.Writer
	sum  uint64
	room [16]byte
}

// create begins a run.
func (r *runs) create() (*writer, error) {
	if r.o.Scratch == "" {
		return nil, fmt.Errorf("agg: %w", &run.RoomError{Need: r.o.Mem + 1, More: true})
	}
	if r.own == "" {
		own, err := os.MkdirTemp(r.o.Scratch, "sagann-runs-")
		if err != nil {
			return nil, fmt.Errorf("agg: %w", err)
		}
		r.own = own
	}
	r.written++
	f, err := os.Create(filepath.Join(r.own, fmt.Sprintf("run-%d", r.written)))
	if err != nil {
		return nil, fmt.Errorf("agg: %w", err)
	}
	w := &writer{of: r, f: f, w: bufio.NewWriterSize(f, 1<<16)}
	_, err = fmt.Fprintf(w.w, heading, r.width)
	if err != nil {
		return nil, w.fail(err)
	}
	return w, nil
}

// add writes a record.
func (w *writer) add(key, count uint64) error {
	b := w.room[:w.of.width]
	binary.LittleEndian.PutUint64(b, key)
	if len(b) > 8 {
		binary.LittleEndian.PutUint64(b[8:], count)
	}
	w.sum = crc64.Update(w.sum, table, b)
	_, err := w.w.Write(b)
	return err
}

// fail removes the file.
func (w *writer) fail(err error) error {
	return fmt.Errorf("agg: %w", errors.Join(err, w.f.Close(), os.Remove(w.f.Name())))
}

// finish ends the run.
func (w *writer) finish() error {
	binary.LittleEndian.PutUint64(w.room[:8], w.sum)
	_, err := w.w.Write(w.room[:8])
	if err = errors.Join(err, w.w.Flush()); err != nil {
		return w.fail(err)
	}
	info, err := w.f.Stat()
	if err != nil {
		return w.fail(err)
	}
	if err := w.f.Close(); err != nil {
		return fmt.Errorf("agg: %w", errors.Join(err, os.Remove(w.f.Name())))
	}
	w.of.paths, w.of.bytes = append(w.of.paths, w.f.Name()), w.of.bytes+info.Size()
	return nil
}

// reader reads a run.
type reader struct {
	path  string
	f     *os.File
	r     *bufio.Reader
	left  int64 // records
	width int
	sum   uint64
	room  [16]byte
}

// open opens a run for reading with a buffer of so many bytes.
func (r *runs) open(path string, buffer int) (*reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("agg: %w", err)
	}
	d := &reader{path: path, f: f, r: bufio.NewReaderSize(f, buffer), width: r.width}
	head := fmt.Sprintf(heading, r.width)
	got := make([]byte, len(head))
	_, err = io.ReadFull(d.r, got)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // it is too short
	}
	info, serr := f.Stat()
	if err = errors.Join(err, serr); err == nil {
		n := info.Size() - int64(len(head)) - 8
		d.left = n / int64(r.width)
		if string(got) != head || n < 0 || n%int64(r.width) != 0 {
			err = errors.New("not a run, or a torn one; count anew")
		}
	}
	if err != nil {
		return nil, errors.Join(d.wrong(err), f.Close())
	}
	return d, nil
}

func (d *reader) wrong(err error) error { return fmt.Errorf("agg: %s: %w", d.path, err) }

func (d *reader) close() error {
	if err := d.f.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return fmt.Errorf("agg: %w", err)
	}
	return nil
}

// next reads a record. At the end it compares the checksum.
func (d *reader) next() (e Entry, ok bool, err error) {
	if d.left == 0 {
		_, err := io.ReadFull(d.r, d.room[:8])
		if err == nil && binary.LittleEndian.Uint64(d.room[:8]) != d.sum {
			err = errors.New("the checksum is wrong; count anew")
		}
		if err != nil {
			err = d.wrong(err)
		}
		return e, false, errors.Join(err, d.close())
	}
	b := d.room[:d.width]
	if _, err := io.ReadFull(d.r, b); err != nil {
		return e, false, errors.Join(d.wrong(err), d.close())
	}
	d.left--
	d.sum = crc64.Update(d.sum, table, b)
	e = Entry{binary.LittleEndian.Uint64(b), 1}
	if d.width > 8 {
		e.Count = binary.LittleEndian.Uint64(b[8:])
	}
	return e, true, nil
}
