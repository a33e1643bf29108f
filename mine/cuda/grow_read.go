package cuda

import (
	"errors"

	"sagann/device"
	"sagann/mine/table"
)

// growAhead is last edges or vertices of stored rows that are copied to other slots while those before are worked on.
type growAhead struct {
	slots       device.Mem
	at, n       int64 // which they are; n is 0 if there are none
	ready, free device.Event
}

// fetch brings the last edges or vertices of the next n stored rows of a size to the slots.
func (l *growLane) fetch(size int, n int64) error {
	a := &l.ahead
	if size != l.from || a.n < n || a.at != l.at[size] {
		return l.load(l.Queue, l.slots, size, false, l.at[size], n)
	}
	l.slots, a.slots, a.n = a.slots, l.slots, 0
	return l.GPU.Wait(l.Queue, a.ready)
}

// errFile says that what comes next lies in the file.
var errFile = errors.New("in the file")

// fetchAhead begins to copy what comes next of a size. What lies in the file is not read ahead.
func (l *growLane) fetchAhead(size int) error {
	a, t := &l.ahead, l.spec.From
	n := min(l.room.slots, t.Piece(t.Pieces())[size-1]-l.at[size])
	if size != l.from || n <= 0 {
		return nil
	}
	err := t.Pages(size, false, l.at[size], n, func(p *table.Page, _, _ int64) error {
		if p.Words == nil && p.Other == nil {
			return errFile
		}
		return nil
	})
	if errors.Is(err, errFile) {
		return nil
	}
	// The slots were those of the rows before: what reads them has been submitted.
	if err = errors.Join(err, l.GPU.Record(l.Queue, a.free), l.GPU.Wait(l.side, a.free)); err != nil {
		return err
	}
	if err := l.load(l.side, a.slots, size, false, l.at[size], n); err != nil {
		return err
	}
	a.at, a.n = l.at[size], n
	return l.GPU.Record(l.side, a.ready)
}

// load copies n numbers of a column of stored rows from one on.
func (l *growLane) load(q device.Queue, to device.Mem, size int, counts bool, from, n int64) error {
	at := int64(0)
	return l.spec.From.Pages(size, counts, from, n, func(p *table.Page, skip, n int64) error {
		switch x := p.Other.(type) {
		case *cardPage:
			if err := l.GPU.CopyD2D(q, to, 4*at, x.gpu, x.mem, 4*skip, 4*n); err != nil {
				return err
			}
		default:
			if p.Words == nil {
				return l.loadFile(to, &at, p, skip, n)
			}
			if err := l.GPU.CopyH2D(q, to, 4*at, device.Bytes(p.Words[skip:skip+n])); err != nil {
				return err
			}
		}
		at += n
		return nil
	})
}

// loadFile copies a part of a page of the file to a place.
func (l *growLane) loadFile(to device.Mem, at *int64, p *table.Page, skip, n int64) error {
	stage := device.View[uint32](l.pinned.Bytes())
	for n > 0 {
		part := stage[:min(n, int64(len(stage)))]
		if err := l.spec.From.ReadFile(p, part, skip); err != nil {
			return err
		}
		if err := l.GPU.CopyH2D(l.Queue, to, 4**at, device.Bytes(part)); err != nil {
			return err
		}
		if err := l.await(); err != nil { // the next part needs the memory
			return err
		}
		k := int64(len(part))
		*at, skip, n = *at+k, skip+k, n-k
	}
	return nil
}
