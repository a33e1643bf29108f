package mine_test

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"sagann/chunk"
	"sagann/internal/draw"
	"sagann/mine"
)

// tableRows collects the rows of a table.
func tableRows(t interface{ Fatal(...any) }, table *mine.Table) (rows [][]uint32) {
	for row, err := range table.Rows(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, slices.Clone(row))
	}
	return rows
}

// TestTableAgainstBrute: every connected set is one row, in its least connected order, rows ascend; conditions, keys and filters do
// what they do on rows one by one.
func TestTableAgainstBrute(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		graph := drawGraphOf(t, rapid.IntRange(2, 7).Draw(t, "vertices"))
		for v := range graph.label {
			graph.label[v] = max(graph.label[v], 0) // brute force leaves vertices without a label out
		}
		vertices := rapid.Bool().Draw(t, "rows of vertices")
		size := rapid.IntRange(2, 4).Draw(t, "size")
		g, err := mine.Open(graph.edges(), mine.Options{Labels: graph.label, Threads: 3})
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		table := g.Table(vertices)
		for range size - 1 {
			table = table.Extend(nil)
		}
		all := bruteEdges(graph, size, false)
		if vertices {
			all = bruteVertices(graph, size, false)
		}
		want := map[mine.Pattern]int64{}
		for p, s := range all {
			if !vertices && p.Edges() == size || vertices && p.Vertices() == size {
				want[p] = int64(s.instances)
			}
		}
		got, err := table.Patterns(ctx)
		if err != nil || !maps.Equal(got, want) {
			t.Fatalf("patterns %v, %v; want %v", got, err, want)
		}
		rows := tableRows(t, table)
		if !slices.IsSortedFunc(rows, slices.Compare) {
			t.Fatalf("rows do not ascend: %v", rows)
		}
		last := len(slices.Concat(rows...))/max(len(rows), 1) - 1
		apart := func(m mine.Match) mine.Bool { return m.Label(0).Ne(m.Label(m.Vertices() - 1)) }
		var kept [][]uint32
		keys := map[int64]int64{}
		for _, row := range rows {
			if graph.label[row[0]] != graph.label[row[last]] {
				kept = append(kept, row)
				keys[3+graph.degree(int(row[0]))+int64(row[last])]++
			}
		}
		filtered := g.Table(vertices)
		for range size - 2 {
			filtered = filtered.Extend(nil)
		}
		filtered = filtered.Extend(apart)
		if got := tableRows(t, filtered); !slices.EqualFunc(got, kept, slices.Equal) {
			t.Fatalf("rows %v, want %v", got, kept)
		}
		counted, err := filtered.Aggregate(ctx, func(m mine.Match) mine.Int {
			return m.Degree(0).Plus(m.Vertex(m.Vertices() - 1)).Plus(mine.Const(3))
		})
		if err != nil || !maps.Equal(counted, keys) {
			t.Fatalf("keys %v, %v; want %v", counted, err, keys)
		}
		one := func(p mine.Pattern) bool { return p.Label(0) == p.Label(1) }
		begin := g.Table(vertices).Extend(nil).Filter(one)
		var wanted [][]uint32
		for _, row := range tableRows(t, g.Table(vertices).Extend(nil)) {
			if p := patternOf(graph, row, vertices); one(p) {
				wanted = append(wanted, row)
			}
		}
		if got := tableRows(t, begin); !slices.EqualFunc(got, wanted, slices.Equal) {
			t.Fatalf("filtered rows %v, want %v", got, wanted)
		}
		long := tableRows(t, begin.Extend(nil))
		for _, row := range tableRows(t, g.Table(vertices).Extend(nil).Extend(nil)) {
			two := row[:2]
			if !vertices {
				two = row[:4]
			}
			if in := slices.ContainsFunc(long, func(r []uint32) bool { return slices.Equal(r, row) }); in != one(patternOf(graph, two, vertices)) {
				t.Fatalf("row %v: kept %v", row, in)
			}
		}
	})
}

// patternOf is the canonical pattern of a row.
func patternOf(g *small, row []uint32, vertices bool) mine.Pattern {
	set := map[int]bool{}
	pairs := map[[2]int]bool{}
	for i, v := range row {
		set[int(v)] = true
		if i%2 == 1 {
			pairs[[2]int{int(row[i-1]), int(v)}] = true
		}
	}
	all := map[mine.Pattern]*seen{}
	add(all, g, slices.Sorted(maps.Keys(set)), func(a, b int) bool {
		if vertices {
			return g.adj[a][b]
		}
		return pairs[[2]int{min(a, b), max(a, b)}]
	}, false)
	for p := range all {
		return p
	}
	panic("not connected")
}

// TestTableRefused: what a table cannot do.
func TestTableRefused(t *testing.T) {
	g := mustOpen(t, &chunk.Edges{V: 2, Src: []uint32{0, 1}, Dst: []uint32{1, 0}}, mine.Options{})
	long := g.Table(false)
	for range 7 {
		long = long.Extend(nil)
	}
	for want, table := range map[string]*mine.Table{
		"a table of 8 edges":       long,
		"asks for labels":          g.Table(true).Extend(func(m mine.Match) mine.Bool { return m.Label(0).Eq(m.Label(1)) }),
		"labels of edges, but":     g.Table(false).Extend(func(m mine.Match) mine.Bool { return m.EdgeLabel(0, 1).Eq(mine.Const(1)) }),
		"pattern vertex 2":         g.Table(true).Extend(func(m mine.Match) mine.Bool { return m.Degree(2).Eq(mine.Const(1)) }),
		"no function to filter by": g.Table(true).Filter(nil),
		"returned the zero Bool":   g.Table(true).Extend(func(m mine.Match) mine.Bool { return mine.Bool{} }),
	} {
		for _, err := range table.Rows(context.Background()) {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		}
		if _, err := table.Patterns(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	for want, key := range map[string]func(mine.Match) mine.Int{
		"no key to count": nil, "in the key: the zero value": func(mine.Match) mine.Int { return mine.Int{} }, "the key panicked: oh": func(mine.Match) mine.Int { panic("oh") },
	} {
		if _, err := g.Table(true).Aggregate(context.Background(), key); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	bad := g.Table(true).Filter(func(mine.Pattern) bool { panic("oh") })
	if _, err := bad.Patterns(context.Background()); err == nil || !strings.Contains(err.Error(), "panicked: oh") {
		t.Errorf("error %v", err)
	}
	for row, err := range bad.Rows(context.Background()) {
		if err == nil || !strings.Contains(err.Error(), "panicked: oh") {
			t.Errorf("row %v, error %v", row, err)
		}
	}
	if _, err := g.Count(context.Background(), mine.MustPattern("0-1"), mine.Where(func(mine.Match) mine.Bool { panic("oh") })); err == nil || !strings.Contains(err.Error(), "the condition panicked: oh") {
		t.Errorf("error %v", err)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.Table(true).Patterns(done); err == nil {
		t.Error("no error after cancel")
	}
}

// TestTableCounts: keys that do not fit into the memory go through files, and nothing is left of them.
func TestTableCounts(t *testing.T) {
	e, _ := spread(4000)
	ctx := context.Background()
	key := func(m mine.Match) mine.Int {
		sum := m.Vertex(0)
		for range 3 { // eight times the first vertex, and the last
			sum = sum.Plus(sum)
		}
		return sum.Plus(m.Vertex(3)).Minus(mine.Const(1 << 10))
	}
	counts := func(opt mine.Options) (list []mine.KeyCount, err error) {
		for c, err := range mustOpen(t, e, opt).Table(false).Extend(nil).Counts(ctx, key) {
			if err != nil {
				return nil, err
			}
			list = append(list, c)
		}
		return list, nil
	}
	want, err := counts(mine.Options{})
	if err != nil || len(want) < 20_000 || want[0].Key >= 0 || !slices.IsSortedFunc(want, func(a, b mine.KeyCount) int { return cmp.Compare(a.Key, b.Key) }) {
		t.Fatalf("%d keys, %v", len(want), err)
	}
	scratch := t.TempDir()
	for _, mem := range []int64{1, 1 << 20} {
		var small *mine.BudgetError
		if _, err := counts(mine.Options{Mem: mem}); !errors.As(err, &small) {
			t.Errorf("in %d bytes: error %v", mem, err)
		} else if mem == 1 {
			mem = small.Smallest
		}
		for threads := 1; threads <= 3; threads += 2 {
			if threads == 1 && testing.Short() {
				continue // no thread beside it
			}
			got, err := counts(mine.Options{Mem: mem, Threads: threads, Scratch: scratch})
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("in %d bytes on %d threads: %d keys, %v; want %d", mem, threads, len(got), err, len(want))
			}
		}
	}
	for range mustOpen(t, e, mine.Options{Mem: 1 << 20, Scratch: scratch}).Table(false).Extend(nil).Counts(ctx, key) {
		break // the files of a loop that ends early are removed, too
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := counts(mine.Options{Mem: 1 << 20, Scratch: filepath.Join(scratch, "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the folder: error %v", err)
	}
}

// TestTableStored: rows that are stored, in memory or mostly in a file, are those that are made, and tables go on from them.
func TestTableStored(t *testing.T) {
	ctx := context.Background()
	scratch := t.TempDir()
	vertices := 200
	if testing.Short() {
		vertices = 60
	}
	e, labels := spread(vertices)
	for _, vertices := range []bool{false, true} {
		for _, size := range []int{1, 2, 3} {
			made := func(opt mine.Options) *mine.Table {
				opt.Labels = labels
				table := mustOpen(t, e, opt).Table(vertices)
				for range size - 1 {
					table = table.Extend(func(m mine.Match) mine.Bool { return m.Label(0).Plus(m.Label(1)).Ne(mine.Const(2)) })
				}
				return table
			}
			more := func(t *mine.Table) *mine.Table {
				return t.Filter(func(p mine.Pattern) bool { return p.Label(0) != 1 }).Extend(func(m mine.Match) mine.Bool { return m.Degree(0).AtLeast(m.Degree(1)) })
			}
			key := func(m mine.Match) mine.Int { return m.Vertex(0).Plus(m.Vertex(1)) }
			want := tableRows(t, made(mine.Options{}))
			counts, err := more(made(mine.Options{})).Aggregate(ctx, key)
			if err != nil || len(want) == 0 {
				t.Fatal(err)
			}
			mem, worked := int64(0), 0
			for range 3 { // in all memory, in one byte, and in what its error names
				s, err := made(mine.Options{Mem: mem, Scratch: scratch, Threads: 3}).Store(ctx)
				var small *mine.BudgetError
				if errors.As(err, &small) {
					mem = small.Smallest
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				got, err := more(s.Table()).Aggregate(ctx, key)
				if rows := tableRows(t, s.Table()); err != nil || s.Rows() != int64(len(want)) || !slices.EqualFunc(rows, want, slices.Equal) || !maps.Equal(got, counts) {
					t.Errorf("vertices %t, size %d, %d bytes: %d rows, %v; want %d", vertices, size, mem, len(rows), err, len(want))
				}
				all, spilled := s.Bytes()
				if all < 4*int64(len(want)) || all > int64(4*size+4*(size-1))*int64(len(want)) || spilled > all || mem == 0 && spilled > 0 || mem > 0 && size == 3 && !vertices && spilled == 0 {
					t.Errorf("vertices %t, size %d, %d bytes: %d rows take %d, %d in a file", vertices, size, mem, len(want), all, spilled)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				if _, err := more(s.Table()).Aggregate(ctx, key); err == nil || strings.Count(err.Error(), "closed") != 1 {
					t.Errorf("closed: %v", err)
				}
				for _, err := range s.Table().Rows(ctx) {
					if err == nil || !strings.Contains(err.Error(), "closed") {
						t.Errorf("closed: %v", err)
					}
				}
				worked++
				if mem == 0 {
					mem = 1
				}
			}
			if mem < 2 || worked < 2 {
				t.Errorf("vertices %t, size %d: %d of two tables were stored, the last in %d bytes", vertices, size, worked, mem)
			}
		}
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	table := mustOpen(t, e, mine.Options{Labels: labels, Mem: 1 << 20}).Table(false).Extend(nil).Extend(nil)
	var small *mine.BudgetError
	if _, err := table.Store(ctx); !errors.As(err, &small) || !small.AtLeast {
		t.Errorf("without a folder: error %v", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := mustOpen(t, e, mine.Options{}).Table(false).Extend(nil).Store(done); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestTableStoredTwice: rows that are read from memory count in the budget of the table that they are read for.
func TestTableStoredTwice(t *testing.T) {
	vertices := 4000
	if testing.Short() {
		vertices = 1000
	}
	e, _ := spread(vertices)
	ctx := context.Background()
	mem := int64(1)
	store := func() (once, twice *mine.StoredTable, err error) {
		if once, err = mustOpen(t, e, mine.Options{Mem: mem, Threads: 2}).Table(false).Extend(nil).Store(ctx); err == nil {
			twice, err = once.Table().Store(ctx)
		}
		return once, twice, err
	}
	alone := int64(0) // the least of the budgets tried in which the first fits
	for range 60 {
		once, twice, err := store()
		var small *mine.BudgetError
		switch {
		case errors.As(err, &small) && small.Smallest > mem:
			if once != nil && alone == 0 {
				alone = mem
			}
			mem = max(small.Smallest, mem+mem/8)
			continue
		case err != nil:
			t.Fatal(err)
		}
		all, _ := once.Bytes()
		if alone == 0 || mem < 2*all {
			t.Errorf("two tables of %d bytes fit into %d, one into %d", all, mem, alone)
		}
		if counts, err := twice.Table().Aggregate(ctx, func(m mine.Match) mine.Int { return mine.Const(7) }); err != nil || counts[7] != once.Rows() {
			t.Errorf("%v, %v; want %d", counts, err, once.Rows())
		}
		if err := errors.Join(once.Close(), twice.Close()); err != nil {
			t.Error(err)
		}
		return
	}
	t.Errorf("two tables do not fit into %d bytes; one into %d", mem, alone)
}

// TestFullScratch: where the Scratch folder is full in the middle of a table or of its counters, the error names a file there, and nothing is left of it.
func TestFullScratch(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("full", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("not root: no disk of a given size")
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	e, d := &chunk.Edges{V: 3000}, rand.New(rand.NewPCG(1, 2))
	for range 24000 {
		if a, b := uint32(d.IntN(e.V)), uint32(d.IntN(e.V)); a != b {
			e.Src, e.Dst = append(e.Src, a, b), append(e.Dst, b, a)
		}
	}
	g := mustOpen(t, e, mine.Options{Threads: 1, Mem: 1 << 20, Scratch: dir})
	pairs := g.Table(false).Extend(nil)
	_, stored := pairs.Store(context.Background())
	_, counted := pairs.Aggregate(context.Background(), func(m mine.Match) mine.Int {
		key := m.Vertex(0)
		for range 7 { // so that there are many keys
			key = key.Plus(key)
		}
		return key.Plus(m.Vertex(3))
	})
	for _, err := range []error{stored, counted} {
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), dir) {
			t.Errorf("error %v", err)
		}
	}
	opt := mine.Options{Device: emulate(t)[0], Mem: 1, HostMem: 65 << 10, Scratch: dir}
	on := mustOpen(t, e, opt)
	var small *mine.BudgetError
	if _, err := on.Table(false).Extend(nil).Store(context.Background()); !errors.As(err, &small) {
		t.Fatalf("in a byte: error %v", err)
	}
	if err := on.Close(); err != nil {
		t.Error(err)
	}
	opt.Mem = small.Smallest
	on = mustOpen(t, e, opt)
	if _, err := on.Table(false).Extend(nil).Store(context.Background()); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), dir) {
		t.Errorf("on a GPU: error %v", err)
	}
	if err := on.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
