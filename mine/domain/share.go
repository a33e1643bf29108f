package domain

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"sagann/mine/pattern"
	"sagann/mine/run"
)

// Together is err, or that of another rank. Memory that one lacks is lacking for all: the error is a *run.RoomError then. room is the bytes that this rank
// has, 0: no bound.
func Together(p Peers, what string, room int64, err error) error {
	var small *run.RoomError
	need := int64(0)
	if errors.As(err, &small) {
		need, err = max(small.Need, 1), nil
	}
	own := binary.LittleEndian.AppendUint64(nil, uint64(need))
	all, err := p.Gather(what, binary.LittleEndian.AppendUint64(own, uint64(room)), err)
	if err != nil {
		return err
	}
	least := room
	for _, s := range all {
		if len(s) != 16 {
			return fmt.Errorf("mine: %s: a rank sends something else than what it lacks", what)
		}
		need = max(need, int64(binary.LittleEndian.Uint64(s)))
		if other := int64(binary.LittleEndian.Uint64(s[8:])); other > 0 {
			least = min(least, other)
		}
	}
	if need > 0 {
		return &run.RoomError{Need: need + max(room-least, 0), More: true} // a rank with less would fit then, too
	}
	return nil
}

// Share gives all ranks the counts of each, piece by piece: add gets those of the others. failed is why this rank has none.
func Share(p Peers, what string, own iter.Seq2[pattern.Pattern, run.Total], failed error, add func(p pattern.Pattern, n run.Total)) error {
	next, stop := iter.Pull2(own)
	defer stop()
	var piece bytes.Buffer
	w := writer{b: bufio.NewWriterSize(&piece, streamBytes)}
	var torn error
	for more := true; more; {
		piece.Reset()
		piece.WriteByte(0)
		for ok := failed == nil; ok && piece.Len() < exchanged; {
			var of pattern.Pattern
			var n run.Total
			if of, n, ok = next(); ok {
				w.shape(of)
				w.u64(n.Lo)
				w.u64(n.Hi)
				failed = errors.Join(w.err, w.b.Flush())
			}
		}
		if piece.Len() >= exchanged {
			piece.Bytes()[0] = 1 // there is more
		}
		all, err := p.Gather(what, piece.Bytes(), failed)
		if err != nil {
			return err
		}
		more = false
		for rank, b := range all {
			if len(b) == 0 {
				b, torn = []byte{0}, fmt.Errorf("mine: rank %d: %w", rank, errTorn)
			}
			more = more || b[0] == 1
			if rank != p.Rank() && torn == nil {
				if err := readCounts(b[1:], add); err != nil {
					torn = fmt.Errorf("mine: rank %d: %w", rank, err)
				}
			}
		}
	}
	_, err := p.Gather("whether counts have come", nil, torn)
	return err
}

// readCounts calls add with the counts of a piece.
func readCounts(piece []byte, add func(p pattern.Pattern, n run.Total)) error {
	r := &reader{b: bufio.NewReaderSize(bytes.NewReader(piece), streamBytes)}
	for {
		if _, err := r.b.Peek(1); err == io.EOF {
			return nil
		}
		of, err := r.shape()
		n := run.Total{Lo: r.u64(), Hi: r.u64()}
		if err != nil || r.err != nil {
			return errTorn
		}
		add(of, n)
	}
}

// together is as Together has it.
func (c *census) together(what string, err error) error {
	if c.peers == nil {
		return err
	}
	return Together(c.peers, what, c.meter.Room(), err)
}

// dealtArcs is the level of Peers.Deal for the arcs of a census.
const dealtArcs = 0

// deal has workers do work for 0 to n-1, of several ranks each a part of them.
func (c *census) deal(ctx context.Context, n, workers int, work func(i int)) (err error) {
	if c.peers == nil {
		each(ctx, n, workers, work)
		return nil
	}
	var mu sync.Mutex
	next, end, over := 0, 0, false
	take := func() (i int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == end && !over {
			next, end, err = c.peers.Deal(dealtArcs, n)
			over = next == end || err != nil
		}
		if over {
			return 0, false
		}
		next++
		return next - 1, true
	}
	each(ctx, workers, workers, func(int) {
		for i, ok := take(); ok && ctx.Err() == nil; i, ok = take() {
			work(i)
		}
	})
	return err
}

// others counts all but edges and triangles.
func (c *census) others(ctx context.Context, three bool, workers int) error {
	var all []*arc
	for _, l := range c.byLabel {
		all = append(all, l...)
	}
	slices.SortStableFunc(all, func(a, b *arc) int { return cmp.Compare(len(b.col), len(a.col)) })
	pool := sync.Pool{New: func() any { return &counter{sums: newSums(len(c.types), c.meter), far: make([]uint64, len(c.types))} }}
	before := len(c.out)
	err := c.deal(ctx, len(all), workers, func(i int) {
		p := pool.Get().(*counter)
		defer pool.Put(p)
		c.stars(p, all[i], three)
		if key := all[i].key; three && c.vertices > 3 && key.from <= key.to {
			c.paths(p, all[i])
		}
	})
	if c.peers == nil {
		return err
	}
	if err := c.together("a part of a census", cmp.Or(err, ctx.Err(), c.meter.Err())); err != nil {
		return err
	}
	own := c.out[before:len(c.out):len(c.out)]
	return Share(c.peers, "a census", func(yield func(pattern.Pattern, run.Total) bool) {
		for _, x := range own {
			if !yield(x.Pattern, x.Instances) {
				return
			}
		}
	}, nil, c.report)
}
