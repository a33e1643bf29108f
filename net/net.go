package net

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Link moves messages between ranks. Messages with the same sender, receiver and tag arrive in the order in
// which they were sent. Methods may be called by several goroutines at the same time.
type Link interface {
	Rank() int       // the number of this process, from 0
	Ranks() int      // the number of ranks
	Hosts() []string // the name of the host of each rank
	// Send sends b, at most Piece bytes. It returns when the caller may change b again, which can be
	// before the message has arrived.
	Send(b []byte, to, tag int) error
	// Recv receives a message of exactly len(b) bytes into b.
	Recv(b []byte, from, tag int) error
	// Abort ends all ranks: all their present and later calls fail, or their processes end.
	Abort(why error)
	// Close ends the link. All ranks must call it.
	Close() error
}

// Piece is the largest message of a Link, in bytes. Counts in MPI have 31 bits. It is much less, as a rank that
// waits tells by pieces whether a long message is under way (Stuck).
const Piece = 32 << 20

// Group is the ranks of a run. A nil Group is a run with one rank.
type Group struct {
	GPUs Library // the library that moves bytes between GPUs of different ranks; set before a run begins

	link  Link
	piece int
	sent  []atomic.Int64 // bytes sent by tasks, by receiving rank; got is by sending rank
	got   []atomic.Int64
	epoch atomic.Int64
	task  atomic.Pointer[func() string]
	doing doing

	asking asking
}

// Library is NCCL. Without it, bytes go through host memory and the link.
type Library struct {
	Path string // file of the library; "": none
	// Found, unless nil, is called once with the result of opening the library: err is nil if all ranks
	// could open it. If Found is nil, failing to open it is an error of Use.
	Found func(version string, err error)
	tried bool
}

// Use opens the library with open, and reports whether the ranks use it: either all of them or none. All ranks
// must call it; it may be called several times.
func (l *Library) Use(g *Group, open func(path string) (version string, err error)) (bool, error) {
	if l.Path == "" {
		return false, nil
	}
	version, err := open(l.Path)
	if err = g.Agree("the library for GPUs", err); err == nil || l.Found != nil {
		if l.Found != nil && !l.tried {
			l.Found(version, err)
		}
		if l.tried = true; err != nil {
			l.Path, err = "", nil
		}
	}
	return l.Path != "" && err == nil, err
}

// A Teller is a Link that tells other ranks the Status of this one. status returns that as text.
type Teller interface{ Tell(status func() string) }

// Over is the group of the ranks that link connects.
func Over(link Link) *Group {
	n := link.Ranks()
	g := &Group{link: link, piece: Piece, sent: make([]atomic.Int64, n), got: make([]atomic.Int64, n)}
	g.asking.lines, g.asking.changed.L = make([]sync.Mutex, n), &g.asking.mu
	if t, ok := link.(Teller); ok {
		t.Tell(func() string { return g.doing.status(g.where()).Text() })
	}
	return g
}

// Doing sets what this rank is doing, for the error messages of other ranks. what may be called at any
// time, by any goroutine.
func (g *Group) Doing(what func() string) {
	if g != nil {
		g.task.Store(&what)
	}
}

// Epoch sets the epoch of this rank, from 1, for the same messages.
func (g *Group) Epoch(n int) {
	if g != nil {
		g.epoch.Store(int64(n))
	}
}

// where says what this rank is doing.
func (g *Group) where() string {
	text := "before the first epoch"
	if n := g.epoch.Load(); n > 0 {
		text = fmt.Sprintf("epoch %d", n)
	}
	if f := g.task.Load(); f != nil {
		text += ", " + (*f)()
	}
	return text
}

// Rank is the number of this rank, from 0.
func (g *Group) Rank() int {
	if g == nil {
		return 0
	}
	return g.link.Rank()
}

// Ranks is the number of ranks.
func (g *Group) Ranks() int {
	if g == nil {
		return 1
	}
	return g.link.Ranks()
}

// Send sends b to rank to on a channel, a number from 0. The messages of a channel between two ranks arrive
// in order. Send returns when the caller may change b again.
func (g *Group) Send(b []byte, to, channel int) error {
	if err := g.send(b, to, channel+firstTag); err != nil {
		return err
	}
	g.sent[to].Add(int64(len(b)))
	return nil
}

// Recv receives len(b) bytes that rank from sends on the channel.
func (g *Group) Recv(b []byte, from, channel int) error {
	if err := g.recv(b, from, channel+firstTag); err != nil {
		return err
	}
	g.got[from].Add(int64(len(b)))
	return nil
}

func (g *Group) send(b []byte, to, tag int) error {
	w := Wait{to, tag == commonTag}
	g.doing.wait(w)
	defer g.doing.end(w)
	return g.pieces(b, func(b []byte) error { return g.link.Send(b, to, tag) }, "send to", to)
}

func (g *Group) recv(b []byte, from, tag int) error {
	w := Wait{from, tag == commonTag}
	g.doing.wait(w)
	defer g.doing.end(w)
	return g.idle(b, from, tag)
}

// idle is recv without a wait that others are told of: for messages that need not come.
func (g *Group) idle(b []byte, from, tag int) error {
	return g.pieces(b, func(b []byte) error { return g.link.Recv(b, from, tag) }, "receive from", from)
}

// pieces calls f for the pieces of b, in order.
func (g *Group) pieces(b []byte, f func([]byte) error, what string, peer int) error {
	for first := true; first || len(b) > 0; first = false {
		n := min(len(b), g.piece)
		if err := f(b[:n]); err != nil {
			return fmt.Errorf("%s rank %d: %w", what, peer, err)
		}
		g.doing.piece()
		b = b[n:]
	}
	return nil
}

// Moved is how many bytes tasks have sent to each rank and received from each rank so far.
func (g *Group) Moved() (sent, got []int64) {
	for i := range g.sent {
		sent, got = append(sent, g.sent[i].Load()), append(got, g.got[i].Load())
	}
	return sent, got
}

// Name is this rank in errors: its number and its host.
func (g *Group) Name() string {
	if g == nil {
		return "rank 0"
	}
	return fmt.Sprintf("rank %d (host %s)", g.link.Rank(), g.link.Hosts()[g.link.Rank()])
}

// Host is the name of this rank's host; "" in a run with one rank.
func (g *Group) Host() string {
	if g == nil {
		return ""
	}
	return g.link.Hosts()[g.link.Rank()]
}

// Beside is how many ranks with lower numbers run on this rank's host.
func (g *Group) Beside() (n int) {
	if g == nil {
		return 0
	}
	hosts := g.link.Hosts()
	for _, h := range hosts[:g.link.Rank()] {
		if h == hosts[g.link.Rank()] {
			n++
		}
	}
	return n
}

// Abort ends all ranks. Ranks that wait for this one get why as their error, if the link can tell them.
func (g *Group) Abort(why error) {
	if g != nil {
		g.link.Abort(why)
	}
}

// Close ends the link. All ranks must call it, within the timeout of the link.
func (g *Group) Close() error {
	if g == nil {
		return nil
	}
	g.asking.end()
	g.doing.next("the end of the run")
	all := Wait{anyRank, true}
	g.doing.wait(all)
	defer g.doing.end(all)
	return g.link.Close()
}
