package device

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// space hands out ranges of an arena, first fit. It only tracks the ranges, so the null device uses it
// without any memory behind it.
//
// Invariants: free is sorted by offset, no two of its spans touch, and free and
// the live slots together cover the arena exactly. All offsets and lengths are
// multiples of Align.
type space struct {
	mu     sync.Mutex
	owner  uint32
	device string
	budget int64 // as given; the usable part is rounded down to Align
	used   int64
	peak   int64
	blocks int
	free   []span
	slots  []slot
	unused []uint32 // slots without a block
}

type span struct{ off, len int64 }

type slot struct {
	gen uint32 // counts the blocks that were here; even: none is now
	off int64
	len int64 // as asked
}

var errFreed = errors.New("memory was freed")

func newSpace(owner uint32, device string, budget int64) *space {
	s := &space{owner: owner, device: device, budget: budget}
	if n := budget &^ (Align - 1); n > 0 {
		s.free = []span{{0, n}}
	}
	return s
}

// alloc returns a block of so many bytes.
func (s *space) alloc(bytes int64) (Mem, error) {
	if bytes < 0 {
		return Mem{}, fmt.Errorf("size %d is negative", bytes)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	need := int64(math.MaxInt64)
	if bytes <= s.budget&^(Align-1) {
		need = (bytes + Align - 1) &^ (Align - 1)
	}
	i, off := 0, int64(0)
	if need > 0 {
		i = slices.IndexFunc(s.free, func(f span) bool { return f.len >= need })
		if i < 0 {
			return Mem{}, s.full(bytes)
		}
		off = s.free[i].off
		if s.free[i].len == need {
			s.free = slices.Delete(s.free, i, i+1)
		} else {
			s.free[i].off += need
			s.free[i].len -= need
		}
	}
	s.used += need
	s.peak = max(s.peak, s.used)
	s.blocks++
	return s.take(off, bytes), nil
}

// take fills an unused slot, or a new one.
func (s *space) take(off, bytes int64) Mem {
	if len(s.unused) == 0 {
		s.slots = append(s.slots, slot{})
		s.unused = append(s.unused, uint32(len(s.slots)-1))
	}
	n := s.unused[len(s.unused)-1]
	s.unused = s.unused[:len(s.unused)-1]
	t := &s.slots[n]
	t.gen++
	t.off, t.len = off, bytes
	return Mem{off: off, len: bytes, owner: s.owner, slot: n, gen: t.gen}
}

func (s *space) full(bytes int64) error {
	e := &BudgetError{Device: s.device, Asked: bytes, Used: s.used, Budget: s.budget}
	for _, f := range s.free {
		e.Largest = max(e.Largest, f.len)
	}
	return e
}

// release frees a block and joins it with its free neighbours.
func (s *space) release(m Mem) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.live(m); err != nil {
		return err
	}
	t := &s.slots[m.slot]
	if m.off != t.off || m.len != t.len {
		return fmt.Errorf("%d bytes at %d are a slice of a block, which is freed whole", m.len, m.off)
	}
	t.gen++
	s.unused = append(s.unused, m.slot)
	s.blocks--
	f := span{m.off, (m.len + Align - 1) &^ (Align - 1)}
	if f.len == 0 {
		return nil
	}
	s.used -= f.len
	i, _ := slices.BinarySearchFunc(s.free, f.off, func(x span, off int64) int {
		if x.off < off {
			return -1
		}
		return 1
	})
	// The span before i ends at or before f, the one at i begins at or after
	// f's end.
	if i < len(s.free) && f.off+f.len == s.free[i].off {
		f.len += s.free[i].len
		s.free = slices.Delete(s.free, i, i+1)
	}
	if i > 0 && s.free[i-1].off+s.free[i-1].len == f.off {
		s.free[i-1].len += f.len
	} else {
		s.free = slices.Insert(s.free, i, f)
	}
	return nil
}

// check returns an error unless m is live memory of this space and n bytes at
// off lie inside it.
func (s *space) check(m Mem, off, n int64) error {
	s.mu.Lock()
	err := s.live(m)
	s.mu.Unlock()
	if err == nil && !inside(off, n, m.len) {
		err = fmt.Errorf("%d bytes at %d lie outside a block of %d bytes", n, off, m.len)
	}
	return err
}

func (s *space) live(m Mem) error {
	if m.owner != s.owner {
		if m.owner == 0 {
			return errors.New("memory was never allocated")
		}
		return errors.New("memory is another device's")
	}
	if int(m.slot) >= len(s.slots) || s.slots[m.slot].gen != m.gen {
		return errFreed
	}
	return nil
}

// count writes the arena's part of c.
func (s *space) count(c *Counters) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Used, c.Peak = s.used, s.peak
}
