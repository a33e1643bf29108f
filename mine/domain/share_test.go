package domain

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"sagann/internal/draw"
	"sagann/mine/pattern"
	"sagann/mine/run"
)

// spoilt changes what a rank sends.
type spoilt struct {
	seat
	change func(own []byte) []byte
}

func (s spoilt) Gather(what string, own []byte, failed error) ([][]byte, error) {
	if what == "counts" {
		own = s.change(slices.Clone(own))
	}
	return s.seat.Gather(what, own, failed)
}

// TestShare: ranks give each other their counts in small pieces, of which some have none; an error of one, and bytes that are torn, are errors of all.
func TestShare(t *testing.T) {
	defer func(n int) { exchanged = n }(exchanged)
	exchanged = 50
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	const ranks = 3
	broken := errors.New("broken")
	for name, change := range map[string]func(own []byte) []byte{
		"":      bytes.Clone,
		"short": func(own []byte) []byte { return own[:len(own)-1] },
		"empty": func([]byte) []byte { return nil },
		"long":  func(own []byte) []byte { return append(own, 1) },
		"error": bytes.Clone,
	} {
		h := &hall{}
		h.wake.L = &h.mu
		own, got, errs := make([]map[pattern.Pattern]run.Total, ranks), make([]map[pattern.Pattern]run.Total, ranks), make([]error, ranks)
		want := map[pattern.Pattern]run.Total{}
		add := func(to map[pattern.Pattern]run.Total, p pattern.Pattern, n run.Total) {
			sum := to[p]
			sum.AddTotal(n)
			to[p] = sum
		}
		for r := range ranks {
			own[r], got[r] = map[pattern.Pattern]run.Total{}, map[pattern.Pattern]run.Total{}
			for _, f := range some(d, 0, []int{30, 0, 7}[r], 1) {
				n := run.Total{Lo: d.Uint64(), Hi: uint64(d.IntN(9))}
				add(own[r], f.Pattern, n)
				add(want, f.Pattern, n)
			}
		}
		var wg sync.WaitGroup
		for r := range ranks {
			wg.Go(func() {
				var p Peers = seat{h, r, ranks}
				var failed error
				if r == 2 {
					p = spoilt{seat{h, r, ranks}, change}
					if name == "error" {
						failed = broken
					}
				}
				for of, n := range own[r] {
					add(got[r], of, n)
				}
				errs[r] = Share(p, "counts", maps.All(own[r]), failed, func(of pattern.Pattern, n run.Total) { add(got[r], of, n) })
			})
		}
		wg.Wait()
		for r := range ranks {
			switch {
			case name == "" && (errs[r] != nil || !maps.Equal(got[r], want)):
				t.Errorf("rank %d has %d of %d counts, %v", r, len(got[r]), len(want), errs[r])
			case name == "error" && !errors.Is(errs[r], broken), name != "" && name != "error" && !errors.Is(errs[r], errTorn):
				t.Errorf("%s: rank %d: error %v", name, r, errs[r])
			}
		}
	}
}

// TestTogether: what one rank lacks is lacking for all, with the most that any needs.
func TestTogether(t *testing.T) {
	const ranks = 2
	h := &hall{}
	h.wake.L = &h.mu
	errs := make([]error, ranks)
	var wg sync.WaitGroup
	for r := range ranks {
		wg.Go(func() {
			var err error
			if r == 0 {
				err = &run.RoomError{Need: 70}
			}
			errs[r] = Together(seat{h, r, ranks}, "rows", int64(50+25*r), err)
		})
	}
	wg.Wait()
	for r, need := range []int64{70, 95} { // the second has 25 more, and would lack them
		var small *run.RoomError
		if !errors.As(errs[r], &small) || small.Need != need || !small.More {
			t.Errorf("rank %d: %+v", r, errs[r])
		}
	}
}
