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
// the order in which they began. Bytes, places, results and what must come after what are the same.

// trail is what every task of a plan must come after: conflicts with tasks of other queues and,
// for loads, also of their own.
type trail struct {
	before []int32
	from   []int32   // by task: where its part of before begins
	due    []int32   // by task: the first that reads what it loads
	loads  [][]int32 // by chunk of host memory: that have read it since it was written
}

// begin turns to task i, the next.
func (t *trail) begin(i int32) {
	t.from, t.due = append(t.from, int32(len(t.before))), append(t.due, i)
}

// read says that task i of queue q reads u, a part of r.
func (t *trail) read(r span, u *segment, i int32, q Queue) {
	if r.device < 0 && q == H2D {
		for int(r.at) >= len(t.loads) {
			t.loads = append(t.loads, nil)
		}
		t.loads[r.at] = append(t.loads[r.at], i)
	}
	if w := u.write; w >= 0 && Queue(u.lane%int32(Queues)) == H2D && t.due[w] == w {
		t.due[w] = i
	}
}

// write says that the task in hand writes w.
func (t *trail) write(w span) {
	if w.device < 0 && 0 <= w.at && int(w.at) < len(t.loads) {
		t.before = append(t.before, t.loads[w.at]...)
		t.loads[w.at] = t.loads[w.at][:0]
	}
}

// end is the end of the task in hand.
func (t *trail) end() {
	at := t.from[len(t.from)-1]
	mine := t.before[at:]
	slices.Sort(mine)
	t.before = t.before[:int(at)+len(slices.Compact(mine))]
}

// of are the tasks that task i comes after.
func (t *trail) of(i int32) []int32 {
	if int(i)+1 < len(t.from) {
		return t.before[t.from[i]:t.from[i+1]]
	}
	return t.before[t.from[i]:]
}

// chooser is the part of a simulation that lets loads pass each other.
type chooser struct {
	p     *Plan
	unmet []int32  // by task: how many that it waits for are not over
	from  []int32  // range of next, by task
	next  []int32  // tasks that wait for one
	ready []urgent // by device
}

func newChooser(p *Plan, t *trail) *chooser {
	n := len(p.Tasks)
	c := &chooser{p: p, unmet: make([]int32, n), from: make([]int32, n+1), next: make([]int32, len(t.before)), ready: make([]urgent, p.Devices)}
	for d := range c.ready {
		c.ready[d].due = t.due
	}
	for _, j := range t.before {
		c.from[j+1]++
	}
	for i := range n {
		c.from[i+1] += c.from[i]
	}
	at := slices.Clone(c.from[:n])
	for i := range int32(n) {
		before := t.of(i)
		c.unmet[i] = int32(len(before))
		for _, j := range before {
			c.next[at[j]] = i
			at[j]++
		}
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
func (p *Plan) early(m *Machine, t *trail) *Plan {
	if !p.moves() {
		return p
	}
	fifo, s := newSimulation(p, m), newSimulation(p, m)
	fifo.run()
	s.free, s.started = newChooser(p, t), make([]int32, 0, len(p.Tasks))
	for q := int(H2D); q < len(s.lanes); q += int(Queues) {
		s.lanes[q].head = -1
	}
	if s.run(); s.t.Wall >= fifo.t.Wall {
		return p
	}
	return p.ordered(t, s.order())
}

// order is the order in which tasks have started; those that did at the same time keep theirs.
func (s *simulation) order() []int32 {
	out := s.started
	for i := 0; i < len(out); {
		k := i + 1
		for k < len(out) && s.t.Start[out[k]] == s.t.Start[out[i]] {
			k++
		}
		slices.Sort(out[i:k])
		i = k
	}
	return out
}

// ordered is p with its tasks in another order.
func (p *Plan) ordered(t *trail, order []int32) *Plan {
	out := *p
	out.Tasks, out.Deps = make([]Task, 0, len(p.Tasks)), make([]int32, 0, len(p.Deps))
	at := make([]int32, len(order)) // by task: where it stands now
	wait := newWaits(&out)
	for n, i := range order {
		at[i] = int32(n)
		wait.begin(false)
		for _, j := range t.of(i) {
			lane := laneOf(&p.Tasks[j])
			wait.need[lane] = max(wait.need[lane], at[j])
		}
		k := p.Tasks[i]
		k.Is.Event = false
		wait.add(&out, &k)
	}
	return &out
}
