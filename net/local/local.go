// Package local is a net.Link for tests: its ranks are goroutines of one process. Tests can delay messages at
// both ends. Messages are not buffered: Send returns when Recv has taken the message.
package local

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Hub connects the ranks of one test.
type Hub struct {
	// Delay, unless nil, is called with the tag before every message, by the rank that sends and by the
	// rank that receives.
	Delay func(rank, tag int)

	mu    sync.Mutex
	pipes map[pipe]chan message
	dead  chan struct{}
	why   error // the reason why dead was closed

	closed int // how many ranks have called Close
}

type pipe struct{ from, to, tag int }

type message struct {
	b    []byte
	done chan error
}

// New makes so many ranks and their links, by rank.
func New(ranks int) (*Hub, []*Link) {
	h := &Hub{pipes: map[pipe]chan message{}, dead: make(chan struct{})}
	links := make([]*Link, ranks)
	for i := range links {
		links[i] = &Link{h, i, ranks}
	}
	return h, links
}

// Link is one rank's end: a net.Link.
type Link struct {
	hub         *Hub
	rank, ranks int
}

// Rank is the number of this rank.
func (l *Link) Rank() int { return l.rank }

// Ranks is the number of ranks.
func (l *Link) Ranks() int { return l.ranks }

// Hosts is "local" for every rank.
func (l *Link) Hosts() []string { return slices.Repeat([]string{"local"}, l.ranks) }

func (h *Hub) pipe(p pipe) chan message {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pipes[p] == nil {
		h.pipes[p] = make(chan message)
	}
	return h.pipes[p]
}

func (h *Hub) delay(rank, tag int) {
	if h.Delay != nil {
		h.Delay(rank, tag)
	}
}

func (h *Hub) failed() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.why
}

// Send sends b. It returns when the receiver has the bytes.
func (l *Link) Send(b []byte, to, tag int) error {
	l.hub.delay(l.rank, tag)
	m := message{b, make(chan error, 1)}
	select {
	case l.hub.pipe(pipe{l.rank, to, tag}) <- m:
		return <-m.done
	case <-l.hub.dead:
		return l.hub.failed()
	}
}

// Recv receives the message of a Send.
func (l *Link) Recv(b []byte, from, tag int) error {
	l.hub.delay(l.rank, tag)
	select {
	case m := <-l.hub.pipe(pipe{from, l.rank, tag}):
		var err error
		if len(m.b) != len(b) {
			err = fmt.Errorf("rank %d sends %d bytes, rank %d waits for %d", from, len(m.b), l.rank, len(b))
		}
		copy(b, m.b)
		m.done <- err
		return err
	case <-l.hub.dead:
		return l.hub.failed()
	}
}

// Abort makes all calls fail.
func (l *Link) Abort(why error) {
	h := l.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.why == nil {
		h.why = errors.Join(errors.New("another rank has failed"), why)
		close(h.dead)
	}
}

// Close does not wait for other ranks. When all ranks have called it, all present and later calls fail.
func (l *Link) Close() error {
	h := l.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed++; h.closed == l.ranks && h.why == nil {
		h.why = errors.New("the link is closed")
		close(h.dead)
	}
	return nil
}
