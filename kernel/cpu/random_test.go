package cpu_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"sagann/chunk"
	"sagann/internal/draw"
	"sagann/kernel"
	"sagann/kernel/cpu"
)

// Random programs over rows and over edges compute what the reference computes, bit by
// bit except for exponentials, for any number of workers.
func TestRandomKernels(t *testing.T) {
	for _, edges := range []bool{false, true} {
		name := map[bool]string{false: "rows", true: "edges"}[edges]
		t.Run(name, draw.Each(func(t *rapid.T) {
			r := rand.New(rand.NewPCG(rapid.Uint64Range(0, 1<<20).Draw(t, "seed"), 1))
			s := sizes{own: rapid.IntRange(1, 60).Draw(t, "rows"), other: rapid.IntRange(1, 30).Draw(t, "other rows"),
				edges: rapid.SampledFrom([]int{0, 3, 40, 300, 1500}).Draw(t, "edges"),
				cells: rapid.IntRange(1, 3).Draw(t, "cells"), hub: rapid.Bool().Draw(t, "hub")}
			if !edges && rapid.Bool().Draw(t, "many rows") {
				s.own += 700
			}
			b := drawKernel(t, r, s, edges)
			b.tables()
			t.Log(b)
			checkKernel(t, b, makeCells(r, s))
		}))
	}
}

// A cell with enough edges for many blocks.
func TestLargeCells(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		if rapid.IntRange(0, 19).Draw(t, "one in twenty") != 0 {
			return // they take long
		}
		r := rand.New(rand.NewPCG(rapid.Uint64Range(0, 1<<20).Draw(t, "seed"), 1))
		s := sizes{own: rapid.IntRange(1, 12000).Draw(t, "rows"), other: 300, edges: 30000, cells: 2, hub: rapid.Bool().Draw(t, "hub")}
		b := drawKernel(t, r, s, true)
		b.tables()
		t.Log(b)
		checkKernel(t, b, makeCells(r, s))
	})
}

func checkKernel(t *rapid.T, b *builder, cells []chunk.View) {
	c, err := cpu.Compile(b.p)
	if err != nil {
		t.Fatal(err)
	}
	if !b.p.Edges {
		cells = cells[:1]
	}
	want := &reference{p: b.p, index: b.index}
	for _, x := range b.bufs {
		y := make([]float64, len(x))
		for i := range x {
			y[i] = float64(x[i])
		}
		want.bufs = append(want.bufs, y)
	}
	for k := range cells {
		want.run(b.s.own, &cells[k], k == 0, k == len(cells)-1)
	}
	exps := map[int]bool{} // operands of sums of exponentials
	for _, o := range b.p.Outs {
		if o.Acc == kernel.SumExp {
			exps[o.Operand] = true
		}
	}
	var bits [][]float32
	for _, workers := range []int{1, 2, 5} {
		got := b.buffers()
		old := runtime.GOMAXPROCS(workers)
		for k := range cells {
			l := &cpu.Launch{Rows: b.s.own, Bufs: got, Index: b.index, First: k == 0, Last: k == len(cells)-1}
			if b.p.Edges {
				l.Cell = &cells[k]
				if workers == 2 { // a packed cell is the same
					v := cells[k].Pack(b.s.other)
					l.Cell = &v
				}
			}
			c.Run(l)
		}
		runtime.GOMAXPROCS(old)
		for i, x := range got {
			for j, y := range x {
				w := want.bufs[i][j]
				switch {
				case j >= b.guard[i] && y == y:
					t.Fatalf("operand %d: number %d behind the end was written: %v", i, j, y)
				case j < b.guard[i] && w != w: // padding of a row: free to be written
				case exps[i] && math.Abs(float64(y)-w) <= max(1e-5, 2e-8*float64(b.s.edges))*max(1, math.Abs(w)):
				case float64(y) != w && (y == y || w == w):
					t.Fatalf("operand %d, number %d: %v, want %v (GOMAXPROCS %d)", i, j, y, w, workers)
				}
				if bits != nil && w == w && math.Float32bits(y) != math.Float32bits(bits[i][j]) {
					t.Fatalf("operand %d, number %d: %v with %d workers, %v with 1", i, j, y, workers, bits[i][j])
				}
			}
		}
		if bits == nil {
			bits = got
		}
	}
}
