package plan

import "sort"

// tracker finds what a task must wait for from the memory it reads and writes: byte
// ranges of a device (slots, resident chunks, Globals), whoever used them before and
// whatever for, so that buffers of different phases may lie over each other; and
// chunks in host memory. Lanes are the queues of all devices.
type tracker struct {
	p      *Plan
	memory []segments      // by device
	host   map[int64]*uses // by chunk
	last   []int32         // last task of each lane, -1 at first
	waited [][]int32       // latest task of the second lane that the first has waited for
	need   []int32
	slab   []int32
	serial bool // no overlap: every task waits for the one before
}

// span is memory that a task touches: bytes at..end of a device, or, with device -1,
// chunks in host memory by number.
type span struct {
	device  int
	at, end int64
}

// uses are the tasks whose effects a later one must respect.
type uses struct {
	write int32   // last that wrote, -1: none
	reads []int32 // last of each lane that read since then
}

// segments are disjoint ranges of one device's memory in ascending order, cut where
// spans have begun or ended.
type segments []segment

type segment struct {
	at, end int64
	uses    uses
}

func newTracker(p *Plan, serial bool) *tracker {
	n := p.Devices * int(Queues)
	t := &tracker{p: p, memory: make([]segments, p.Devices), host: map[int64]*uses{}, serial: serial, last: none(n), need: none(n)}
	for range n {
		t.waited = append(t.waited, none(n))
	}
	return t
}

func none(n int) []int32 {
	x := make([]int32, n)
	for i := range x {
		x[i] = -1
	}
	return x
}

// each calls f with the uses of everything in s.
func (t *tracker) each(s span, f func(*uses)) {
	if s.device < 0 {
		u := t.host[s.at]
		if u == nil {
			u = &uses{-1, t.unread()}
			t.host[s.at] = u
		}
		f(u)
		return
	}
	m := &t.memory[s.device]
	i := sort.Search(len(*m), func(i int) bool { return (*m)[i].end > s.at })
	for at := s.at; at < s.end; i++ {
		switch {
		case i == len(*m) || (*m)[i].at >= s.end: // nothing was here
			m.insert(i, segment{at, s.end, uses{-1, t.unread()}})
		case (*m)[i].at > at:
			m.insert(i, segment{at, (*m)[i].at, uses{-1, t.unread()}})
		case (*m)[i].at < at:
			t.cut(m, i, at)
			continue
		}
		if (*m)[i].end > s.end {
			t.cut(m, i, s.end)
		}
		f(&(*m)[i].uses)
		at = (*m)[i].end
	}
}

func (m *segments) insert(i int, s segment) {
	*m = append(*m, segment{})
	copy((*m)[i+1:], (*m)[i:])
	(*m)[i] = s
}

// unread are the reads of what no task has read. Many are made at a time.
func (t *tracker) unread() []int32 {
	n := len(t.last)
	if len(t.slab) < n {
		t.slab = none(64 * n)
	}
	x := t.slab[:n:n]
	t.slab = t.slab[n:]
	return x
}

// cut divides segment i at a byte inside it.
func (t *tracker) cut(m *segments, i int, at int64) {
	s := (*m)[i]
	s.uses.reads = t.unread()
	copy(s.uses.reads, (*m)[i].uses.reads)
	s.at = at
	m.insert(i+1, s)
	(*m)[i].end = at
}

// merge makes one segment of what s covers: after a write all of it was used alike.
// Without it cells of many sizes would cut their slots into ever smaller segments.
func (t *tracker) merge(s span) {
	if s.device < 0 || s.at == s.end {
		return
	}
	m := &t.memory[s.device]
	i := sort.Search(len(*m), func(i int) bool { return (*m)[i].end > s.at })
	j := i
	for j < len(*m) && (*m)[j].at < s.end {
		j++
	}
	if j-i > 1 {
		(*m)[i].end = s.end
		*m = append((*m)[:i+1], (*m)[j:]...)
	}
}

func laneOf(k *Task) int { return int(k.Device)*int(Queues) + int(k.Queue) }

// add appends a task that reads and writes the spans.
func (t *tracker) add(k Task, reads, writes []span) {
	i, mine := int32(len(t.p.Tasks)), laneOf(&k)
	if t.p.trail != nil {
		t.p.trail.add(reads, writes)
	}
	for q := range t.need {
		t.need[q] = -1
	}
	if t.serial {
		copy(t.need, t.last)
	}
	after := func(j int32) {
		if j >= 0 {
			q := laneOf(&t.p.Tasks[j])
			t.need[q] = max(t.need[q], j)
		}
	}
	for _, r := range reads {
		t.each(r, func(u *uses) {
			after(u.write)
			u.reads[mine] = i
		})
	}
	for _, w := range writes {
		t.each(w, func(u *uses) {
			if u.write != i {
				after(u.write)
			}
			for q := range u.reads {
				if u.reads[q] != i {
					after(u.reads[q])
				}
				u.reads[q] = -1
			}
			u.write = i
		})
		t.merge(w)
	}
	k.Deps[0] = int32(len(t.p.Deps))
	for q, n := range t.need {
		// A wait also covers what the awaited lane did before; later tasks of this
		// lane need not wait again.
		if q == mine || n <= t.waited[mine][q] {
			continue
		}
		t.waited[mine][q] = n
		t.p.Tasks[n].Event = true
		t.p.Deps = append(t.p.Deps, n)
	}
	k.Deps[1] = int32(len(t.p.Deps))
	t.last[mine] = i
	t.p.Tasks = append(t.p.Tasks, k)
}
