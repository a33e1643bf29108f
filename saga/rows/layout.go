package rows

import (
	"fmt"
	"sync/atomic"

	"sagann/chunk"
	"sagann/device"
)

// fill writes the rows of input name that own has to dst, which must have exactly their size: in
// vertex order o (nil: the user's), each padded with zeros. It is one pass on all processors and
// takes at most 4 bytes per vertex in addition to dst.
func (in *Inputs) fill(dst []float32, name string, o *chunk.Order, own Owned) error {
	s, err := in.Source(name)
	if err != nil {
		return err
	}
	cols := in.Width(name)
	ld := chunk.LD(cols)
	if len(dst) != own.rows*ld {
		return fmt.Errorf("saga: input %q laid out has %d numbers, there is room for %d", name, own.rows*ld, len(dst))
	}
	if s.All != nil {
		s.fillAll(dst, cols, ld, o, own)
		return in.ShardErr()
	}
	for _, r := range own.ranges {
		s.fill(dst[r.at*ld:(r.at+r.hi-r.lo)*ld], cols, ld, o, r.lo, r.hi)
	}
	return nil
}

// fillAll has s.All write every row directly to its place in dst, in order o. Rows that own does
// not have are dropped.
func (s *Source) fillAll(dst []float32, cols, ld int, o *chunk.Order, own Owned) {
	s.All(func(from int) []float32 {
		n := from
		if o != nil {
			n = int(o.New[from])
		}
		if n = own.place(n); n < 0 {
			return make([]float32, cols)
		}
		row := dst[n*ld : (n+1)*ld]
		clear(row[cols:])
		return row[:cols]
	})
}

// fill writes rows first to end-1 of order o to dst, which has exactly their size.
func (s *Source) fill(dst []float32, cols, ld int, o *chunk.Order, first, end int) {
	if s.Row == nil && s.One == nil {
		chunk.PermuteRows(dst, s.Rows, cols, ld, o, first, end)
		device.Drop(device.Bytes(s.Rows))
		return
	}
	chunk.Ranges(end-first, func(lo, hi int) {
		for n := lo; n < hi; n++ {
			from := first + n
			if o != nil {
				from = int(o.Old[from])
			}
			if s.One != nil {
				dst[n] = s.One(from)
				continue
			}
			row := dst[n*ld : (n+1)*ld]
			s.Row(from, row[:cols])
			clear(row[cols:])
		}
	})
}

// Layout returns the rows of input name that own has, in vertex order o (nil: the user's), each padded with zeros.
func (in *Inputs) Layout(name string, o *chunk.Order, own Owned) ([]byte, error) {
	out := make([]float32, own.rows*chunk.LD(in.Width(name)))
	if err := in.fill(out, name, o, own); err != nil {
		return nil, err
	}
	return device.Bytes(out), nil
}

// Table returns the rows of all vertices in the user's order, padded. It is the input's own memory where that has no
// padding, unless apart is true; it may then not be written to.
func (in *Inputs) Table(name string, apart bool) ([]byte, error) {
	src, err := in.Source(name)
	if err != nil {
		return nil, err
	}
	if cols := in.Width(name); apart || src.Rows == nil || chunk.LD(cols) != cols {
		return in.Layout(name, nil, All(in.Edges.V))
	}
	return device.Bytes(src.Rows), nil
}

// blockBytes is about how many bytes of a file are laid out at a time.
const blockBytes = 8 << 20

// lateShare: of features that are computed directly into a file, one part in lateShare may be in memory.
const lateShare = 64

// Blocks calls f for consecutive ranges lo to hi-1 that make up rows 0 to v-1. A range has about 8 MiB of rows of ld
// floats.
func Blocks(v, ld int, f func(lo, hi int) error) error {
	step := max(1, blockBytes/(4*max(1, ld)))
	for lo := 0; lo < v; lo += step {
		if err := f(lo, min(v, lo+step)); err != nil {
			return err
		}
	}
	return nil
}

// LayoutFile is Layout into a file of the right size, one block of rows at a time.
func (in *Inputs) LayoutFile(f *device.HostFile, name string, o *chunk.Order, own Owned) error {
	s, err := in.Source(name)
	if err != nil {
		return err
	}
	cols := in.Width(name)
	ld := chunk.LD(cols)
	if s.All != nil {
		s.dropping(f.Bytes(), 4*int64(ld)).fillAll(device.View[float32](f.Bytes()), cols, ld, o, own)
		device.Drop(f.Bytes())
		return in.ShardErr()
	}
	var room []float32
	for _, r := range own.ranges {
		if err := Blocks(r.hi-r.lo, ld, func(lo, hi int) error {
			if cap(room) < (hi-lo)*ld {
				room = make([]float32, (hi-lo)*ld)
			}
			rows := room[:(hi-lo)*ld]
			s.fill(rows, cols, ld, o, r.lo+lo, r.lo+hi)
			_, err := f.WriteAt(device.Bytes(rows), 4*int64(r.at+lo)*int64(ld))
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// dropping is source s, which fills all rows at once, with file b as their memory: it drops b's pages
// from the process regularly. Rows come in no order, so they cannot be written block by block.
func (s Source) dropping(b []byte, rowBytes int64) *Source {
	every := max(blockBytes, int64(len(b))/lateShare)
	var touched atomic.Int64
	return &Source{All: func(row func(v int) []float32) {
		s.All(func(v int) []float32 {
			if touched.Add(rowBytes)%every < rowBytes {
				device.Drop(b)
			}
			return row(v)
		})
	}}
}
