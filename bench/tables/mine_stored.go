package tables

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/internal/units"
	"sagann/mine"
)

// stored stores the rows of the largest tables with all the memory that they take, a half and a quarter of it, and reads them again.
func (c *Mine) stored() (*sheet, error) {
	s := &sheet{key: "stored", head: table.Row{"edges", "memory", "rows", "columns", "on GPUs", "in a file", "stored, s", "read, s", "processor s", "file alone, s", "÷ the larger", "explained", "explained, s"}}
	scratch, err := os.MkdirTemp(c.Scratch, "saga-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	for edges := 2; edges <= int(c.Edges); edges++ {
		var bytes, sum int64
		whole := 0.0 // seconds of the first row
		for _, part := range []int64{1, 2, 4} {
			opt := mine.Options{Scratch: scratch, Device: c.Device}
			if part > 1 {
				need, err := c.leastStored(edges)
				if err != nil {
					return nil, err
				}
				opt.Mem = need + bytes/part
			}
			g, about, err := c.graph(c.Data, opt)
			if err != nil {
				return nil, err
			}
			s.title = "Stored tables (last level not only counted) on " + about
			t := g.Table(false)
			for range edges - 1 {
				t = t.Extend(nil)
			}
			before, err := t.Explain(c.ctx)
			if err != nil {
				return nil, err
			}
			var stored *mine.StoredTable
			wall, processor, err := clocked(func() (err error) { stored, err = t.Store(c.ctx); return err })
			if err != nil {
				return nil, err
			}
			got := int64(0)
			again, more, err := clocked(func() error { got, err = c.readStored(stored); return err })
			all, spilled := stored.Bytes()
			rows, at := stored.Rows(), stored.At()
			if err = errors.Join(err, stored.Close(), g.Close()); err != nil {
				return nil, err
			}
			if part == 1 {
				bytes, sum, whole = all, got, wall+again
			} else if got != sum {
				return nil, fmt.Errorf("a table of %d edges with 1/%d of the memory has other rows", edges, part)
			}
			disk, err := c.disk(scratch, spilled)
			if err != nil {
				return nil, err
			}
			ratio := (wall + again) / max(whole, disk)
			s.add(table.Row{edges, fmt.Sprintf("1/%d", part), rows, units.Size(all), units.Size(at.GPUs), units.Size(spilled), fmt.Sprintf("%.3g", wall), fmt.Sprintf("%.3g", again), fmt.Sprintf("%.3g", processor+more), fmt.Sprintf("%.3g", disk), fmt.Sprintf("%.2f", ratio), units.Size(int64(before.Bytes)), fmt.Sprintf("%.3g", before.Seconds)},
				fields{{"edges", edges}, {"part", 1 / float64(part)}, {"rows", rows}, {"bytes", all}, {"on_gpus", at.GPUs}, {"spilled", spilled}, {"store_seconds", wall}, {"read_seconds", again}, {"processor_seconds", processor + more}, {"file_seconds", disk}, {"ratio", ratio}, {"explained", before}})
		}
	}
	s.notes = []string{"File alone: the bytes that are in the file written to another file and read again. ÷ the larger: storing and reading over the larger of that and of the same with all memory. GAMMA keeps its tables in host memory, up to 310 GB.", "Explained: the columns, and the seconds of one thread, or of the GPUs without compiling, without the file, as Table.Explain says them before."}
	return s, nil
}

// leastStored is the memory beside the columns for rows of so many edges.
func (c *Mine) leastStored(edges int) (least int64, err error) {
	small := &mine.BudgetError{Smallest: 1}
	for least < small.Smallest { // first of the graph, then of the table
		least = small.Smallest
		g, _, err := c.graph(c.Data, mine.Options{Mem: least, Device: c.Device})
		if err == nil {
			t := g.Table(false)
			for range edges - 1 {
				t = t.Extend(nil)
			}
			if err = c.fits(t); err == nil {
				return least, g.Close()
			}
			err = errors.Join(err, g.Close())
		}
		if !errors.As(err, &small) {
			return 0, err
		}
		if small.AtLeast {
			return small.Smallest, nil
		}
	}
	return least, nil
}

// fits is an error if the table cannot be stored in the memory of its graph. On GPUs, whose smallest memory takes long for many rows, nothing is stored.
func (c *Mine) fits(t *mine.Table) error {
	if c.Device != "" {
		_, err := t.Explain(c.ctx)
		return err
	}
	stored, err := t.Store(c.ctx)
	if err != nil {
		return err
	}
	return stored.Close()
}

// readStored reads all rows and returns a checksum; on GPUs of how many rows have each sum of degrees.
func (c *Mine) readStored(stored *mine.StoredTable) (sum int64, err error) {
	if c.Device != "" {
		key := func(m mine.Match) mine.Int { return m.Degree(0).Plus(m.Degree(m.Vertices() - 1)) }
		for x, err := range stored.Table().Counts(c.ctx, key) {
			if err != nil {
				return 0, err
			}
			sum = sum*31 + x.Key*x.Rows
		}
		return sum, nil
	}
	for row, err := range stored.Table().Rows(c.ctx) {
		if err != nil {
			return 0, err
		}
		for _, v := range row {
			sum = sum*31 + int64(v)
		}
	}
	return sum, nil
}

// disk is the seconds for which so many bytes are written to a file and read again.
func (c *Mine) disk(dir string, bytes int64) (seconds float64, err error) {
	if bytes == 0 {
		return 0, nil
	}
	f, err := os.CreateTemp(dir, "alone-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	piece, start := make([]byte, 1<<16), time.Now()
	for at := int64(0); at < bytes; at += int64(len(piece)) {
		if _, err := f.WriteAt(piece, at); err != nil {
			return 0, err
		}
	}
	for at := int64(0); at < bytes; at += int64(len(piece)) {
		if _, err := f.ReadAt(piece, at); err != nil {
			return 0, err
		}
	}
	return time.Since(start).Seconds(), c.ctx.Err()
}
