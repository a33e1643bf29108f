package tcp

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	stdnet "net"
	"strings"
	"sync"
	"time"

	"sagann/net"
)

// Between the first rank and every other goes a connection with words: a kind, a length, a text.
const (
	heartbeat byte = iota // what the rank does
	farewell              // all ranks end; why
	leaving               // this rank has nothing more to send; the first: none has
	names                 // of hosts, a line each
)

// told is the largest text of a word.
const told = 1 << 16

// peer is a rank that this one has such a connection with.
type peer struct {
	rank int
	c    stdnet.Conn
	say  sync.Mutex // of words to it

	mu    sync.Mutex // of these
	watch net.Watch
	left  bool
}

// word writes a word to p.
func (p *peer) word(kind byte, text string, limit time.Duration) error {
	text = text[:min(len(text), told)]
	b := binary.LittleEndian.AppendUint32([]byte{kind}, uint32(len(text)))
	p.say.Lock()
	defer p.say.Unlock()
	p.c.SetWriteDeadline(time.Now().Add(limit))
	_, err := p.c.Write(append(b, text...))
	return err
}

// hear reads a word of p.
func (p *peer) hear() (kind byte, text string, err error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(p.c, head); err != nil {
		return 0, "", err
	}
	n := binary.LittleEndian.Uint32(head[1:])
	if n > told {
		return 0, "", errors.New("no word of a rank")
	}
	b := make([]byte, n)
	_, err = io.ReadFull(p.c, b)
	return head[0], string(b), err
}

// meet waits for all ranks, which then know each other's hosts.
func (l *Link) meet() error {
	l.hosts = make([]string, len(l.o.Peers))
	l.hosts[l.o.Rank] = hostname()
	now := time.Now()
	if l.o.Rank > 0 {
		c, err := l.dial(0)
		if err != nil {
			return err
		}
		if _, err := c.Write(l.greeting(control)); err != nil {
			return err
		}
		p := &peer{rank: 0, c: c, watch: net.Watching(l.o.Timeout, now)}
		l.peers = []*peer{p}
		if err := p.word(names, l.hosts[l.o.Rank], l.o.Timeout); err != nil {
			return err
		}
		c.SetReadDeadline(now.Add(l.o.Timeout))
		kind, text, err := p.hear()
		if list := strings.Split(text, "\n"); err == nil && kind == names && len(list) == len(l.hosts) {
			l.hosts = list
		} else {
			return fmt.Errorf("rank 0 at %s did not say who has come: %w", l.o.Peers[0], unexpected(err, text))
		}
		c.SetReadDeadline(time.Time{})
		go l.listenTo(p)
		return nil
	}
	for r := 1; r < len(l.o.Peers); r++ {
		in := l.pipe(l.in, lane{r, control})
		select {
		case <-in.ready:
		case <-time.After(time.Until(now.Add(l.o.Timeout))):
			return fmt.Errorf("rank %d has not come for %v; is it started, with --rank %d and the same --peers?", r, l.o.Timeout, r)
		}
		p := &peer{rank: r, c: in.c}
		p.c.SetReadDeadline(now.Add(l.o.Timeout))
		kind, text, err := p.hear()
		if err != nil || kind != names {
			return fmt.Errorf("rank %d came and did not say from where: %w", r, unexpected(err, text))
		}
		p.c.SetReadDeadline(time.Time{})
		l.hosts[r] = text
		l.peers = append(l.peers, p)
	}
	for _, p := range l.peers {
		if err := p.word(names, strings.Join(l.hosts, "\n"), l.o.Timeout); err != nil {
			return err
		}
		p.watch = net.Watching(l.o.Timeout, time.Now())
		go l.listenTo(p)
	}
	return nil
}

// unexpected is err, or says what came instead of names.
func unexpected(err error, text string) error { return cmp.Or(err, fmt.Errorf("it said %q", text)) }

// listenTo hears what p says until the link ends.
func (l *Link) listenTo(p *peer) {
	for {
		kind, text, err := p.hear()
		p.mu.Lock()
		left := p.left
		switch {
		case err != nil:
		case kind == heartbeat:
			p.watch.Heard(time.Now(), text)
		case kind == leaving:
			p.left = true
		}
		p.mu.Unlock()
		switch {
		case err != nil && left:
			return
		case err != nil:
			p.mu.Lock()
			line := p.watch.Gone(p.rank, l.hosts[p.rank])
			p.mu.Unlock()
			l.giveUp(line)
			return
		case kind == farewell:
			l.end(errors.New(text), text)
			return
		case kind == leaving:
			l.allLeft()
		}
	}
}

// giveUp ends all ranks because of one, which line tells of: the first does so, and of the first the second.
func (l *Link) giveUp(line string) {
	select {
	case <-l.dead: // it is known
		return
	default:
	}
	if l.ending.Swap(true) { // or the others end because this rank tells them to
		return
	}
	if l.o.Say != nil && l.o.Rank < 2 {
		l.o.Say(line)
	}
	l.end(errors.New(line), line)
}

// end ends this rank; the first tells the others.
func (l *Link) end(why error, text string) {
	l.ending.Store(true)
	for _, p := range l.peers {
		if l.o.Rank == 0 {
			_ = p.word(farewell, text, farewellLimit)
		}
	}
	if l.o.End != nil { // first, or calls that fail tell of it, too, before the process has ended
		l.o.End()
	}
	l.fail(why)
}

// farewellLimit is how long a rank may take to take a farewell; one that is stopped takes none.
const farewellLimit = 200 * time.Millisecond

// beat sends heartbeats, and looks who is silent.
func (l *Link) beat() {
	tick := time.NewTicker(net.BeatEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.dead:
			return
		case <-tick.C:
		}
		where := ""
		if f := l.where.Load(); f != nil {
			where = (*f)()
		}
		for _, p := range l.peers {
			_ = p.word(heartbeat, where, farewellLimit) // a lost connection is heard of
			p.mu.Lock()
			silent, gone := p.watch.Look(time.Now())
			line := p.watch.Line(p.rank, l.hosts[p.rank], silent, true)
			gone = gone && !p.left
			p.mu.Unlock()
			if gone {
				l.giveUp(line)
				return
			}
		}
	}
}

// Abort ends all ranks.
func (l *Link) Abort(why error) {
	text := "another rank has failed"
	if why != nil {
		text = fmt.Sprintf("rank %d (host %s): %v", l.o.Rank, l.hosts[l.o.Rank], why)
	}
	for _, p := range l.peers {
		_ = p.word(farewell, text, farewellLimit)
	}
	l.fail(errors.New(text))
}

// allLeft notes that all that this rank knows have taken leave; the first then tells them.
func (l *Link) allLeft() {
	for _, p := range l.peers {
		p.mu.Lock()
		left := p.left
		p.mu.Unlock()
		if !left {
			return
		}
	}
	select {
	case <-l.left:
	default:
		close(l.left)
	}
}

// Close takes leave of the other ranks, and waits until they do.
func (l *Link) Close() error {
	select {
	case <-l.dead:
		return nil
	default:
	}
	if l.o.Rank > 0 {
		if err := l.peers[0].word(leaving, "", l.o.Timeout); err != nil {
			return l.lost(err)
		}
	}
	select {
	case <-l.left:
	case <-l.dead:
		return l.failed(nil)
	}
	if l.o.Rank == 0 {
		for _, p := range l.peers {
			_ = p.word(leaving, "", farewellLimit)
		}
	}
	l.fail(errClosed)
	return nil
}
