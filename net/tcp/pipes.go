package tcp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	stdnet "net"
	"sync"
	"time"
)

// A message is sent as its length, eight bytes, and its bytes. A large message is divided among several
// connections. A connection for messages has one sender, one receiver and one tag.

// lane says what a connection is for: messages to or from a rank whose tag is lane.tag/stripes, or with tag
// control, the control connection.
type lane struct{ rank, tag int }

const control = -1

// pipe is a connection, or one that will come.
type pipe struct {
	mu    sync.Mutex    // held while a message is sent or received
	ready chan struct{} // closed when c is there
	c     stdnet.Conn
}

// pipe returns the pipe of a lane from a map, and makes it if there is none.
func (l *Link) pipe(all map[lane]*pipe, to lane) *pipe {
	l.mu.Lock()
	defer l.mu.Unlock()
	if all[to] == nil {
		all[to] = &pipe{ready: make(chan struct{})}
	}
	return all[to]
}

// Send sends a message. It returns when the operating system has taken its bytes.
func (l *Link) Send(b []byte, to, tag int) error {
	p := l.pipe(l.out, lane{to, tag * stripes})
	p.mu.Lock()
	defer p.mu.Unlock()
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(b)))
	return striped(b, func(i int, b []byte) error {
		on := lane{to, tag*stripes + i}
		if i == 0 {
			return l.write(p, on, head, b)
		}
		return l.write(l.pipe(l.out, on), on, b)
	})
}

// stripes is the number of connections that a large message is divided among. One connection is as fast as one
// processor copies; several reach the speed of the network. stripeBytes is the least size of a part.
const (
	stripes     = 4
	stripeBytes = 1 << 20
)

// striped calls f for the parts of b, in parallel.
func striped(b []byte, f func(i int, b []byte) error) error {
	n := min(stripes, max(1, len(b)/stripeBytes))
	if n == 1 {
		return f(0, b)
	}
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = f(i, b[i*len(b)/n:(i+1)*len(b)/n]) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// write writes to a connection, and makes it if there is none yet. The sender of a message holds the lock of the
// message's first lane.
func (l *Link) write(p *pipe, on lane, parts ...[]byte) error {
	if p.c == nil {
		c, err := l.dial(on.rank, on.tag)
		if err != nil {
			return l.failed(err)
		}
		p.c = c
	}
	if l.o.Secret != nil && len(parts) == 2 && len(parts[1]) <= oneRecord { // a record of TLS for both
		parts = [][]byte{append(parts[0], parts[1]...)}
	}
	all := stdnet.Buffers(parts)
	_, err := all.WriteTo(p.c)
	return l.lost(err)
}

// oneRecord is the most bytes of a message that are copied behind its length.
const oneRecord = 16 << 10

// Recv receives the next message.
func (l *Link) Recv(b []byte, from, tag int) error {
	p := l.pipe(l.in, lane{from, tag * stripes})
	p.mu.Lock()
	defer p.mu.Unlock()
	head := make([]byte, 8)
	if err := l.read(p, head); err != nil {
		return err
	}
	if n := binary.LittleEndian.Uint64(head); n != uint64(len(b)) {
		return fmt.Errorf("rank %d sends %d bytes, rank %d waits for %d", from, n, l.o.Rank, len(b))
	}
	return striped(b, func(i int, b []byte) error { return l.read(l.pipe(l.in, lane{from, tag*stripes + i}), b) })
}

// read fills b from a connection. It waits until there is one.
func (l *Link) read(p *pipe, b []byte) error {
	select {
	case <-p.ready:
	case <-l.dead:
		return l.failed(nil)
	}
	_, err := io.ReadFull(p.c, b)
	return l.lost(err)
}

// lost returns the reason why a connection failed with err. Rank 0 often tells it a moment later; otherwise it is
// err.
func (l *Link) lost(err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-l.dead:
	case <-time.After(lostFor):
	}
	return l.failed(err)
}

// lostFor is how long a call whose connection broke waits for rank 0 to say why.
const lostFor = 2 * time.Second
