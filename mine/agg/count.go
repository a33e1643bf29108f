package agg

import (
	"cmp"
	"context"
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
	// Scratch is a folder for what does not fit, in a folder of its own there, which Close removes; "": that is a *run.RoomError.
	// A process that is killed leaves its folders there.
	Scratch string
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
	err   error
}

const firstSlots = 1 << 8

// NewCounter makes a Counter.
func NewCounter(o Options) (*Counter, error) {
	r, err := newRuns(o, 16)
	if err != nil {
		return nil, err
	}
	c := &Counter{runs: r, most: firstSlots}
	for int64(2*c.most)*16*3/2 <= o.Mem { // while it grows, a table stands beside one of half its size
		c.most *= 2
	}
	c.table(firstSlots)
	return c, nil
}

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

// Add counts keys. After an error every call returns it.
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
	return len(keys)
}

// full makes the table larger, or writes it to a run.
func (c *Counter) full() {
	if len(c.slots) == c.most {
		c.flush()
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

// flush writes what is counted to a run.
func (c *Counter) flush() {
	if list := c.sorted(); len(list) > 0 && c.err == nil {
		c.err = c.runs.write(list)
	}
	clear(c.slots)
	c.used = 0
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

// Close removes the runs.
func (c *Counter) Close() error { return c.runs.close() }

// Entries yields all keys of the counters, ascending, each once, with their counts. The counters cannot be used
// afterwards. An error is yielded last.
func Entries(ctx context.Context, counters ...*Counter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var m merger
		var all *runs // of the first counter that has some, with those of the others
		for _, c := range counters {
			if c.err == nil && c.runs.count() == 0 {
				m.list(c.sorted())
				continue
			}
			c.flush() // merging needs the memory
			c.slots = nil
			switch {
			case c.err != nil:
				yield(Entry{}, c.err)
				return
			case all == nil:
				all = c.runs
			default:
				all.join(c.runs)
			}
		}
		if all != nil {
			if err := m.runs(ctx, all); err != nil {
				yield(Entry{}, err)
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
