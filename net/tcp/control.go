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

// Rank 0 has a control connection with every other rank. It carries words in both directions: a kind, a
// length and a text each.
const (
	heartbeat byte = iota // text: what the rank is doing
	farewell              // all ranks end; text: why
	leaving               // this rank has called Close; from rank 0: all ranks have
	names                 // text: names of hosts, a line each
)

// told is the largest text of a word.
const told = 1 << 16

// peer is a rank with which this one has a control connection.
type peer struct {
	rank int
	c    stdnet.Conn
	say  sync.Mutex // held while a word is written

	mu    sync.Mutex // guards the fields below
	watch net.Watch
	left  bool

	deaf chan struct{} // closed when listenTo has ended
}

// newPeer is rank r behind connection c.
func newPeer(r int, c stdnet.Conn) *peer { return &peer{rank: r, c: c, deaf: make(chan struct{})} }

// word writes a word to p. It fails if p does not take it within limit, and then nothing more can be written: TLS ends
// with half a record. So limit is longer than a busy machine lets this process wait between the clock and the write.
func (p *peer) word(kind byte, text string, limit time.Duration) error {
	text = text[:min(len(text), told)]
	b := binary.LittleEndian.AppendUint32([]byte{kind}, uint32(len(text)))
	p.say.Lock()
	defer p.say.Unlock()
	p.c.SetWriteDeadline(time.Now().Add(limit))
	_, err := p.c.Write(append(b, text...))
	return err
}

// hear reads a word from p.
func (p *peer) hear() (kind byte, text string, err error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(p.c, head); err != nil {
		return 0, "", err
	}
	n := binary.LittleEndian.Uint32(head[1:])
	if n > told {
		return 0, "", errors.New("not a message of a rank")
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
		c, err := l.dial(0, control)
		if err != nil {
			return err
		}
		p := newPeer(0, c)
		p.watch = net.Watching(l.o.Timeout, now)
		l.peers = []*peer{p}
		if err := p.word(names, l.hosts[l.o.Rank], l.o.Timeout); err != nil {
			return err
		}
		c.SetReadDeadline(now.Add(l.o.Timeout))
		kind, text, err := p.hear()
		if list := strings.Split(text, "\n"); err == nil && kind == names && len(list) == len(l.hosts) {
			for i := range list {
				list[i] = clean(list[i])
			}
			l.hosts = list
		} else {
			return fmt.Errorf("rank 0 at %s did not send the list of hosts: %w", l.o.Peers[0], unexpected(err, text))
		}
		c.SetReadDeadline(time.Time{})
		go l.listenTo(p)
		return nil
	}
	end := l.joined()
	for r := 1; r < len(l.o.Peers); r++ {
		in := l.pipe(l.in, lane{r, control})
		select {
		case <-in.ready:
		case <-time.After(time.Until(end)):
			return fmt.Errorf("rank %d has not connected for %v: was it started, with --rank %d and the same --peers?%s", r, l.o.Timeout, r, l.strangers.lately())
		}
		p := newPeer(r, in.c)
		p.c.SetReadDeadline(now.Add(l.o.Timeout))
		kind, text, err := p.hear()
		if err != nil || kind != names {
			return fmt.Errorf("rank %d connected but did not send the name of its host: %w", r, unexpected(err, text))
		}
		p.c.SetReadDeadline(time.Time{})
		l.hosts[r] = clean(text)
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
func unexpected(err error, text string) error { return cmp.Or(err, fmt.Errorf("it said %.100q", text)) }

// listenTo handles the words of p until the link ends.
func (l *Link) listenTo(p *peer) {
	defer close(p.deaf)
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
			l.toldToEnd(p, clean(text))
			return
		case kind == leaving:
			l.allLeft()
		}
	}
}

// toldToEnd ends this rank because p says that all ranks end, and why. Rank 0 tells the others, and says it to people.
func (l *Link) toldToEnd(p *peer, why string) {
	if l.o.Say != nil && l.o.Rank == 0 && !l.ending.Load() {
		if !strings.HasPrefix(why, "rank ") {
			why = fmt.Sprintf("rank %d (host %s): %s", p.rank, l.hosts[p.rank], why)
		}
		l.o.Say(why + "; all ranks end")
	}
	l.end(errors.New(why), why)
}

// giveUp ends all ranks because one of them has ended or is silent; line is the message. Rank 0 does it for
// the other ranks, and rank 1 does it for rank 0.
func (l *Link) giveUp(line string) {
	select {
	case <-l.dead: // the link has ended already
		return
	default:
	}
	if l.ending.Swap(true) { // or the others end because this rank tells them to
		return
	}
	line = clean(line)
	if l.o.Say != nil && l.o.Rank < 2 {
		l.o.Say(line)
	}
	l.end(errors.New(line), line)
}

// end ends this rank. Rank 0 also sends a farewell with text to the others.
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

// farewellLimit bounds the time of writing why all ranks end to one of them: a process that was stopped long ago has
// room for no more words.
const farewellLimit = time.Second

// beat sends heartbeats, and looks for silent ranks.
func (l *Link) beat() {
	tick := time.NewTicker(net.BeatEvery)
	defer tick.Stop()
	self := net.Watching(l.o.Timeout, time.Now())
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
		self.Look(time.Now())
		self.Heard(time.Now(), where)
		watches := []net.Watch{self}
		for _, p := range l.peers {
			_ = p.word(heartbeat, where, l.o.Timeout) // listenTo reports a lost connection
			p.mu.Lock()
			silent, gone := p.watch.Look(time.Now())
			line := p.watch.Line(p.rank, l.hosts[p.rank], silent, true)
			gone = gone && !p.left
			watches = append(watches, p.watch)
			p.mu.Unlock()
			if gone {
				l.giveUp(line)
				return
			}
		}
		if l.o.Rank > 0 { // rank 0 knows what all ranks are at
			continue
		}
		if line := net.Stuck(watches, l.hosts, time.Now()); line != "" {
			l.giveUp(line)
			return
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

// remaining says which peers have not called Close.
func (l *Link) remaining() string {
	var list []string
	for _, p := range l.peers {
		p.mu.Lock()
		if !p.left {
			list = append(list, p.watch.Staying(p.rank, l.hosts[p.rank]))
		}
		p.mu.Unlock()
	}
	return fmt.Sprintf("this rank has ended, and %v later others have not: %s", l.o.Timeout, strings.Join(list, "; "))
}

// allLeft records that all peers of this rank have called Close. Rank 0 then tells the others.
func (l *Link) allLeft() {
	for _, p := range l.peers {
		p.mu.Lock()
		left := p.left
		p.mu.Unlock()
		if !left {
			return
		}
	}
	l.leave.Do(func() { close(l.left) })
}

// Close ends the link. It waits until all ranks have called Close, but not longer than the timeout: then it ends all ranks,
// and the error names those that have not.
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
	late := time.NewTimer(l.o.Timeout)
	defer late.Stop()
	select {
	case <-l.left:
	case <-l.dead:
		return l.failed(nil)
	case <-late.C:
		err := errors.New(l.remaining())
		l.Abort(err)
		return err
	}
	if l.o.Rank == 0 {
		l.bye()
	}
	l.fail(errClosed)
	return nil
}

// bye tells the other ranks that all have left, and waits until they have closed their ends: a connection that this one
// closed first could take the word with it.
func (l *Link) bye() {
	for _, p := range l.peers {
		_ = p.word(leaving, "", l.o.Timeout)
	}
	late := time.NewTimer(byeLimit)
	defer late.Stop()
	for _, p := range l.peers {
		select {
		case <-p.deaf:
		case <-late.C:
			return
		}
	}
}

// byeLimit bounds the wait for ranks that have nothing more to do than to end.
const byeLimit = 2 * time.Second
