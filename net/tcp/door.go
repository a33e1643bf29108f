package tcp

import (
	"errors"
	"fmt"
	stdnet "net"
	"slices"
	"sync"
	"time"
)

// door holds the connections that have not said yet who they are: few, each for a short time. When one more comes, the
// one that has waited longest is closed, so a rank that greets at once gets in, however many stand around.
type door struct {
	mu      sync.Mutex
	most    int
	waiting []stdnet.Conn
}

// come adds a connection.
func (d *door) come(c stdnet.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting = append(d.waiting, c); len(d.waiting) > d.most {
		d.waiting[0].Close()
		d.waiting = slices.Delete(d.waiting, 0, 1)
	}
}

// leave removes a connection.
func (d *door) leave(c stdnet.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.waiting, c); i >= 0 {
		d.waiting = slices.Delete(d.waiting, i, i+1)
	}
}

// accept accepts connections until the link ends. It goes on after errors, such as too many open files.
func (l *Link) accept() {
	pause := time.Duration(0)
	for {
		c, err := l.listen.Accept()
		if err == nil {
			pause = 0
			l.door.come(c)
			go l.greeted(c)
			continue
		}
		if errors.Is(err, stdnet.ErrClosed) {
			return
		}
		l.strangers.refused(nil, err.Error(), l.o.Note)
		pause = min(max(2*pause, 5*time.Millisecond), time.Second)
		select {
		case <-l.dead:
			return
		case <-time.After(pause):
		}
	}
}

// strangers counts connections that were refused, and tells of them once a minute at most.
type strangers struct {
	mu    sync.Mutex
	count int
	last  string // about the last one
	told  time.Time
}

// lately is what can be said of the last stranger, behind a message.
func (s *strangers) lately() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == "" {
		return ""
	}
	return "; " + s.last
}

// tellEvery is the least time between two lines about strangers.
const tellEvery = time.Minute

// refused counts a connection from an address, and says why it was refused.
func (s *strangers) refused(from stdnet.Addr, why string, note func(string)) {
	whence := "a connection"
	if from != nil {
		whence += " from " + from.String()
	}
	s.mu.Lock()
	s.count++
	n := s.count
	s.last = fmt.Sprintf("%s was refused: %s", whence, why)
	line := s.last
	tell := note != nil && time.Since(s.told) >= tellEvery
	if tell {
		s.count, s.told = 0, time.Now()
	}
	s.mu.Unlock()
	if n > 1 {
		line = fmt.Sprintf("%d connections were refused; the last: %s", n, line)
	}
	if tell {
		note(line)
	}
}

// startNonce is the nonce of a start, once it is known.
type startNonce struct {
	mu    sync.Mutex
	n     nonce
	known bool
}

func (s *startNonce) set(n nonce) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n, s.known = n, true
}

func (s *startNonce) get() (n nonce, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n, s.known
}
