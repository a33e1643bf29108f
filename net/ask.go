package net

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
)

// This file lets a rank ask another one for bytes at any time (a remote procedure call). The other rank
// answers in the background, from goroutines that only wait for asks and answer them. They never ask
// themselves, so there is no deadlock.

// An Answer is a function that answers an ask. memory is its result of an earlier call, or nil, and may be used for
// the new result; so an Answer must not return memory that it still needs. It may be called by several goroutines
// at the same time.
type Answer func(ask, memory []byte) ([]byte, error)

// mostServices bounds the number of services.
const mostServices = 64

// asking is the part of a Group for asks.
type asking struct {
	once    sync.Once
	mu      sync.Mutex
	changed sync.Cond    // answers has grown, or the group is closed
	answers []Answer     // by service
	ended   bool         // the group is closed
	lines   []sync.Mutex // by rank: one ask at a time
}

// Serve answers asks of other ranks with f until the group is closed. It returns the number of this service.
// All ranks must call it and, with several services, in the same order.
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

// Ask sends ask to a service of a rank and returns the answer. The result is in memory if that is large enough.
func (g *Group) Ask(rank, service int, ask, memory []byte) ([]byte, error) {
	a := &g.asking
	a.lines[rank].Lock()
	defer a.lines[rank].Unlock()
	head := binary.LittleEndian.AppendUint64(nil, uint64(service))
	head = binary.LittleEndian.AppendUint64(head, uint64(len(ask)))
	err := g.send(head, rank, askTag)
	if err == nil {
		err = g.sendLong(ask, rank, askTag)
	}
	if err == nil {
		err = g.recv(head, rank, answerTag)
	}
	if err != nil {
		return nil, err
	}
	b, err := g.recvLong(memory, binary.LittleEndian.Uint64(head[8:]), rank, answerTag)
	if err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint64(head) != 0 {
		return nil, &Elsewhere{rank, string(b)}
	}
	return b, nil
}

// Asks and answers are sent in parts, so that a number that another rank sends takes no memory before its bytes come.
const (
	longPart = 16 << 20
	mostLong = 1 << 38
)

// sendLong sends b in parts.
func (g *Group) sendLong(b []byte, to, tag int) error {
	for len(b) > 0 {
		n := min(len(b), longPart)
		if err := g.send(b[:n], to, tag); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// recvLong receives the n bytes of a sendLong, in memory if that is large enough.
func (g *Group) recvLong(memory []byte, n uint64, from, tag int) ([]byte, error) {
	if n > mostLong {
		return nil, fmt.Errorf("rank %d announces %d bytes, which is more than %d", from, n, int64(mostLong))
	}
	b := memory[:0]
	for left := int(n); left > 0; {
		k := min(left, longPart)
		at := len(b)
		b = slices.Grow(b, k)[:at+k]
		if err := g.recv(b[at:], from, tag); err != nil {
			return nil, err
		}
		left -= k
	}
	return b, nil
}

// serve answers the asks of rank r until the link ends.
func (g *Group) serve(r int) {
	var ask, memory []byte
	head := make([]byte, 16)
	for {
		if g.idle(head, r, askTag) != nil {
			return // the link has ended; a call that waits for an answer gets the link's error
		}
		service, n := binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint64(head[8:])
		if service >= mostServices || n > mostLong { // nothing that comes after it can be read
			g.Abort(fmt.Errorf("rank %d asks service %d with %d bytes", r, service, n))
			return
		}
		var err error
		if ask, err = g.recvLong(ask, n, r, askTag); err != nil {
			return
		}
		b, err := g.answer(int(service), ask, memory)
		status := uint64(0)
		if memory = b; err != nil {
			status, b = 1, []byte(err.Error())
		}
		binary.LittleEndian.PutUint64(head, status)
		binary.LittleEndian.PutUint64(head[8:], uint64(len(b)))
		if g.send(head, r, answerTag) != nil || g.sendLong(b, r, answerTag) != nil {
			return
		}
	}
}

// answer calls a service. If this rank has not called Serve for it yet, answer waits until it has.
func (g *Group) answer(service int, ask, memory []byte) (b []byte, err error) {
	a := &g.asking
	a.mu.Lock()
	for len(a.answers) <= service && !a.ended {
		a.changed.Wait()
	}
	if a.ended {
		a.mu.Unlock()
		return nil, errors.New("the run has ended")
	}
	f := a.answers[service]
	a.mu.Unlock()
	g.doing.answers(1)
	defer g.doing.answers(-1)
	defer func() { // of f: the rank that asks gets it as an error
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return f(ask, memory)
}

// end has answers that wait for their service end.
func (a *asking) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	a.changed.Broadcast()
}
