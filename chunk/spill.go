package chunk

import (
	"fmt"
	"os"
)

// spill sorts edges into cells in bounded memory (an external sort). Edges are collected as records
// of equal length. When the buffer is full, it is sorted by cell, stably, and written to a
// file as a run. The last run stays in memory. Each run has the edges of a cell as one piece, so merging
// the runs is concatenating the pieces.
type spill struct {
	words int // 4-byte values of a record
	cap   int // records that the buffer holds
	dir   string

	cell   []uint16 // of each record in buf
	buf    []uint32
	sorted []uint32
	last   []int64 // of the run in memory: as run.start
	file   *os.File
	named  bool // the file still has a name, and must be removed
	off    int64
	runs   []run
	total  []int64 // number of records of each cell so far
}

// run is a sorted buffer in the file: cell c is records start[c]..start[c+1]-1.
type run struct {
	off   int64
	start []int64
}

// newSpill makes a spill of cells cells that uses about memory bytes, but at
// least one record's.
func newSpill(cells, words int, memory int64, dir string) *spill {
	record := int64(2*4*words + 2) // buffer, sorted copy, cell
	return &spill{words: words, cap: int(max(1, memory/record)), dir: dir, total: make([]int64, cells)}
}

// room makes room for a record of cell c, of which the caller then appends the
// words to buf.
func (s *spill) room(c int) error {
	if len(s.cell) >= s.cap {
		if err := s.flush(); err != nil {
			return err
		}
	}
	if n := len(s.cell); n == cap(s.cell) { // double, but never beyond cap
		n = min(max(2*n, 1024), s.cap)
		s.cell = append(make([]uint16, 0, n), s.cell...)
		s.buf = append(make([]uint32, 0, n*s.words), s.buf...)
	}
	s.cell = append(s.cell, uint16(c))
	return nil
}

// sortRun sorts the buffer by cell and returns where each cell starts.
func (s *spill) sortRun() []int64 {
	start := make([]int64, len(s.total)+1)
	for _, c := range s.cell {
		start[c+1]++
		s.total[c]++
	}
	for c := range s.total {
		start[c+1] += start[c]
	}
	next := append([]int64(nil), start...)
	if cap(s.sorted) < len(s.buf) {
		s.sorted = make([]uint32, len(s.buf), cap(s.buf))
	}
	s.sorted = s.sorted[:len(s.buf)]
	w := s.words
	for k, c := range s.cell {
		n := int(next[c])
		next[c]++
		copy(s.sorted[n*w:(n+1)*w], s.buf[k*w:])
	}
	s.cell, s.buf = s.cell[:0], s.buf[:0]
	return start
}

// flush writes the buffer as a run. The file is made for the first run. Its name is removed at once, if
// the system allows that, so that nothing is left if the process is killed.
func (s *spill) flush() error {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, ".spill-*")
		if err != nil {
			return err
		}
		s.file = f
		s.named = os.Remove(f.Name()) != nil
	}
	start := s.sortRun()
	if _, err := s.file.WriteAt(bytesOf(s.sorted), s.off); err != nil {
		return fmt.Errorf("spilling edges: %w", err)
	}
	s.runs = append(s.runs, run{s.off, start})
	s.off += int64(4 * len(s.sorted))
	return nil
}

// finish sorts what is left in memory. After it, each may be called.
func (s *spill) finish() { s.last = s.sortRun() }

// each calls f with the records of a cell in the order in which they came, at
// most len(scratch)/words of them at a time. scratch holds a record at least.
func (s *spill) each(cell int, scratch []uint32, f func(records []uint32)) error {
	per := int64(len(scratch) / s.words)
	for _, r := range s.runs {
		for lo, hi := r.start[cell], r.start[cell+1]; lo < hi; lo += per {
			b := scratch[:min(per, hi-lo)*int64(s.words)]
			if _, err := s.file.ReadAt(bytesOf(b), r.off+4*lo*int64(s.words)); err != nil {
				return fmt.Errorf("reading spilled edges: %w", err)
			}
			f(b)
		}
	}
	w := int64(s.words)
	if lo, hi := s.last[cell], s.last[cell+1]; lo < hi {
		f(s.sorted[lo*w : hi*w])
	}
	return nil
}

// close frees the file.
func (s *spill) close() {
	if s.file != nil {
		s.file.Close()
		if s.named {
			os.Remove(s.file.Name())
		}
	}
}
