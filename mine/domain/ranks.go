package domain

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Peers are the ranks that share a search: processes that mine the same graph for the same question.
type Peers interface {
	Ranks() int
	Rank() int
	// Deal gives this rank the next parents of a level, of so many: from up to to; from = parents at the end.
	// Each parent is given to one rank.
	Deal(level, parents int) (from, to int, err error)
	// Gather gives all ranks what each has, by rank. All call it. An error of one rank is one of all.
	Gather(what string, own []byte, failed error) ([][]byte, error)
}

// exchanged is how many bytes of patterns and domains a rank sends at a time. Tests change it.
var exchanged = 256 << 10

// ExchangeBytes is the memory for what so many ranks send each other.
func ExchangeBytes(ranks int) int64 { return int64(exchanged+2*streamBytes) * int64(ranks+1) }

// exchange gives all ranks what each has found of a level. err is why this rank has found nothing.
func (d *dealer) exchange(ctx context.Context, err error) error {
	if err := d.agree(cmp.Or(err, ctx.Err())); err != nil || d.budget.over {
		return err
	}
	d.fit()
	p, own := d.budget.q.Peers, d.found
	in := make([]incoming, p.Ranks())
	var reading sync.WaitGroup
	for r := range in {
		if r != p.Rank() {
			in[r].from, in[r].to = io.Pipe()
			reading.Go(func() { in[r].read(d) })
		}
	}
	out, pack := io.Pipe()
	reading.Go(func() { _ = pack.CloseWithError(encode(pack, own)) })
	err = d.send(ctx, out, in)
	for _, x := range in {
		if x.to != nil {
			_ = x.to.CloseWithError(cmp.Or(err, io.EOF)) // it has no errors
		}
	}
	_ = out.CloseWithError(errTorn)
	reading.Wait()
	if err != nil {
		return err
	}
	for r := range in {
		if err == nil && in[r].err != nil {
			err = fmt.Errorf("mine: rank %d: %w", r, in[r].err)
		}
	}
	_, err = p.Gather("whether patterns have come", nil, err)
	return err
}

// agree adds up what all ranks have found. Memory that one lacks is lacking for all.
func (d *dealer) agree(failed error) error {
	b := d.budget
	const over = 1
	state := binary.LittleEndian.AppendUint64(nil, uint64(b.need-b.base))
	state = append(binary.LittleEndian.AppendUint64(state, uint64(b.q.Room)), 0)
	if b.over {
		state[16] |= over
	}
	all, err := b.q.Peers.Gather("what a size of patterns takes", state, failed)
	if err != nil {
		return err
	}
	b.need = b.base
	for _, s := range all {
		if len(s) != 17 {
			return errors.New("mine: a rank sends something else than what it has found")
		}
		b.need += int64(binary.LittleEndian.Uint64(s))
		b.over = b.over || s[16]&over != 0
	}
	least := b.q.Room // each rank has its own, and all must fit
	for _, s := range all {
		if room := int64(binary.LittleEndian.Uint64(s[8:])); room > 0 {
			b.over = b.over || b.need > room
			least = min(least, room)
		}
	}
	if b.over {
		b.need += max(b.q.Room-least, 0) // a rank with less would fit then, too
	}
	return nil
}

// fit makes room for the patterns of all ranks: the domains from which the level grew are not needed any more, and of its own a rank keeps
// what fits.
func (d *dealer) fit() {
	b := d.budget
	if b.q.Room == 0 {
		return
	}
	if !b.q.Domains {
		b.drop()
	}
	b.left = b.q.Room - b.need // with all domains if they are wanted
	for i := range d.found {
		if f := &d.found[i]; !d.fits(f.Bytes()) {
			f.Domains = nil
		}
	}
}

// fits takes room for a domain, if there is any. Fewer than no bytes are given back.
func (d *dealer) fits(bytes int64) bool {
	b := d.budget
	switch {
	case b.q.Room == 0 || b.q.Domains:
		return true
	case bytes > b.left:
		return false
	}
	b.left -= bytes
	return true
}

// send sends what own reads to all ranks, piece by piece, and writes what comes from them.
func (d *dealer) send(ctx context.Context, own io.Reader, in []incoming) error {
	piece := make([]byte, 1+exchanged)
	for more := true; more; {
		n, err := io.ReadFull(own, piece[1:])
		piece[0] = 1
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			piece[0], err = 0, nil
		}
		all, err := d.budget.q.Peers.Gather("patterns", piece[:1+n], cmp.Or(err, ctx.Err()))
		if err != nil {
			return err
		}
		more = false
		for r, b := range all {
			if len(b) == 0 || len(b) > len(piece) {
				return fmt.Errorf("mine: rank %d: %w", r, errTorn)
			}
			more = more || b[0] == 1
			if in[r].to != nil && len(b) > 1 {
				_, _ = in[r].to.Write(b[1:]) // what reads it knows what is wrong
			}
		}
	}
	return nil
}

// incoming is the patterns of another rank while they come.
type incoming struct {
	from *io.PipeReader
	to   *io.PipeWriter
	err  error
}

// read adds the patterns to those of this rank. Domains for which there is no room are not kept.
func (x *incoming) read(d *dealer) {
	x.err = decode(x.from, d.words, func(bytes int64) bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.fits(bytes)
	}, func(f dealt) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.found = append(d.found, f)
	})
	_ = x.from.CloseWithError(cmp.Or(x.err, errTorn))
}

// sorted is what was found, in the order of the level.
func (d *dealer) sorted() []Found {
	type place struct{ parent, child, at int32 } // small, as sorting moves them
	order := make([]place, len(d.found))
	for i := range d.found {
		order[i] = place{int32(d.found[i].parent), int32(d.found[i].child), int32(i)}
	}
	slices.SortFunc(order, func(a, b place) int { return cmp.Or(cmp.Compare(a.parent, b.parent), cmp.Compare(a.child, b.child)) })
	next := make([]Found, len(order))
	for i, x := range order {
		next[i] = d.found[x.at].Found
	}
	return next
}
