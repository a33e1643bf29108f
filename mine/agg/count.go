package agg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"sagann/mine/run"
)

// Entry is a key and how often it was added.
type Entry struct{ Key, Count uint64 }

// Options of counters and sorters.
type Options struct {
	// Mem bounds the memory, in bytes, apart from small constants. The least is MinMem.
	Mem int64
	// Scratch is a folder for what does not fit; "": that is a *run.RoomError.
	Scratch string
	// Keep keeps the runs in Scratch itself, which is made if it is not there, and goes on from those there. Without Keep they are in a
	// folder of their own, which Close removes.
	Keep bool
}

// MinMem is the least memory of a Counter or Sorter.
const MinMem = 1 << 16

// Counter counts keys. It is for one goroutine.
type Counter struct {
	runs  *runs
	slots []Entry // by hash; Count 0: free
	shift uint
	used  int
	most  int // slots that the memory allows, a power of two
	added uint64
	err   error
}

const firstSlots = 1 << 8

// NewCounter makes a Counter.
func NewCounter(o Options) (*Counter, error) {
	r, err := newRuns(o, 16)
	if err != nil {
		return nil, err
	}
	c := &Counter{runs: r, most: firstSlots, added: r.done}
	for int64(2*c.most)*16*3/2 <= o.Mem { // while it grows, a table stands beside one of half its size
		c.most *= 2
	}
	c.table(firstSlots)
	return c, nil
}

// Done is how many keys are in the runs that were kept: a caller that goes on adds those that follow.
func (c *Counter) Done() uint64 { return c.runs.done }

// Spilled is the bytes that were written to files.
func (c *Counter) Spilled() int64 { return c.runs.bytes }

func (c *Counter) table(slots int) {
	c.slots, c.shift = make([]Entry, slots), 64
	for n := slots; n > 1; n >>= 1 {
		c.shift--
	}
}

// golden spreads keys over the slots of a table.
const golden = 0x9e3779b97f4a7c15

// Add counts keys.
func (c *Counter) Add(keys ...uint64) error {
	for len(keys) > 0 && c.err == nil {
		keys = keys[c.some(keys):]
	}
	return c.err
}

// some counts keys until the table must change, and returns how many.
func (c *Counter) some(keys []uint64) int {
	slots, shift := c.slots, c.shift&63
	mask := uint64(len(slots) - 1)
	for n, key := range keys {
		for i := key * golden >> shift; ; i++ {
			e := &slots[i&mask]
			if e.Count == 0 {
				e.Key, e.Count = key, 1
				if c.used++; c.used > len(slots)/4*3 {
					c.added += uint64(n + 1)
					c.full()
					return n + 1
				}
				break
			}
			if e.Key == key {
				e.Count++
				break
			}
		}
	}
	c.added += uint64(len(keys))
	return len(keys)
}

// full makes the table larger, or writes it to a run.
func (c *Counter) full() {
	if len(c.slots) == c.most {
		c.err = errors.Join(c.err, c.Flush())
		return
	}
	old := c.slots
	c.table(2 * len(old))
	mask := uint64(len(c.slots) - 1)
	for _, e := range old {
		if e.Count == 0 {
			continue
		}
		i := e.Key * golden >> c.shift
		for c.slots[i].Count != 0 {
			i = (i + 1) & mask
		}
		c.slots[i] = e
	}
}

// Flush writes what is counted to a run, so that a Counter that keeps its runs can go on from here.
func (c *Counter) Flush() error {
	list := c.sorted()
	if len(list) == 0 {
		return nil
	}
	w, err := c.runs.create(c.runs.o.Keep)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := w.add(e.Key, e.Count); err != nil {
			return w.fail(err)
		}
	}
	if err := w.finish(c.added); err != nil {
		return err
	}
	clear(c.slots)
	c.used = 0
	return nil
}

// sorted is the entries of the table, ascending. They lie in the table's own memory, which must be cleared or filled
// again afterwards.
func (c *Counter) sorted() []Entry {
	n := 0
	for _, e := range c.slots {
		if e.Count != 0 {
			c.slots[n] = e
			n++
		}
	}
	list := c.slots[:n]
	slices.SortFunc(list, func(a, b Entry) int { return cmp.Compare(a.Key, b.Key) })
	return list
}

// Close removes the runs, unless they are to be kept.
func (c *Counter) Close() error { return c.runs.close() }

// Entries yields all keys of the counters, ascending, each once, with their counts. The counters cannot be used
// afterwards. An error is yielded last.
func Entries(ctx context.Context, counters ...*Counter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var m merger
		for _, c := range counters {
			if c.err != nil {
				yield(Entry{}, c.err)
				return
			}
			if c.runs.count() == 0 {
				m.list(c.sorted())
				continue
			}
			err := c.Flush() // merging needs the memory
			c.slots = nil
			if err == nil {
				err = m.runs(ctx, c.runs)
			}
			if err != nil {
				yield(Entry{}, errors.Join(err, m.close()))
				return
			}
		}
		m.yield(ctx, true, yield)
	}
}

// checkMem refuses too little memory.
func checkMem(o Options) error {
	if o.Mem < MinMem {
		return fmt.Errorf("agg: %w", &run.RoomError{Need: MinMem})
	}
	return nil
}
