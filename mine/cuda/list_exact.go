package cuda

import (
	"context"
	"errors"

	"sagann/device"
)

// exact prepares listing without a pool of blocks: a first kernel counts the matches of each task,
// and the counts give each row its place.
func (l *lister) exact(count string) {
	tally := l.k
	tally.source, tally.args = count, append(append([]any(nil), l.k.args...), l.done, uint64(0))
	l.tally = &tally
	l.k.args = append(l.k.args, l.pool, uint64(0), l.done, uint64(0), uint64(0))
}

// launchExact is launch without a pool. If not even the rows of the first task fit, it lists the first
// of them.
func (l *lister) launchExact(ctx context.Context, lo, hi int, skip uint64) piece {
	first := *l.tally
	first.args = append([]any(nil), first.args...)
	first.args[argLo], first.args[argHi], first.args[len(first.args)-1] = uint64(lo), uint64(hi), uint64(lo)
	first.clear = []device.Mem{l.state}
	if err := l.c.launch([]call{first}); err != nil {
		return piece{err: err}
	}
	counts := make([]uint64, hi-lo)
	err := l.wait(ctx, func(_ int, c *card) error {
		err := c.gpu.Sync()
		if err == nil {
			err = c.gpu.CopyD2H(c.queue, bytesOf(counts), l.done, 0)
		}
		return errors.Join(err, c.gpu.Sync())
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
	k.args = append([]any(nil), l.k.args...)
	n := len(k.args)
	k.args[argLo], k.args[argHi] = uint64(lo), uint64(lo+len(start))
	k.args[n-4], k.args[n-2], k.args[n-1] = rows, uint64(lo), skip
	k.clear = []device.Mem{l.state}
	if err := l.c.gpu.CopyH2D(l.c.queue, l.done, 0, bytesOf(start)); err != nil {
		return err
	}
	if err := l.c.launch([]call{k}); err != nil {
		return err
	}
	return l.wait(ctx, func(_ int, c *card) error { return c.gpu.Sync() })
}
