package order

// ring remembers which interval each slot of a value holds.
type ring struct {
	holds []int
	used  []int
	clock int
	part  int // slot that holds only some rows of its interval, until the next cell; -1: none
}

// drop forgets what only the last cell could use.
func (r *ring) drop() {
	if r.part >= 0 {
		r.holds[r.part], r.part = -1, -1
	}
}

// find returns the slot that holds interval i and marks it used, or -1.
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

// take gives interval i the slot used longest ago. Over a serpentine that is the slot
// whose interval is needed last (Belady's rule). Slots that hold nothing go first when
// there are two or more: with one, each load would wait for the cell before.
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

// next gives interval i, which another device hands on, the slot used last but one, which will be
// free soon: slots used longest ago are for what comes from the host, which takes longer, and
// keep it, so that the devices together hold more chunks.
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

func (e *emitter) ring(d, key, n int) *ring {
	st := &e.state[d]
	r := st.ring(key)
	if r == nil {
		r = &ring{holds: make([]int, n), used: make([]int, n), part: -1}
		for k := range r.holds {
			r.holds[k] = -1
		}
		st.rings[key+len(st.rings)/2] = r
		st.used = append(st.used, r)
	}
	return r
}
