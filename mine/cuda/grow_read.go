package cuda

import (
	"errors"

	"sagann/device"
	"sagann/device/launch"
	"sagann/mine/table"
)

// growAhead is last edges or vertices of stored rows that are copied to other slots while those before are worked on. Numbers of two bytes are made words of before that, and the slots
// are halves, which take turns.
type growAhead struct {
	slots       device.Mem
	turn        int64 // the half that was copied to last
	at, n       int64 // which they are; n is 0 if there are none
	ready, free device.Event
	end         []int64 // of the piece, by size less one
	guess       int64   // numbers of the first batch of a group
}

// fetch brings the last edges or vertices of the next n stored rows of a size to the slots.
func (l *growLane) fetch(size int, n int64) error {
	a := &l.ahead
	bytes, there := l.spec.From.NumberBytes(size, false), int64(0)
	narrow := size == l.from && bytes == 2
	if size == l.from && a.n > 0 && a.at == l.at[size] {
		there = min(a.n, n)
		if err := l.GPU.Wait(l.Queue, a.ready); err != nil {
			return err
		}
		if !narrow {
			l.slots, a.slots = a.slots, l.slots
		}
	} else if narrow { // what was copied ahead may still come to the other half
		a.turn ^= 1
	}
	to := l.slots
	if a.n = 0; narrow {
		to = a.half(a.turn)
	}
	if there < n {
		if err := l.load(l.Queue, to.Slice(bytes*there, bytes*(n-there)), size, false, l.at[size]+there, n-there); err != nil {
			return err
		}
	}
	if !narrow {
		return nil
	}
	return l.widen(size, to, n)
}

// half is a half of the slots.
func (a *growAhead) half(turn int64) device.Mem {
	bytes := a.slots.Len() / 2
	return a.slots.Slice(turn*bytes, bytes)
}

// widen makes n numbers of two bytes the slots, unless what counts whole rows reads them as they are.
func (l *growLane) widen(size int, from device.Mem, n int64) error {
	if l.by != nil && size == l.spec.Size && !l.filtered(size) {
		l.halves = from
		return nil
	}
	return l.Launch(launch.Call{Source: sums(), Name: "saga_grow_widen", Grid: l.grid(n, growBlock), Block: growBlock, Args: launch.Args{"from": from, "n": uint64(n), "to": l.slots}})
}

// errFile says that what comes next lies in the file.
var errFile = errors.New("in the file")

// fetchAhead begins to copy what comes next of a size: n numbers; 0: it is not known how many. What lies in the file is not read ahead.
func (l *growLane) fetchAhead(size int, n int64) error {
	a, t := &l.ahead, l.spec.From
	if n == 0 {
		n = min(a.guess, a.end[size-1]-l.at[size])
	}
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
	to := a.slots
	if t.NumberBytes(size, false) == 2 {
		a.turn ^= 1
		to = a.half(a.turn)
	}
	if err := l.load(l.side, to, size, false, l.at[size], n); err != nil {
		return err
	}
	a.at, a.n = l.at[size], n
	return l.GPU.Record(l.side, a.ready)
}

// load copies n numbers of a column of stored rows from one on.
func (l *growLane) load(q device.Queue, to device.Mem, size int, counts bool, from, n int64) error {
	at, bytes := int64(0), l.spec.From.NumberBytes(size, counts)
	return l.spec.From.Pages(size, counts, from, n, func(p *table.Page, skip, n int64) error {
		switch x := p.Other.(type) {
		case *cardPage:
			if err := l.GPU.CopyD2D(q, to, bytes*at, x.gpu, x.mem, bytes*skip, bytes*n); err != nil {
				return err
			}
		default:
			if p.Words == nil {
				if err := l.loadFile(to, bytes*at, p, bytes*skip, bytes*n); err != nil {
					return err
				}
			} else if err := l.GPU.CopyH2D(q, to, bytes*at, device.Bytes(p.Words)[bytes*skip:bytes*(skip+n)]); err != nil {
				return err
			}
		}
		at += n
		return nil
	})
}

// loadFile copies bytes of a page of the file, from one on, to a place.
func (l *growLane) loadFile(to device.Mem, at int64, p *table.Page, skip, n int64) error {
	stage := l.host.stage
	for n > 0 {
		part := stage[:min(n, int64(len(stage)))]
		if err := l.spec.From.ReadFile(p, part, skip); err != nil {
			return err
		}
		if err := l.GPU.CopyH2D(l.Queue, to, at, part); err != nil {
			return err
		}
		if err := l.await(); err != nil { // the next part needs the memory
			return err
		}
		k := int64(len(part))
		at, skip, n = at+k, skip+k, n-k
	}
	return nil
}
