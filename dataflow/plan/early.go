package plan

import (
	"cmp"
	"container/heap"
	"slices"
)

// Loads in the order of their deadlines. The emitter puts a load right before the first
// task that reads it, and its queue runs in that order: a load whose slot is still in use
// holds up all that come later, also those whose slots are free. Where a machine is known
// the simulator runs the plan with that queue free to choose: whenever a copy is over, of
// the loads whose bytes are free the one that is read first goes next. Tasks then stand in
// the order in which they began. Bytes, places and results are the same, and dependences
// are found anew from the same spans.

// trail is what every task of a plan reads and writes.
type trail struct {
	spans []span
	at    []int32 // two a task: where its reads and its writes begin
}

func (t *trail) add(reads, writes []span) {
	t.at = append(t.at, int32(len(t.spans)), int32(len(t.spans)+len(reads)))
	t.spans = append(append(t.spans, reads...), writes...)
}

// of are the spans of task i.
func (t *trail) of(i int) (reads, writes []span) {
	end := int32(len(t.spans))
	if 2*i+2 < len(t.at) {
		end = t.at[2*i+2]
	}
	return t.spans[t.at[2*i]:t.at[2*i+1]], t.spans[t.at[2*i+1]:end]
}

// chooser is the part of a simulation that lets loads pass each other.
type chooser struct {
	p     *Plan
	unmet []int32  // by task: how many that it waits for are not over
	from  []int32  // range of next, by task
	next  []int32  // tasks that wait for one
	due   []int32  // by task: the first compute task that reads what it loads
	ready []urgent // by device
}

// newChooser finds what every task of p waits for: conflicts with tasks of other queues
// and, for loads, also of their own.
func newChooser(p *Plan, tr *trail) *chooser {
	n := len(p.Tasks)
	c := &chooser{p: p, unmet: make([]int32, n), from: make([]int32, n+1), due: make([]int32, n), ready: make([]urgent, p.Devices)}
	for d := range c.ready {
		c.ready[d].due = c.due
	}
	t := newTracker(p, false)
	loads := map[int64][]int32{} // that have read a chunk of host memory since it was written
	pairs := make([][2]int32, 0, 4*n)
	var before []int32
	for i := range int32(n) {
		mine := laneOf(&p.Tasks[i])
		c.due[i] = i
		before = before[:0]
		after := func(j int32) {
			if j >= 0 && j != i && (laneOf(&p.Tasks[j]) != mine || p.Tasks[i].Queue == H2D) {
				before = append(before, j)
			}
		}
		reads, writes := tr.of(int(i))
		for _, r := range reads {
			if r.device < 0 && p.Tasks[i].Queue == H2D {
				loads[r.at] = append(loads[r.at], i)
			}
			t.each(r, func(u *uses) {
				after(u.write)
				u.reads[mine] = i
				if w := u.write; w >= 0 && p.Tasks[w].Queue == H2D && c.due[w] == w {
					c.due[w] = i
				}
			})
		}
		for _, w := range writes {
			if w.device < 0 {
				for _, j := range loads[w.at] {
					after(j)
				}
				delete(loads, w.at)
			}
			t.each(w, func(u *uses) {
				after(u.write)
				for q := range u.reads {
					after(u.reads[q])
					u.reads[q] = -1
				}
				u.write = i
			})
			t.merge(w)
		}
		slices.Sort(before)
		before = slices.Compact(before)
		c.unmet[i] = int32(len(before))
		for _, j := range before {
			pairs = append(pairs, [2]int32{j, i})
			c.from[j+1]++
		}
	}
	for i := range n {
		c.from[i+1] += c.from[i]
	}
	c.next = make([]int32, len(pairs))
	at := slices.Clone(c.from[:n])
	for _, x := range pairs {
		c.next[at[x[0]]] = x[1]
		at[x[0]]++
	}
	for i := range int32(n) {
		c.offer(i)
	}
	return c
}

// offer puts task i, a load that waits for nothing, among those to choose from.
func (c *chooser) offer(i int32) {
	if t := &c.p.Tasks[i]; c.unmet[i] == 0 && t.Queue == H2D {
		heap.Push(&c.ready[t.Device], i)
	}
}

// over says that task i has ended.
func (c *chooser) over(i int32) {
	for _, j := range c.next[c.from[i]:c.from[i+1]] {
		if c.unmet[j]--; c.unmet[j] == 0 {
			c.offer(j)
		}
	}
}

// choose takes the most urgent load of device d, -1 when none can start.
func (c *chooser) choose(d int) int32 {
	if c.ready[d].Len() == 0 {
		return -1
	}
	return heap.Pop(&c.ready[d]).(int32)
}

// urgent is a heap of loads, those first that are read first.
type urgent struct {
	due   []int32 // by task
	loads []int32
}

// Len, Less, Swap, Push and Pop make a heap.
func (u *urgent) Len() int { return len(u.loads) }
func (u *urgent) Less(i, j int) bool {
	a, b := u.loads[i], u.loads[j]
	return cmp.Or(cmp.Compare(u.due[a], u.due[b]), cmp.Compare(a, b)) < 0
}
func (u *urgent) Swap(i, j int) { u.loads[i], u.loads[j] = u.loads[j], u.loads[i] }
func (u *urgent) Push(x any)    { u.loads = append(u.loads, x.(int32)) }
func (u *urgent) Pop() any {
	x := u.loads[len(u.loads)-1]
	u.loads = u.loads[:len(u.loads)-1]
	return x
}

// early is p with its loads in the order of their deadlines, or p itself when that is no
// faster on m.
func (p *Plan) early(m *Machine) *Plan {
	t := p.trail
	p.trail = nil
	if !p.moves() {
		return p
	}
	fifo, s := newSimulation(p, m), newSimulation(p, m)
	fifo.run()
	s.free = newChooser(p, t)
	for q := int(H2D); q < len(s.lanes); q += int(Queues) {
		s.lanes[q].head = -1
	}
	if s.run(); s.t.Wall >= fifo.t.Wall {
		return p
	}
	return p.ordered(t, s.t.Start)
}

// ordered is p with its tasks in the order of starts; equal ones keep theirs.
func (p *Plan) ordered(tr *trail, start []int64) *Plan {
	order := make([]int32, len(p.Tasks))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(start[a], start[b]) })
	out := *p
	out.Tasks, out.Deps = make([]Task, 0, len(p.Tasks)), make([]int32, 0, len(p.Deps))
	t := newTracker(&out, false)
	for _, i := range order {
		k := p.Tasks[i]
		k.Event = false
		reads, writes := tr.of(int(i))
		t.add(k, reads, writes)
	}
	return &out
}
