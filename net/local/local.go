// Package local is a net.Link for tests: its ranks are goroutines of one process. Tests can delay messages at
// both ends. Messages are not buffered: Send returns when Recv has taken the message.
package local

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"sagann/net"
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

	told    []func() string // by rank: its status; nil: not known
	watches []net.Watch
	looked  time.Time
}

// timeout is how long ranks wait for each other until that is an error (net.Stuck).
const timeout = 30 * time.Second

type pipe struct{ from, to, tag int }

type message struct {
	b    []byte
	done chan error
}

// New makes so many ranks and their links, by rank.
func New(ranks int) (*Hub, []*Link) {
	h := &Hub{pipes: map[pipe]chan message{}, dead: make(chan struct{}), told: make([]func() string, ranks)}
	links := make([]*Link, ranks)
	for i := range links {
		links[i] = &Link{h, i, ranks}
		h.watches = append(h.watches, net.Watching(timeout, time.Now()))
	}
	return h, links
}

// SetTimeout sets how long ranks wait for each other until that is an error. It is called before any rank begins.
func (h *Hub) SetTimeout(d time.Duration) {
	for r := range h.watches {
		h.watches[r] = net.Watching(d, time.Now())
	}
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

// Tell sets the function that says what this rank is at.
func (l *Link) Tell(status func() string) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	l.hub.told[l.rank] = status
}

// look ends all ranks if they wait for each other. Any rank that waits calls it from time to time.
func (l *Link) look() {
	h := l.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	if now.Sub(h.looked) < net.BeatEvery || h.why != nil {
		return
	}
	h.looked = now
	for r, status := range h.told {
		if h.watches[r].Look(now); status != nil {
			h.watches[r].Heard(now, status())
		}
	}
	if text := net.Stuck(h.watches, l.Hosts(), now); text != "" {
		h.why = errors.New(text)
		close(h.dead)
	}
}

// Send sends b. It returns when the receiver has the bytes.
func (l *Link) Send(b []byte, to, tag int) error {
	l.hub.delay(l.rank, tag)
	m, c := message{b, make(chan error, 1)}, l.hub.pipe(pipe{l.rank, to, tag})
	tick := time.NewTicker(net.BeatEvery)
	defer tick.Stop()
	for {
		select {
		case c <- m:
			return <-m.done
		case <-l.hub.dead:
			return l.hub.failed()
		case <-tick.C:
			l.look()
		}
	}
}

// Recv receives the message of a Send.
func (l *Link) Recv(b []byte, from, tag int) error {
	l.hub.delay(l.rank, tag)
	c := l.hub.pipe(pipe{from, l.rank, tag})
	tick := time.NewTicker(net.BeatEvery)
	defer tick.Stop()
	for {
		select {
		case m := <-c:
			var err error
			if len(m.b) != len(b) {
				err = fmt.Errorf("rank %d sends %d bytes, rank %d waits for %d", from, len(m.b), l.rank, len(b))
			}
			copy(b, m.b)
			m.done <- err
			return err
		case <-l.hub.dead:
			return l.hub.failed()
		case <-tick.C:
			l.look()
		}
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
