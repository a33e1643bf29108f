package cuda

import (
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
		if err != nil {
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
	end := l.spec.From.Piece(piece + 1)[0]
	for l.at[1] < end {
		n := min(end-l.at[1], l.most(0), 32*l.room.rows[0])
		groups := make([]uint32, (n+31)/32)
		for i := range groups {
			groups[i] = uint32(min(32, n-32*int64(i)))
		}
		l.lists = []any{groups}
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
func (l *growLane) most(size int) int64 { return min(l.room.slots, l.room.rows[size+1]) }

// extend makes n rows of a size one longer, and what comes of them; of size 0: roots from first on.
func (l *growLane) extend(ctx context.Context, size int, first uint64, n int64) error {
	s := &l.size[size]
	read := size < l.from
	args := launch.Args{"rows": l.table, "parents": s.rows, "parent_room": uint64(l.room.rows[size]), "first": first}
	var calls []launch.Call
	switch {
	case read && size > 0:
		if err := l.load(l.Queue, s.kept, size, true, l.at[size]-n, n); err != nil {
			return err
		}
	case !read:
		calls = append(calls, l.call(size, "saga_grow_need", n, growBlock, args.With(launch.Args{"n": uint64(n), "need": s.kept})))
	}
	calls = append(calls, l.sums(s.kept, n, false, s.place)...)
	if err := l.Launch(calls...); err != nil {
		return err
	}
	for begin := int64(0); begin < n; {
		if err := ctx.Err(); err != nil {
			return err
		}
		cut := launch.Call{Source: sums(), Name: "saga_grow_cut", Grid: 1, Block: 32, Args: launch.Args{"place": s.place, "begin": uint64(begin), "n": uint64(n), "most": uint64(l.most(size)), "out": l.state.Slice(8, 16)}}
		if err := l.Launch(cut); err != nil {
			return err
		}
		if err := l.ask(l.state.Slice(8, 16)); err != nil {
			return err
		}
		end, slots := int64(l.answer[0]), int64(l.answer[1])
		if end <= begin || end > n {
			return fmt.Errorf("rows of %d: more neighbours may follow one than there is room for", size)
		}
		if err := l.grow(ctx, size, args, begin, end, slots, read); err != nil {
			return err
		}
		begin = end
	}
	return nil
}

// grow makes the rows of a size from begin to end one longer, which takes so many slots.
func (l *growLane) grow(ctx context.Context, size int, args launch.Args, begin, end, slots int64, read bool) error {
	s, n := &l.size[size], end-begin
	kept := s.kept.Slice(4*begin, 4*n)
	var calls []launch.Call
	if read {
		if err := l.fetch(size+1, slots); err != nil {
			return err
		}
		l.at[size+1] += slots
	} else {
		fill := l.call(size, "saga_grow_fill", n, growBlock, args.With(launch.Args{"label": l.label, "off": l.off, "kind": l.kind, "begin": uint64(begin), "end": uint64(end), "place": s.place, "kept": s.kept,
			"slots": l.slots, "next": l.state.Slice(0, 8)}))
		fill.Clear = []device.Mem{l.state.Slice(0, 8)}
		calls = append(calls, fill)
	}
	if size+1 < len(l.Filters) && l.Filters[size+1] != nil {
		if len(calls) > 0 {
			if err := l.Launch(calls...); err != nil {
				return err
			}
		}
		if err := l.leaveOut(ctx, size, begin, end, slots); err != nil {
			return err
		}
		calls = nil
	}
	if err := l.Launch(append(calls, l.sums(kept, n, false, s.child)...)...); err != nil {
		return err
	}
	if err := l.ask(s.child.Slice(8*n, 8)); err != nil {
		return err
	}
	made := int64(l.answer[0])
	if made == 0 {
		return nil
	}
	write := func(values, rows device.Mem) error {
		k := l.call(size, "saga_grow_rows", n, growBlock, launch.Args{"rows": l.table, "parents": s.rows, "parent_room": uint64(l.room.rows[size]), "off": l.off, "vertices": uint64(l.spec.Rows.V()), "begin": uint64(begin), "n": uint64(n), "place": s.place, "child": s.child,
			"slots": l.slots, "values": values, "out": rows, "out_room": uint64(l.room.rows[size+1]), "next": l.state.Slice(0, 8)})
		k.Clear = []device.Mem{l.state.Slice(0, 8)}
		return l.Launch(k)
	}
	if size+1 == l.spec.Size {
		return l.sink.last(ctx, made, func(values, rows device.Mem) error {
			if err := write(values, rows); err != nil || !read {
				return err
			}
			return l.fetchAhead(size + 1)
		})
	}
	next := &l.size[size+1]
	if err := write(next.values, next.rows); err != nil {
		return err
	}
	if err := l.extend(ctx, size+1, 0, made); err != nil {
		return err
	}
	settled, err := l.sink.settle(size+1, made)
	if err != nil || !settled {
		return err
	}
	return l.Launch(launch.Call{Source: sums(), Name: "saga_grow_left", Grid: l.grid(n, growBlock), Block: growBlock, Args: launch.Args{"child": s.child, "n": uint64(n), "place": next.place, "kept": kept}})
}

// grid is how many blocks there are for n rows.
func (l *growLane) grid(n int64, block int) int {
	return atMost(tableBlocks*l.chip.Processors, int(n), block)
}

// call is a launch for n rows of a size.
func (l *growLane) call(size int, name string, n int64, each int, args launch.Args) launch.Call {
	return launch.Call{Source: l.texts[size], Name: name, Grid: l.grid(n, each), Block: growBlock, Shared: growWarps * 4 * l.shape.words(size), Args: args}
}

// sums has to[i] be the sum of the first i of n numbers or, with ones, how many of them are not 0.
func (l *growLane) sums(list device.Mem, n int64, ones bool, to device.Mem) []launch.Call {
	tiles := int(n/sumsTile + 1)
	args := launch.Args{"list": list, "n": uint64(n), "ones": uint64(btoi(ones)), "tiles": l.tiles}
	return []launch.Call{{Source: sums(), Name: "saga_grow_tiles", Grid: tiles, Block: 256, Shared: 64, Args: args},
		{Source: sums(), Name: "saga_grow_scan", Grid: 1, Block: 32, Args: launch.Args{"tiles": l.tiles, "n": uint64(tiles)}},
		{Source: sums(), Name: "saga_grow_places", Grid: tiles, Block: 256, Shared: 64, Args: args.With(launch.Args{"out": to})}}
}

// ask waits, and copies words to the answer.
func (l *growLane) ask(m device.Mem) error {
	if err := l.GPU.CopyD2H(l.Queue, device.Bytes(l.answer[:m.Len()/8]), m, 0); err != nil {
		return err
	}
	return l.await()
}

// await waits for what was submitted to the queue.
func (l *growLane) await() error {
	if err := l.GPU.Record(l.Queue, l.done); err != nil {
		return err
	}
	return device.Await(l.GPU, l.done)
}
