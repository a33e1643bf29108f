package cuda

import (
	"context"
	"errors"

	"sagann/device"
	"sagann/device/launch"
)

// exact prepares listing without a pool of blocks: a first kernel counts the matches of each task,
// and the counts give each row its place.
func (l *lister) exact(count string) {
	tally := l.k
	tally.Source, tally.Args = count, l.k.Args.With(launch.Args{"tally": l.done})
	l.tally = &tally
	l.k.Args = l.k.Args.With(launch.Args{"pool": l.pool, "start": l.done})
}

// launchExact is launch without a pool. If not even the rows of the first task fit, it lists the first
// of them.
func (l *lister) launchExact(ctx context.Context, lo, hi int, skip uint64) piece {
	first := *l.tally
	first.Args = first.Args.With(launch.Args{"lo": uint64(lo), "hi": uint64(hi), "base": uint64(lo)})
	first.Clear = []device.Mem{l.state}
	if err := l.c.Launch(first); err != nil {
		return piece{err: err}
	}
	counts := make([]uint64, hi-lo)
	err := l.wait(ctx, func(_ int, c *card) error {
		err := c.GPU.Sync()
		if err == nil {
			err = c.GPU.CopyD2H(c.Queue, device.Bytes(counts), l.done, 0)
		}
		return errors.Join(err, c.GPU.Sync())
	})
	if err != nil {
		return piece{err: err}
	}
	room := uint64(l.blocks * blockBytes / 4 / l.width)
	counts[0] -= skip
	rows, fit := uint64(0), 0
	for fit < len(counts) && rows+counts[fit] <= room {
		counts[fit], rows = rows, rows+counts[fit]
		fit++
	}
	p := piece{whole: lo + fit, used: float64(rows) / float64(room)}
	if fit == 0 {
		counts[0], rows, fit, p.extra = 0, room, 1, room
	}
	if rows == 0 {
		return p
	}
	p.err = l.place(ctx, lo, counts[:fit], skip, rows)
	if p.err == nil {
		var words []uint32
		words, p.err = l.copied(4 * int64(rows) * int64(l.width))
		p.rows = [][]uint32{words}
	}
	return p
}

// place lists the tasks from lo on whose rows begin at start.
func (l *lister) place(ctx context.Context, lo int, start []uint64, skip, rows uint64) error {
	k := l.k
	k.Args = k.Args.With(launch.Args{"lo": uint64(lo), "hi": uint64(lo + len(start)), "rows_room": rows, "base": uint64(lo), "skip": skip})
	k.Clear = []device.Mem{l.state}
	if err := l.c.GPU.CopyH2D(l.c.Queue, l.done, 0, device.Bytes(start)); err != nil {
		return err
	}
	if err := l.c.Launch(k); err != nil {
		return err
	}
	return l.wait(ctx, func(_ int, c *card) error { return c.GPU.Sync() })
}
