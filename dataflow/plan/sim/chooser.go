package sim

import (
	"cmp"
	"container/heap"
	"slices"

	"sagann/dataflow/plan"
)

// Precedence says which tasks must come before which, in any order of a plan: a task that uses the same
// memory and is in another queue, or, for loads, also in the same queue.
type Precedence struct {
	Before []int32 // the tasks that must come before task 0, then those before task 1, ...
	From   []int32 // by task: where its part of Before begins
	Due    []int32 // by task: the first task that reads what it loads; itself if it is no load that is read
}

// Of lists the tasks that must come before task i.
func (t *Precedence) Of(i int32) []int32 {
	if int(i)+1 < len(t.From) {
		return t.Before[t.From[i]:t.From[i+1]]
	}
	return t.Before[t.From[i]:]
}

// chooser is the part of a simulation that chooses which load a device runs next.
type chooser struct {
	p     *plan.Plan
	unmet []int32  // by task: how many tasks that must come before it have not ended
	from  []int32  // by task: where its part of next begins
	next  []int32  // the tasks that wait for task 0, then those for task 1, ...
	ready []urgent // by device: loads that can start
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

// offer adds task i to the loads that can start, if it is a load that waits for nothing.
func (c *chooser) offer(i int32) {
	if t := &c.p.Tasks[i]; c.unmet[i] == 0 && t.Queue == plan.H2D {
		heap.Push(&c.ready[t.Device], i)
	}
}

// over tells the chooser that task i has ended.
func (c *chooser) over(i int32) {
	for _, j := range c.next[c.from[i]:c.from[i+1]] {
		if c.unmet[j]--; c.unmet[j] == 0 {
			c.offer(j)
		}
	}
}

// choose removes and returns the most urgent load of device d; -1 if none can start.
func (c *chooser) choose(d int) int32 {
	if c.ready[d].Len() == 0 {
		return -1
	}
	return heap.Pop(&c.ready[d]).(int32)
}

// urgent is a heap of loads; first comes the one that is read first.
type urgent struct {
	due   []int32 // by task
	loads []int32
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
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
