package tcp

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	stdnet "net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"sagann/internal/leak"
)

func secretOf(t testing.TB, fill byte) *Secret {
	t.Helper()
	s, err := NewSecret(bytes.Repeat([]byte{fill}, SecretBytes))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// dialIn connects to an address as soon as something listens there.
func dialIn(t testing.TB, address string) stdnet.Conn {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		c, err := stdnet.Dial("tcp", address)
		if err == nil {
			t.Cleanup(func() { c.Close() })
			return c
		}
		if time.Now().After(end) {
			t.Error(err)
			return nil
		}
	}
}

// stranger is what somebody does to the ports of a run.
type stranger struct {
	name string
	do   func(t *testing.T, peers []string)
	says string // part of the line about it, if there is one
}

// strangers are attacks that a run with a secret does not notice, but for a line.
func attacks(t *testing.T) []stranger {
	greet := func(g greeting) []byte { return g.bytes() }
	right := func(peers []string, tag int64) greeting {
		return greeting{version, 1, 0, int64(len(peers)), tag, runOf(peers), nonce{}}
	}
	other := secretOf(t, 9)
	return []stranger{
		{"garbage", func(t *testing.T, peers []string) {
			for range 20 {
				fmt.Fprintf(dialIn(t, peers[0]), "GET / HTTP/1.1\r\n\r\n%s", strings.Repeat("x", 300))
			}
		}, "does not speak TLS"},
		{"no secret", func(t *testing.T, peers []string) { dialIn(t, peers[0]).Write(greet(right(peers, control))) }, "does not speak TLS"},
		{"another secret", func(t *testing.T, peers []string) {
			c := tls.Client(dialIn(t, peers[0]), other.config)
			if err := c.Handshake(); !errors.Is(err, errOtherSecret) {
				t.Errorf("a stranger's handshake: %v", err)
			}
		}, "another secret"},
		{"another secret that believes anyone", func(t *testing.T, peers []string) {
			config := other.config.Clone()
			config.VerifyConnection = nil
			c := tls.Client(dialIn(t, peers[0]), config)
			c.Write(greet(right(peers, control)))
			if _, err := c.Read(make([]byte, 1)); err == nil {
				t.Error("a stranger gets an answer")
			}
		}, "another secret"},
		{"no certificate", func(t *testing.T, peers []string) {
			c := tls.Client(dialIn(t, peers[0]), &tls.Config{InsecureSkipVerify: true})
			c.Write(greet(right(peers, control)))
			if _, err := c.Read(make([]byte, 1)); err == nil {
				t.Error("a stranger gets an answer")
			}
		}, "certificate"},
		{"old version", func(t *testing.T, peers []string) {
			b := binary.LittleEndian.AppendUint64(nil, 0x314e4e61676173)
			dialIn(t, peers[0]).Write(append(b, make([]byte, 24)...))
		}, "does not speak TLS"},
		{"idle connections", func(t *testing.T, peers []string) {
			for range 300 {
				dialIn(t, peers[0])
			}
		}, "many others came"},
		{"a byte at a time", func(t *testing.T, peers []string) {
			c := dialIn(t, peers[0])
			go func() {
				for range 40 {
					c.Write([]byte{22})
					time.Sleep(50 * time.Millisecond)
				}
			}()
		}, ""},
	}
}

// TestStrangers: a run with a secret ends as without strangers, at both ranks, and tells of them in a line at most.
func TestStrangers(t *testing.T) {
	leak.Check(t, "sagann/net")
	for _, a := range attacks(t) {
		t.Run(a.name, func(t *testing.T) {
			var mu sync.Mutex
			var lines []string
			note := func(text string) {
				mu.Lock()
				defer mu.Unlock()
				lines = append(lines, text)
			}
			peers := addresses(t, 2)
			errs := make([]error, 2)
			var wg sync.WaitGroup
			for r := range 2 {
				wg.Go(func() {
					if r == 1 {
						a.do(t, peers)
					}
					l, err := Open(Options{Peers: peers, Rank: r, Secret: secretOf(t, 1), Note: note, Timeout: 10 * time.Second})
					if err != nil {
						errs[r] = err
						return
					}
					got := make([]byte, 1)
					err = errors.Join(l.Send([]byte{byte(r)}, 1-r, 0), l.Recv(got, 1-r, 0))
					if err == nil && got[0] != byte(1-r) {
						err = fmt.Errorf("rank %d hears %v", r, got)
					}
					errs[r] = errors.Join(err, l.Close())
				})
			}
			wg.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Error(err)
			}
			// The refused connection hears no before the line is written.
			for end := time.Now().Add(5 * time.Second); a.says != "" && time.Now().Before(end); time.Sleep(time.Millisecond) {
				mu.Lock()
				n := len(lines)
				mu.Unlock()
				if n > 0 {
					break
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if len(lines) > 1 || a.says != "" && (len(lines) == 0 || !strings.Contains(lines[0], a.says)) {
				t.Errorf("lines %q, want one with %q", lines, a.says)
			}
		})
	}
}

// opened opens two ranks and closes them when the test ends.
func opened(t *testing.T, o Options) (links [2]*Link) {
	t.Helper()
	o.Peers = addresses(t, 2)
	var wg sync.WaitGroup
	for r := range 2 {
		wg.Go(func() {
			o := o
			o.Rank = r
			l, err := Open(o)
			if err != nil {
				t.Error(err)
				return
			}
			links[r] = l.(*Link)
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() {
		for _, l := range links {
			l.fail(errClosed)
		}
	})
	return links
}

// TestUnheard: a caller that has left before it heard the answer has taken no place, so its next call gets in.
func TestUnheard(t *testing.T) {
	leak.Check(t, "sagann/net")
	links := opened(t, Options{})
	n, _ := links[0].nonce.get()
	g := greeting{version, 1, 0, 2, 4, runOf(links[0].o.Peers), n}
	for range 2 {
		conn := dialIn(t, links[0].o.Peers[0])
		if _, err := conn.Write(g.bytes()); err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	c, err := links[1].dial(0, 4)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// TestGreetings: what a rank refuses once it knows that the other end has the secret, or without one. A connection
// that was meant for another rank, or comes from another start, does not get in.
func TestGreetings(t *testing.T) {
	leak.Check(t, "sagann/net")
	for _, secret := range []*Secret{nil, secretOf(t, 3)} {
		links := opened(t, Options{Secret: secret})
		n, _ := links[0].nonce.get()
		if m, known := links[1].nonce.get(); !known || m != n || n == (nonce{}) {
			t.Fatalf("rank 1 has the nonce %x, rank 0 %x", m, n)
		}
		right := func(tag int64) greeting { return greeting{version, 1, 0, 2, tag, runOf(links[0].o.Peers), n} }
		for _, c := range []struct {
			name   string
			change func(g *greeting)
			says   string
		}{
			{"right", func(*greeting) {}, ""},
			{"twice", func(*greeting) {}, "rank 1 is connected already"},
			{"control twice", func(g *greeting) { g.tag = control }, "rank 1 is connected already"},
			{"version", func(g *greeting) { g.version++ }, "version 3 of the protocol and the other 4"},
			{"peers", func(g *greeting) { g.run[3]++ }, "other --peers"},
			{"ranks", func(g *greeting) { g.ranks = 3 }, "other --peers"},
			{"start", func(g *greeting) { g.tag, g.nonce = 8, nonce{1} }, "another start"},
			{"no start", func(g *greeting) { g.tag, g.nonce = 8, nonce{} }, "another start"},
			{"redirected", func(g *greeting) { g.receiver = 1 }, "this is rank 0, and the connection is for rank 1"},
			{"reflected", func(g *greeting) { g.sender = 0 }, "it says that it is rank 0 of 2"},
			{"sender", func(g *greeting) { g.sender = 2 }, "it says that it is rank 2 of 2"},
			{"negative sender", func(g *greeting) { g.sender = -1 }, "rank -1"},
			{"large sender", func(g *greeting) { g.sender = 1 << 62 }, "rank 46"},
			{"lane", func(g *greeting) { g.tag = 1 << 40 }, "no lane"},
			{"negative lane", func(g *greeting) { g.tag = -2 }, "no lane -2"},
		} {
			var conn stdnet.Conn = dialIn(t, links[0].o.Peers[0])
			if secret != nil {
				conn = tls.Client(conn, secret.config)
			}
			g := right(4)
			c.change(&g)
			if _, err := conn.Write(g.bytes()); err != nil {
				t.Fatal(err)
			}
			_, err := readAnswer(conn)
			switch {
			case c.says == "" && err != nil:
				t.Errorf("%s: %v", c.name, err)
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
				t.Errorf("%s: %v, want %q", c.name, err, c.says)
			}
		}
		if n := len(links[0].in); n > 4 {
			t.Errorf("rank 0 keeps %d lanes", n)
		}
	}
}

// TestReplay: the bytes of a rank's connection, sent again, get nobody in.
func TestReplay(t *testing.T) {
	leak.Check(t, "sagann/net")
	peers := addresses(t, 2)
	front, err := stdnet.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer front.Close()
	var mu sync.Mutex
	var heard bytes.Buffer
	go func() { // passes the first connection of rank 1 on, and keeps what it says
		c, err := front.Accept()
		if err != nil {
			return
		}
		to := dialIn(t, peers[0])
		go io.Copy(c, to)
		io.Copy(io.MultiWriter(to, writer(func(b []byte) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			return heard.Write(b)
		})), c)
	}()
	listed := []string{front.Addr().String(), peers[1]} // rank 0 listens behind the front
	var wg sync.WaitGroup
	var links [2]*Link
	for r := range 2 {
		wg.Go(func() {
			o := Options{Peers: listed, Rank: r, Secret: secretOf(t, 1)}
			if r == 0 {
				o.Listen = peers[0]
			}
			l, err := Open(o)
			if err != nil {
				t.Error(err)
				return
			}
			links[r] = l.(*Link)
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	mu.Lock()
	said := bytes.Clone(heard.Bytes())
	mu.Unlock()
	if bytes.Contains(said, []byte("sagaNN")) || len(said) < 500 {
		t.Errorf("%d bytes of rank 1, with the greeting readable", len(said))
	}
	c := dialIn(t, peers[0])
	c.Write(said)
	c.SetReadDeadline(time.Now().Add(5 * time.Second))
	if b, err := io.ReadAll(c); isTimeout(err) {
		t.Errorf("the replayed connection stays open: %d bytes, %v", len(b), err)
	}
	for _, l := range links {
		l.fail(errClosed)
	}
}

type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// TestOtherEnd: what a rank says that meets one with another secret, none, other peers or somebody else. It gives up soon if it
// is refused, and after its timeout otherwise.
func TestOtherEnd(t *testing.T) {
	leak.Check(t, "sagann/net")
	for _, c := range []struct {
		name        string
		first, than *Secret
		says        string
	}{
		{"other secrets", secretOf(t, 1), secretOf(t, 2), "another secret"},
		{"one without", secretOf(t, 1), nil, "does it have a secret (--peers-secret), and this rank none"},
		{"one with", nil, secretOf(t, 1), "does it have the same secret"},
	} {
		t.Run(c.name, func(t *testing.T) {
			peers := addresses(t, 2)
			errs := make([]error, 2)
			var wg sync.WaitGroup
			for r, s := range []*Secret{c.first, c.than} {
				wg.Go(func() { _, errs[r] = Open(Options{Peers: peers, Rank: r, Secret: s, Timeout: 600 * time.Millisecond}) })
			}
			wg.Wait()
			if errs[0] == nil || errs[1] == nil || !strings.Contains(errs[1].Error(), c.says) {
				t.Errorf("%v; want %q", errs, c.says)
			}
		})
	}
	for _, o := range []Options{
		{Peers: []string{"127.0.0.1:1", "203.0.113.5:1"}}, {Peers: []string{"127.0.0.1:1", ":2"}, Rank: 1}, {Peers: []string{"127.0.0.1:1", "127.0.0.1:2"}, Listen: "0.0.0.0:0"},
	} {
		if _, err := Open(o); !errors.Is(err, ErrOpen) {
			t.Errorf("%v, %q: %v, want that a secret is needed", o.Peers, o.Listen, err)
		}
	}
	if _, err := Open(Options{Peers: []string{"203.0.113.5:1", "127.0.0.1:1"}, Trusted: true}); err == nil || !strings.Contains(err.Error(), "cannot listen at its own address") {
		t.Errorf("rank 0 listens elsewhere than at its address: %v", err)
	}
}

// TestWaitingFew: strangers take few files, and memory is what it was; accept goes on after the door was full.
func TestWaitingFew(t *testing.T) {
	leak.Check(t, "sagann/net")
	links := opened(t, Options{Secret: secretOf(t, 1)})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 500 {
		dialIn(t, links[0].o.Peers[0])
	}
	time.Sleep(100 * time.Millisecond)
	links[0].door.mu.Lock()
	n := len(links[0].door.waiting)
	links[0].door.mu.Unlock()
	runtime.GC()
	if runtime.ReadMemStats(&after); n > links[0].door.most || after.HeapAlloc > before.HeapAlloc+8<<20 {
		t.Errorf("%d strangers wait, of %d; the heap has grown from %d to %d", n, links[0].door.most, before.HeapAlloc, after.HeapAlloc)
	}
	go links[1].Send([]byte("there"), 0, 7)
	b := make([]byte, 5)
	if err := links[0].Recv(b, 1, 7); err != nil || string(b) != "there" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestSecretFiles: a secret is a regular file of 32 bytes or more that others cannot read, and it is never printed.
func TestSecretFiles(t *testing.T) {
	leak.Check(t, "sagann/net")
	dir := t.TempDir()
	file := func(name string, n int, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, bytes.Repeat([]byte("s"), n), mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, says := range map[string]string{
		file("good", 32, 0o600): "", file("group", 32, 0o440): "", file("short", 31, 0o600): "31 bytes", file("long", 4097, 0o600): "4097 bytes",
		file("open", 32, 0o644): "chmod 600", file("shared", 32, 0o660): "chmod 600", dir: "regular", filepath.Join(dir, "none"): "no such file", os.DevNull: "regular",
	} {
		s, err := ReadSecret(path)
		if (err == nil) != (says == "") || err != nil && (!strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "ssss")) {
			t.Errorf("%s: %v, want %q", path, err, says)
		}
		if text := fmt.Sprintf("%v %+v %#v %s", s, s, s, s); s != nil && text != "a secret a secret a secret a secret" {
			t.Errorf("printed: %s", text)
		}
	}
}

// FuzzGreeting: no bytes of a stranger make a greeting panic, or one that is not refused unless it is right.
func FuzzGreeting(f *testing.F) {
	l := &Link{o: Options{Peers: []string{"a:1", "b:2"}}}
	l.nonce.set(nonce{7})
	good := greeting{version, 1, 0, 2, 4, runOf(l.o.Peers), nonce{7}}
	f.Add(good.bytes())
	f.Add([]byte{22, 3, 1, 2, 0, 1, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := readGreeting(bytes.NewReader(b))
		if err != nil {
			return
		}
		if l.wrong(g) == "" && g.tag != control && (g.sender != 1 || g.nonce != good.nonce || g.tag < 0 || g.tag >= mostTags*stripes) {
			t.Errorf("%+v is taken", g)
		}
	})
}

// FuzzWords: no words of a rank, and no answer, make another one panic or take memory by their size.
func FuzzWords(f *testing.F) {
	f.Add([]byte{1, 4, 0, 0, 0, 'e', 'v', 'i', 'l'})
	f.Add(answer("why", nonce{}))
	f.Add(answer("", nonce{1}))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := &peer{c: reading{Reader: bytes.NewReader(b)}}
		for {
			_, text, err := p.hear()
			if err != nil {
				break
			}
			if strings.ContainsFunc(clean(text), func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x9b }) {
				t.Errorf("%q stays as it is", text)
			}
		}
		readAnswer(bytes.NewReader(b))
	})
}

// reading is a connection that reads.
type reading struct {
	stdnet.Conn
	io.Reader
}

func (r reading) Read(b []byte) (int, error) { return r.Reader.Read(b) }
