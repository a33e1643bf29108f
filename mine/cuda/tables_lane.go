package cuda

import (
	"context"
	"errors"

	"sagann/device"
	"sagann/device/launch"
)

// run makes the rows of the roots that it gets, and in the end gives the counters up.
func (l *tableLane) run(ctx context.Context, deal *tableDeal) error {
	l.dense = true
	var clear []device.Mem
	for _, s := range l.sizes[1:] {
		clear = append(clear, s.keys)
	}
	clear = append(clear, l.state, l.counters)
	for ctx.Err() == nil {
		from, to := deal.take()
		if from == to {
			break
		}
		if err := l.extend(ctx, 0, uint64(from), uint64(to-from), clear); err != nil {
			return err
		}
		clear = nil
	}
	if clear == nil {
		if err := l.giveUp(ctx); err != nil {
			return err
		}
	}
	return errors.Join(ctx.Err(), l.GPU.Sync())
}

// extend extends n rows of so many edges, and what comes of them; of no edges: roots from first on. clear is memory that is cleared before.
func (l *tableLane) extend(ctx context.Context, edges int, first, n uint64, clear []device.Mem) error {
	last := edges+1 == l.edges
	saved := l.saved.Slice(16*int64(edges*l.room.blocks*tableWarps), 16*int64(l.room.blocks*tableWarps))
	clear = append(clear, saved)
	var next *tableSize
	if !last {
		next = &l.sizes[edges+1]
	}
	at := tableDone{}
	for {
		if last {
			if err := l.countBy(ctx, edges); err != nil {
				return err
			}
			at.counters = l.counted
		} else {
			at.steps = next.known
		}
		at.open, at.made = 0, 0
		call := l.call(edges, first, n, saved, last)
		call.Clear, clear = clear, nil
		if err := l.launch(ctx, edges, call, &at); err != nil {
			return err
		}
		if last {
			l.counted = at.counters
		} else {
			next.made = at.made
			if err := l.resolve(edges+1, at.steps); err != nil {
				return err
			}
			if at.made > 0 {
				if err := l.extend(ctx, edges+1, 0, at.made, nil); err != nil {
					return err
				}
			}
		}
		if at.open == 0 && 32*at.next >= n {
			return nil
		}
		if last && !l.dense && l.counted >= uint64(l.room.mostCounters()) {
			if err := l.giveUp(ctx); err != nil {
				return err
			}
		}
		if !last && next.known >= uint64(l.room.steps[edges+1]-l.room.beyondRows()) {
			if err := l.forget(ctx, edges+1); err != nil {
				return err
			}
		}
	}
}

// call is the launch that extends rows.
func (l *tableLane) call(edges int, first, n uint64, saved device.Mem, last bool) launch.Call {
	kinds := l.kind.Len() > 0
	none := device.Mem{}
	args := launch.Args{"classes": l.classes, "off": l.off, "kind": l.kind, "labels": uint64(l.codes.Labels), "kinds": uint64(l.codes.Kinds), "rows": l.table,
		"codes": none, "steps": none, "parents": none, "parent_room": uint64(0), "first": first, "n": n, "state": l.state, "done": l.doneAt(edges), "saved": saved,
		"fresh": none, "dense": uint64(0), "out": none, "out_room": uint64(0), "most_rows": uint64(0)}
	if edges > 0 {
		s := &l.sizes[edges]
		args = args.With(launch.Args{"codes": s.codes, "steps": s.steps, "parents": s.rows, "parent_room": uint64(l.room.rows[edges])})
	}
	if last {
		args = args.With(launch.Args{"keys": l.counters, "mask": uint64(l.room.counters - 1), "most_keys": uint64(l.room.mostCounters()), "dense": uint64(btoi(l.dense))})
	} else {
		s, beyond := &l.sizes[edges+1], l.room.beyondRows()
		args = args.With(launch.Args{"keys": s.keys, "mask": uint64(s.slots - 1), "most_keys": uint64(l.room.steps[edges+1] - beyond), "fresh": s.fresh,
			"out": s.rows, "out_room": uint64(l.room.rows[edges+1]), "most_rows": uint64(l.room.rows[edges+1] - beyond)})
	}
	return launch.Call{Source: tableOf(edges, last, kinds), Name: "saga_table", Grid: l.room.blocks, Block: tableBlock, Shared: tableWarps * 4 * tableWords(edges, kinds), Args: args}
}

// doneAt is where the launches of rows of so many edges note what they have done.
func (l *tableLane) doneAt(edges int) device.Mem {
	return l.state.Slice(8*stateWords*int64(edges+1), 8*stateWords)
}

// launch runs a call and waits for it. When ctx is done, it writes the word that stops the kernel.
func (l *tableLane) launch(ctx context.Context, edges int, call launch.Call, at *tableDone) error {
	list := []tableDone{*at}
	cleared := call.Clear
	if len(cleared) > 0 { // before the words are written
		if err := l.clear(cleared); err != nil {
			return err
		}
		call.Clear = nil
	}
	if err := l.GPU.CopyH2D(l.Queue, l.doneAt(edges), 0, device.Bytes(list)); err != nil {
		return err
	}
	if err := l.Launch(call); err != nil {
		return err
	}
	if err := l.GPU.CopyD2H(l.Queue, device.Bytes(list), l.doneAt(edges), 0); err != nil {
		return err
	}
	if err := l.GPU.Record(l.Queue, l.done); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- device.Await(l.GPU, l.done) }()
	stop := []uint64{1}
	select {
	case err := <-done:
		*at = list[0]
		return errors.Join(err, ctx.Err())
	case <-ctx.Done():
		err := l.GPU.CopyH2D(l.side, l.state, 0, device.Bytes(stop))
		return errors.Join(ctx.Err(), err, <-done, l.GPU.Sync()) // the copies use lists of this function
	}
}

// clear sets memory to zero.
func (l *tableLane) clear(list []device.Mem) error {
	var commands []device.Command
	for _, m := range list {
		at, err := l.GPU.Address(m)
		if err != nil {
			return err
		}
		commands = append(commands, device.Command{Clear: &device.Clear{Addr: at, Bytes: m.Len() &^ 3}})
	}
	return l.GPU.Launch(l.Queue, device.GPUCommands("saga_table_clear", commands))
}

// resolve has new steps lead to codes of rows of so many edges.
func (l *tableLane) resolve(edges int, steps uint64) error {
	s := &l.sizes[edges]
	n := int(steps - s.known)
	if n == 0 {
		return nil
	}
	fresh, to := make([]uint64, 2*n), make([]uint32, n)
	from := s.fresh.Slice(16*int64(s.known), 16*int64(n))
	if err := l.GPU.CopyD2H(l.Queue, device.Bytes(fresh), from, 0); err != nil {
		return err
	}
	if err := l.GPU.Sync(); err != nil {
		return err
	}
	for i := range to {
		code, swap := l.codes.Step(edges, uint32(fresh[2*i]>>32)&^(1<<31), uint32(fresh[2*i]))
		to[i] = code | uint32(btoi(swap))<<31
	}
	codes := l.codes.Records(edges, s.uploaded)
	if err := l.GPU.CopyH2D(l.Queue, s.to, 0, device.Bytes(to)); err != nil {
		return err
	}
	if len(codes) > 0 {
		if err := l.GPU.CopyH2D(l.Queue, s.codes, codeBytes*int64(s.uploaded), device.Bytes(codes)); err != nil {
			return err
		}
	}
	call := launch.Call{Source: tableOf(0, false, false), Name: "saga_table_steps", Grid: atMost(8*l.chip.Processors, n, tableBlock), Block: tableBlock,
		Args: launch.Args{"steps": s.steps, "fresh": from, "to": s.to, "n": uint64(n)}}
	if err := l.Launch(call); err != nil {
		return err
	}
	s.known, s.uploaded = steps, s.uploaded+len(codes)
	return l.GPU.Sync() // copies read lists of this function
}

// forget forgets the steps and codes of rows of so many edges and of more. No row has one.
func (l *tableLane) forget(ctx context.Context, edges int) error {
	if err := l.giveUp(ctx); err != nil {
		return err
	}
	l.codes.Forget(edges)
	var list []device.Mem
	for n := edges; n < l.edges; n++ {
		l.sizes[n].known, l.sizes[n].uploaded = 0, 0
		list = append(list, l.sizes[n].keys)
	}
	return l.clear(list)
}

// countBy decides how rows that go on from rows of so many edges are counted: by code and slot, as long as all codes have room.
func (l *tableLane) countBy(ctx context.Context, edges int) error {
	if !l.dense || l.fits(edges) {
		return nil
	}
	err := l.giveUp(ctx)
	l.dense = l.fits(edges)
	return err
}

// fits reports whether counters by code and slot fit.
func (l *tableLane) fits(edges int) bool {
	return int64(l.codes.Len(edges))*l.codes.Slots(edges) <= 2*l.room.counters
}

// giveUp adds the counters to the counts, and begins anew.
func (l *tableLane) giveUp(ctx context.Context) error {
	edges := l.edges - 1
	words, slots := 2*l.room.counters, uint64(l.codes.Slots(edges))
	if l.dense {
		words = min(words, int64(l.codes.Len(edges))*int64(slots))
	} else if l.counted == 0 {
		return nil
	}
	const piece = 1 << 12 // words of a worker
	stage := device.View[uint64](l.stage.Bytes())
	for at := int64(0); at < words; at += int64(len(stage)) {
		part := stage[:min(int64(len(stage)), words-at)]
		if err := l.GPU.CopyD2H(l.Queue, device.Bytes(part), l.counters.Slice(8*at, 8*int64(len(part))), 0); err != nil {
			return err
		}
		if err := l.GPU.Sync(); err != nil {
			return err
		}
		err := l.codes.Add(ctx, l.to, edges, l.workers, (len(part)+piece-1)/piece, func(i int, f func(code, slot uint32, n uint64)) {
			for k := piece * i; k < min(piece*(i+1), len(part)); k++ {
				switch x := part[k]; {
				case x == 0:
				case l.dense:
					of := uint64(at) + uint64(k)
					f(uint32(of/slots), uint32(of%slots), x)
				case k%2 == 0:
					f(uint32((x-1)>>32), uint32(x-1), part[k+1])
				}
			}
		})
		if err != nil {
			return err
		}
	}
	l.counted = 0
	return l.clear([]device.Mem{l.counters})
}
