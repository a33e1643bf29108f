package cuda

import (
	"errors"

	"sagann/device"
	"sagann/device/launch"
	"sagann/mine/table"
)

// growAhead is words of stored rows (table.PackedWords) that are copied while those before are worked on. Two buffers take turns.
type growAhead struct {
	words       [2]device.Mem
	turn        int
	at, n       int64 // which they are; n is 0 if there are none
	ready, free device.Event
	end         []int64 // of the piece, by size less one
	guess       int64   // words of the first batch of a group
}

// fetchPacked brings the words of a batch of stored rows, has the bits be of them, and begins to copy those of the batch after it.
func (l *growLane) fetchPacked(b *grownBatch) error {
	a, size, there, s := &l.ahead, b.size+1, int64(0), &l.size[b.size]
	if a.n > 0 && a.at == l.at[size] {
		there = min(a.n, b.words)
		if err := l.GPU.Wait(l.Queue, a.ready); err != nil {
			return err
		}
	} else { // what was copied ahead may still come to the other buffer
		a.turn ^= 1
	}
	to := a.words[a.turn]
	if a.n = 0; there < b.words {
		if err := l.load(l.Queue, to.Slice(4*there, 4*(b.words-there)), size, false, l.at[size]+there, b.words-there); err != nil {
			return err
		}
	}
	l.at[size] += b.words
	n := b.end - b.begin
	err := l.Launch(launch.Call{Source: sums(), Name: "saga_grow_open", Grid: l.grid(32*n, growBlock), Block: growBlock, Args: launch.Args{"packed": to, "need": s.need.Slice(4*b.begin, 4*n), "kept": s.kept.Slice(4*b.begin, 4*n), "n": uint64(n),
		"place": s.place.Slice(8*b.begin, 8*(n+1)), "from": s.packs.Slice(8*b.begin, 8*(n+1)), "bits": l.bits}})
	if err != nil {
		return err
	}
	return l.fetchAhead(size, b.next)
}

// errFile says that what comes next lies in the file.
var errFile = errors.New("in the file")

// fetchAhead begins to copy what comes next of a size: n words; 0: it is not known how many. What lies in the file is not read ahead.
func (l *growLane) fetchAhead(size int, n int64) error {
	a, t := &l.ahead, l.spec.From
	if n == 0 {
		n = min(a.guess, a.end[size-1]-l.at[size])
	}
	if n <= 0 {
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
	// The buffer has words of rows before: what reads them has been submitted.
	if err = errors.Join(err, l.GPU.Record(l.Queue, a.free), l.GPU.Wait(l.side, a.free)); err != nil {
		return err
	}
	a.turn ^= 1
	if err := l.load(l.side, a.words[a.turn], size, false, l.at[size], n); err != nil {
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
				if err := l.loadFile(q, to, 4*at, p, 4*skip, 4*n); err != nil {
					return err
				}
			} else if err := l.GPU.CopyH2D(q, to, 4*at, device.Bytes(p.Words)[4*skip:4*(skip+n)]); err != nil {
				return err
			}
		}
		at += n
		return nil
	})
}

// loadFile copies bytes of a page of the file, from one on, to a place: one half of the stage is read while the other is copied.
func (l *growLane) loadFile(q device.Queue, to device.Mem, at int64, p *table.Page, skip, n int64) error {
	for n > 0 {
		half, err := l.host.next(l.GPU)
		if err != nil {
			return err
		}
		part := device.Bytes(half.words)
		part = part[:min(n, int64(len(part)))]
		if err := l.spec.From.ReadFile(p, part, skip); err != nil {
			return err
		}
		half.reads = true
		if err := errors.Join(l.GPU.CopyH2D(q, to, at, part), l.GPU.Record(q, half.copied)); err != nil {
			return err
		}
		k := int64(len(part))
		at, skip, n = at+k, skip+k, n-k
	}
	return nil
}
