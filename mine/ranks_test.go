package mine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sagann/chunk"
	"sagann/mine"
	"sagann/net"
	"sagann/net/local"
)

// onRanks searches on so many ranks, each of which has the options and question that of gives it. It returns what each finds as text, and
// the bytes that they have sent.
func onRanks(t *testing.T, ranks int, e *chunk.Edges, of func(rank int) (context.Context, mine.Options, mine.Frequency)) (texts []string, errs []error, moved int64) {
	t.Helper()
	_, links := local.New(ranks)
	groups := make([]*net.Group, ranks)
	texts, errs = make([]string, ranks), make([]error, ranks)
	var wg sync.WaitGroup
	for r := range ranks {
		groups[r] = net.Over(links[r])
		wg.Go(func() {
			ctx, opt, f := of(r)
			opt.Net = groups[r]
			g, err := mine.Open(e, opt)
			if err != nil {
				errs[r] = err
				return
			}
			found, err := g.Frequent(ctx, f)
			if opt.Device != "" {
				err = errors.Join(err, g.Close())
			}
			for i := range found {
				texts[r] += fmt.Sprint(found[i].Pattern, " ", found[i].Support, " ", slices.Collect(found[i].Domain(1)), "\n")
			}
			errs[r] = err
		})
	}
	wg.Wait()
	for r := range ranks {
		sent, _ := groups[r].Moved()
		for _, n := range sent {
			moved += n
		}
	}
	return texts, errs, moved
}

// TestFrequentRanks: two and three ranks find what one finds, in any memory, and send each other little more than the domains.
func TestFrequentRanks(t *testing.T) {
	e, labels := spread(300)
	for _, f := range []mine.Frequency{{Support: 20, Edges: 3, Domains: true}, {Support: 20, Edges: 3}, {Support: 30, Vertices: 3, Induced: true}, {Support: 20, Edges: 3, AtLeast: true}} {
		g := mustOpen(t, e, mine.Options{Labels: labels})
		alone, err := g.Frequent(context.Background(), f)
		if err != nil || len(alone) < 20 {
			t.Fatalf("%d patterns, %v", len(alone), err)
		}
		want, domains := "", int64(0)
		for i := range alone {
			want += fmt.Sprint(alone[i].Pattern, " ", alone[i].Support, " ", slices.Collect(alone[i].Domain(1)), "\n")
			if alone[i].Edges() > 1 {
				domains += int64(alone[i].Pattern.Vertices()) * 13 * 8 // bits of a hundred vertices and more
			}
		}
		for ranks := 2; ranks <= 3; ranks++ {
			mem, worked := int64(0), 0
			for tries := 0; tries < 12 && worked < 2; tries++ { // in all memory, then in the least that works
				texts, errs, moved := onRanks(t, ranks, e, func(rank int) (context.Context, mine.Options, mine.Frequency) {
					return context.Background(), mine.Options{Labels: labels, Threads: 1 + rank%2, Mem: mem}, f
				})
				var small *mine.BudgetError
				if errors.As(errs[0], &small) {
					least := int64(0)
					for r, err := range errs {
						if !errors.As(err, &small) || small.Smallest <= mem || !small.AtLeast {
							t.Fatalf("%+v on rank %d of %d: %v", f, r, ranks, err)
						}
						least = max(least, small.Smallest)
					}
					mem = least
					continue
				}
				worked++
				for r := range ranks {
					if errs[r] != nil || texts[r] != want {
						t.Fatalf("%+v on rank %d of %d in %d bytes: %v\n%s\nwant\n%s", f, r, ranks, mem, errs[r], texts[r], want)
					}
				}
				if most := (domains + int64(100*len(alone))) * int64(ranks-1); moved > most {
					t.Errorf("%+v on %d ranks: %d bytes sent; want at most %d", f, ranks, moved, most)
				}
				mem = 1
			}
			if worked < 2 {
				t.Errorf("%+v on %d ranks: it does not work in the %d bytes that errors name", f, ranks, mem)
			}
		}
	}
}

// TestInstancesRanks: ranks count what one counts, by rows and by the census, in any memory, on the CPU and on emulated GPUs.
func TestInstancesRanks(t *testing.T) {
	specs := emulate(t)
	e, labels := spread(80)
	for _, f := range []mine.Frequency{{Support: 3, Edges: 3, By: mine.Instances}, {Support: 1, Edges: 3, By: mine.InstancesAll, Engine: mine.Tables}, {Support: 2, Vertices: 3, Induced: true, By: mine.Instances},
		{Support: 1, Edges: 1, By: mine.InstancesAll}} {
		alone, err := mustOpen(t, e, mine.Options{Labels: labels}).Frequent(context.Background(), f)
		if err != nil || len(alone) < 5 {
			t.Fatalf("%d patterns, %v", len(alone), err)
		}
		want := ""
		for i := range alone {
			want += fmt.Sprint(alone[i].Pattern, " ", alone[i].Support, " ", slices.Collect(alone[i].Domain(1)), "\n")
		}
		for ranks := 2; ranks <= 3; ranks++ {
			mem, worked := int64(0), 0
			for tries := 0; tries < 20 && worked < 2; tries++ { // in all memory, then in about the least that works
				texts, errs, _ := onRanks(t, ranks, e, func(rank int) (context.Context, mine.Options, mine.Frequency) {
					return context.Background(), mine.Options{Labels: labels, Threads: 1 + rank%2, Mem: mem}, f
				})
				var small *mine.BudgetError
				if errors.As(errs[0], &small) {
					least := int64(0)
					for r, err := range errs {
						if !errors.As(err, &small) || small.Smallest <= mem || !small.AtLeast {
							t.Fatalf("%+v on rank %d of %d: %v", f, r, ranks, err)
						}
						least = max(least, small.Smallest)
					}
					mem = max(least, mem+mem/16) // rows stop where memory ends: the error is short of what they need
					continue
				}
				worked++
				for r := range ranks {
					if errs[r] != nil || texts[r] != want {
						t.Fatalf("%+v on rank %d of %d in %d bytes: %v\n%s\nwant\n%s", f, r, ranks, mem, errs[r], texts[r], want)
					}
				}
				mem = 1
			}
			if worked < 2 {
				t.Errorf("%+v on %d ranks: it does not work in the %d bytes that errors name", f, ranks, mem)
			}
		}
		if f.Engine != mine.Tables && !f.Induced || testing.Short() {
			continue
		}
		texts, errs, _ := onRanks(t, 2, e, func(rank int) (context.Context, mine.Options, mine.Frequency) {
			opt := mine.Options{Labels: labels, Threads: 1}
			if rank == 1 {
				opt.Device = specs[0]
			}
			return context.Background(), opt, f
		})
		for r := range texts {
			if errs[r] != nil || texts[r] != want {
				t.Errorf("%+v with a GPU on rank 1, rank %d: %v\n%s\nwant\n%s", f, r, errs[r], texts[r], want)
			}
		}
	}
}

// TestFrequentRanksResume: ranks go on from the sizes that the first keeps.
func TestFrequentRanksResume(t *testing.T) {
	for _, f := range []mine.Frequency{{Support: 20, Edges: 3}, {Support: 5, Edges: 3, By: mine.Instances, Engine: mine.Tables}, {Support: 5, Edges: 3, By: mine.Instances}} {
		t.Run(string(f.By+" ")+string(f.Engine), func(t *testing.T) { resumeRanks(t, f) })
	}
}

func resumeRanks(t *testing.T, f mine.Frequency) {
	e, labels := spread(300)
	alone, _, _ := onRanks(t, 1, e, func(int) (context.Context, mine.Options, mine.Frequency) {
		return context.Background(), mine.Options{Labels: labels}, f
	})
	dir := t.TempDir()
	for from := 5; from > 0; from-- {
		for size := from; size < 6; size++ {
			_ = os.Remove(filepath.Join(dir, fmt.Sprintf("size-%02d.txt", size)))
		}
		texts, errs, _ := onRanks(t, 2, e, func(rank int) (context.Context, mine.Options, mine.Frequency) {
			f := f
			f.Resume = []string{dir, filepath.Join(dir, "of the other")}[rank]
			return context.Background(), mine.Options{Labels: labels}, f
		})
		for r := range texts {
			if errs[r] != nil || texts[r] != alone[0] {
				t.Fatalf("from size %d on rank %d: %v\n%s\nwant\n%s", from, r, errs[r], texts[r], alone[0])
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "of the other")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the second rank has a folder: %v", err)
	}
	full := filepath.Join(dir, "size-01.txt", "no folder")
	_, errs, _ := onRanks(t, 2, e, func(int) (context.Context, mine.Options, mine.Frequency) {
		f := f
		f.Resume = full
		return context.Background(), mine.Options{Labels: labels}, f
	})
	for r, err := range errs {
		if err == nil {
			t.Errorf("rank %d: no error for a folder that cannot be", r)
		}
	}
}

// TestFrequentRanksRefused: ranks that ask different things, and one that is interrupted, end together.
func TestFrequentRanksRefused(t *testing.T) {
	e, labels := spread(300)
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for want, of := range map[string]func(rank int) (context.Context, mine.Options, mine.Frequency){
		"start all ranks with the same data and flags": func(rank int) (context.Context, mine.Options, mine.Frequency) {
			return context.Background(), mine.Options{Labels: labels}, mine.Frequency{Support: 20 + int64(rank), Edges: 2}
		},
		"canceled": func(rank int) (context.Context, mine.Options, mine.Frequency) {
			return []context.Context{context.Background(), done}[rank], mine.Options{Labels: labels}, mine.Frequency{Support: 20, Edges: 2}
		},
		"context canceled": func(rank int) (context.Context, mine.Options, mine.Frequency) {
			return []context.Context{context.Background(), done}[rank], mine.Options{Labels: labels}, mine.Frequency{Support: 2, Edges: 3, By: mine.Instances}
		},
		"cancel": func(rank int) (context.Context, mine.Options, mine.Frequency) {
			return []context.Context{done, context.Background()}[rank], mine.Options{Labels: labels}, mine.Frequency{Support: 2, Edges: 3, By: mine.Instances, Engine: mine.Tables}
		},
	} {
		_, errs, _ := onRanks(t, 2, e, of)
		for r, err := range errs {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("rank %d: error %v; want %q", r, err, want)
			}
		}
	}
}
