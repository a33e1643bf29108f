package chunk

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sagann/internal/draw"
)

// onProcessors runs f as if the machine had 1, 2, 3 and 7 processors.
func onProcessors(t *testing.T, f func(t *testing.T)) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, n := range []int{1, 2, 3, 7} {
		runtime.GOMAXPROCS(n)
		t.Run(fmt.Sprint(n), f)
	}
}

// many is a graph that is cut into several blocks and buckets, with self loops, a
// hub above manyEdges and everything that an edge can carry.
func many() *Edges {
	e := skewed(40_000, 300_000, 11)
	for k := range 70_000 {
		e.Dst[4*k] = 7
	}
	e.Weight, e.Type, e.Types = make([]float32, e.E()), make([]uint32, e.E()), 3
	e.Data, e.DataCols = make([]float32, 2*e.E()), 2
	for k := range e.E() {
		e.Weight[k], e.Type[k] = float32(k), uint32(k*5%3)
		e.Data[2*k], e.Data[2*k+1] = float32(k), -float32(k)
	}
	return e
}

// What is computed of a graph has the same bytes on any number of processors.
func TestSameOnAnyNumberOfProcessors(t *testing.T) {
	type result struct {
		In, Out []uint32
		Loops   *Edges
		Order   *Order
		Sides   []*Side
		Stats   GridStats
		Skew    int64
	}
	e := many()
	var first *result
	onProcessors(t, func(t *testing.T) {
		r := &result{In: e.InDegrees(), Out: e.OutDegrees(), Loops: e.WithSelfLoops(), Order: Balance(e, 3)}
		r.Stats = Stats(e, r.Order, 3)
		r.Skew, _ = CellSkew(e, r.Order, 3)
		for _, p := range []int{1, 3, 16} {
			for _, w := range []Want{{CSC: true, CSR: true}, {CSR: true},
				{CSC: true, CSR: true, Rank: true, Type: true, Weight: true, Data: true},
				{CSC: true, CSR: true, Pack: true}, {CSR: true, Pack: true}} {
				g, err := Build(e, r.Order, p, w)
				if err != nil {
					t.Fatal(err)
				}
				if g.CSC != nil {
					r.Sides = append(r.Sides, g.CSC)
				}
				r.Sides = append(r.Sides, g.CSR)
			}
		}
		if first == nil {
			first = r
		}
		if d := cmp.Diff(first, r, cmp.Comparer(func(a, b *Side) bool {
			return string(a.Mem) == string(b.Mem) && slices.Equal(a.Cells, b.Cells)
		})); d != "" {
			t.Errorf("differs from one processor: %.400s", d)
		}
	})
	// One side alone is the same as beside the other.
	for i := 0; i < len(first.Sides); i += 8 {
		if !slices.Equal(first.Sides[i+1].Cells, first.Sides[i+2].Cells) || !slices.Equal(first.Sides[i+6].Cells, first.Sides[i+7].Cells) {
			t.Errorf("CSR alone differs from CSR beside CSC")
		}
	}
}

// TestBucketsAgainstMaps is TestBuildAgainstMaps for cells of several buckets.
func TestBucketsAgainstMaps(t *testing.T) {
	e := many()
	o := Balance(e, 4)
	w := Want{CSC: true, CSR: true, Rank: true, Type: true, Weight: true}
	for _, p := range []int{1, 2} {
		g, err := Build(e, o, p, w)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range []*Side{g.CSC, g.CSR} {
			want, got := refSide(e, o, g.Intervals, w, i == 1), readSide(t, s, g.Intervals)
			if len(want) != len(got) {
				t.Fatalf("side %d, P=%d: %d rows, want %d", i, p, len(got), len(want))
			}
			for k, edges := range want {
				if !slices.Equal(edges, got[k]) {
					t.Fatalf("side %d, P=%d: row %+v differs", i, p, k)
				}
			}
		}
	}
}

// sortedDegrees is Balance's first step, the slow way.
func sortedDegrees(e *Edges) []uint32 {
	degree := make([]int, e.V)
	for k := range e.Src {
		degree[e.Src[k]]++
		degree[e.Dst[k]]++
	}
	ids := slices.Clone(Identity(e.V).New)
	slices.SortStableFunc(ids, func(a, b uint32) int { return degree[b] - degree[a] })
	return ids
}

// snake is Balance's second step, a vertex at a time.
func snake(sorted []uint32, in Intervals) []uint16 {
	part, room := make([]uint16, in.V), make([]int, in.P)
	for i := range room {
		room[i] = in.Rows(i)
	}
	for up := true; len(sorted) > 0; up = !up {
		var open []int
		for i, r := range room {
			if r > 0 {
				open = append(open, i)
			}
		}
		if !up {
			slices.Reverse(open)
		}
		for _, i := range open[:min(len(open), len(sorted))] {
			part[sorted[0]] = uint16(i)
			room[i]--
			sorted = sorted[1:]
		}
	}
	return part
}

func TestBalanceAgainstDealing(t *testing.T) {
	check := func(t rapid.TB, e *Edges, p int) {
		sorted := degreesOf(e).byDegree()
		if !slices.Equal(sorted, sortedDegrees(e)) {
			t.Fatal("not the vertices by falling degree")
		}
		in, _ := NewIntervals(e.V, p)
		if !slices.Equal(deal(sorted, in), snake(sorted, in)) {
			t.Fatal("not dealt in snake order")
		}
	}
	long := skewed(1_200_000, 100_000, 3) // several blocks of vertices
	onProcessors(t, func(t *testing.T) {
		check(t, many(), 7)
		check(t, long, 5)
	})
	draw.Check(t, func(t *rapid.T) { check(t, drawEdges(t), rapid.IntRange(1, 80).Draw(t, "p")) })
}

func TestLoops(t *testing.T) {
	onProcessors(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 5, 4096, 8191, 8192, 100_000} {
			met := make([]atomic.Int32, n)
			Ranges(n, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					met[i].Add(1)
				}
			})
			Each(n, func(i int) { met[i].Add(1) })
			for i := range met {
				if met[i].Load() != 2 {
					t.Fatalf("%d of %d was met %d times", i, n, met[i].Load())
				}
			}
			for _, at := range []int{0, n / 2, n - 1, n} {
				want := at
				if at < 0 || at >= n {
					want = -1
				}
				got := First(n, func(lo, hi int) int { // all from at on are bad
					if hi <= at {
						return -1
					}
					return max(lo, at)
				})
				if n > 0 && got != want {
					t.Fatalf("first of %d is %d, want %d", n, got, want)
				}
			}
		}
	})
}

// Processors may come and go while a grid is built: the runtime follows limits that a system changes.
func TestProcessorsChange(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	e := skewed(10_000, 300_000, 3)
	build := func() *Grid {
		g, err := Build(e, nil, 3, Want{CSC: true, CSR: true})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	want := build()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				runtime.GOMAXPROCS(1 + n%5)
				time.Sleep(50 * time.Microsecond)
			}
		}
	}()
	for range 20 {
		if g := build(); string(g.CSC.Mem) != string(want.CSC.Mem) || string(g.CSR.Mem) != string(want.CSR.Mem) {
			t.Fatal("grids differ")
		}
	}
	close(stop)
	<-stopped
}

// TestPanics: a panic on a goroutine of a loop reaches the caller, which can recover, and Try makes it an error.
func TestPanics(t *testing.T) {
	onProcessors(t, func(t *testing.T) {
		wrong := fmt.Errorf("odd")
		err := Try(func() error {
			Ranges(1<<20, func(lo, hi int) {
				if hi == 1<<20 {
					panic(wrong)
				}
			})
			return nil
		})
		var p *Panic
		if !errors.As(err, &p) || !errors.Is(err, wrong) || !strings.Contains(err.Error(), "TestPanics") {
			t.Errorf("%v, want a panic with its stack", err)
		}
		if err := Try(func() error { return wrong }); err != wrong {
			t.Error(err)
		}
	})
}
