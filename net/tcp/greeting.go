package tcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	stdnet "net"
	"strconv"
	"strings"
	"time"
)

// A caller begins a connection with a greeting: who it is, whom it calls, what the connection is for, and which run and
// which start of it this is. The answer says yes, or why not. After a yes the caller says that it has heard it: on a busy host
// a call can be answered when its caller has given up and calls again. With a secret, all this is inside TLS.

const (
	magic   = 0x324e4e61676173 // "sagaNN2"
	version = 3                // of what ranks say to each other, also inside messages
)

// nonce is drawn by rank 0. The others learn it with the answer to their control connection; every later greeting has
// it. So connections of two starts of the same command do not mix.
type nonce [16]byte

// greeting is the first message of a connection.
type greeting struct {
	version, sender, receiver, ranks, tag int64
	run                                   [sha256.Size]byte // hash of the list of peers
	nonce                                 nonce
}

const greetingBytes = 8 + 5*8 + sha256.Size + len(nonce{})

// Longest times of a greeting, from the connection to the end of the answer. The caller gives more, as the other end may
// be busy. A caller that waits no longer has closed its connection, so hearing is longest.
const (
	greetingLimit = 2 * time.Second
	callerLimit   = 4 * time.Second
	hearing       = 2 * callerLimit
)

func (g *greeting) bytes() []byte {
	b := binary.LittleEndian.AppendUint64(nil, magic)
	for _, x := range []int64{g.version, g.sender, g.receiver, g.ranks, g.tag} {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return append(append(b, g.run[:]...), g.nonce[:]...)
}

// readGreeting reads a greeting.
func readGreeting(r io.Reader) (*greeting, error) {
	b := make([]byte, greetingBytes)
	if _, err := io.ReadFull(r, b[:8]); err != nil {
		return nil, err
	}
	if b[0] == 22 && b[1] == 3 {
		return nil, errors.New("it speaks TLS, and this rank was started without a secret")
	}
	if m := binary.LittleEndian.Uint64(b); m>>56 != 0 || m&(1<<48-1) != magic&(1<<48-1) {
		return nil, errors.New("it is no rank")
	} else if m != magic {
		return nil, errors.New("it is a rank of another version of saga")
	}
	if _, err := io.ReadFull(r, b[8:]); err != nil {
		return nil, err
	}
	var g greeting
	for i, x := range []*int64{&g.version, &g.sender, &g.receiver, &g.ranks, &g.tag} {
		*x = int64(binary.LittleEndian.Uint64(b[8+8*i:]))
	}
	copy(g.run[:], b[48:])
	copy(g.nonce[:], b[48+sha256.Size:])
	return &g, nil
}

// runOf identifies a run by its peers.
func runOf(peers []string) [sha256.Size]byte { return sha256.Sum256([]byte(strings.Join(peers, "\n"))) }

// wrong says why a greeting is not for this rank; "" if it is.
func (l *Link) wrong(g *greeting) string {
	ranks := int64(len(l.o.Peers))
	switch {
	case g.version != version:
		return fmt.Sprintf("one rank speaks version %d of the protocol and the other %d: start all ranks with the same build", version, g.version)
	case g.ranks != ranks || g.run != runOf(l.o.Peers):
		return "it was started with other --peers"
	case g.receiver != int64(l.o.Rank):
		return fmt.Sprintf("this is rank %d, and the connection is for rank %d", l.o.Rank, g.receiver)
	case g.sender < 0 || g.sender >= ranks || g.sender == g.receiver:
		return fmt.Sprintf("it says that it is rank %d of %d", g.sender, ranks)
	case g.tag == control && l.o.Rank > 0:
		return "control connections are with rank 0"
	case g.tag == control:
		return ""
	case g.tag < 0 || g.tag >= mostTags*stripes:
		return fmt.Sprintf("there is no lane %d", g.tag)
	}
	if n, known := l.nonce.get(); !known || g.nonce != n {
		return "it is of another start of this run"
	}
	return ""
}

// mostTags bounds the tags of messages: those of 1,000 devices, two channels for each pair.
const mostTags = 1 << 21

// The answer to a greeting: yes and the nonce, or no and why.
const (
	yes byte = iota
	no
)

const mostReason = 300

func answer(why string, n nonce) []byte {
	if why == "" {
		return append([]byte{yes, byte(len(n)), 0}, n[:]...)
	}
	why = why[:min(len(why), mostReason)]
	return append([]byte{no, byte(len(why)), byte(len(why) >> 8)}, why...)
}

// refusedError is a no.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return e.why }

// readAnswer reads an answer; a no is a *refusedError.
func readAnswer(r io.Reader) (n nonce, err error) {
	head := make([]byte, 3)
	if _, err := io.ReadFull(r, head); err != nil {
		return n, err
	}
	size := int(head[1]) | int(head[2])<<8
	if head[0] > no || head[0] == yes && size != len(n) || size > mostReason {
		return n, errors.New("it is no rank")
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(r, b); err != nil {
		return n, err
	}
	if head[0] == no {
		return n, &refusedError{clean(string(b))}
	}
	return nonce(b), nil
}

// introduce makes c, a connection to rank `to`, one for a tag. It returns the connection inside TLS if there is a secret.
func (l *Link) introduce(c stdnet.Conn, to, tag int) (stdnet.Conn, error) {
	c.SetDeadline(time.Now().Add(callerLimit))
	if s := l.o.Secret; s != nil {
		t := tls.Client(c, s.config)
		if err := t.Handshake(); err != nil {
			return nil, err
		}
		c = t
	}
	g := greeting{version, int64(l.o.Rank), int64(to), int64(len(l.o.Peers)), int64(tag), runOf(l.o.Peers), nonce{}}
	if tag != control {
		g.nonce, _ = l.nonce.get()
	}
	if _, err := c.Write(g.bytes()); err != nil {
		return nil, err
	}
	n, err := readAnswer(c)
	if err != nil {
		return nil, err
	}
	if tag == control {
		l.nonce.set(n)
	} else if n != g.nonce {
		return nil, &refusedError{"it is of another start of this run"}
	}
	if _, err := c.Write([]byte{yes}); err != nil {
		return nil, err
	}
	c.SetDeadline(time.Time{})
	return c, nil
}

// greeted answers the greeting of c and makes the connection known to the calls that wait for it. Whoever does not greet
// as a rank of this run is refused.
func (l *Link) greeted(c stdnet.Conn) {
	raw := c
	defer l.door.leave(raw)
	c.SetDeadline(time.Now().Add(greetingLimit))
	refuse := func(why string) {
		raw.Close()
		l.strangers.refused(raw.RemoteAddr(), why, l.o.Note)
	}
	if s := l.o.Secret; s != nil {
		ctx, stop := context.WithTimeout(context.Background(), greetingLimit)
		defer stop()
		t := tls.Server(c, s.config)
		if err := t.HandshakeContext(ctx); err != nil {
			refuse(whyNot(err))
			return
		}
		c = t
	}
	g, err := readGreeting(c)
	if err != nil {
		refuse(whyNot(err))
		return
	}
	why := l.wrong(g)
	n, _ := l.nonce.get()
	if why == "" {
		l.door.leave(raw) // it has said who it is: were it closed now, its caller might have heard yes
		why = l.enter(c, raw, g, n)
	}
	if why != "" {
		_, _ = c.Write(answer(why, n))
		refuse(why)
	}
}

// enter gives the connection c of a greeting its place and says yes. It returns why not if the place is taken.
func (l *Link) enter(c, raw stdnet.Conn, g *greeting, n nonce) (why string) {
	p := l.pipe(l.in, lane{int(g.sender), int(g.tag)})
	l.mu.Lock()
	taken := p.c != nil || l.why != nil
	if !taken {
		p.c = c
		l.conns[raw] = true
	}
	l.mu.Unlock()
	if taken {
		return fmt.Sprintf("rank %d is connected already: was it started twice?", g.sender)
	}
	_, err := c.Write(answer("", n))
	if err == nil {
		c.SetDeadline(time.Now().Add(hearing))
		_, err = io.ReadFull(c, make([]byte, 1))
	}
	if err != nil { // it will come again
		l.mu.Lock()
		p.c = nil
		delete(l.conns, raw)
		l.mu.Unlock()
		raw.Close()
		return ""
	}
	c.SetDeadline(time.Time{})
	close(p.ready)
	return ""
}

// whyNot is a failed greeting in words.
func whyNot(err error) string {
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, errOtherSecret) || strings.HasSuffix(err.Error(), "bad certificate"): // found here, or there
		return errOtherSecret.Error()
	case errors.As(err, &record):
		return "it does not speak TLS: was it started without the secret?"
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		return fmt.Sprintf("it has not said who it is within %v", greetingLimit)
	case errors.Is(err, stdnet.ErrClosed):
		return "it had not said who it is when many others came"
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return "it has left without saying who it is"
	}
	return clean(err.Error())
}

func isTimeout(err error) bool {
	var e stdnet.Error
	return errors.As(err, &e) && e.Timeout()
}

// dial connects to a rank. It tries again until that rank listens and says yes.
func (l *Link) dial(to, tag int) (stdnet.Conn, error) {
	end := time.Now().Add(l.o.Timeout)
	if tag == control {
		end = l.joined()
	}
	var refused time.Time // when the first no came
	var met error         // why the last connection that was made did not become one of a rank
	for {
		raw, err := stdnet.DialTimeout("tcp", l.o.Peers[to], time.Until(end))
		if err == nil {
			var c stdnet.Conn
			if c, err = l.introduce(raw, to, tag); err == nil {
				return c, l.keep(raw)
			}
			raw.Close()
			met = err
		}
		err = cmp.Or(met, err)
		now := time.Now()
		var no *refusedError
		isNo := errors.As(err, &no)
		if refused.IsZero() && (isNo || errors.Is(err, errOtherSecret)) {
			refused = now
		}
		long := !refused.IsZero() && now.Sub(refused) > min(l.o.Timeout, refusedFor)
		switch {
		case isNo && long:
			return nil, fmt.Errorf("rank %d at %s refuses rank %d: %w", to, l.o.Peers[to], l.o.Rank, err)
		case errors.Is(err, errOtherSecret) && long:
			return nil, fmt.Errorf("rank %d at %s: %w", to, l.o.Peers[to], err)
		case now.After(end):
			return nil, fmt.Errorf("rank %d at %s did not answer for %v: %w", to, l.o.Peers[to], l.o.Timeout, l.hint(err))
		}
		select {
		case <-l.dead:
			return nil, l.failed(nil)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// refusedFor is how long a rank that is refused tries again: another start of the same run may still be ending there.
const refusedFor = 3 * time.Second

// hint adds to err, of a connection that was made but did not become one of a rank, what may be wrong.
func (l *Link) hint(err error) error {
	var op *stdnet.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return err
	}
	what := "does it have a secret (--peers-secret), and this rank none, or is it of another version?"
	if l.o.Secret != nil {
		what = "does it have the same secret (--peers-secret) and version?"
	}
	return fmt.Errorf("something listens there: %s (%w)", what, err)
}

// newNonce draws the nonce of a start.
func newNonce() (n nonce) {
	rand.Read(n[:])
	return n
}

// clean is a text of another process as it may be printed: on one line, without control characters, and cut.
func clean(text string) string {
	const most = 2000
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " …"
	}
	quoted := strconv.Quote(text)
	return cmp.Or(strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`), text)
}
