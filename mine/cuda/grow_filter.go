package cuda

import (
	"context"
	"errors"
	"sync"

	"sagann/device"
	"sagann/device/launch"
	"sagann/mine/table"
)

// growFilters is what a GPU knows of codes: a table of those that occur, which of them are wanted, those that are new, and where the code of each slot is.
type growFilters struct {
	codes, flags, fresh, of device.Mem
	size                    int   // of the rows whose codes are known; 0: none
	known                   int64 // codes
}

// growLabels is the numbers of labels that codes have: of each vertex and, of edges, the labels in their order.
type growLabels struct {
	classes, kinds device.Mem
	many           uint64
}

// put copies the numbers to a card.
func (g *growLabels) put(c *launch.Card, q *table.Quick, label []int32) (err error) {
	if g.classes, err = launch.Put(c, q.Classes(label)); err != nil {
		return err
	}
	g.many = uint64(len(q.Kinds))
	g.kinds, err = launch.Put(c, q.Kinds)
	return err
}

// leaveOut empties the slots, or takes back the bits, of the rows of a size from begin to end whose code, with what is in the slot, is not wanted. The host is asked once for each code that a GPU
// comes across, and again when its table was full.
func (l *growLane) leaveOut(ctx context.Context, size int, begin, end, slots int64) error {
	f, s, what := &l.filter, &l.size[size], l.slots
	if size > 0 && size+1 == l.spec.Size {
		what = l.bits
	}
	args := launch.Args{"begin": uint64(begin), "end": uint64(end), "place": s.place, "slots": what, "of": f.of}
	done := l.words(0, 2)
	most := l.room.codes / 2
	for taken := int64(0); 32*taken < slots; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f.size != size+1 || f.known >= most {
			if err := l.zero(f.codes); err != nil {
				return err
			}
			f.size, f.known = size+1, 0
		}
		now := []uint64{uint64(taken), uint64(f.known)}
		if err := l.GPU.CopyH2D(l.Queue, done, 0, device.Bytes(now)); err != nil {
			return err
		}
		pick := l.call(size, "saga_grow_pick", slots, growBlock, args.With(launch.Args{"rows": l.table, "classes": l.labels.classes, "off": l.off, "kind": l.kind, "kinds": l.labels.kinds, "many_kinds": l.labels.many, "vertices": uint64(l.spec.Rows.V()),
			"parents": s.rows, "parent_room": uint64(l.room.rows[size]), "n": uint64(slots), "codes": f.codes, "mask": uint64(l.room.codes - 1), "most": uint64(most), "fresh": f.fresh, "done": done}))
		pick.Grid = min(pick.Grid, max(1, int(l.room.codes/4/growBlock))) // each thread may put a code there after it is full
		if err := l.Launch(pick); err != nil {
			return err
		}
		if err := l.ask(done); err != nil {
			return err
		}
		next, known := min(int64(l.host.answer[0]), (slots+31)/32), int64(l.host.answer[1])
		if err := l.wanted(size+1, f.known, known); err != nil {
			return err
		}
		f.known = known
		drop := l.call(size, "saga_grow_drop", min(32*next, slots)-32*taken, growBlock, args.With(launch.Args{"from": uint64(32 * taken), "to": uint64(min(32*next, slots)), "flags": f.flags, "kept": s.kept}))
		if err := l.Launch(drop); err != nil {
			return err
		}
		taken = next
	}
	return nil
}

// wanted asks for the new codes, from one to another, whether rows of a size that have them are wanted.
func (l *growLane) wanted(size int, from, to int64) error {
	if from == to {
		return nil
	}
	list := make([]uint64, 2*(to-from))
	fresh := l.filter.fresh.Slice(16*from, 16*(to-from))
	if err := l.GPU.CopyD2H(l.Queue, device.Bytes(list), fresh, 0); err != nil {
		return err
	}
	if err := l.await(); err != nil {
		return err
	}
	if err := l.askFilter(size, list); err != nil {
		return err
	}
	l.host.lists = []any{list}
	if err := l.GPU.CopyH2D(l.Queue, fresh, 0, device.Bytes(list)); err != nil {
		return err
	}
	return l.Launch(l.call(size-1, "saga_grow_flags", to-from, growBlock, launch.Args{"list": fresh, "n": uint64(to - from), "flags": l.filter.flags}))
}

// askFilter has each code of a list, of two words each, be whether it is wanted.
func (l *growLane) askFilter(size int, list []uint64) error {
	q, wanted := l.quick[size], l.Filters[size]
	workers := max(1, min(l.Workers, len(list)/64))
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					errs[w] = &table.PanicError{Value: v}
				}
			}()
			for i := 2 * w; i < len(list); i += 2 * workers {
				list[i] = uint64(btoi(wanted(q.Pattern(list[i]))))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// zero sets memory to zero.
func (l *growLane) zero(m device.Mem) error {
	at, err := l.GPU.Address(m)
	if err != nil {
		return err
	}
	return l.GPU.Launch(l.Queue, device.GPUCommands("saga_grow_zero", []device.Command{{Clear: &device.Clear{Addr: at, Bytes: m.Len() &^ 3}}}))
}
