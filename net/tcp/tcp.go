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
	Rank    int               // of this process
	Timeout time.Duration     // to wait for the others, and for signs of life; 0: 30 s
	Say     func(text string) // is called with the line that tells of a rank that was given up
	End     func()            // ends the process when another rank has ended or was given up; nil: only its calls fail
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
	why    error // that dead was closed
	dead   chan struct{}
	ending atomic.Bool // this rank has begun to end the others, or hears why it ends

	peers []*peer       // ranks that this one watches
	left  chan struct{} // closed when all have taken leave
}

// Open joins the ranks. It returns when all have come.
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

// listen takes the port of an address: at that address, or, where that is no interface's, as behind a service, at all.
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

// Ranks is how many there are.
func (l *Link) Ranks() int { return len(l.o.Peers) }

// Hosts are the hosts' names, by rank.
func (l *Link) Hosts() []string { return l.hosts }

// Tell sets what says what this rank does.
func (l *Link) Tell(where func() string) { l.where.Store(&where) }

// fail makes all calls fail, those under way, too.
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

// failed is why calls fail: err, unless the link has ended.
func (l *Link) failed(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return cmp.Or(l.why, err)
}

// keep notes a connection, which fail closes.
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

// dial connects to a rank, which may not listen yet.
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

// errClosed is what calls of a closed link get.
var errClosed = errors.New("tcp: the link is closed")

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}
