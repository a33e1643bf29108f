package net_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sagann/internal/leak"
	"sagann/net"
	"sagann/net/local"
	"sagann/net/tcp"
)

// links connects so many ranks of this process.
type links func(t *testing.T, n int, timeout time.Duration) []net.Link

func overLocal(_ *testing.T, n int, timeout time.Duration) (list []net.Link) {
	hub, links := local.New(n)
	hub.SetTimeout(timeout)
	for _, l := range links {
		list = append(list, l)
	}
	return list
}

func overTCP(t *testing.T, n int, timeout time.Duration) []net.Link {
	peers, list, errs := freePorts(t, n), make([]net.Link, n), make([]error, n)
	var all sync.WaitGroup
	for r := range n {
		all.Go(func() { list[r], errs[r] = tcp.Open(tcp.Options{Peers: peers, Rank: r, Timeout: timeout}) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return list
}

var kinds = map[string]links{"local": overLocal, "tcp": overTCP}

// together runs the functions, one on each rank, and returns their errors and the time that the last one took. A rank that fails
// ends the others.
func together(list []net.Link, f ...func(g *net.Group) error) ([]error, time.Duration) {
	errs, start := make([]error, len(list)), time.Now()
	var all sync.WaitGroup
	for r, l := range list {
		all.Go(func() {
			g := net.Over(l)
			if errs[r] = f[r](g); errs[r] != nil {
				g.Abort(errs[r])
			}
			g.Close()
		})
	}
	all.Wait()
	return errs, time.Since(start)
}

func vote(g *net.Group) error       { _, err := g.Any("stop or save", false); return err }
func otherVote(g *net.Group) error  { _, err := g.Any("outcome of a batch", true); return err }
func fromFirst(g *net.Group) error  { return g.Bcast("results", make([]byte, 5), 0) }
func fromSecond(g *net.Group) error { return g.Bcast("gradients", make([]byte, 5), 1) }
func end(g *net.Group) error        { return g.Close() }

// Ranks in different collective operations get an error that names both, and do not wait.
func TestDifferentOperations(t *testing.T) {
	leak.Check(t, "sagann/net")
	ops := []struct {
		name string
		f    func(g *net.Group) error
	}{{"stop or save", vote}, {"outcome of a batch", otherVote}, {"results", fromFirst}, {"gradients", fromSecond}, {"the end of the run", end}}
	for kind, connect := range kinds {
		for _, one := range ops {
			for _, other := range ops {
				if one.name == other.name || kind == "local" && (one.name == ops[4].name || other.name == ops[4].name) { // a local Close does not wait
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", kind, one.name, other.name), func(t *testing.T) {
					t.Parallel()
					f := []func(g *net.Group) error{one.f, other.f, other.f}
					for i := range f {
						g := f[i]
						f[i] = func(group *net.Group) error { // after a common one
							if err := vote(group); err != nil {
								return err
							}
							if err := g(group); err != nil {
								return err
							}
							return vote(group)
						}
					}
					errs, took := together(connect(t, 3, 20*time.Second), f...)
					text := errors.Join(errs...).Error()
					if errs[0] == nil || errs[1] == nil || !strings.Contains(text, one.name) || !strings.Contains(text, other.name) || took > 8*time.Second {
						t.Errorf("after %v: %v", took, errs)
					}
				})
			}
		}
	}
}

// Ranks that wait for each other, in operations and for messages of tasks, end after the timeout, and the error says what they are at.
func TestWaitForEachOther(t *testing.T) {
	leak.Check(t, "sagann/net")
	recv := func(from int) func(g *net.Group) error {
		return func(g *net.Group) error {
			g.Doing(func() string { return "receive h chunk 3" })
			return g.Recv(make([]byte, 3), from, 0)
		}
	}
	for kind, connect := range kinds {
		for name, f := range map[string][]func(g *net.Group) error{
			"a task and a vote":      {recv(1), vote},
			"a vote and a task":      {vote, recv(0)},
			"a task and the results": {recv(1), fromFirst},
			"three":                  {vote, vote, recv(0)},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				errs, took := together(connect(t, len(f), 2*time.Second), f...)
				for r, err := range errs {
					if err == nil || !strings.Contains(err.Error(), "ranks wait for each other") || !strings.Contains(err.Error(), "receive h chunk 3") {
						t.Errorf("rank %d: %v", r, err)
					}
				}
				if took > 4*time.Second {
					t.Errorf("the ranks have waited %v", took)
				}
			})
		}
	}
}

// A rank that is slow ends no run, however long the others wait: in a vote, for a message, or for an answer. A busy machine may
// give a rank no processor for seconds, which looks like a dead one: then the rank is slower once more, with a longer timeout.
func TestSlowRank(t *testing.T) {
	leak.Check(t, "sagann/net")
	for kind, connect := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var err error
			for _, timeout := range []time.Duration{3 * time.Second, 15 * time.Second} {
				errs, _ := together(connect(t, 3, timeout), slices.Repeat([]func(g *net.Group) error{slowRank(timeout + time.Second)}, 3)...)
				if err = errors.Join(errs...); err == nil {
					return
				}
				t.Logf("with a timeout of %v: %v", timeout, err)
			}
			t.Error(err)
		})
	}
}

// slowRank is what three ranks do, of which rank 1 and its service are slow.
func slowRank(slow time.Duration) func(g *net.Group) error {
	return func(g *net.Group) error {
		service := g.Serve(func(ask, memory []byte) ([]byte, error) { time.Sleep(slow); return ask, nil })
		if g.Rank() == 1 {
			time.Sleep(slow)
		}
		err := errors.Join(vote(g), fromFirst(g))
		switch g.Rank() {
		case 0:
			err = errors.Join(err, g.Recv(make([]byte, 4), 1, 0))
		case 1:
			time.Sleep(slow)
			err = errors.Join(err, g.Send(make([]byte, 4), 0, 0))
		case 2:
			_, e := g.Ask(1, service, []byte("x"), nil)
			err = errors.Join(err, e)
		}
		return errors.Join(err, vote(g))
	}
}

// A rank that has ended does not wait longer than the timeout for one that lives and does not.
func TestCloseIsBounded(t *testing.T) {
	leak.Check(t, "sagann/net")
	for _, late := range []int{0, 1} {
		t.Run(fmt.Sprint(late), func(t *testing.T) {
			t.Parallel()
			f := []func(g *net.Group) error{end, end}
			f[late] = func(g *net.Group) error { time.Sleep(3 * time.Second); return nil }
			errs, _ := together(overTCP(t, 2, time.Second), f...)
			if err := errs[1-late]; err == nil || !strings.Contains(err.Error(), fmt.Sprintf("this rank has ended, and 1s later others have not: rank %d (host ", late)) {
				t.Error(err)
			}
		})
	}
}

// A status is read as it was written; other texts are what a rank is at.
func TestStatusText(t *testing.T) {
	leak.Check(t, "sagann/net")
	for _, s := range []net.Status{
		{},
		{Where: "epoch 3, receive\nh", Moved: 1 << 63, Number: 7, Past: []net.Run{{First: 4, Name: "results"}, {First: 6, Name: "stop or save"}}, Busy: true, Waits: []net.Wait{{On: 3, Together: true}, {On: -1}, {On: 0}}},
	} {
		if got := net.ReadStatus(s.Text()); fmt.Sprint(got) != fmt.Sprint(s) {
			t.Errorf("%v is read as %v", s, got)
		}
	}
	for _, text := range []string{"", "epoch 3", "1 2 - \n", "x 2 - \n\n", "1 2 - q\n\n", "1 2 - tx\n\n"} {
		if s := net.ReadStatus(text); s.Where != text || s.Number != 0 || s.Waits != nil {
			t.Errorf("%q is read as %v", text, s)
		}
	}
}
