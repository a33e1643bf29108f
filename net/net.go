package net

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Link moves messages between ranks. Messages of one sender, receiver and tag arrive in the order of their
// sending. Its methods may be called by any goroutines at the same time.
type Link interface {
	Rank() int       // of this process
	Ranks() int      // their number
	Hosts() []string // where each rank runs, by rank
	// Send returns when b may change again: perhaps before it has arrived. It has at most Piece bytes.
	Send(b []byte, to, tag int) error
	// Recv fills b with a message of just as many bytes.
	Recv(b []byte, from, tag int) error
	// Abort ends all ranks: their calls, under way or to come, fail, or their processes end.
	Abort(why error)
	// Close takes leave of the other ranks; all must do so.
	Close() error
}

// Piece is the largest message of a Link, in bytes: counts of MPI have 31 bits.
const Piece = 1 << 30

// Group is the ranks of a run. A nil Group is one rank alone.
type Group struct {
	GPUs Library // what moves bytes between GPUs of different ranks; set before a run begins

	link  Link
	piece int
	sent  []atomic.Int64 // bytes of tasks, by the rank at the other end
	got   []atomic.Int64
	epoch atomic.Int64
	doing atomic.Pointer[func() string]

	asking asking
}

// Library is NCCL, or nothing: bytes then go through host memory and the link.
type Library struct {
	Path  string                          // "": none
	Found func(version string, err error) // is told once whether it can be opened on all ranks; nil: it must
	tried bool
}

// Use opens the library by open, on all ranks or on none; all ranks call it, as often as they like. It tells whether they use it.
func (l *Library) Use(g *Group, open func(path string) (version string, err error)) (bool, error) {
	if l.Path == "" {
		return false, nil
	}
	version, err := open(l.Path)
	if err = g.Agree(err); err == nil || l.Found != nil {
		if l.Found != nil && !l.tried {
			l.Found(version, err)
		}
		if l.tried = true; err != nil {
			l.Path, err = "", nil
		}
	}
	return l.Path != "" && err == nil, err
}

// A Teller is a Link that tells other ranks what this one does.
type Teller interface{ Tell(where func() string) }

// Over is the group of the ranks that link joins.
func Over(link Link) *Group {
	n := link.Ranks()
	g := &Group{link: link, piece: Piece, sent: make([]atomic.Int64, n), got: make([]atomic.Int64, n)}
	g.asking.lines, g.asking.changed.L = make([]sync.Mutex, n), &g.asking.mu
	if t, ok := link.(Teller); ok {
		t.Tell(g.where)
	}
	return g
}

// Doing notes what this rank does, for the errors of others; what may be called at any time.
func (g *Group) Doing(what func() string) {
	if g != nil {
		g.doing.Store(&what)
	}
}

// Epoch notes in which epoch this rank is, from 1.
func (g *Group) Epoch(n int) {
	if g != nil {
		g.epoch.Store(int64(n))
	}
}

// where says what this rank does.
func (g *Group) where() string {
	text := "before the first epoch"
	if n := g.epoch.Load(); n > 0 {
		text = fmt.Sprintf("epoch %d", n)
	}
	if f := g.doing.Load(); f != nil {
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

// Ranks is how many there are.
func (g *Group) Ranks() int {
	if g == nil {
		return 1
	}
	return g.link.Ranks()
}

// Send sends b to rank to, on a channel (0 and more) that both ends use for one sequence of messages. It
// returns when b may change again.
func (g *Group) Send(b []byte, to, channel int) error {
	if err := g.send(b, to, channel+firstTag); err != nil {
		return err
	}
	g.sent[to].Add(int64(len(b)))
	return nil
}

// Recv fills b with what rank from sends on the channel.
func (g *Group) Recv(b []byte, from, channel int) error {
	if err := g.recv(b, from, channel+firstTag); err != nil {
		return err
	}
	g.got[from].Add(int64(len(b)))
	return nil
}

func (g *Group) send(b []byte, to, tag int) error {
	return g.pieces(b, func(b []byte) error { return g.link.Send(b, to, tag) }, "send to", to)
}

func (g *Group) recv(b []byte, from, tag int) error {
	return g.pieces(b, func(b []byte) error { return g.link.Recv(b, from, tag) }, "receive from", from)
}

// pieces calls f for b, piece by piece.
func (g *Group) pieces(b []byte, f func([]byte) error, what string, peer int) error {
	for first := true; first || len(b) > 0; first = false {
		n := min(len(b), g.piece)
		if err := f(b[:n]); err != nil {
			return fmt.Errorf("%s rank %d: %w", what, peer, err)
		}
		b = b[n:]
	}
	return nil
}

// Moved is how many bytes of tasks went to each rank and came from each, so far.
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

// Host is the name of this rank's host; "" of a process alone.
func (g *Group) Host() string {
	if g == nil {
		return ""
	}
	return g.link.Hosts()[g.link.Rank()]
}

// Beside is how many ranks of lower numbers run on this rank's host.
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

// Abort ends all ranks; those that wait for this one learn why, as far as the link can tell.
func (g *Group) Abort(why error) {
	if g != nil {
		g.link.Abort(why)
	}
}

// Close takes leave of the other ranks, who must do so, too.
func (g *Group) Close() error {
	if g == nil {
		return nil
	}
	return g.link.Close()
}
