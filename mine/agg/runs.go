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
	"strings"

	"sagann/mine/run"
)

// runs are the files of a Counter or Sorter. A file is a heading, records of ascending keys, and a checksum. The name of a
// file that is kept has the number of keys that were added before its end: this says from where to go on. A file
// appears as a whole or not at all. Runs that are made of several are not kept.
type runs struct {
	o       Options
	own     string // the folder of runs that are not kept; "": not made yet
	width   int    // bytes of a record: 8 for a key, 16 with its count
	paths   []string
	done    uint64 // keys in runs
	bytes   int64
	written int // files so far
}

const heading = "sagann run 1, %2d bytes\n"

var table = crc64.MakeTable(crc64.ECMA)

func newRuns(o Options, width int) (*runs, error) {
	if err := checkMem(o); err != nil {
		return nil, err
	}
	r := &runs{o: o, width: width}
	if !o.Keep {
		return r, nil
	}
	if o.Scratch == "" {
		return nil, errors.New("agg: runs are kept in the folder Scratch, which is not given")
	}
	if err := os.MkdirAll(o.Scratch, 0o755); err != nil {
		return nil, fmt.Errorf("agg: %w", err)
	}
	list, err := os.ReadDir(o.Scratch) // by name
	if err != nil {
		return nil, fmt.Errorf("agg: %w", err)
	}
	for _, e := range list {
		path := filepath.Join(o.Scratch, e.Name())
		if strings.HasPrefix(e.Name(), ownPrefix) || strings.HasPrefix(e.Name(), newPrefix) { // of a process that was killed
			if err := os.RemoveAll(path); err != nil {
				return nil, fmt.Errorf("agg: %w", err)
			}
			continue
		}
		if !strings.HasPrefix(e.Name(), "run-") {
			continue
		}
		r.paths = append(r.paths, path)
		f, err := r.open(path, 1<<12)
		if err != nil {
			return nil, err
		}
		if err := f.close(); err != nil {
			return nil, err
		}
		if _, err := fmt.Sscanf(filepath.Base(path), "run-%020d", &r.done); err != nil {
			return nil, fmt.Errorf("agg: %s: the name is not that of a run", path)
		}
	}
	return r, nil
}

func (r *runs) count() int { return len(r.paths) }

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
	keep bool
	f    *os.File
	w    *bufio.Writer
	sum  uint64
	room [16]byte
}

const (
	ownPrefix = "sagann-runs-"
	newPrefix = ".new-"
)

// create begins a run, which is kept or not.
func (r *runs) create(keep bool) (*writer, error) {
	dir := r.o.Scratch
	if dir == "" {
		return nil, fmt.Errorf("agg: %w", &run.RoomError{Need: r.o.Mem + 1, More: true})
	}
	if !keep {
		if r.own == "" {
			own, err := os.MkdirTemp(dir, ownPrefix)
			if err != nil {
				return nil, fmt.Errorf("agg: %w", err)
			}
			r.own = own
		}
		dir = r.own
	}
	f, err := os.CreateTemp(dir, newPrefix)
	if err != nil {
		return nil, fmt.Errorf("agg: %w", err)
	}
	w := &writer{of: r, keep: keep, f: f, w: bufio.NewWriterSize(f, 1<<16)}
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

// finish ends the run, which has the keys up to number done.
func (w *writer) finish(done uint64) error {
	binary.LittleEndian.PutUint64(w.room[:8], w.sum)
	_, err := w.w.Write(w.room[:8])
	if err = errors.Join(err, w.w.Flush()); err == nil && w.keep {
		err = w.f.Sync()
	}
	if err != nil {
		return w.fail(err)
	}
	info, err := w.f.Stat()
	if err != nil {
		return w.fail(err)
	}
	w.of.written++
	path := filepath.Join(w.of.o.Scratch, fmt.Sprintf("run-%020d", done))
	if !w.keep {
		path = filepath.Join(w.of.own, fmt.Sprintf("run-%d", w.of.written))
	}
	if err := w.f.Close(); err != nil {
		return fmt.Errorf("agg: %w", errors.Join(err, os.Remove(w.f.Name())))
	}
	if err := os.Rename(w.f.Name(), path); err != nil {
		return fmt.Errorf("agg: %w", errors.Join(err, os.Remove(w.f.Name())))
	}
	w.of.paths, w.of.done, w.of.bytes = append(w.of.paths, path), done, w.of.bytes+info.Size()
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
			err = errors.New("not a run, or a torn one; remove the folder, and count anew")
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
			err = errors.New("the checksum is wrong; remove the folder, and count anew")
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
