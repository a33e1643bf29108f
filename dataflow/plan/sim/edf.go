package sim

import (
	"cmp"
	"container/heap"
	"slices"

	"sagann/dataflow/plan"
)

// Precedence is what the tasks of a plan must come after, whatever their order: conflicts with tasks of
// other queues and, for loads, also of their own.
type Precedence struct {
	Before []int32
	From   []int32 // by task: where its part of Before begins
	Due    []int32 // by task: the first that reads what it loads
}

// Of are the tasks that task i comes after.
func (t *Precedence) Of(i int32) []int32 {
	if int(i)+1 < len(t.From) {
		return t.Before[t.From[i]:t.From[i+1]]
	}
	return t.Before[t.From[i]:]
}

// EarliestDeadline simulates p on m with every queue of loads free to choose: of the loads whose bytes are
// free the one that is read first goes next. It returns the tasks in the order in which they start; nil where the
// step takes no less time than wall ns, what it takes in the order of p.
func EarliestDeadline(p *plan.Plan, wall int64, m *Machine, t *Precedence) []int32 {
	s := newSimulation(p, m)
	s.free, s.started = newChooser(p, t), make([]int32, 0, len(p.Tasks))
	for q := int(plan.H2D); q < len(s.lanes); q += int(plan.Queues) {
		s.lanes[q].head = -1
	}
	if s.run(); s.t.Wall >= wall {
		return nil
	}
	return s.order()
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

// chooser is the part of a simulation that lets loads pass each other.
type chooser struct {
	p     *plan.Plan
	unmet []int32  // by task: how many that it waits for are not over
	from  []int32  // range of next, by task
	next  []int32  // tasks that wait for one
	ready []urgent // by device
}

func newChooser(p *plan.Plan, t *Precedence) *chooser {
	n := len(p.Tasks)
	c := &chooser{p: p, unmet: make([]int32, n), from: make([]int32, n+1), next: make([]int32, len(t.Before)), ready: make([]urgent, p.Devices)}
	for d := range c.ready {
		c.ready[d].due = t.Due
	}
	for _, j := range t.Before {
		c.from[j+1]++
	}
	for i := range n {
		c.from[i+1] += c.from[i]
	}
	at := slices.Clone(c.from[:n])
	for i := range int32(n) {
		before := t.Of(i)
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
	if t := &c.p.Tasks[i]; c.unmet[i] == 0 && t.Queue == plan.H2D {
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
