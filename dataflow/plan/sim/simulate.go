package sim

import (
	"fmt"
	"math"
	"slices"

	"sagann/dataflow/plan"
)

// Simulate predicts how one step of p runs on m. Every queue runs its tasks in order: a task
// starts when the task before it in its queue and its dependences have ended. A kernel takes the
// time that its Cost takes at the device's rates. Copies share fairly the links that they cross,
// and the disk if host memory is a file. Each device copies from and to the host memory nearest
// to it. The result depends on nothing but p and m.
//
// m must be valid and have at least as many devices as p, and p must be verified. Simulate panics
// on too few devices, and on a plan that cannot proceed, which is a bug of the planner. Cost:
// O(tasks + dependences) for a fixed number of queues.
func Simulate(p *plan.Plan, m *Machine) *Timeline {
	if n := max(1, p.Devices); n > len(m.Devices) {
		panic(fmt.Sprintf("plan: a plan for %d devices on machine %s, which has %d", n, m.Name, len(m.Devices)))
	}
	s := newSimulation(p, m)
	s.run()
	s.critical()
	s.links()
	if len(p.Setup) > 0 {
		once := newSimulation(&plan.Plan{Spec: p.Spec, Cells: p.Cells, Tasks: p.Setup, Host: p.Host}, m)
		once.run()
		s.t.Setup = once.t.Wall
	}
	return s.t
}

// simulation is a run of the event loop. Lanes are the queues of all devices; a lane
// has at most one task running.
type simulation struct {
	p       *plan.Plan
	m       *Machine
	net     *network
	clocks  []*clock // by device
	t       *Timeline
	lanes   []lane
	busy    []int32 // lanes that have tasks
	after   []int32 // next task of the same lane, -1 at the end
	before  []int32 // previous task of the same lane, -1 at the start
	result  int64   // bytes of the Results task
	now     int64
	free    *chooser // chooses the next load of each device; nil: every queue runs in the plan's order
	started []int32  // with free: tasks in the order of their start
	kernel  int      // running kernels
	copies  int      // running copies

	flows  []int32 // lanes whose copies move bytes, ascending
	routes []*route
	rates  []float64
}

type state uint8

const (
	free    state = iota // nothing runs: the head is not ready yet
	fixed                // a kernel runs until lane.at
	waiting              // a copy runs whose first byte moves at lane.at
	flowing              // a copy moves bytes, until lane.at if its rate stays
)

type lane struct {
	head  int32 // running or next task, -1 at the end
	wait  int32 // a task that the head waits for, which may have ended by now; -1: none known
	state state
	route *route  // of a running copy
	bytes int64   // of a running copy
	at    int64   // time of the next event, in ns
	left  float64 // bytes that were still to move at time since
	rate  float64 // bytes/ns
	since int64   // time of the last change of rate, in ns
}

func newSimulation(p *plan.Plan, m *Machine) *simulation {
	n := len(p.Tasks)
	s := &simulation{p: p, m: m, net: newNetwork(m),
		lanes: make([]lane, len(m.Devices)*int(plan.Queues)), after: make([]int32, n), before: make([]int32, n),
		t: &Timeline{Machine: m.Name, Start: make([]int64, n), End: make([]int64, n)}}
	for d := range m.Devices {
		s.clocks = append(s.clocks, newClock(p, m.Kind(d)))
	}
	last := make([]int32, len(s.lanes))
	for q := range last {
		last[q], s.lanes[q].head, s.lanes[q].wait = -1, -1, -1
	}
	for i := range int32(n) {
		q := p.Tasks[i].Lane()
		s.before[i], s.after[i] = last[q], -1
		if last[q] >= 0 {
			s.after[last[q]] = i
		} else {
			s.lanes[q].head = i
			s.busy = append(s.busy, int32(q))
		}
		last[q] = i
		s.t.End[i] = -1 // not ended
	}
	for _, g := range p.Spec.Results {
		s.result += p.Spec.Globals[g].Bytes()
	}
	return s
}

func (s *simulation) run() {
	for {
		next, running := int64(math.MaxInt64), false
		for _, q := range s.busy {
			l := &s.lanes[q]
			if l.state == free && l.head < 0 && s.free != nil && plan.Queue(q%int32(plan.Queues)) == plan.H2D {
				l.head = s.free.choose(int(q) / int(plan.Queues))
			}
			if l.state == free && l.head >= 0 && s.ready(l) {
				s.start(l)
			}
			if l.state != free {
				next, running = min(next, l.at), true
			}
		}
		if !running {
			break
		}
		s.advance(next)
		changed := false
		for _, q := range s.busy {
			l := &s.lanes[q]
			if l.state == free || l.at > s.now {
				continue
			}
			if l.state == waiting && l.bytes > 0 {
				l.state, l.left, l.rate, l.since = flowing, float64(l.bytes), 0, s.now
				at, _ := slices.BinarySearch(s.flows, q)
				s.flows = slices.Insert(s.flows, at, q)
				changed = true
				continue
			}
			if l.state == flowing {
				at, _ := slices.BinarySearch(s.flows, q)
				s.flows = slices.Delete(s.flows, at, at+1)
				changed = true
			}
			s.end(l)
		}
		if changed {
			s.reshare()
		}
	}
	for _, q := range s.busy {
		if i := s.lanes[q].head; i >= 0 { // with free, this is a task that waits for a load that never starts
			panic(fmt.Sprintf("plan: %s never starts", s.p.Describe(int(i))))
		}
	}
	s.t.Wall = s.now
}

// ready tells whether the head of l may start.
func (s *simulation) ready(l *lane) bool {
	if s.free != nil {
		return s.free.unmet[l.head] == 0
	}
	if l.wait >= 0 && s.t.End[l.wait] < 0 {
		return false
	}
	t := &s.p.Tasks[l.head]
	for _, d := range s.p.Deps[t.Deps[0]:t.Deps[1]] {
		if s.t.End[d] < 0 {
			l.wait = d
			return false
		}
	}
	return true
}

func (s *simulation) start(l *lane) {
	i := l.head
	s.t.Start[i] = s.now
	if s.free != nil {
		s.started = append(s.started, i)
	}
	if r := s.routeOf(i); r != nil {
		l.state, l.route, l.bytes, l.at = waiting, r, s.size(i), s.now+round(r.latency)
		s.copies++
		return
	}
	l.state, l.at = fixed, s.now+round(s.clocks[s.p.Tasks[i].Device].ns(&s.p.Tasks[i]))
	s.kernel++
}

func (s *simulation) end(l *lane) {
	i := l.head
	s.t.End[i] = s.now
	q := s.p.Tasks[i].Queue
	s.t.Busy[q] += s.now - s.t.Start[i]
	if q == plan.Compute {
		s.kernel--
	} else {
		s.copies--
	}
	l.state, l.head, l.wait = free, s.after[i], -1
	if s.free != nil {
		s.free.over(i)
		if q == plan.H2D {
			l.head = -1
		}
	}
}

// advance moves the clock and adds the time that passes to the timeline's sums.
func (s *simulation) advance(to int64) {
	dt := to - s.now
	s.now = to
	if s.copies > 0 {
		s.t.Transfer += dt
	}
	switch {
	case s.kernel > 0:
		s.t.Compute += dt
	case s.copies > 0:
		s.t.Exposed += dt
	default:
		s.t.Idle += dt
	}
}

// reshare sets the rate of each flowing copy, and the time at which it ends if that rate stays.
func (s *simulation) reshare() {
	s.routes, s.rates = s.routes[:0], s.rates[:0]
	for _, q := range s.flows {
		s.routes = append(s.routes, s.lanes[q].route)
		s.rates = append(s.rates, 0)
	}
	s.net.share(s.routes, s.rates)
	for k, q := range s.flows {
		l := &s.lanes[q]
		l.left = max(0, l.left-l.rate*float64(s.now-l.since))
		l.rate, l.since = s.rates[k], s.now
		l.at = s.now + round(l.left/l.rate)
	}
}

// round rounds a time to ns, and to at most 1e13 ns (three hours), so that sums stay in range.
func round(ns float64) int64 {
	ns = min(ns, 1e13)
	n := int64(ns)
	if ns-float64(n) >= 0.5 {
		n++
	}
	return n
}
