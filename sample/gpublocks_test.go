package sample

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"sagann/device"
	"sagann/device/nvrtc"
)

// fanned are samplers of blocks that GPUs draw.
func fanned() (list []Sampler) {
	again := Neighbours(4, 3)
	again.Replace = true
	kept, keptAgain := Neighbours(6, 2), Neighbours(3, 4)
	kept.KeepLoops, keptAgain.KeepLoops, keptAgain.Replace = true, true, true
	for _, m := range []Method{Alias, Inverse, Rejection} {
		w := WeightedNeighbours(4, 3)
		w.Method = m
		list = append(list, w)
	}
	weightedAgain := WeightedNeighbours(5, 2)
	weightedAgain.Replace = true
	return append(list, weightedAgain, Neighbours(3, 2), Neighbours(15, 10, 5), Neighbours(25, 1), MVS(40), again, kept, keptAgain)
}

// sameBlocks compares blocks, whatever memory they lie in.
func sameBlocks(a, b *Blocks) error {
	if !slices.Equal(a.Vertices, b.Vertices) || !slices.Equal(a.Counts, b.Counts) || len(a.Layers) != len(b.Layers) {
		return fmt.Errorf("levels %v %v, want %v %v", a.Counts, a.Vertices, b.Counts, b.Vertices)
	}
	for i := range a.Layers {
		x, y := &a.Layers[i], &b.Layers[i]
		if !slices.Equal(x.Offsets, y.Offsets) || !slices.Equal(x.Far, y.Far) || !slices.Equal(x.Edge, y.Edge) || !reflect.DeepEqual(x.Weight, y.Weight) {
			return fmt.Errorf("layer %d:\n%v\nwant\n%v", i, *x, *y)
		}
	}
	return nil
}

// TestGPUBlocks: a GPU, or an emulated one, draws the blocks that the CPU draws.
func TestGPUBlocks(t *testing.T) {
	gpu := openGPU(t, 2<<20, 1<<30)
	eachOnGPU(t, gpu, []*Graph{mustGraph(t, randomEdges(70, 900, 7)), mustGraph(t, randomEdges(300, 700, 5))}, fanned(), func(t *testing.T, p *Program, x *GPU) {
		var want, got Blocks
		batches := [][]uint32{{5}, {3, 9, 1, 60, 44, 2}, {7, 8}}
		if p.g.Vertices() > 256 { // a thread a row
			batches = append(batches, Permutation(p.g.Vertices(), Key{})[:260])
		}
		for batch, seeds := range batches {
			key := Key{Seed: 1 << 40, Epoch: 2, Batch: uint32(batch)}
			if err := p.Blocks(&want, seeds, key); err != nil {
				t.Fatal(err)
			}
			if err := x.Blocks(&got, seeds, key); err != nil {
				t.Fatal(err)
			}
			if err := sameBlocks(&got, &want); err != nil {
				t.Errorf("batch %d: %v", batch, err)
			}
			r, err := x.Renaming(&want)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(r.Run(), x.read(&got), r.Free()); err != nil {
				t.Fatal(err)
			}
			if err := sameBlocks(&got, &want); err != nil {
				t.Errorf("batch %d, renumbered alone: %v", batch, err)
			}
		}
	})
}

// TestGPUBlockTexts translates the kernels of blocks, where the compiler is there.
func TestGPUBlockTexts(t *testing.T) {
	for _, s := range append(fanned(), visiting()...) {
		p, err := Compile(mustGraph(t, randomEdges(70, 900, 7)), s)
		if err != nil {
			t.Fatal(err)
		}
		x := &GPU{p: p}
		if _, err := x.plan(); err != nil {
			t.Fatal(err)
		}
		for _, text := range x.fanouts.Sources() {
			err := nvrtc.Check(text, 75)
			if errors.Is(err, nvrtc.ErrMissing) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", s.Name, err, text)
			}
		}
	}
}

// TestGPULarge: on a GPU, large batches of a graph with long rows equal the CPU's, a hundred times over, and so
// do many walks.
func TestGPULarge(t *testing.T) {
	d, err := device.OpenCUDA(0, 4<<30)
	if err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	gpu := d.(device.GPU)
	g := mustGraph(t, randomEdges(300_000, 6_000_000, 9))
	for _, s := range append(append(fanned(), Neighbours(25, 10)), visiting()...) {
		p, err := Compile(g, s)
		if err != nil {
			t.Fatal(err)
		}
		x, err := p.OnGPU(gpu)
		if err != nil {
			t.Fatal(err)
		}
		order := Permutation(g.Vertices(), Key{Seed: 8})
		var want, got Blocks
		for batch, n := range []int{1024, 1, 8000, 300} {
			key := Key{Seed: 4, Batch: uint32(batch)}
			if err := p.Blocks(&want, order[:n], key); err != nil {
				t.Fatal(err)
			}
			for again := range 25 {
				x.OneByOne(again == 24)
				if err := x.Blocks(&got, order[:n], key); err != nil {
					t.Fatal(err)
				}
				if err := sameBlocks(&got, &want); err != nil {
					t.Fatalf("%s, %d seeds, time %d: %.500s", s.Name, n, again, err)
				}
			}
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, s := range stepping() {
		p, err := Compile(g, s)
		if err != nil {
			t.Fatal(err)
		}
		x, err := p.OnGPU(gpu)
		if errors.Is(err, ErrNotOnGPU) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		samples := 100_000
		if s.Unique != Repeats { // the CPU looks through what a sample has
			samples = 3000
		}
		roots := p.Roots(samples, 0, Key{Seed: 2})
		var want, got Samples
		if err := p.Run(&want, roots, 0, Key{Seed: 7}); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := x.Run(&got, roots, 0, Key{Seed: 7}); err != nil {
				t.Fatal(err)
			}
			for k := range want.Steps {
				if !slices.Equal(got.Steps[k], want.Steps[k]) {
					t.Errorf("%s: step %d differs", s.Name, k)
				}
			}
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestGPUOnlyNew: vertices that the first step has added draw what they draw in blocks.
func TestGPUOnlyNew(t *testing.T) {
	gpu := openGPU(t, 1<<20, 1<<30)
	p, err := Compile(mustGraph(t, randomEdges(70, 900, 7)), Neighbours(3, 2))
	if err != nil {
		t.Fatal(err)
	}
	x, err := p.OnGPU(gpu)
	if err != nil {
		t.Fatal(err)
	}
	var b Blocks
	seeds, key := []uint32{4, 8, 15}, Key{Seed: 3}
	if err := errors.Join(p.Blocks(&b, seeds, key), x.OnlyNew(true)); err != nil {
		t.Fatal(err)
	}
	vertices, edges, err := x.Epoch(seeds, 3, key)
	if err != nil {
		t.Fatal(err)
	}
	last := b.Layers[1].Offsets
	if want := last[b.Counts[1]] - last[b.Counts[0]]; int(vertices[1]) != b.Counts[1] || int64(edges[1]) != want {
		t.Errorf("%d vertices and %d edges, want %d and %d", vertices[1], edges[1], b.Counts[1], want)
	}
	if err := x.Blocks(&b, seeds, key); err == nil {
		t.Error("blocks in which only new vertices draw")
	}
	if err := errors.Join(x.OnlyNew(false), x.Blocks(&b, seeds, key), x.Close()); err != nil {
		t.Error(err)
	}
}
