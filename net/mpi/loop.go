//go:build mpi

package mpi

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"sagann/net"
)

// Link is this rank's end: a net.Link.
type Link struct {
	rank, ranks, tags int
	hosts             []string // by rank
	work              chan *request
	abort             chan struct{}
	close             chan chan error
	closed            chan struct{}
	where             atomic.Pointer[func() string]
	say               func(string)
	timeout           time.Duration
}

// Open connects the ranks that were started together. The Link is nil if this process was started alone.
func Open(o Options) (net.Link, error) {
	l := &Link{work: make(chan *request), abort: make(chan struct{}, 1), close: make(chan chan error), closed: make(chan struct{}),
		say: o.Say, timeout: cmp.Or(o.Timeout, 30*time.Second)}
	opened := make(chan error)
	go l.loop(opened)
	if err := <-opened; err != nil {
		return nil, err
	}
	if l.ranks == 1 {
		return nil, l.Close()
	}
	return l, nil
}

// Rank is the number of this rank.
func (l *Link) Rank() int { return l.rank }

// Ranks is the number of ranks.
func (l *Link) Ranks() int { return l.ranks }

// Hosts are the hosts' names, by rank.
func (l *Link) Hosts() []string { return l.hosts }

// Tell sets the function that says what this rank is doing.
func (l *Link) Tell(where func() string) { l.where.Store(&where) }

// Send sends a message. It returns when the caller may change b again.
func (l *Link) Send(b []byte, to, tag int) error { return l.do(&request{b: b, peer: to, tag: tag}) }

// Recv receives a message of len(b) bytes.
func (l *Link) Recv(b []byte, from, tag int) error {
	return l.do(&request{b: b, peer: from, tag: tag, recv: true})
}

func (l *Link) do(r *request) error {
	if r.tag > l.tags {
		return fmt.Errorf("MPI: tag %d is above %d, the largest: too many devices a rank", r.tag, l.tags)
	}
	r.done = make(chan error, 1)
	select {
	case l.work <- r:
		return <-r.done
	case <-l.closed:
		return errClosed
	}
}

// Abort ends the processes of all ranks, this one included.
func (l *Link) Abort(error) {
	select {
	case l.abort <- struct{}{}:
	default:
	}
	<-l.closed
}

// tell prints a line.
func (l *Link) tell(text string) {
	if l.say != nil {
		l.say(text)
	}
}

// Close waits until all ranks have called Close, and ends MPI. After the timeout it ends the processes of all ranks.
func (l *Link) Close() error {
	done := make(chan error)
	select {
	case l.close <- done:
		return <-done
	case <-l.closed:
		return nil
	}
}

// The times that the loop sleeps. While requests are under way, it sleeps from the shortest to the longest time;
// calls of MPI take about a microsecond. There is another time for when nothing is under way.
const (
	spins    = 20
	shortest = 5 * time.Microsecond
	longest  = 200 * time.Microsecond
	idle     = 5 * time.Millisecond
)

// loop makes all calls of MPI.
func (l *Link) loop(opened chan<- error) {
	runtime.LockOSThread()
	err := l.begin()
	opened <- err
	if err != nil {
		return
	}
	b := l.beats()
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	defer signal.Stop(term)
	go b.asked(term)
	var under []*request
	var all *request // the barrier of Close: it completes when all ranks have called Close
	var leaving chan error
	var since time.Time // when Close was called
	timer, always := time.NewTimer(idle), make(chan time.Time)
	close(always)
	for quiet := 0; ; quiet++ {
		now := time.Now()
		b.turn(now)
		if all != nil {
			if over, err := all.over(); over {
				for _, r := range under { // receives whose messages nobody will send
					r.drop()
					r.done <- errClosed
				}
				l.leave(b, leaving, err)
				return
			}
			if now.Sub(since) > l.timeout && !b.ends {
				b.say(b.remaining())
				b.end()
			}
		}
		left := under[:0]
		for _, r := range under {
			if over, err := r.over(); over {
				r.done <- err
				quiet = 0
			} else {
				left = append(left, r)
			}
		}
		under = left
		var tick <-chan time.Time = always
		switch {
		case len(under) == 0 && all == nil:
			timer.Reset(idle)
			tick = timer.C
		case quiet >= spins:
			rest(min(longest, time.Duration(quiet-spins+1)*shortest))
		}
		select {
		case r := <-l.work:
			quiet = 0
			if err := r.post(); err != nil {
				r.done <- err
				continue
			}
			under = append(under, r)
		case <-l.abort:
			b.end()
		case done := <-l.close:
			leaving, since = done, now
			if all, err = barrier(); err != nil {
				l.leave(b, done, err)
				return
			}
		case <-tick:
		}
	}
}

// leave ends MPI. No rank sends any more.
func (l *Link) leave(b *beats, done chan<- error, err error) {
	b.drop()
	err = errors.Join(err, end())
	close(l.closed)
	done <- err
}
