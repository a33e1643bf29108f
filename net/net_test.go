package net_test

import (
	"bytes"
	"errors"
	"fmt"
	stdnet "net"
	"strings"
	"sync"
	"testing"

	"sagann/internal/leak"
	"sagann/net"
	"sagann/net/local"
)

// on runs f on so many ranks; a rank that fails ends the others.
func on(n int, f func(g *net.Group) error) []error {
	_, links := local.New(n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for r, l := range links {
		wg.Go(func() {
			g := net.Over(l)
			g.SetPiece(7)
			if errs[r] = f(g); errs[r] != nil {
				g.Abort(errs[r])
			}
		})
	}
	wg.Wait()
	return errs
}

// Messages longer than a piece arrive whole, on each channel in order, and are counted.
func TestPieces(t *testing.T) {
	leak.Check(t, "sagann/net")
	errs := on(2, func(g *net.Group) error {
		for n := range 30 {
			b := make([]byte, n)
			if g.Rank() == 0 {
				for i := range b {
					b[i] = byte(n + i)
				}
				if err := g.Send(b, 1, n%3); err != nil {
					return err
				}
				continue
			}
			if err := g.Recv(b, 0, n%3); err != nil {
				return err
			}
			for i := range b {
				if b[i] != byte(n+i) {
					return fmt.Errorf("message %d is %v", n, b)
				}
			}
		}
		sent, got := g.Moved()
		if x := append(sent, got...); x[g.Rank()] != 0 || x[1]+x[2] != 29*30/2 {
			return fmt.Errorf("rank %d has sent %d and got %d", g.Rank(), sent, got)
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// All ranks learn texts, votes and the first failure.
func TestTogether(t *testing.T) {
	leak.Check(t, "sagann/net")
	errs := on(3, func(g *net.Group) error {
		text, err := g.BcastText("text", strings.Repeat("x", 20+g.Rank()), 1)
		if err != nil || len(text) != 21 {
			return fmt.Errorf("%q, %w", text, err)
		}
		if any, err := g.Any("vote", g.Rank() == 2); err != nil || !any {
			return fmt.Errorf("rank 2's yes is lost: %w", err)
		}
		if any, err := g.Any("vote", false); err != nil || any {
			return fmt.Errorf("nobody said yes: %w", err)
		}
		if err := g.Same("number", "7"); err != nil {
			return err
		}
		if err := g.Same("number", fmt.Sprint(g.Rank()/2)); err == nil || err.Error() != "ranks 0 and 2 differ in their number: 0 and 1; start all ranks with the same program, data and settings" {
			return fmt.Errorf("the error is %v", err)
		}
		var mine error
		if g.Rank() == 1 {
			mine = errors.New("no disk")
		}
		if err := g.Agree("disk", nil); err != nil {
			return err
		}
		if err := g.Agree("disk", mine); err == nil || g.Rank() != 1 && err.Error() != "rank 1: no disk" {
			return fmt.Errorf("rank %d is told %v", g.Rank(), err)
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// A rank that fails ends those that wait for it, and messages of other lengths than awaited are errors.
func TestAbort(t *testing.T) {
	leak.Check(t, "sagann/net")
	errs := on(3, func(g *net.Group) error {
		if g.Rank() == 2 {
			return errors.New("out of paper")
		}
		return g.Recv(make([]byte, 3), 2, 0)
	})
	for r, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "out of paper") {
			t.Errorf("rank %d: %v", r, err)
		}
	}
	errs = on(2, func(g *net.Group) error {
		if g.Rank() == 0 {
			return g.Send(make([]byte, 3), 1, 0)
		}
		return g.Recv(make([]byte, 4), 0, 0)
	})
	if errs[1] == nil || !strings.Contains(errs[1].Error(), "sends 3 bytes, rank 1 waits for 4") {
		t.Error(errs)
	}
}

// One rank alone needs no group.
func TestAlone(t *testing.T) {
	leak.Check(t, "sagann/net")
	var g *net.Group
	b := []byte("x")
	if g.Rank() != 0 || g.Ranks() != 1 || g.Bcast("x", b, 0) != nil || !bytes.Equal(b, []byte("x")) || g.Agree("disk", nil) != nil || g.Close() != nil {
		t.Error("a nil group is not one rank")
	}
	g.Abort(nil)
}

// freePorts are addresses of this host where nobody listens.
func freePorts(t *testing.T, n int) (list []string) {
	t.Helper()
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
