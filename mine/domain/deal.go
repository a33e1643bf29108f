package domain

import (
	"sync"

	"sagann/mine/lattice"
)

// dealer deals the candidates of a level out. Workers evaluate the candidates that are made; if there
// are none, they make those of the next parent.
type dealer struct {
	parents *lattice.Level
	report  func(done, parents int)

	mu     sync.Mutex
	wake   sync.Cond
	queue  []task
	budget *budget
	words  int  // most of a domain
	turn   int  // number of the level among those that ranks share
	next   int  // parent
	limit  int  // where the parents end that this rank may take so far
	asking bool // for more
	dealt  bool // there are no more
	failed error
	making int // workers that make candidates
	found  []dealt
	ended  bool
}

// task is a candidate: the child of a number of a parent.
type task struct {
	parent, child int
	lattice.Candidate
}

// dealt is a frequent pattern with its place in the order of the level.
type dealt struct {
	parent, child int
	Found
}

// end has the workers leave.
func (d *dealer) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	d.wake.Broadcast()
}

// ask gets more parents from the ranks. It is called with the lock, which it gives away while it waits.
func (d *dealer) ask(parents int) {
	d.asking = true
	d.mu.Unlock()
	from, to, err := d.budget.q.Peers.Deal(d.turn, parents)
	d.mu.Lock()
	d.asking = false
	if d.next, d.limit, d.dealt = from, to, from == to; err != nil {
		d.failed, d.ended = err, true
	}
	d.wake.Broadcast()
}

// parent is the next parent; ok is false if there are no more.
func (d *dealer) parent(parents int) (i int, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for !d.ended {
		switch {
		case d.next < d.limit:
			d.next++
			if d.report != nil {
				d.report(d.next, parents)
			}
			return d.next - 1, true
		case d.dealt:
			return 0, false
		case d.asking:
			d.wake.Wait()
		default:
			d.ask(parents)
		}
	}
	return 0, false
}

// mostTaken is how many candidates a worker takes at once, at most, as workers take turns at the queue. With a bound on memory it is one: domains are
// counted when they are found.
const mostTaken = 16

// work evaluates candidates until there are no more.
func (d *dealer) work(grower *lattice.Grower, w *worker, level []Found) {
	var s lattice.Scratch
	var tasks []task
	var found []dealt
	d.mu.Lock()
	defer d.mu.Unlock()
	for !d.ended {
		switch n := len(d.queue); {
		case n > 0:
			if d.budget.q.Room == 0 {
				n -= min(n/32, mostTaken-1)
			}
			n--
			tasks, d.queue = append(tasks[:0], d.queue[n:]...), d.queue[:n]
			d.mu.Unlock()
			found = found[:0]
			for i := range tasks {
				if f, ok := w.evaluate(&tasks[i].Candidate, level); ok {
					found = append(found, dealt{tasks[i].parent, tasks[i].child, f})
				}
			}
			d.mu.Lock()
			for _, f := range found {
				d.add(f)
			}
		case d.next < d.limit:
			i := d.next
			d.next++
			d.making++
			d.mu.Unlock()
			children := grower.Children(d.parents, i, &s)
			d.mu.Lock()
			d.making--
			for k, c := range children {
				d.queue = append(d.queue, task{i, k, c})
			}
			d.wake.Broadcast()
			if d.report != nil {
				d.report(d.next, len(level))
			}
		case !d.dealt && !d.asking:
			d.ask(len(level))
		case d.making > 0 || d.asking:
			d.wake.Wait()
		default:
			return
		}
	}
}
