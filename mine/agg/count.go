package agg

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"unsafe"

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
	keys  []uint64 // by hash; 0: free
	count []uint32 // of the key in the same slot, modulo 2³²
	carry map[uint64]uint64
	zero  uint64 // how often the key 0 was added
	shift uint
	used  int // slots
	most  int // slots that the memory allows, a power of two
	err   error
}

const (
	firstSlots = 1 << 8
	sparse     = 1 << 19 // a table of fewer slots is at most a quarter full: most keys are found where they are looked for first
	slotBytes  = 12
)

// NewCounter makes a Counter.
func NewCounter(o Options) (*Counter, error) {
	r, err := newRuns(o, 16)
	if err != nil {
		return nil, err
	}
	c := &Counter{runs: r, most: firstSlots}
	for int64(2*c.most)*slotBytes*3/2 <= o.Mem { // while it grows, a table stands beside one of half its size
		c.most *= 2
	}
	c.table(firstSlots)
	return c, nil
}

// Spilled is the bytes that were written to files.
func (c *Counter) Spilled() int64 { return c.runs.bytes }

func (c *Counter) table(slots int) {
	c.keys, c.count, c.shift = make([]uint64, slots), make([]uint32, slots), uint(64-bits.Len(uint(slots-1)))
}

// hash spreads keys over 64 bits. A product modulo 2⁶⁴ would not: keys that are multiples of a number gather in few slots.
func hash(key uint64) uint64 {
	high, low := bits.Mul64(key^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return high ^ low
}

// Add counts keys. After an error every call returns it.
func (c *Counter) Add(keys ...uint64) error {
	for len(keys) > 0 && c.err == nil {
		keys = keys[c.some(keys):]
	}
	return c.err
}

// AddTimes counts a key so many times.
func (c *Counter) AddTimes(key, times uint64) error {
	switch {
	case c.err != nil || times == 0:
		return c.err
	case key == 0:
		c.zero += times
		return nil
	}
	mask := uint64(len(c.keys) - 1)
	i := hash(key) >> c.shift & mask
	for c.keys[i] != key && c.keys[i] != 0 {
		i = (i + 1) & mask
	}
	fresh := c.keys[i] == 0
	sum := uint64(c.count[i]) + times // may wrap around only where all counts would
	c.keys[i], c.count[i] = key, uint32(sum)
	if high := sum >> 32; high > 0 {
		if c.carry == nil {
			c.carry = map[uint64]uint64{}
		}
		c.carry[key] += high << 32
	}
	if fresh {
		if c.used++; c.used >= c.limit() {
			c.full()
		}
	}
	return c.err
}

// limit is how many slots may be used.
func (c *Counter) limit() int {
	limit := len(c.keys)/2 - 1
	if len(c.keys) < sparse && len(c.keys) < c.most {
		limit /= 2
	}
	return limit
}

// some counts keys until the table must change, and returns how many.
func (c *Counter) some(list []uint64) int {
	shift, mask := c.shift&63, uint64(len(c.keys)-1)
	keys, count := c.keys[:mask+1], c.count[:mask+1]
	limit := c.limit()
next:
	for n, key := range list {
		if key == 0 {
			c.zero++
			continue
		}
		i := hash(key) >> shift & mask
		for keys[i] != key {
			if keys[i] != 0 {
				i = (i + 1) & mask
				continue
			}
			keys[i], count[i] = key, 1
			if c.used++; c.used < limit {
				continue next
			}
			c.full()
			return n + 1
		}
		if count[i]++; count[i] == 0 {
			c.carried(key)
		}
	}
	return len(list)
}

// carried notes that a count has begun anew.
func (c *Counter) carried(key uint64) {
	if c.carry == nil {
		c.carry = map[uint64]uint64{}
	}
	c.carry[key] += 1 << 32
}

// full makes the table larger, or writes it to a run.
func (c *Counter) full() {
	if len(c.keys) == c.most {
		c.flush()
		return
	}
	keys, count := c.keys, c.count
	c.table(2 * len(keys))
	mask := uint64(len(c.keys) - 1)
	for at, key := range keys {
		if key == 0 {
			continue
		}
		i := hash(key) >> c.shift
		for c.keys[i] != 0 {
			i = (i + 1) & mask
		}
		c.keys[i], c.count[i] = key, count[at]
	}
}

// flush writes what is counted to a run.
func (c *Counter) flush() {
	if list := c.sorted(); len(list) > 0 && c.err == nil {
		c.err = c.runs.write(list)
	}
	clear(c.keys)
	clear(c.carry)
	c.used, c.zero = 0, 0
}

// sorted is the entries of the table, ascending. They lie in the memory of its keys, which must be cleared or
// filled again afterwards.
func (c *Counter) sorted() []Entry {
	n := 0
	for i, key := range c.keys {
		if key != 0 {
			c.keys[n], c.count[n] = key, c.count[i]
			n++
		}
	}
	list := unsafe.Slice((*Entry)(unsafe.Pointer(unsafe.SliceData(c.keys))), len(c.keys)/2)
	for i := n - 1; i >= 0; i-- { // an entry takes the place of two keys, which have moved behind it
		list[i] = Entry{c.keys[i], uint64(c.count[i]) + c.carry[c.keys[i]]}
	}
	if c.zero > 0 { // half of the slots, less one, are used at most
		list[n] = Entry{0, c.zero}
		n++
	}
	list = list[:n]
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
			c.keys, c.count, c.carry = nil, nil, nil
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
