//go:build mpi

package mpi

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"sagann/net"
)

// beats sends and receives heartbeats: between rank 0 and every other rank, in both directions.
type beats struct {
	l     *Link
	peers []*peer
	self  net.Watch
	next  time.Time
	ends  bool // all ranks are ending

	mu   sync.Mutex // guards said and the peers' watches
	said bool       // a silent rank was reported
}

// peer is a rank that this one watches.
type peer struct {
	rank    int
	in, out *request
	watch   net.Watch
}

// A heartbeat is a text of at most so many bytes: what its rank is doing (net.Status). A farewell is sent instead by
// a rank that ends all ranks.
const (
	toldBytes = 1024
	farewell  = "\x00"
)

func (l *Link) beats() *beats {
	b, now := &beats{l: l}, time.Now()
	b.self = net.Watching(l.timeout, now)
	for r := range l.ranks {
		if r != l.rank && (r == 0 || l.rank == 0) {
			b.peers = append(b.peers, &peer{rank: r, watch: net.Watching(l.timeout, now)})
		}
	}
	return b
}

// asked waits until the launcher asks this rank to end by a signal. The launcher does so when another rank has
// died, and kills all ranks a second later. Calls of MPI may not return then, so rank 0 reports the
// silent ranks here.
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

// silent is the message about the silent ranks; "" if there are none. It begins with the likely cause: the rank
// that has been silent for longest, and ranks of other hosts before those of this host, which the launcher
// may have ended.
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

// askedFor is how long this rank waits before it looks for silent ranks. It is less than the second after
// which the launcher kills it.
const askedFor = 600 * time.Millisecond

// turn receives heartbeats, sends them when they are due, and looks for silent ranks.
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
		if gone && !b.ends && !b.said && b.l.rank < 2 { // rank 0 reports the others, rank 1 reports rank 0
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
	if due && b.l.rank == 0 && !b.ends { // rank 0 knows what all ranks are at
		b.stuck(now)
	}
}

// stuck ends all ranks if they wait for each other.
func (b *beats) stuck(now time.Time) {
	b.self.Look(now)
	b.self.Heard(now, b.here())
	watches := []net.Watch{b.self}
	b.mu.Lock()
	for _, p := range b.peers {
		watches = append(watches, p.watch)
	}
	b.mu.Unlock()
	if text := net.Stuck(watches, b.l.hosts, now); text != "" {
		b.say(text)
		b.end()
	}
}

// say prints why all ranks end, unless that was said.
func (b *beats) say(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.said {
		b.said = true
		b.l.tell(text)
	}
}

// remaining says that this rank has waited for the others to end.
func (b *beats) remaining() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []string
	for _, p := range b.peers {
		list = append(list, p.watch.Staying(p.rank, b.l.hosts[p.rank]))
	}
	return fmt.Sprintf("this rank has ended, and %v later others have not: %s; all ranks end", b.l.timeout, strings.Join(list, "; "))
}

// here is what this rank is doing.
func (b *beats) here() string {
	if f := b.l.where.Load(); f != nil {
		return (*f)()
	}
	return ""
}

// receive receives a heartbeat of p, if one has arrived.
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

// wave sends farewells to the others, and has this process end soon.
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

// send starts sending a heartbeat.
func (p *peer) send(text string) {
	p.out = &request{b: []byte(text[:min(len(text), toldBytes)]), peer: p.rank, beat: true}
	if p.out.post() != nil {
		p.out = nil
	}
}

// sent checks whether the last heartbeat has been sent.
func (p *peer) sent() {
	if p.out != nil {
		if over, _ := p.out.over(); over {
			p.out = nil
		}
	}
}

// flush waits until the heartbeat has been sent. That takes little time, as it is short, unless the receiver
// does not run.
func (p *peer) flush() {
	for k := 0; k < 1000 && p.out != nil; k++ {
		p.sent()
	}
	p.out = nil // its memory is not freed, as MPI may still send it
}

// drop gives up all heartbeats under way.
func (b *beats) drop() {
	for _, p := range b.peers {
		p.flush()
		if p.in != nil {
			p.in.drop()
		}
	}
}
