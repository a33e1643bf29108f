package plan

// tracker finds what a task must wait for from what it reads and writes. A place is
// a device address (a slot or a resident chunk) or, negative, a chunk in host memory.
type tracker struct {
	p       *Plan
	places  map[int64]*place
	last    [Queues]int32         // last task of each queue, -1 at first
	waited  [Queues][Queues]int32 // latest task of the second queue that the first has waited for
	barrier [Queues]int32         // tasks of earlier phases, whose slots the present one overlays
	serial  bool                  // no overlap: every task waits for the one before
}

type place struct {
	write int32
	reads [Queues]int32
}

func newTracker(p *Plan, serial bool) *tracker {
	t := &tracker{p: p, places: map[int64]*place{}, serial: serial}
	for q := range Queues {
		t.last[q], t.barrier[q] = -1, -1
		for r := range Queues {
			t.waited[q][r] = -1
		}
	}
	return t
}

func (t *tracker) at(k int64) *place {
	s := t.places[k]
	if s == nil {
		s = &place{write: -1}
		for q := range Queues {
			s.reads[q] = -1
		}
		t.places[k] = s
	}
	return s
}

// phase starts a phase: its slots lie where the earlier ones' did.
func (t *tracker) phase() { t.barrier = t.last }

// add appends a task that reads and writes the places.
func (t *tracker) add(k Task, reads, writes []int64) {
	i := int32(len(t.p.Tasks))
	var need [Queues]int32
	for q := range Queues {
		need[q] = t.barrier[q]
		if t.serial {
			need[q] = t.last[q]
		}
	}
	after := func(j int32) {
		if j >= 0 {
			q := t.p.Tasks[j].Queue
			need[q] = max(need[q], j)
		}
	}
	for _, r := range reads {
		s := t.at(r)
		after(s.write)
		s.reads[k.Queue] = i
	}
	for _, w := range writes {
		s := t.at(w)
		after(s.write)
		for q := range Queues {
			if s.reads[q] != i {
				after(s.reads[q])
			}
			s.reads[q] = -1
		}
		s.write = i
	}
	k.Deps[0] = int32(len(t.p.Deps))
	for q := range Queues {
		// A wait also covers what the awaited queue did before; later tasks of this
		// queue need not wait again.
		if q == k.Queue || need[q] <= t.waited[k.Queue][q] {
			continue
		}
		t.waited[k.Queue][q] = need[q]
		t.p.Tasks[need[q]].Event = true
		t.p.Deps = append(t.p.Deps, need[q])
	}
	k.Deps[1] = int32(len(t.p.Deps))
	t.last[k.Queue] = i
	t.p.Tasks = append(t.p.Tasks, k)
}
