package cuda

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"sagann/chunk"
	"sagann/device"
	"sagann/device/cudatest"
	"sagann/internal/draw"
	"sagann/mine/pattern"
	"sagann/mine/rows"
	"sagann/mine/run"
	"sagann/mine/table"
)

// TestTables compares rows that emulated GPUs count with those of the CPU.
func TestTables(t *testing.T) {
	cases := 8
	switch {
	case draw.Soak():
		cases = 60
	case testing.Short():
		cases = 4 // each kind once
	}
	compareTables(t, []device.GPU{cudatest.Open(t, 0, 8<<20), cudatest.Open(t, 1, 8<<20)}, cases, 60, 4<<20)
}

// TestTablesOnGPU compares those that a GPU counts.
func TestTablesOnGPU(t *testing.T) {
	compareTables(t, []device.GPU{openGPU(t, 2<<30)}, 12, 60, 256<<20)
	compareTables(t, []device.GPU{openGPU(t, 2<<30)}, 6, 4000, 256<<20)
}

// compareTables compares counted rows of graphs of up to so many vertices, with that memory or the smallest, in which buffers are flushed again and
// again and counters have no place by code.
func compareTables(t *testing.T, gpus []device.GPU, cases, vertices int, memory int64) {
	t.Helper()
	defer func(least int64) { leastDealt = least }(leastDealt)
	leastDealt = 8
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	ctx := context.Background()
	for i := range cases {
		edges, types := 2+i%3, 2*btoi(i%4 == 1)
		if draw.Soak() { // a compiler runs for every number of edges, with types and without
			edges, types = 2+i%5, i/2%3
		}
		labels := []int{3, 2000}[i%2]
		if vertices > 1000 { // the CPU counts, too
			edges, labels = 3, 20
		}
		r, kinds := labelled(t, d, 5+d.IntN(vertices), vertices/4+d.IntN(vertices), 1+d.IntN(labels), types)
		if i%5 == 4 {
			r.Label = nil
		}
		of := &table.Graph{Rows: r, Kinds: kinds}
		want, got := map[pattern.Pattern]run.Total{}, map[pattern.Pattern]run.Total{}
		if _, err := of.Count(ctx, edges, 2, false, table.Part{}, want); err != nil {
			t.Fatal(err)
		}
		again, apart := map[pattern.Pattern]run.Total{}, &table.Graph{Rows: r, Kinds: kinds, Apart: true}
		if _, err := apart.Count(ctx, edges, 1, false, table.Part{}, again); err != nil || !maps.Equal(again, want) {
			t.Errorf("case %d: %d patterns of rows without shared beginnings, %d with, %v", i, len(again), len(want), err)
		}
		least, most := TablesNeed(r, edges, kinds != nil, ChipOf(gpus[0]))
		room := []int64{least, min(most, memory)}[d.IntN(2)]
		g, err := Upload(gpus[:1+i%len(gpus)], r, Layout{Part: Whole, Hot: []int64{-1, 0, 4096}[d.IntN(3)]})
		if err != nil {
			t.Fatal(err)
		}
		// In two parts: the first ends after some roots.
		asked, part, counts := 0, table.Part{}, table.NewCounts()
		if i%3 == 0 {
			part.Enough = func() bool { asked++; return asked > 2 }
		}
		end, err := CountRows(ctx, g, of, edges, part, counts, 2, room)
		if err == nil && end < r.V() {
			end, err = CountRows(ctx, g, of, edges, table.Part{From: end}, counts, 2, room)
		}
		for _, s := range counts.Sums(run.Total{}, 2) {
			got[s.Pattern] = s.Rows
		}
		if err != nil || end != r.V() || !maps.Equal(got, want) {
			t.Errorf("case %d: %d vertices, %d edges, room %d of %d: %d of %d patterns, up to %d: %v", i, r.V(), edges, room, most, len(got), len(want), end, err)
			for p, n := range want {
				if got[p] != n {
					t.Errorf("%s: %v, want %v", p, got[p], n)
					break
				}
			}
		}
		done, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := CountRows(done, g, of, edges, table.Part{}, table.NewCounts(), 2, room); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v after the end", err)
		}
		if err := g.Free(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStoredNumbers: rows that are kept as bits and as numbers are those of the CPU, on the GPU, in host memory and in a file.
func TestStoredNumbers(t *testing.T) {
	storedNumbers(t, cudatest.Open(t, 0, 4<<20<<(3*btoi(draw.Soak()))), 4+btoi(draw.Soak())) // the last takes minutes
}

// TestStoredNumbersOnGPU compares those that a GPU keeps.
func TestStoredNumbersOnGPU(t *testing.T) { storedNumbers(t, openGPU(t, 2<<30), 5) }

func storedNumbers(t *testing.T, gpu device.GPU, cases int) {
	t.Helper()
	defer func(least int64) { leastTwo = least }(leastTwo)
	ctx := context.Background()
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	edges := 120
	if testing.Short() { // under the race detector: what is done beside kernels is the same
		cases, edges = 1, 70
	}
	for i := range cases {
		r, _ := labelled(t, d, 30+30*(i%2), edges+430*(i%2), 3, 0)
		s := &table.Spec{Rows: r, Size: 3, Vertices: i%2 == 1}
		if i > 1 { // a few whole rows
			s.Where = []*pattern.Expr{nil, nil, nil, {Op: pattern.LessThan, Args: []*pattern.Expr{{Op: pattern.Vertex, A: 6 - 3*(i%2) - 1}, {Op: pattern.Const, Value: int64(r.V() / 3)}}}}
		}
		if i == 4 { // more neighbours than numbers of two bytes
			r = star(t, 1<<16+9)
			s = &table.Spec{Rows: r, Size: 2, Vertices: true, Where: []*pattern.Expr{nil, nil, {Op: pattern.LessThan, Args: []*pattern.Expr{{Op: pattern.Vertex, A: 1}, {Op: pattern.Const, Value: 900}}}}}
		}
		var want [][]uint32
		if err := s.Each(ctx, func(x *table.Row) bool { want = append(want, slices.Clone(x.All())); return true }); err != nil {
			t.Fatal(err)
		}
		g, err := Upload([]device.GPU{gpu}, r, Layout{Part: Whole, Hot: -1})
		if err != nil {
			t.Fatal(err)
		}
		m := &Making{Spec: s, Stage: leastStage, Workers: 1}
		m.Room, _ = GrowNeed(m, ForStore)
		m.Room += leastPage
		if leastTwo = 1 << 40; i%3 == 0 { // by two lanes
			m.Room, leastTwo = 2*m.Room, 0
		}
		h := &Homes{Host: LeastHost(1) + 1001, Dir: t.TempDir()}
		stored, err := StoreRows(ctx, g, m, h)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		if err := stored.Each(func(row []uint32) bool {
			if n >= len(want) || !slices.Equal(row, want[n]) {
				t.Errorf("case %d: row %d is %v", i, n, row)
				return false
			}
			n++
			return true
		}); err != nil || n != len(want) {
			t.Errorf("case %d: %d rows, want %d, %v", i, n, len(want), err)
		}
		bytes := packedBytes(s, want)
		for k := 1; k < s.Size; k++ { // rows that others begin with
			width := len(want[0]) / s.Size * k
			for i, row := range want {
				if i == 0 || !slices.Equal(row[:width], want[i-1][:width]) {
					bytes += 8
				}
			}
		}
		if cards, _, host := h.Bytes(); cards == 0 || host == 0 || stored.Spilled() == 0 || stored.Bytes() != bytes {
			t.Errorf("case %d: %d rows in %d bytes: %d on the GPU, %d in host memory, %d in a file", i, n, stored.Bytes(), cards, host, stored.Spilled())
		}
		of := map[int64]uint64{}
		for _, row := range want {
			of[int64(row[0])<<7+int64(row[len(row)-1])]++
		}
		key := &pattern.Expr{Op: pattern.Vertex, A: 0} // more keys than the least memory has room for
		for range 7 {
			key = &pattern.Expr{Op: pattern.Plus, Args: []*pattern.Expr{key, key}}
		}
		key = &pattern.Expr{Op: pattern.Plus, Args: []*pattern.Expr{key, {Op: pattern.Vertex, A: len(want[0]) - 1}}}
		for _, spec := range []*table.Spec{s, {Rows: r, Size: s.Size, Vertices: s.Vertices, From: stored}} {
			m, got := &Making{Spec: spec, Stage: leastStage}, map[int64]uint64{}
			m.Room, _ = GrowNeed(m, ForKeys)
			m.Room *= 1 + int64(btoi(i%3 == 0))
			if _, err := CountKeys(ctx, g, m, key, func(k int64, rows uint64) error { got[k] += rows; return nil }); err != nil || !maps.Equal(got, of) {
				t.Errorf("case %d: stored %t: %d keys, want %d, %v", i, spec.From != nil, len(got), len(of), err)
			}
		}
		if err := errors.Join(stored.Close(), g.Free()); err != nil {
			t.Error(err)
		}
	}
}

// star is a graph of a vertex with so many neighbours.
func star(t *testing.T, leaves int) *rows.Rows {
	t.Helper()
	e := &chunk.Edges{V: leaves + 1}
	for v := 1; v <= leaves; v++ {
		e.Src, e.Dst = append(e.Src, 0, uint32(v)), append(e.Dst, uint32(v), 0)
	}
	r, _, err := rows.FromEdges(e)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// growTexts is the kernels of rows of tables, of all sizes, with conditions and codes.
func growTexts() (list []string) {
	list = append(list, sums())
	q := &table.Quick{LabelBits: 2, KindBits: 1}
	for _, vertices := range []bool{false, true} {
		shape := growShape{vertices, 9}
		for size := range 7 + btoi(vertices) {
			last := shape.places(size+1) - 1
			where := &pattern.Expr{Op: pattern.LessThan, Args: []*pattern.Expr{{Op: pattern.Degree, A: 0}, {Op: pattern.Label, A: last}}}
			list = append(list, shape.make(size, false, where, q), shape.count(size+1, keyed{}, where, q), shape.count(size+1, keyed{where.Args[1]}, nil, nil))
			if size > 0 {
				list = append(list, shape.make(size, true, where, q), shape.make(size, true, nil, nil))
			}
		}
	}
	return list
}

// packedBytes is what which neighbours follow rows takes, of whole rows.
func packedBytes(s *table.Spec, whole [][]uint32) (bytes int64) {
	width := 2 - btoi(s.Vertices)
	for len(whole) > 0 {
		row, kept, need := whole[0][:len(whole[0])-width], int64(0), int64(0)
		for len(whole) > 0 && slices.Equal(whole[0][:len(row)], row) {
			whole, kept = whole[1:], kept+1
		}
		for p, x := range row {
			if !s.Vertices && slices.Contains(row[:p], x) {
				continue
			}
			for _, y := range s.Rows.Of(x) { // larger than the first edge or vertex, and than all after the first that it touches
				larger := true
				for i := 0; i < len(row); i += width {
					if i > 0 && i <= p/width*width {
						continue
					}
					if s.Vertices {
						larger = larger && y > row[i]
					} else if lo, hi := min(x, y), max(x, y); lo < row[i] || lo == row[i] && hi <= row[i+1] {
						larger = false
					}
				}
				need += int64(btoi(larger))
			}
		}
		bytes += 4 * table.PackedWords(need, kept)
	}
	return bytes
}

// tables counts rows, with a part of the graph in host memory.
func tables(gpu device.GPU, r *rows.Rows) (err error) {
	g, err := Upload([]device.GPU{gpu}, r, Layout{Part: Whole, Hot: 64})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Free()) }()
	least, _ := TablesNeed(r, 2, false, ChipOf(gpu))
	_, err = CountRows(context.Background(), g, &table.Graph{Rows: r}, 2, table.Part{}, table.NewCounts(), 2, least)
	return err
}

// grown stores rows, on the GPU, in host memory and in a file, and counts what goes on from them.
func grown(gpu device.GPU, r *rows.Rows) (err error) {
	ctx := context.Background()
	g, err := Upload([]device.GPU{gpu}, r, Layout{Part: Whole, Hot: 64})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Free()) }()
	s := &table.Spec{Rows: r, Size: 3}
	m := &Making{Spec: s, Filters: Filters{2: func(p pattern.Pattern) bool { return p.Vertices() > 1 }}, Stage: leastStage, Workers: 1}
	m.Room, _ = GrowNeed(m, ForStore)
	m.Room += leastPage
	h := &Homes{Host: LeastHost(1) + 64, Dir: os.TempDir(), Wait: true}
	stored, err := StoreRows(ctx, g, m, h)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stored.Close()) }()
	n := 0
	if err := stored.Each(func([]uint32) bool { n++; return true }); err != nil {
		return err
	}
	if cards, _, host := h.Bytes(); cards == 0 || host == 0 || stored.Spilled() == 0 || int64(n) != stored.Rows() {
		return fmt.Errorf("%d of %d rows: %d bytes on the GPU, %d in host memory, %d in a file", n, stored.Rows(), cards, host, stored.Spilled())
	}
	m = &Making{Spec: &table.Spec{Rows: r, Size: 3, From: stored}, Stage: leastStage}
	m.Room, _ = GrowNeed(m, ForKeys)
	_, err = CountKeys(ctx, g, m, &pattern.Expr{Op: pattern.Vertex, A: 5}, func(int64, uint64) error { return nil })
	return err
}
