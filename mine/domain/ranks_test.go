package domain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"sagann/internal/draw"
	"sagann/mine/pattern"
)

// some are patterns of parents from a number on, with domains of up to so many words.
func some(d *rand.Rand, from, n, words int) (list []dealt) {
	for i := range n {
		p := pattern.New(0).Add(int32(d.IntN(3))).Add(int32(d.IntN(3))).WithEdgeLabel(0, 1, int32(d.IntN(2))-1)
		if d.IntN(2) > 0 {
			p = p.Add(int32(d.IntN(3))).WithEdgeLabel(d.IntN(2), 2, 1)
		}
		f := dealt{parent: from + i, child: d.IntN(9)}
		f.Pattern, f.Support = p.Canonical(), int64(d.IntN(1<<20))
		if d.IntN(4) > 0 {
			f.Domains = make([]Set, f.Pattern.Vertices())
			for v, low := range f.Pattern.Orbits() {
				switch {
				case v >= len(f.Domains):
				case int(low) < v:
					f.Domains[v] = f.Domains[low]
				default:
					bits := make([]uint64, words)
					for range 1 + d.IntN(64*words) {
						x := d.IntN(64 * words)
						bits[x/64] |= 1 << (x % 64)
					}
					f.Domains[v] = pack(bits, size(bits))
				}
			}
		}
		list = append(list, f)
	}
	return list
}

func textOf(list []dealt) string {
	s := ""
	for _, f := range list {
		s += fmt.Sprint(f.parent, f.child, f.Pattern, f.Support, f.Domains, "\n")
	}
	return s
}

// TestStream: what is read is what was written; what does not fit is left out, with what was taken for it given back; torn bytes are an error.
func TestStream(t *testing.T) {
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	const words = 3
	list := some(d, 0, 20, words)
	var b bytes.Buffer
	if err := encode(&b, list); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	read := func(b []byte, room int64) (out []dealt, left int64, err error) {
		err = decode(bytes.NewReader(b), words, func(n int64) bool {
			if n <= room {
				room -= n
				return true
			}
			return false
		}, func(f dealt) { out = append(out, f) })
		return out, room, err
	}
	for _, room := range []int64{1 << 40, 300, 20, 0} {
		got, left, err := read(whole, room)
		want, used := slices.Clone(list), int64(0)
		for i := range want {
			if n := want[i].Bytes(); used+n > room {
				want[i].Domains = nil
			} else {
				used += n
			}
		}
		if err != nil || textOf(got) != textOf(want) || left != room-used {
			t.Errorf("in %d bytes, of which %d are left, want %d: %v\n%s\nwant\n%s", room, left, room-used, err, textOf(got), textOf(want))
		}
	}
	for n := range len(whole) {
		if _, _, err := read(whole[:n], 1<<40); !errors.Is(err, errTorn) {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
		torn := slices.Clone(whole)
		torn[n] ^= byte(1 + d.IntN(255))
		_, _, _ = read(torn, 1<<40) // it does not panic, and takes no more than a set
	}
	if _, _, err := read(append(slices.Clone(whole), 0), 1<<40); !errors.Is(err, errTorn) {
		t.Errorf("a byte too many: %v", err)
	}
}

// hall is where ranks meet.
type hall struct {
	mu    sync.Mutex
	wake  sync.Cond
	round int
	came  int
	now   [][]byte
	err   error
	all   [][]byte
	wrong error
}

// seat is a rank's place there.
type seat struct {
	*hall
	rank, ranks int
}

func (s seat) Ranks() int                        { return s.ranks }
func (s seat) Rank() int                         { return s.rank }
func (s seat) Deal(_, _ int) (_, _ int, _ error) { return 0, 0, nil }

func (s seat) Gather(_ string, own []byte, failed error) ([][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.came == 0 {
		s.now, s.err = make([][]byte, s.ranks), nil
	}
	s.now[s.rank], s.err = slices.Clone(own), errors.Join(s.err, failed)
	if s.came++; s.came == s.ranks {
		s.came, s.all, s.wrong = 0, s.now, s.err
		s.round++
		s.wake.Broadcast()
	} else {
		for at := s.round; at == s.round; {
			s.wake.Wait()
		}
	}
	return s.all, s.wrong
}

// TestExchange: ranks give each other what they have found in small pieces, in any memory; an end of one is one of all.
func TestExchange(t *testing.T) {
	defer func(n int) { exchanged = n }(exchanged)
	exchanged = 50
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for i, room := range []int64{0, 1 << 20, 40000, 40000} {
		const ranks = 3
		h := &hall{}
		h.wake.L = &h.mu
		var all []dealt
		dealers, errs := make([]*dealer, ranks), make([]error, ranks)
		for r := range ranks {
			q := &Question{Room: room, Peers: seat{h, r, ranks}}
			dealers[r] = &dealer{words: 2, budget: q.budget(nil, 0)}
			for _, f := range some(d, 100*r, []int{30, 0, 7}[r], 2) {
				f.Domains = slices.Clone(f.Domains)
				all = append(all, f)
				dealers[r].add(f)
			}
		}
		var wg sync.WaitGroup
		for r, x := range dealers {
			wg.Go(func() {
				ctx := context.Background()
				if i == 3 && r == 1 {
					ctx = done
				}
				errs[r] = x.exchange(ctx, nil)
			})
		}
		wg.Wait()
		for r, x := range dealers {
			if i == 3 {
				if !errors.Is(errs[r], context.Canceled) {
					t.Errorf("rank %d: error %v", r, errs[r])
				}
				continue
			}
			got, kept := x.sorted(), int64(0)
			if errs[r] != nil || len(got) != len(all) {
				t.Fatalf("rank %d in %d bytes: %d patterns, want %d, %v", r, room, len(got), len(all), errs[r])
			}
			for k := range got {
				if kept += got[k].Bytes(); got[k].Pattern != all[k].Pattern || got[k].Support != all[k].Support {
					t.Errorf("rank %d, pattern %d: %v", r, k, got[k])
				}
			}
			if room > 0 && kept > room-x.budget.need {
				t.Errorf("rank %d keeps %d bytes of domains where there are %d", r, kept, room-x.budget.need)
			}
		}
	}
}
