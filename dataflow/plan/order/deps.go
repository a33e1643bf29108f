package order

import (
	"slices"

	"sagann/dataflow/plan"
)

// tracker finds what a task must wait for from the memory that it reads and writes: byte ranges of
// devices, and chunks in host memory. Byte ranges count whatever they were used for before, so
// buffers of different phases may overlap. Lanes are the queues of all devices.
type tracker struct {
	p      *plan.Plan
	memory [][]segment // by device: disjoint, ascending, cut where spans have begun or ended
	host   []segment   // first one per device, for emitter.turnOf, then by chunk of host memory
	reads  []int32     // by segment, then lane: the last task that read it since it was written; -1: none
	spare  []int32     // offsets in reads that no segment uses any more
	wait   waits
	serial bool // no overlap: every task waits for the one before
	trail  *Trail
}

// span is memory that a task touches: bytes at to end-1 of a device. With device -1 it is a chunk of
// host memory, by its number at, or the turn of device -1-at (emitter.turnOf).
type span struct {
	device  int
	at, end int64
}

// segment is a range of memory whose bytes were all used by the same tasks.
type segment struct {
	at, end     int64
	write, lane int32 // the last task that wrote it, and that task's lane; write is -1 if none did
	reads       int32 // its offset in tracker.reads
}

func newTracker(p *plan.Plan, serial bool, keep *Trail) *tracker {
	t := &tracker{p: p, memory: make([][]segment, p.Devices), serial: serial, trail: keep, wait: newWaits(p)}
	for range p.Devices + len(p.Spec.Values)*p.Cells.P {
		t.host = append(t.host, segment{write: -1, reads: -1})
	}
	return t
}

// unused is a new segment that no task has used.
func (t *tracker) unused(at, end int64) segment {
	s := segment{at: at, end: end, write: -1}
	if n := len(t.spare); n > 0 {
		s.reads, t.spare = t.spare[n-1], t.spare[:n-1]
		return s
	}
	s.reads = int32(len(t.reads))
	for range t.wait.last {
		t.reads = append(t.reads, -1)
	}
	return s
}

// of are the segments that make up s.
func (t *tracker) of(s span) []segment {
	if s.device < 0 {
		n := s.at + int64(t.p.Devices)
		if u := &t.host[n]; u.reads < 0 {
			*u = t.unused(s.at, s.end)
		}
		return t.host[n : n+1]
	}
	m := t.memory[s.device]
	i, j := 0, len(m) // search for the first segment that ends behind the beginning of s
	for i < j {
		if k := (i + j) / 2; m[k].end > s.at {
			j = k
		} else {
			i = k + 1
		}
	}
	if i < len(m) && m[i].at == s.at && m[i].end == s.end {
		return m[i : i+1]
	}
	if i < len(m) && m[i].at < s.at && s.at < s.end {
		m = t.cut(m, i, s.at)
		i, j = i+1, i+1
	}
	for at := s.at; at < s.end; j++ {
		switch {
		case j == len(m) || m[j].at >= s.end: // no segment is here yet
			m = slices.Insert(m, j, t.unused(at, s.end))
		case m[j].at > at:
			m = slices.Insert(m, j, t.unused(at, m[j].at))
		case m[j].end > s.end:
			m = t.cut(m, j, s.end)
		}
		at = m[j].end
	}
	t.memory[s.device] = m
	return m[i:j]
}

// cut divides segment i of m at a byte inside it.
func (t *tracker) cut(m []segment, i int, at int64) []segment {
	s := t.unused(at, m[i].end)
	s.write, s.lane = m[i].write, m[i].lane
	n := int32(len(t.wait.last))
	copy(t.reads[s.reads:s.reads+n], t.reads[m[i].reads:m[i].reads+n])
	m[i].end = at
	return slices.Insert(m, i+1, s)
}

// merge makes one segment of parts, which make up s and were just written by one task. Otherwise
// cells of many sizes would cut their slots into ever smaller segments.
func (t *tracker) merge(s span, parts []segment) {
	if len(parts) < 2 {
		return
	}
	parts[0].end = s.end
	for _, x := range parts[1:] {
		t.spare = append(t.spare, x.reads)
	}
	m := t.memory[s.device]
	i := cap(m) - cap(parts) // where parts begins
	t.memory[s.device] = slices.Delete(m, i+1, i+len(parts))
}

// add appends a task that reads and writes the spans.
func (t *tracker) add(k *plan.Task, reads, writes []span) {
	i, mine := int32(len(t.p.Tasks)), int32(k.Lane())
	t.wait.begin(t.serial)
	if t.trail != nil {
		t.trail.begin(i)
	}
	lanes := int32(len(t.wait.last))
	for _, r := range reads {
		parts := t.of(r)
		for x := range parts {
			u := &parts[x]
			if u.write >= 0 {
				t.after(u.write, u.lane, mine)
			}
			t.reads[u.reads+mine] = i
			if t.trail != nil {
				t.trail.read(r, u, i, k.Queue)
			}
		}
	}
	for _, w := range writes {
		parts := t.of(w)
		for x := range parts {
			u := &parts[x]
			if u.write >= 0 && u.write != i {
				t.after(u.write, u.lane, mine)
			}
			for q, j := range t.reads[u.reads : u.reads+lanes] {
				if j >= 0 {
					if j != i {
						t.after(j, int32(q), mine)
					}
					t.reads[u.reads+int32(q)] = -1
				}
			}
			u.write, u.lane = i, mine
		}
		if t.trail != nil {
			t.trail.write(w)
		}
		t.merge(w, parts)
	}
	if t.trail != nil {
		t.trail.end()
	}
	t.wait.add(t.p, k)
}

// after records that the current task, of lane mine, waits for task j of a lane.
func (t *tracker) after(j, lane, mine int32) {
	t.wait.need[lane] = max(t.wait.need[lane], j)
	if t.trail != nil && (lane != mine || plan.Queue(mine%int32(plan.Queues)) == plan.H2D) {
		t.trail.Before = append(t.trail.Before, j)
	}
}

// waits turns what tasks must wait for into dependences.
type waits struct {
	last   []int32   // by lane: its last task; -1: none yet
	waited [][]int32 // by lane, then other lane: the latest task of the other that the lane has waited for
	need   []int32   // by lane: the latest task that the current task waits for
}

func newWaits(p *plan.Plan) waits {
	n := p.Devices * int(plan.Queues)
	w := waits{last: slices.Repeat([]int32{-1}, n), need: make([]int32, n)}
	for range n {
		w.waited = append(w.waited, slices.Clone(w.last))
	}
	return w
}

// begin begins the next task. With serial it waits for the last tasks of all lanes.
func (w *waits) begin(serial bool) {
	for q := range w.need {
		w.need[q] = -1
	}
	if serial {
		copy(w.need, w.last)
	}
}

// add appends the current task to p.
func (w *waits) add(p *plan.Plan, k *plan.Task) {
	mine := k.Lane()
	k.Deps[0] = int32(len(p.Deps))
	for q, n := range w.need {
		// A wait covers all earlier tasks of the other lane, and holds for all later tasks
		// of this lane.
		if q == mine || n <= w.waited[mine][q] {
			continue
		}
		w.waited[mine][q] = n
		p.Tasks[n].Is.Event = true
		p.Deps = append(p.Deps, n)
	}
	k.Deps[1] = int32(len(p.Deps))
	w.last[mine] = int32(len(p.Tasks))
	p.Tasks = append(p.Tasks, *k)
}
