package order

import "slices"

// ring remembers which interval each slot of a value holds.
type ring struct {
	holds []int // by slot: its interval; -1: none
	used  []int // by slot: the time of its last use
	clock int   // the latest such time
	part  int   // slot that holds only the rows of its interval that the current cell reads; -1: none
	runs  *ring // of wide cells: the slots of all intervals that one reaches over, by the first of them; nil: there are none yet
}

// newRing is a ring of n empty slots.
func newRing(n int) *ring {
	return &ring{holds: slices.Repeat([]int{-1}, n), used: make([]int, n), part: -1}
}

// drop empties the slot that holds only the rows for the last cell.
func (r *ring) drop() {
	if r.part >= 0 {
		r.holds[r.part], r.part = -1, -1
	}
}

// find returns the slot that holds interval i and marks it as used; -1: none does.
func (r *ring) find(i int) int {
	for k, h := range r.holds {
		if h == i {
			r.clock++
			r.used[k] = r.clock
			return k
		}
	}
	return -1
}

// take gives interval i the least recently used slot. As visits go back and forth over the sources,
// that is the slot whose interval is needed last (Belady's rule). Empty slots go first if there are
// two or more. With only one, every load would take that one and wait for the cell before.
func (r *ring) take(i int) int {
	empty := 0
	for _, h := range r.holds {
		if h < 0 {
			empty++
		}
	}
	s := -1
	for k, h := range r.holds {
		if (empty < 2 || h < 0) && (s < 0 || r.used[k] < r.used[s]) {
			s = k
		}
	}
	r.holds[s] = i
	return r.find(i)
}

// next gives interval i, which another device passes on, the second most recently used slot, which
// will be free soon. So the least recently used slots stay for chunks from the host, which take
// longer to come, and keep them, so that the devices together hold more chunks.
func (r *ring) next(i int) int {
	last, s := -1, -1 // most recently used, and before that
	for k := range r.holds {
		switch {
		case last < 0 || r.used[k] > r.used[last]:
			last, s = k, last
		case s < 0 || r.used[k] > r.used[s]:
			s = k
		}
	}
	if s < 0 {
		s = last
	}
	r.holds[s] = i
	return r.find(i)
}

// ring is the slots of value key at the far end or, if key is negative, of the own rows of value
// -1-key; nil: there are none yet.
func (s *slotState) ring(key int) *ring { return s.rings[key+len(s.rings)/2] }

// ring is slotState.ring of device d, made with n slots if there is none yet.
func (e *emitter) ring(d, key, n int) *ring {
	st := &e.state[d]
	r := st.ring(key)
	if r == nil {
		r = newRing(n)
		st.rings[key+len(st.rings)/2] = r
		st.used = append(st.used, r)
	}
	return r
}
