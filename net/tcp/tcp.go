package tcp

import (
	"cmp"
	"errors"
	"fmt"
	stdnet "net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"sagann/net"
)

// Options of Open.
type Options struct {
	Peers   []string          // host:port of every rank
	Rank    int               // the rank of this process
	Timeout time.Duration     // longest wait for other ranks to join, and longest silence of a rank; 0: 30 s
	Say     func(text string) // is called with the message about a rank that was given up
	End     func()            // ends the process when another rank has ended or was given up; nil: only the Link's calls fail
}

// Link is this rank's end: a net.Link.
type Link struct {
	o      Options
	hosts  []string // by rank
	listen stdnet.Listener
	where  atomic.Pointer[func() string]

	mu     sync.Mutex
	out    map[lane]*pipe
	in     map[lane]*pipe
	conns  map[stdnet.Conn]bool
	why    error // the reason why dead was closed
	dead   chan struct{}
	ending atomic.Bool // this rank has begun to end the others, or has received a farewell

	peers []*peer       // ranks that this one watches
	left  chan struct{} // closed when all ranks have called Close
	leave sync.Once     // closes left: the last peers may leave at the same time
}

// Open connects the ranks. It returns when all ranks have called it.
func Open(o Options) (net.Link, error) {
	if o.Rank < 0 || o.Rank >= len(o.Peers) {
		return nil, fmt.Errorf("rank %d of %d peers", o.Rank, len(o.Peers))
	}
	if len(o.Peers) == 1 {
		return nil, nil
	}
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	l := &Link{o: o, out: map[lane]*pipe{}, in: map[lane]*pipe{}, conns: map[stdnet.Conn]bool{}, dead: make(chan struct{}), left: make(chan struct{})}
	var err error
	if l.listen, err = listen(o.Peers[o.Rank]); err != nil {
		return nil, err
	}
	go l.accept()
	if err := l.meet(); err != nil {
		l.fail(err)
		return nil, err
	}
	go l.beat()
	return l, nil
}

// listen listens at an address. If no interface has that address, as behind a load balancer, it listens at the
// same port of all interfaces.
func listen(address string) (stdnet.Listener, error) {
	l, err := stdnet.Listen("tcp", address)
	if err == nil {
		return l, nil
	}
	_, port, wrong := stdnet.SplitHostPort(address)
	if wrong != nil {
		return nil, wrong
	}
	all, other := stdnet.Listen("tcp", ":"+port)
	if other != nil {
		return nil, err
	}
	return all, nil
}

// Rank is the number of this rank.
func (l *Link) Rank() int { return l.o.Rank }

// Ranks is the number of ranks.
func (l *Link) Ranks() int { return len(l.o.Peers) }

// Hosts are the hosts' names, by rank.
func (l *Link) Hosts() []string { return l.hosts }

// Tell sets the function that says what this rank is doing.
func (l *Link) Tell(where func() string) { l.where.Store(&where) }

// fail makes all present and later calls fail with why.
func (l *Link) fail(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why != nil {
		return
	}
	l.why = why
	close(l.dead)
	l.listen.Close()
	for c := range l.conns {
		c.Close()
	}
}

// failed returns the reason why a call failed: that of the link's end, or err if it has not ended.
func (l *Link) failed(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return cmp.Or(l.why, err)
}

// keep records a connection, which fail will close.
func (l *Link) keep(c stdnet.Conn) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why != nil {
		c.Close()
		return l.why
	}
	l.conns[c] = true
	return nil
}

// dial connects to a rank. It tries again until that rank listens.
func (l *Link) dial(to int) (stdnet.Conn, error) {
	for end := time.Now().Add(l.o.Timeout); ; {
		c, err := stdnet.DialTimeout("tcp", l.o.Peers[to], time.Until(end))
		if err == nil {
			return c, l.keep(c)
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("rank %d at %s did not answer for %v: %w", to, l.o.Peers[to], l.o.Timeout, err)
		}
		select {
		case <-l.dead:
			return nil, l.failed(nil)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// errClosed is the error of all calls after Close.
var errClosed = errors.New("tcp: the link is closed")

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}
