package cuda

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"testing"

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
