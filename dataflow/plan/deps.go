package plan

// tracker finds what a task must wait for from what it reads and writes. A place is
// an address of a device (a slot, a resident chunk, a Global) or, negative, a chunk in
// host memory. Lanes are the queues of all devices.
type tracker struct {
	p       *Plan
	places  map[int64]*place
	last    []int32   // last task of each lane, -1 at first
	waited  [][]int32 // latest task of the second lane that the first has waited for
	barrier []int32   // tasks of earlier phases, whose slots the present one overlays
	need    []int32
	serial  bool // no overlap: every task waits for the one before
}

type place struct {
	write int32
	reads []int32
}

func newTracker(p *Plan, serial bool) *tracker {
	n := p.Devices * int(Queues)
	t := &tracker{p: p, places: map[int64]*place{}, serial: serial, last: none(n), barrier: none(n), need: none(n)}
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

func (t *tracker) at(k int64) *place {
	s := t.places[k]
	if s == nil {
		s = &place{write: -1, reads: none(len(t.last))}
		t.places[k] = s
	}
	return s
}

// phase starts a phase: its slots lie where the earlier ones' did.
func (t *tracker) phase() { copy(t.barrier, t.last) }

func laneOf(k *Task) int { return int(k.Device)*int(Queues) + int(k.Queue) }

// add appends a task that reads and writes the places.
func (t *tracker) add(k Task, reads, writes []int64) {
	i, mine := int32(len(t.p.Tasks)), laneOf(&k)
	copy(t.need, t.barrier)
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
		s := t.at(r)
		after(s.write)
		s.reads[mine] = i
	}
	for _, w := range writes {
		s := t.at(w)
		after(s.write)
		for q := range s.reads {
			if s.reads[q] != i {
				after(s.reads[q])
			}
			s.reads[q] = -1
		}
		s.write = i
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
