package tcp

import (
	"bytes"
	"errors"
	"fmt"
	stdnet "net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sagann/internal/leak"
	"sagann/net"
)

// addresses are free ports of this host.
func addresses(t testing.TB, n int) []string {
	t.Helper()
	var list []string
	for range n {
		l, err := stdnet.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		list = append(list, l.Addr().String())
	}
	return list
}

// on runs f on so many ranks.
func on(t *testing.T, n int, o Options, f func(l *Link) error) []error {
	t.Helper()
	o.Peers = addresses(t, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for r := range n {
		wg.Go(func() {
			o := o
			o.Rank = r
			l, err := Open(o)
			if err == nil {
				if err = f(l.(*Link)); err != nil {
					l.Abort(err) // or the others wait for this rank
				}
			}
			errs[r] = err
		})
	}
	wg.Wait()
	return errs
}

// Messages of many tags between all ranks arrive whole and in order, when each tag is read in an order of its own; texts are
// shared; leaving waits for all.
func TestMessages(t *testing.T) {
	leak.Check(t, "sagann/net")
	const ranks, tags, each = 3, 5, 20
	message := func(from, to, tag, k int) []byte {
		n := 1 + k*tag*500
		if k%8 == 7 { // divided among connections
			n += k << 16
		}
		b := bytes.Repeat([]byte{byte(from), byte(to), byte(tag), byte(k)}, n)
		for i := 0; i < len(b); i += 1 << 10 {
			b[i] = byte(i >> 10)
		}
		return b
	}
	errs := on(t, ranks, Options{}, func(l *Link) error {
		l.door.mu.Lock()
		l.door.most = 4 // far more connections are opened at the same time
		l.door.mu.Unlock()
		var wg sync.WaitGroup
		wrong := make(chan error, 2*ranks*tags)
		for peer := range ranks {
			for tag := range tags {
				if peer == l.Rank() {
					continue
				}
				wg.Go(func() {
					for k := range each {
						if err := l.Send(message(l.Rank(), peer, tag, k), peer, tag); err != nil {
							wrong <- err
							return
						}
					}
				})
				wg.Go(func() {
					for k := range each {
						want := message(peer, l.Rank(), tag, k)
						got := make([]byte, len(want))
						if err := l.Recv(got, peer, tag); err != nil || !bytes.Equal(got, want) {
							wrong <- fmt.Errorf("rank %d: message %d of rank %d, tag %d: %w", l.Rank(), k, peer, tag, err)
							return
						}
					}
				})
			}
		}
		wg.Wait()
		select {
		case err := <-wrong:
			return err
		default:
		}
		g := net.Over(l)
		if list, err := g.Texts("numbers", fmt.Sprint(g.Rank())); err != nil || fmt.Sprint(list) != "[0 1 2]" {
			return fmt.Errorf("%v: %w", list, err)
		}
		return g.Close()
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// A rank that fails ends the others, which are told why; so does one whose connections break, and the first says what it was at.
func TestDeath(t *testing.T) {
	leak.Check(t, "sagann/net")
	errs := on(t, 3, Options{}, func(l *Link) error {
		if l.Rank() == 2 {
			l.Abort(errors.New("out of paper"))
			return nil
		}
		return l.Recv(make([]byte, 3), 2, 0)
	})
	for r, err := range errs[:2] {
		if err == nil || !strings.Contains(err.Error(), "out of paper") {
			t.Errorf("rank %d: %v", r, err)
		}
	}
	for dies, says := range map[int]int{2: 0, 0: 1} { // the first tells of others, the second of the first
		lines := make(chan string, 9)
		errs = on(t, 3, Options{Say: func(text string) { lines <- text }}, func(l *Link) error {
			net.Over(l).Doing(func() string { return "send x chunk 3" })
			if l.Rank() == dies {
				time.Sleep(5 * net.BeatEvery) // some heartbeats
				l.fail(errors.New("killed"))  // as the system closes the connections of a process that is killed
				return nil
			}
			return l.Recv(make([]byte, 3), dies, 0)
		})
		close(lines)
		var all []string
		for line := range lines {
			all = append(all, line)
		}
		if len(all) != 1 || !strings.Contains(all[0], fmt.Sprintf("rank %d (host ", dies)) || !strings.Contains(all[0], "has ended; it was at: before the first epoch, send x chunk 3") {
			t.Errorf("rank %d dies, rank %d says %q", dies, says, all)
		}
		for r, err := range errs {
			if r != dies && (err == nil || !strings.Contains(err.Error(), "has ended")) {
				t.Errorf("rank %d dies, rank %d: %v", dies, r, err)
			}
		}
	}
}

// A rank that sends no heartbeats is given up, though its connections stand. The others' processes end before their calls fail, which would tell of it, too.
func TestSilent(t *testing.T) {
	leak.Check(t, "sagann/net")
	lines := make(chan string, 9)
	var mute sync.WaitGroup
	mute.Add(1)
	var ended atomic.Int32
	end := func() {
		time.Sleep(50 * time.Millisecond)
		ended.Add(1)
	}
	errs := on(t, 3, Options{Timeout: time.Second, Say: func(text string) { lines <- text; mute.Done() }, End: end}, func(l *Link) error {
		if l.Rank() == 1 {
			l.peers[0].say.Lock() // it can say no word
			mute.Wait()
			l.peers[0].say.Unlock()
			return nil
		}
		err := l.Recv(make([]byte, 3), 1, 0)
		if ended.Load() == 0 {
			t.Errorf("rank %d hears of it before it ends", l.Rank())
		}
		return err
	})
	if line := <-lines; !strings.Contains(line, "rank 1 (host ") || !strings.Contains(line, "no sign of life") {
		t.Error(line)
	}
	if errs[0] == nil || errs[2] == nil {
		t.Error(errs)
	}
}

// A rank that does not come is named; a stranger's connection is none of a rank.
func TestMissing(t *testing.T) {
	leak.Check(t, "sagann/net")
	peers := addresses(t, 2)
	go func() {
		for range 20 {
			if c, err := stdnet.Dial("tcp", peers[0]); err == nil {
				fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: example\r\n\r\n")
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	_, err := Open(Options{Peers: peers, Timeout: 300 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "rank 1 has not connected") {
		t.Error(err)
	}
	if _, err := Open(Options{Peers: peers, Rank: 2}); err == nil {
		t.Error("rank 2 of 2 opens")
	}
	if l, err := Open(Options{Peers: peers[:1]}); l != nil || err != nil {
		t.Error("one rank alone needs no link")
	}
}

// BenchmarkLink sends messages of 64 MiB both ways at once.
func BenchmarkLink(b *testing.B) {
	peers, links := addresses(b, 2), [2]*Link{}
	var opening sync.WaitGroup
	for r := range links {
		opening.Go(func() {
			l, err := Open(Options{Peers: peers, Rank: r})
			if err != nil {
				b.Error(err)
				return
			}
			links[r] = l.(*Link)
		})
	}
	opening.Wait()
	if b.Failed() {
		return
	}
	b.SetBytes(2 * 64 << 20)
	from, to := make([]byte, 64<<20), [2][]byte{make([]byte, 64<<20), make([]byte, 64<<20)}
	for b.Loop() {
		var all sync.WaitGroup
		for r, l := range links {
			all.Go(func() {
				if err := l.Send(from, 1-r, 1+r); err != nil {
					b.Error(err)
				}
			})
			all.Go(func() {
				if err := l.Recv(to[r], 1-r, 2-r); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
	}
}

// TestAllLeaveAtOnce: ranks that call Close at the same time are heard by several goroutines of rank 0.
func TestAllLeaveAtOnce(t *testing.T) {
	leak.Check(t, "sagann/net")
	times := 50_000
	if testing.Short() {
		times = 10_000
	}
	for range times {
		l := &Link{left: make(chan struct{}), peers: []*peer{{rank: 1, left: true}, {rank: 2, left: true}}}
		var ready atomic.Int32
		var heard sync.WaitGroup
		for range l.peers {
			heard.Go(func() {
				ready.Add(1)
				for k := 0; ready.Load() < 2 && k < 1000; k++ {
				}
				l.allLeft()
			})
		}
		heard.Wait()
		select {
		case <-l.left:
		default:
			t.Fatal("rank 0 does not know that all ranks have left")
		}
	}
}

// A rank that was stopped before it could join does not wait again, once it goes on, for those that have given it up.
func TestStoppedBeforeJoining(t *testing.T) {
	leak.Check(t, "sagann/net")
	for rank := range 2 {
		begun := time.Now()
		_, err := Open(Options{Peers: addresses(t, 2), Rank: rank, Since: begun.Add(-time.Hour)})
		if took := time.Since(begun); err == nil || took > shortest+2*time.Second {
			t.Errorf("rank %d: %v after %v", rank, err, took)
		}
	}
}
