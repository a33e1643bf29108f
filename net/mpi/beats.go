//go:build mpi

package mpi

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"sagann/net"
)

// beats are the heartbeats: between the first rank and every other, both ways.
type beats struct {
	l     *Link
	peers []*peer
	next  time.Time
	ends  bool // all ranks do

	mu   sync.Mutex // of the peers' watches and
	said bool       // of a silent rank
}

// peer is a rank that this one watches.
type peer struct {
	rank    int
	in, out *request
	watch   net.Watch
}

// A heartbeat tells what its rank does, in so many bytes; a farewell is that of a rank that ends all.
const (
	toldBytes = 512
	farewell  = "\x00"
)

func (l *Link) beats() *beats {
	b, now := &beats{l: l}, time.Now()
	for r := range l.ranks {
		if r != l.rank && (r == 0 || l.rank == 0) {
			b.peers = append(b.peers, &peer{rank: r, watch: net.Watching(l.timeout, now)})
		}
	}
	return b
}

// asked waits until the launcher asks this rank to end: it does so when another has died, and kills all a second later. A call of MPI
// may not return then, so the ranks that are silent are told of from here, by the first.
func (b *beats) asked(term <-chan os.Signal) {
	select {
	case <-term:
	case <-b.l.closed:
		return
	}
	if b.l.rank > 0 {
		return
	}
	time.Sleep(askedFor)
	b.mu.Lock()
	defer b.mu.Unlock()
	if text := b.silent(time.Now()); text != "" && !b.said {
		b.said = true
		b.l.tell(text + "; the launcher ends all ranks")
	}
}

// silent tells of the rank that is the cause: one of another host, as those of this host the launcher may have ended, and of these the one
// that has been silent for longest. The others are named behind it.
func (b *beats) silent(now time.Time) string {
	here := b.l.hosts[b.l.rank]
	var list []*peer
	for _, p := range b.peers {
		if p.watch.Silent(now) > net.SilentAfter {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return ""
	}
	near := func(p *peer) int {
		if b.l.hosts[p.rank] == here {
			return 1
		}
		return 0
	}
	slices.SortFunc(list, func(x, y *peer) int {
		return cmp.Or(near(x)-near(y), cmp.Compare(y.watch.Silent(now), x.watch.Silent(now)))
	})
	first := list[0]
	text := first.watch.Line(first.rank, b.l.hosts[first.rank], first.watch.Silent(now), false)
	for i, p := range list[1:] {
		text += []string{"; silent, too: ", ", "}[min(i, 1)] + fmt.Sprintf("rank %d (host %s)", p.rank, b.l.hosts[p.rank])
	}
	return text
}

// askedFor is how long this rank looks who is silent: less than the second after which it is killed.
const askedFor = 600 * time.Millisecond

// turn receives and sends what is due, and looks who is silent.
func (b *beats) turn(now time.Time) {
	due := !now.Before(b.next)
	if due {
		b.next = now.Add(net.BeatEvery)
	}
	for _, p := range b.peers {
		b.receive(p, now)
		p.sent()
		if due && p.out == nil {
			p.send(b.here())
		}
		b.mu.Lock()
		silent, gone := p.watch.Look(now)
		if gone && !b.ends && !b.said && b.l.rank < 2 { // the first tells; of the first the second
			b.said = true
			b.l.tell(p.watch.Line(p.rank, b.l.hosts[p.rank], silent, true))
		}
		b.mu.Unlock()
		if b.ends {
			continue
		}
		if gone {
			b.end()
		}
	}
}

// here is what this rank does.
func (b *beats) here() string {
	if f := b.l.where.Load(); f != nil {
		return (*f)()
	}
	return ""
}

// receive takes a heartbeat of p, if there is one.
func (b *beats) receive(p *peer, now time.Time) {
	if p.in == nil {
		p.in = &request{b: make([]byte, toldBytes), peer: p.rank, recv: true, beat: true}
		if p.in.post() != nil {
			p.in = nil
			return
		}
	}
	over, err := p.in.over()
	if !over {
		return
	}
	text := string(p.in.b[:p.in.got])
	switch p.in = nil; {
	case err != nil:
	case text != farewell:
		b.mu.Lock()
		p.watch.Heard(now, text)
		b.mu.Unlock()
	case !b.ends:
		b.wave()
	}
}

// wave tells the others that all ranks end, and has this process do so soon.
func (b *beats) wave() {
	b.ends = true
	for _, p := range b.peers {
		p.flush()
		p.send(farewell)
		p.flush()
	}
	time.AfterFunc(endAfter, func() { syscall.Kill(os.Getpid(), syscall.SIGKILL) })
}

// end ends all ranks.
func (b *beats) end() {
	b.wave()
	abortAll()
}

// endAfter is how long the launcher may take to end a process.
const endAfter = 1500 * time.Millisecond

// send begins to send a heartbeat.
func (p *peer) send(text string) {
	p.out = &request{b: []byte(text[:min(len(text), toldBytes)]), peer: p.rank, beat: true}
	if p.out.post() != nil {
		p.out = nil
	}
}

// sent looks whether the last heartbeat has left.
func (p *peer) sent() {
	if p.out != nil {
		if over, _ := p.out.over(); over {
			p.out = nil
		}
	}
}

// flush waits until a heartbeat has left: at once, so short it is, unless nobody can take it.
func (p *peer) flush() {
	for k := 0; k < 1000 && p.out != nil; k++ {
		p.sent()
	}
	p.out = nil // its memory stays: it may still leave
}

// drop gives up what is under way.
func (b *beats) drop() {
	for _, p := range b.peers {
		p.flush()
		if p.in != nil {
			p.in.drop()
		}
	}
}
