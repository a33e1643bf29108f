package planner_test

import (
	"testing"

	"pgregory.net/rapid"

	"sagann/dataflow/plan"
	"sagann/internal/draw"
)

// TestTurns: ranks whose devices hand over the messages of a turn together, and go on when all of them have crossed, all come to their ends;
// and there are turns of several messages.
func TestTurns(t *testing.T) {
	joined := 0
	draw.Check(t, func(t *rapid.T) {
		_, parts, _ := drawParts(t)
		w := newTurns(parts)
		for moved := true; moved; {
			moved = false
			for r := range parts {
				for i := range parts[r].Tasks {
					moved = w.step(r, i) || moved
				}
			}
		}
		for r, q := range parts {
			for i := range q.Tasks {
				if !w.of[r][i].done {
					t.Fatalf("rank %d waits for ever at %s", r, q.Describe(i))
				}
				if q.Tasks[i].Is.Joined {
					joined++
				}
			}
		}
	})
	if joined == 0 {
		t.Error("no message crosses beside another")
	}
}

// turns runs parts by hand.
type turns struct {
	parts []*plan.Plan
	of    [][]state // by rank and task
}

type state struct {
	done, begun bool
	queue       int    // task before it in its queue, -1: none
	message     int    // direct messages: the device's before it
	group       []int  // and all of its turn on the device
	peer        *state // messages: the other end
}

func newTurns(parts []*plan.Plan) *turns {
	w := &turns{parts: parts}
	ends := map[[2]int][]*state{} // of messages whose other end has not come, by channel and kind
	for _, q := range parts {
		list, queues, last := make([]state, len(q.Tasks)), map[int]int{}, map[uint16]int{}
		for i := range q.Tasks {
			t, s := &q.Tasks[i], &list[i]
			s.queue, s.message = -1, -1
			if n, ok := queues[t.Lane()]; ok {
				s.queue = n
			}
			queues[t.Lane()] = i
			if t.Kind != plan.Send && t.Kind != plan.Receive {
				continue
			}
			c := t.Channel(q.Devices)
			other := [2]int{c, int(plan.Send + plan.Receive - t.Kind)}
			if wait := ends[other]; len(wait) > 0 {
				s.peer, wait[0].peer, ends[other] = wait[0], s, wait[1:]
			} else {
				mine := [2]int{c, int(t.Kind)}
				ends[mine] = append(ends[mine], s)
			}
			if t.Is.Host {
				continue
			}
			s.group = []int{i}
			if n, ok := last[t.Device]; ok {
				s.message = n
				if t.Is.Joined {
					s.message, s.group = list[n].message, append(list[n].group, i)
					for _, m := range s.group {
						list[m].group = s.group
					}
				}
			}
			last[t.Device] = i
		}
		w.of = append(w.of, list)
	}
	return w
}

// ready tells whether nothing of its own rank holds up task i.
func (w *turns) ready(r, i int) bool {
	s, t := &w.of[r][i], &w.parts[r].Tasks[i]
	over := func(n int) bool { return n < 0 || w.of[r][n].done }
	for _, d := range w.parts[r].Deps[t.Deps[0]:t.Deps[1]] {
		if !over(int(d)) {
			return false
		}
	}
	return over(s.queue) && over(s.message)
}

// step goes on with task i of rank r, where it can.
func (w *turns) step(r, i int) bool {
	s := &w.of[r][i]
	if s.done {
		return false
	}
	group, moved := s.group, false
	if group == nil {
		group = []int{i}
	}
	if !s.begun {
		for _, m := range group {
			if !w.ready(r, m) {
				return false
			}
		}
		for _, m := range group {
			w.of[r][m].begun = true
		}
		moved = true
	}
	for _, m := range group {
		if peer := w.of[r][m].peer; peer != nil && !peer.begun {
			return moved
		}
	}
	for _, m := range group {
		w.of[r][m].done = true
	}
	return true
}
