package order

import "sagann/dataflow/plan"

// Turns orders p's tasks for so many ranks so that device-to-device messages between ranks which can cross at
// the same time follow each other; such a group is a turn. No message of a turn waits for another one of it, so each
// device may submit its messages of a turn as one group, which begins when all of them can. turn is, by task, the
// number of its turn, from 1, or 0 if it is no such message. Every queue keeps its order, and every dependence still
// points backwards, so ranks cannot deadlock, whether they run the messages in groups or one by one.
func Turns(p *plan.Plan, ranks int) (tasks, turn []int32) {
	var (
		behind  = make([]int32, len(p.Tasks))               // by task: the last turn that it waits for, or is in
		lanes   = make([]int32, p.Devices*int(plan.Queues)) // by queue: the same of its last task
		now     int32                                       // the current turn
		at      []int32                                     // messages of the current turn
		waiting []int32                                     // tasks that wait for messages of the current turn
	)
	turn = make([]int32, len(p.Tasks))
	over := func() {
		tasks = append(append(tasks, at...), waiting...)
		at, waiting = at[:0], waiting[:0]
	}
	for n := range p.Tasks {
		t, i := &p.Tasks[n], int32(n)
		queues, crosses := queuesOf(p, t, ranks)
		last := int32(0)
		for _, q := range queues {
			last = max(last, lanes[q])
		}
		for _, d := range p.Deps[t.Deps[0]:t.Deps[1]] {
			last = max(last, behind[d])
		}
		switch message := crosses && t.Kind == plan.Copy; {
		case message && last == now: // it waits for a message of the current turn: begin the next turn
			over()
			now++
			fallthrough
		case message:
			last, turn[n] = now, now
			at = append(at, i)
		case last == now && now > 0:
			waiting = append(waiting, i)
		default:
			tasks = append(tasks, i)
		}
		behind[n] = last
		for _, q := range queues {
			lanes[q] = last
		}
	}
	over()
	return tasks, turn
}

// queuesOf is the queues that t is in: one, twice, or if t crosses from another rank, its own and the queue
// of the device that sends.
func queuesOf(p *plan.Plan, t *plan.Task, ranks int) (queues [2]int, crosses bool) {
	queues = [2]int{t.Lane(), t.Lane()}
	from := source(p, t)
	if crosses = RankOf(from, p.Devices, ranks) != RankOf(int(t.Device), p.Devices, ranks); crosses {
		queues[1] = from*int(plan.Queues) + int(plan.D2H)
	}
	return queues, crosses
}

// RankOf is the rank that has device d, of so many devices and ranks.
func RankOf(d, devices, ranks int) int { return d * ranks / devices }

// source is a device of the rank that has the data that t reads.
func source(p *plan.Plan, t *plan.Task) int {
	switch {
	case t.Kind == plan.Copy:
		return int(t.From)
	case t.Kind == plan.Load && t.Value >= 0:
		return p.Owner(int(t.Own))
	}
	return int(t.Device)
}
