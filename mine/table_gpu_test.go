package mine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/internal/draw"
	"sagann/mine"
)

// typedEdges is a graph some of whose vertices have many neighbours, with labels of vertices, a few without one, and of edges.
func typedEdges(d *rand.Rand, vertices, edges int) (*chunk.Edges, []int32) {
	e, labels := &chunk.Edges{V: vertices, Types: 4}, make([]int32, vertices)
	for v := range labels {
		labels[v] = int32(d.IntN(4)) - 1
	}
	for range edges {
		a, b := uint32(d.IntN(vertices)), uint32(d.IntN(vertices)*d.IntN(vertices)/vertices)
		if a != b {
			kind := min(a, b)%2 + max(a, b)%3
			e.Src, e.Dst, e.Type = append(e.Src, a, b), append(e.Dst, b, a), append(e.Type, kind, kind)
		}
	}
	return e, labels
}

// growing is a table of a size with conditions and a filter in its sizes, and a key.
func growing(g *mine.Graph, vertices bool, size int) (*mine.Table, func(m mine.Match) mine.Int) {
	t := g.Table(vertices)
	for n := 2; n <= size; n++ {
		switch {
		case n == 2:
			t = t.Extend(func(m mine.Match) mine.Bool {
				return m.Label(0).Ne(m.Label(m.Vertices() - 1)).Or(m.Degree(0).More(m.Degree(1)))
			})
		case n == 3 && vertices:
			t = t.Extend(func(m mine.Match) mine.Bool { return m.Adjacent(0, 2).Not().Or(m.EdgeLabel(0, 2).Less(mine.Const(2))) })
		default:
			t = t.Extend(nil)
		}
	}
	return t, func(m mine.Match) mine.Int {
		last := m.Vertices() - 1
		return m.Label(0).Plus(m.Label(0)).Minus(m.Degree(last)).Plus(m.EdgeLabel(0, last)).Plus(m.Vertex(last).Minus(mine.Const(3)))
	}
}

// TestTableOnGPUs: rows that GPUs store, and the counts of their keys, are those of the CPU, wherever columns lie, on one GPU and two.
func TestTableOnGPUs(t *testing.T) {
	specs := emulate(t)
	ctx := context.Background()
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	scratch := t.TempDir()
	homes := mine.StoredBytes{}
	cases := 6
	switch {
	case draw.Soak():
		cases = 30
	case testing.Short():
		cases = 2
	}
	for i := range cases { // a compiler runs for every size
		vertices, size := i%2 == 1, []int{3, 2, 4, 1}[i/2%4]
		e, labels := typedEdges(d, 20+d.IntN(20), []int{160, 60, 40}[i/2%3])
		cpu, key := growing(mustOpen(t, e, mine.Options{Labels: labels}), vertices, size)
		want := tableRows(t, cpu)
		keys, err := cpu.Aggregate(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		patterns, err := cpu.Patterns(ctx)
		if err != nil {
			t.Fatal(err)
		}
		opt := mine.Options{Labels: labels, Device: specs[i%3/2], Scratch: scratch}
		least := int64(0)
		for range 4 { // in all memory, in one byte, in what its error names, and in what is enough for storing alone with little of the host's
			g := mustOpen(t, e, opt)
			table, key := growing(g, vertices, size)
			name := fmt.Sprintf("case %d: vertices %t, size %d, %d bytes, %d of the host", i, vertices, size, opt.Mem, opt.HostMem)
			var small *mine.BudgetError
			switch got, err := table.Aggregate(ctx, key); {
			case errors.As(err, &small):
				opt.Mem = max(opt.Mem+1, small.Smallest)
			case err != nil || !maps.Equal(got, keys):
				t.Errorf("%s: %d keys, %v; want %d", name, len(got), err, len(keys))
			}
			if got, err := table.Patterns(ctx); !errors.As(err, &small) && (err != nil || !maps.Equal(got, patterns)) || table.OnGPUs() != nil {
				t.Errorf("%s: %d patterns, %v; want %d; %v", name, len(got), err, len(patterns), table.OnGPUs())
			}
			x, explained := table.Explain(ctx)
			s, err := table.Store(ctx)
			if (err == nil) != (explained == nil) {
				t.Errorf("%s: %v, explained: %v", name, err, explained)
			}
			switch {
			case errors.As(err, &small):
				least = small.Smallest
				opt.Mem = max(opt.Mem, least)
			case err != nil:
				t.Fatalf("%s: %v", name, err)
			default:
				at := s.At()
				all, _ := s.Bytes()
				onGPUs := float64(min(at.GPUs, all)) // taken in pieces, of which the last is not full
				if s.Rows() > 500 && (x.Bytes > 2*float64(all) || 2*x.Bytes < float64(all) || x.OnGPUs > 2*onGPUs || 2*x.OnGPUs < onGPUs || x.Seconds <= 0 || !x.GPUs) {
					t.Errorf("%s: %d rows, %d bytes, %+v\n%v", name, s.Rows(), all, at, x)
				}
				if opt.HostMem > 0 && at.Host > opt.HostMem {
					t.Errorf("%s: %+v", name, at)
				}
				homes.GPUs, homes.Host, homes.File = homes.GPUs+at.GPUs, homes.Host+at.Host, homes.File+at.File
				if rows := tableRows(t, s.Table()); s.Rows() != int64(len(want)) || !slices.EqualFunc(rows, want, slices.Equal) {
					t.Errorf("%s: %d rows, want %d", name, len(rows), len(want))
				}
				goesOn(t, name, s, i < 4, cpu, key)
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				if opt.Mem > 0 {
					opt.Mem, opt.HostMem = least, 65<<10
				} else {
					opt.Mem = 1
				}
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if homes.GPUs == 0 || (homes.Host == 0 || homes.File == 0) && !testing.Short() {
		t.Errorf("columns lay on %+v", homes)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// goesOn compares what goes on from stored rows, and with again is stored, too.
func goesOn(t *testing.T, name string, s *mine.StoredTable, again bool, cpu *mine.Table, key func(m mine.Match) mine.Int) {
	t.Helper()
	ctx := context.Background()
	var small *mine.BudgetError
	for more, with := range []func(*mine.Table) *mine.Table{func(t *mine.Table) *mine.Table { return t }, func(t *mine.Table) *mine.Table {
		return t.Filter(func(p mine.Pattern) bool { return p.Label(1) != 2 }).Extend(nil)
	}} {
		want, err := with(cpu).Aggregate(ctx, key)
		got, failed := with(s.Table()).Aggregate(ctx, key)
		if errors.As(failed, &small) {
			continue // the rows take the memory
		}
		if err != nil || failed != nil || !maps.Equal(got, want) {
			t.Errorf("%s: %d keys of stored rows with %d more, %v; want %d", name, len(got), more, failed, len(want))
		}
		if !again || testing.Short() {
			continue
		}
		next, err := with(s.Table()).Store(ctx)
		if errors.As(err, &small) {
			continue
		}
		if err != nil {
			t.Errorf("%s: stored again with %d more: %v", name, more, err)
			continue
		}
		if rows, want := tableRows(t, next.Table()), tableRows(t, with(cpu)); !slices.EqualFunc(rows, want, slices.Equal) {
			t.Errorf("%s: %d rows stored again with %d more, want %d", name, len(rows), more, len(want))
		}
		if err := next.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTableOnGPUsRefused: a filter that panics is an error, and labels that are too wide for codes leave rows to the CPU, which OnGPUs says.
func TestTableOnGPUsRefused(t *testing.T) {
	specs := emulate(t)
	ctx := context.Background()
	e, labels := typedEdges(rand.New(rand.NewPCG(1, 2)), 20, 30)
	g := mustOpen(t, e, mine.Options{Labels: labels, Device: specs[0]})
	defer g.Close()
	_, err := g.Table(true).Extend(nil).Filter(func(mine.Pattern) bool { panic("oh") }).Store(ctx)
	if err == nil || !strings.Contains(err.Error(), "panicked: oh") {
		t.Errorf("error %v", err)
	}
	labels = slices.Clone(labels)
	for v := range labels {
		labels[v] = int32(v) * 100_000_000
	}
	six := func(g *mine.Graph) *mine.Table {
		return g.Table(true).Extend(nil).Extend(nil).Extend(nil).Extend(nil).Extend(func(m mine.Match) mine.Bool { return m.Label(0).Less(m.Label(1)) })
	}
	wide := mustOpen(t, e, mine.Options{Labels: labels, Device: specs[0]})
	defer wide.Close()
	want, err := six(mustOpen(t, e, mine.Options{Labels: labels})).Patterns(ctx)
	table := six(wide)
	got, failed := table.Patterns(ctx)
	stored, storing := table.Store(ctx) // the CPU reads what GPUs have stored
	if storing != nil {
		t.Fatal(storing)
	}
	defer stored.Close()
	again, reading := stored.Table().Patterns(ctx)
	if reading != nil || !maps.Equal(again, want) || stored.At().GPUs == 0 {
		t.Errorf("%d patterns of stored rows on %+v, %v; want %d", len(again), stored.At(), reading, len(want))
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := six(wide).Store(done); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the end", err)
	}
	if _, err := g.Table(false).Extend(nil).Aggregate(done, func(m mine.Match) mine.Int { return m.Degree(0) }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the end", err)
	}
	small := mustOpen(t, e, mine.Options{Labels: labels, Device: specs[0], HostMem: 1})
	defer small.Close()
	var budget *mine.BudgetError
	if _, err := six(small).Store(ctx); !errors.As(err, &budget) || budget.Smallest <= 1 {
		t.Errorf("with a byte of the host: error %v", err)
	}
	if said := table.OnGPUs(); err != nil || failed != nil || !maps.Equal(got, want) || said == nil || !strings.Contains(said.Error(), "63 bits: the CPU") {
		t.Errorf("%d patterns, %v; want %d, %v; %v", len(got), failed, len(want), err, said)
	}
}
