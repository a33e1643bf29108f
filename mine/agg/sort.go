package agg

import (
	"context"
	"iter"
)

// Sorter sorts keys. It is for one goroutine.
type Sorter struct {
	runs *runs
	keys []uint64
	room []uint64 // as many, for sorting
	most int
	err  error
}

// NewSorter makes a Sorter.
func NewSorter(o Options) (*Sorter, error) {
	r, err := newRuns(o, 8)
	if err != nil {
		return nil, err
	}
	return &Sorter{runs: r, most: int(o.Mem / 16)}, nil
}

// Spilled is the bytes that were written to files.
func (s *Sorter) Spilled() int64 { return s.runs.bytes }

// Add adds keys. After an error every call returns it.
func (s *Sorter) Add(keys ...uint64) error {
	for len(keys) > 0 && s.err == nil {
		if s.keys == nil {
			s.keys = make([]uint64, 0, s.most)
		}
		n := min(len(keys), s.most-len(s.keys))
		s.keys, keys = append(s.keys, keys[:n]...), keys[n:]
		if len(s.keys) == s.most && len(keys) > 0 {
			s.flush()
		}
	}
	return s.err
}

// flush writes the keys in memory to a run.
func (s *Sorter) flush() {
	if len(s.keys) > 0 && s.err == nil {
		s.err = s.runs.writeKeys(s.sorted())
	}
	s.keys = s.keys[:0]
}

func (s *Sorter) sorted() []uint64 {
	if len(s.room) < len(s.keys) {
		s.room = make([]uint64, len(s.keys))
	}
	s.keys, s.room = Sort(s.keys, s.room[:len(s.keys)])
	return s.keys
}

// Close removes the runs.
func (s *Sorter) Close() error { return s.runs.close() }

// Keys yields the keys, ascending. The Sorter cannot be used afterwards. An error is yielded last.
func (s *Sorter) Keys(ctx context.Context) iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		if s.err != nil {
			yield(0, s.err)
			return
		}
		if s.runs.count() == 0 { // all are in memory
			for i, k := range s.sorted() {
				if i%(1<<16) == 0 && ctx.Err() != nil {
					yield(0, ctx.Err())
					return
				}
				if !yield(k, nil) {
					return
				}
			}
			return
		}
		var m merger
		s.flush() // merging needs the memory
		s.keys, s.room = nil, nil
		if s.err == nil {
			s.err = m.runs(ctx, s.runs)
		}
		if s.err != nil {
			yield(0, s.err)
			return
		}
		m.yield(ctx, false, func(e Entry, err error) bool { return yield(e.Key, err) })
	}
}

// digit is the bits that a pass of Sort looks at.
const digit = 8

// Sort sorts keys, from the lowest digit on. room is memory for as many keys. It returns the sorted keys and the other
// list, which may have changed places.
func Sort(keys, room []uint64) (sorted, other []uint64) {
	var count [64 / digit][1 << digit]int
	for _, k := range keys {
		for d := range count {
			count[d][byte(k>>(digit*d))]++
		}
	}
	for d := range count {
		at, used := 0, 0
		c := &count[d]
		for i, n := range c {
			if n > 0 {
				used++
			}
			c[i] = at
			at += n
		}
		if used < 2 { // all keys have the same digit
			continue
		}
		for _, k := range keys {
			i := byte(k >> (digit * d))
			room[c[i]] = k
			c[i]++
		}
		keys, room = room, keys
	}
	return keys, room
}
