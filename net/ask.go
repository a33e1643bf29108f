package net

import (
	"encoding/binary"
	"sync"
)

// Asking: a rank asks another for bytes, at any time, which that one answers beside whatever else it does. Answers come from goroutines
// that do nothing but wait for asks, work and answer; they never ask, so no rank waits in a circle.

// An Answer answers an ask of a rank, in memory that it may take for that. It may be called by several goroutines.
type Answer func(ask, memory []byte) ([]byte, error)

// asking is what a Group has for that.
type asking struct {
	once    sync.Once
	mu      sync.Mutex
	changed sync.Cond    // answers has grown
	answers []Answer     // by service
	lines   []sync.Mutex // by rank: one ask at a time
}

// Serve has asks of other ranks answered until the group is closed, and returns the number of this service. All ranks call it, in one
// order for several services.
func (g *Group) Serve(f Answer) int {
	a := &g.asking
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers = append(a.answers, f)
	a.changed.Broadcast()
	a.once.Do(func() {
		for r := range g.Ranks() {
			if r != g.Rank() {
				go g.serve(r)
			}
		}
	})
	return len(a.answers) - 1
}

// Ask is what service number service of a rank answers. The result is in memory where there is room.
func (g *Group) Ask(rank, service int, ask, memory []byte) ([]byte, error) {
	a := &g.asking
	a.lines[rank].Lock()
	defer a.lines[rank].Unlock()
	head := binary.LittleEndian.AppendUint64(nil, uint64(service))
	head = binary.LittleEndian.AppendUint64(head, uint64(len(ask)))
	err := g.send(head, rank, askTag)
	if err == nil {
		err = g.send(ask, rank, askTag)
	}
	if err == nil {
		err = g.recv(head, rank, answerTag)
	}
	if err != nil {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint64(head[8:]))
	b := sized(memory, n)
	if err := g.recv(b, rank, answerTag); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint64(head) != 0 {
		return nil, &Elsewhere{rank, string(b)}
	}
	return b, nil
}

// sized is n bytes, of memory where there are so many.
func sized(memory []byte, n int) []byte {
	if cap(memory) < n {
		return make([]byte, n)
	}
	return memory[:n]
}

// serve answers rank r until the link ends.
func (g *Group) serve(r int) {
	var ask, memory []byte
	head := make([]byte, 16)
	for {
		if g.recv(head, r, askTag) != nil {
			return // the link has ended; whoever waits for an answer is told so
		}
		ask = sized(ask, int(binary.LittleEndian.Uint64(head[8:])))
		if g.recv(ask, r, askTag) != nil {
			return
		}
		b, err := g.answer(int(binary.LittleEndian.Uint64(head)), ask, memory)
		status := uint64(0)
		if memory = b; err != nil {
			status, b = 1, []byte(err.Error())
		}
		binary.LittleEndian.PutUint64(head, status)
		binary.LittleEndian.PutUint64(head[8:], uint64(len(b)))
		if g.send(head, r, answerTag) != nil || g.send(b, r, answerTag) != nil {
			return
		}
	}
}

// answer waits until this rank has the service, which it may be about to make.
func (g *Group) answer(service int, ask, memory []byte) ([]byte, error) {
	a := &g.asking
	a.mu.Lock()
	for len(a.answers) <= service {
		a.changed.Wait()
	}
	f := a.answers[service]
	a.mu.Unlock()
	return f(ask, memory)
}
