package tcp

import (
	"cmp"
	"errors"
	"fmt"
	stdnet "net"
	"os"
	"slices"
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
	Since   time.Time         // when the process was started, from which it waits for other ranks to join; zero: when Open is called
	Secret  *Secret           // is what all ranks know; nil: anyone who reaches the ports can take part, and nothing is encrypted
	Trusted bool              // the network is trusted: without a Secret, Peers need not be of this host
	Listen  string            // host:port to listen at; "": that of Peers
	Say     func(text string) // is called with the message about a rank that was given up
	Note    func(text string) // is called, once a minute at most, with a line about strangers; nil: nothing is said
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
	conns  map[stdnet.Conn]bool // sockets, not what TLS makes of them
	why    error                // the reason why dead was closed
	dead   chan struct{}
	ending atomic.Bool // this rank has begun to end the others, or has received a farewell

	nonce     startNonce
	door      door
	strangers strangers

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
	if o.Since.IsZero() {
		o.Since = time.Now()
	}
	l := &Link{o: o, out: map[lane]*pipe{}, in: map[lane]*pipe{}, conns: map[stdnet.Conn]bool{}, dead: make(chan struct{}), left: make(chan struct{})}
	l.door.most = max(minWaiting, 2*(len(o.Peers)-1)*(1+stripes)) // twice what ranks open at the same time
	if o.Rank == 0 {
		l.nonce.set(newNonce())
	}
	var err error
	if l.listen, err = listen(&o); err != nil {
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

const minWaiting = 8

// shortest is the shortest time that a rank waits for others to join. One that was stopped before, and goes on when they have given it
// up, has waited for long.
const shortest = time.Second

// joined is until when ranks must have joined.
func (l *Link) joined() time.Time {
	end, least := l.o.Since.Add(l.o.Timeout), time.Now().Add(min(shortest, l.o.Timeout))
	if end.Before(least) {
		return least
	}
	return end
}

// ErrOpen says that ranks of several hosts were started without a Secret, on a network that is not said to be trusted.
var ErrOpen = errors.New("peers of other hosts need a secret")

// listen listens at the address of this rank, and at no other.
func listen(o *Options) (stdnet.Listener, error) {
	address := cmp.Or(o.Listen, o.Peers[o.Rank])
	if o.Secret == nil && !o.Trusted {
		for _, peer := range append([]string{address}, o.Peers...) {
			if !loopback(peer) {
				return nil, fmt.Errorf("%w: %s is not of this host alone", ErrOpen, peer)
			}
		}
	}
	l, err := stdnet.Listen("tcp", address)
	if err != nil && o.Listen == "" {
		return nil, fmt.Errorf("rank %d cannot listen at its own address: %w (--listen names one of this host that leads there)", o.Rank, err)
	}
	return l, err
}

// loopback tells whether only processes of this host reach an address.
func loopback(address string) bool {
	host, _, err := stdnet.SplitHostPort(address)
	if err != nil || host == "" {
		return false
	}
	if ip := stdnet.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	list, err := stdnet.LookupIP(host)
	return err == nil && len(list) > 0 && !slices.ContainsFunc(list, func(ip stdnet.IP) bool { return !ip.IsLoopback() })
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

// errClosed is the error of all calls after Close.
var errClosed = errors.New("tcp: the link is closed")

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}
