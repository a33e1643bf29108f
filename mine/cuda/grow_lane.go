package cuda

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"sagann/device"
	"sagann/device/launch"
)

// run makes the rows of the pieces that it gets.
func (l *growLane) run(ctx context.Context) error {
	for ctx.Err() == nil {
		number, from, to := l.deal.take()
		if from == to {
			break
		}
		l.sink.begin(number)
		var err error
		if l.from > 0 {
			err = l.readPiece(ctx, from)
		}
		for at := from; l.from == 0 && at < to && err == nil; at += int(l.room.rows[0]) {
			err = l.extend(ctx, 0, uint64(at), min(int64(to-at), l.room.rows[0]))
		}
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if err = l.sink.finish(); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.Join(l.sink.end(), l.GPU.Sync())
}

// readPiece reads a piece of stored rows, those of size 1 in groups of 32 as if they came of one root.
func (l *growLane) readPiece(ctx context.Context, piece int) error {
	copy(l.at[1:], l.spec.From.Piece(piece))
	l.ahead.end = l.spec.From.Piece(piece + 1)
	for l.at[1] < l.ahead.end[0] {
		n := min(l.ahead.end[0]-l.at[1], l.most(0), 32*l.room.rows[0])
		groups := make([]uint32, (n+31)/32)
		for i := range groups {
			groups[i] = uint32(min(32, n-32*int64(i)))
		}
		l.host.lists = []any{groups}
		if err := l.GPU.CopyH2D(l.Queue, l.size[0].kept, 0, device.Bytes(groups)); err != nil {
			return err
		}
		if err := l.extend(ctx, 0, 0, int64(len(groups))); err != nil {
			return err
		}
	}
	return nil
}

// most is how many slots are taken at a time of rows of a size.
func (l *growLane) most(size int) int64 {
	switch most := min(l.room.slots, l.room.rows[size+1]); {
	case withBits(l.spec, size) && size+1 == l.spec.Size:
		return 32 * l.room.words
	case withBits(l.spec, size):
		return min(most, 32*l.room.words)
	default:
		return most
	}
}

// extend makes n rows of a size one longer, and what comes of them; of size 0: roots from first on.
func (l *growLane) extend(ctx context.Context, size int, first uint64, n int64) error {
	s := &l.size[size]
	read, packed := size < l.from, isPacked(l.spec, size)
	args := launch.Args{"rows": l.table, "parents": s.rows, "parent_room": uint64(l.room.rows[size]), "first": first}
	need, what := s.kept, uint64(ofNumbers)
	if withBits(l.spec, size) {
		need, what = s.need, rounded
	}
	var calls []launch.Call
	if read && size > 0 {
		if err := l.load(l.Queue, s.kept, size, true, l.at[size]-n, n); err != nil {
			return err
		}
	}
	if !read || packed {
		calls = append(calls, l.call(size, "saga_grow_need", n, growBlock, args.With(launch.Args{"n": uint64(n), "need": need})))
	}
	calls = append(calls, l.sums(need, device.Mem{}, n, what, s.place)...)
	if packed {
		calls = append(calls, l.sums(s.kept, s.need, n, packedWords, s.packs)...)
	}
	if err := l.Launch(calls...); err != nil {
		return err
	}
	for begin := int64(0); begin < n; {
		cuts, err := l.cut(size, begin, n)
		if begin == 0 && len(cuts) > 0 && packed {
			l.ahead.guess = cuts[0].words
		}
		for i, c := range cuts {
			next := int64(0)
			if i+1 < len(cuts) {
				next = cuts[i+1].words
			}
			if err = cmp.Or(ctx.Err(), err); err != nil {
				return err
			}
			if err := l.grow(ctx, &grownBatch{size, begin, c, next, args, read, packed}); err != nil {
				return err
			}
			begin = c.end
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rowsCut is where rows end whose neighbours take so many slots and, if they are stored packed, words.
type rowsCut struct{ end, slots, words int64 }

// cut divides rows of a size from begin to n into parts, the first ones at least, each with as many slots as there are.
func (l *growLane) cut(size int, begin, n int64) (list []rowsCut, err error) {
	out := l.words(firstCut, 3*min(mostCuts, n-begin))
	err = l.Launch(launch.Call{Source: sums(), Name: "saga_grow_cut", Grid: 1, Block: 32, Args: launch.Args{"place": l.size[size].place, "packs": l.size[size].packs, "begin": uint64(begin), "n": uint64(n), "most": uint64(l.most(size)), "parts": uint64(out.Len() / 24), "out": l.told(out)}})
	if err == nil {
		err = l.hear(out)
	}
	for i := int64(0); i < out.Len()/8 && begin < n && err == nil; i += 3 {
		p := rowsCut{int64(l.host.answer[i]), int64(l.host.answer[i+1]), int64(l.host.answer[i+2])}
		if p.end <= begin || p.end > n {
			return nil, fmt.Errorf("rows of %d: more neighbours may follow one than there is room for", size)
		}
		list, begin = append(list, p), p.end
	}
	return list, err
}

// grow makes the rows of a batch one longer.
func (l *growLane) grow(ctx context.Context, b *grownBatch) error {
	size, begin, end, slots := b.size, b.begin, b.end, b.slots
	s, n := &l.size[size], end-begin
	call := l.call(size, "", n, growBlock, b.args.With(launch.Args{"label": l.label, "off": l.off, "kind": l.kind, "begin": uint64(begin), "end": uint64(end), "place": s.place, "kept": s.kept, "next": l.words(0, 1)}))
	call.Clear = []device.Mem{l.words(0, 1)}
	words := device.Mem{} // bits that are read
	switch {
	case b.packed:
		if err := l.fetchPacked(b); err != nil {
			return err
		}
		words = l.bits
	case b.read:
		if err := l.load(l.Queue, l.slots, size+1, false, l.at[size+1], slots); err != nil {
			return err
		}
		l.at[size+1] += slots
	case b.fused(l):
	case withBits(l.spec, size):
		call.Name = "saga_grow_bits"
		call.Args["words"] = l.bits
	}
	if ordered := !b.last(l) || size == 0; ordered && (b.packed || !b.read) {
		call.Name = "saga_grow_fill"
		call.Args = call.Args.With(launch.Args{"words": words, "slots": l.slots})
	}
	if call.Name != "" {
		if err := l.Launch(call); err != nil {
			return err
		}
	}
	if l.filtered(size + 1) {
		if err := l.leaveOut(ctx, size, begin, end, slots); err != nil {
			return err
		}
	}
	if b.last(l) {
		return l.sink.last(ctx, b)
	}
	made, err := l.sumUp(b)
	if err != nil || made == 0 {
		return err
	}
	next := &l.size[size+1]
	if err := l.write(b, next.values, next.rows); err != nil {
		return err
	}
	if err := l.extend(ctx, size+1, 0, made); err != nil {
		return err
	}
	settled, err := l.sink.settle(size+1, made)
	if err != nil || !settled {
		return err
	}
	kept := s.kept.Slice(4*begin, 4*n)
	return l.Launch(launch.Call{Source: sums(), Name: "saga_grow_left", Grid: l.grid(n, growBlock), Block: growBlock, Args: launch.Args{"child": s.child, "n": uint64(n), "place": next.place, "kept": kept}})
}

// grownBatch is rows of a size, from begin on, with what follows them in slots or, of whole rows of more than one edge or vertex, as bits.
type grownBatch struct {
	size  int
	begin int64
	rowsCut
	next   int64       // stored words of the batch after it; 0: not known
	args   launch.Args // parents
	read   bool        // what follows was stored
	packed bool        // in words of table.PackedWords
}

// fused reports whether whole rows are counted where they are made: there are no bits.
func (b *grownBatch) fused(l *growLane) bool {
	return l.by != nil && b.size > 0 && b.last(l) && !b.read && !l.filtered(b.size+1)
}

// last reports whether the rows that come of it are whole.
func (b *grownBatch) last(l *growLane) bool { return b.size+1 == l.spec.Size }

// filtered reports whether some rows of a size are left out.
func (l *growLane) filtered(size int) bool { return size < len(l.Filters) && l.Filters[size] != nil }

// sumUp finds where what comes of each row of a batch begins, and how much that is.
func (l *growLane) sumUp(b *grownBatch) (made int64, err error) {
	s, n := &l.size[b.size], b.end-b.begin
	if err := l.Launch(l.sums(s.kept.Slice(4*b.begin, 4*n), device.Mem{}, n, ofNumbers, s.child)...); err != nil {
		return 0, err
	}
	if b.read && !b.packed && !l.filtered(b.size+1) {
		return b.slots, nil
	}
	err = l.hear(s.child.Slice(8*n, 8))
	return int64(l.host.answer[0]), err
}

// write writes what is in the slots without gaps: last edges or vertices and, if there is rows, the rows.
func (l *growLane) write(b *grownBatch, values, rows device.Mem) error {
	s, n := &l.size[b.size], b.end-b.begin
	k := l.call(b.size, "saga_grow_rows", n, growBlock, launch.Args{"rows": l.table, "parents": s.rows, "parent_room": uint64(l.room.rows[b.size]), "off": l.off, "vertices": uint64(l.spec.Rows.V()), "begin": uint64(b.begin), "n": uint64(n), "place": s.place, "child": s.child,
		"slots": l.slots, "values": values, "out": rows, "out_room": uint64(l.room.rows[b.size+1]), "next": l.words(0, 1)})
	k.Clear = []device.Mem{l.words(0, 1)}
	return l.Launch(k)
}

// grid is how many blocks there are for n rows.
func (l *growLane) grid(n int64, block int) int {
	return atMost(tableBlocks*l.chip.Processors, int(n), block)
}

// call is a launch for n rows of a size.
func (l *growLane) call(size int, name string, n int64, each int, args launch.Args) launch.Call {
	return launch.Call{Source: l.texts[size], Name: name, Grid: l.grid(n, each), Block: growBlock, Shared: growWarps * 4 * l.shape.words(size), Args: args}
}

// What saga_grow_places adds up.
const (
	ofNumbers   = iota
	ones        // 1 for each that is not 0
	rounded     // numbers, rounded up to 32
	packedWords // table.PackedWords of rows that so many follow, of need
)

// sums has to[i] be the sum of the first i of what there is of n numbers.
func (l *growLane) sums(list, need device.Mem, n int64, of uint64, to device.Mem) []launch.Call {
	tiles := int(n/sumsTile + 1)
	args := launch.Args{"list": list, "need": need, "n": uint64(n), "of": of, "tiles": l.tiles}
	return []launch.Call{{Source: sums(), Name: "saga_grow_tiles", Grid: tiles, Block: 256, Shared: 64, Args: args},
		{Source: sums(), Name: "saga_grow_scan", Grid: 1, Block: 32, Args: launch.Args{"tiles": l.tiles, "n": uint64(tiles)}},
		{Source: sums(), Name: "saga_grow_places", Grid: tiles, Block: 256, Shared: 64, Args: args.With(launch.Args{"out": to, "all": l.sum()})}}
}
