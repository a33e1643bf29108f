package sample

import (
	"errors"
	"slices"
	"testing"

	"sagann/chunk"
	"sagann/device/nvrtc"
)

// crowded are samplers of blocks of which many are drawn at a time.
func crowded() []Sampler {
	weighed := LADIES(5, 4)
	weighed.RowNormal = false
	weighed.Score = func(e Edge) Real { return e.Weight() }
	weighed.EdgeWeight = func(e Edge) Real {
		own := If(Equal(e.Source(), e.Target()), Whole(2), Whole(1))
		return Mul(ToReal(own), Div(Mul(e.Weight(), e.Times()), Mul(e.Draws(), e.Probability())))
	}
	return []Sampler{LayerBlocks(7, 5), ClusterGCN(), FastGCN(9, 40), LADIES(6, 6, 6), weighed, Neighbours(3, 6), MVS(40), FastGCN(30, 20, 50), FastGCN(900, 30)}
}

// TestGPULevels: a GPU, or an emulated one, draws the batches that the CPU draws, many at a time.
func TestGPULevels(t *testing.T) {
	gpu := openGPU(t, 8<<20, 1<<30)
	graphs := []*Graph{mustGraph(t, randomEdges(70, 900, 7)), mustGraph(t, randomEdges(300, 700, 5)), mustGraph(t, randomEdges(500, 60_000, 5))}
	eachOnGPU(t, gpu, graphs, crowded(), func(t *testing.T, p *Program, x *GPU) {
		for _, m := range []int{70, 20, 1} {
			seeds, size, key := Permutation(p.g.Vertices(), Key{Seed: 4})[:m], p.g.Vertices()/10, Key{Seed: 1 << 40, Epoch: 2, Batch: 3}
			batches := slices.Collect(slices.Chunk(seeds, size))
			sameBatches(t, p, x, batches, key)
		}
		if err := nvrtc.Check(x.together().Source(64), 75); err != nil && !errors.Is(err, nvrtc.ErrMissing) {
			t.Errorf("%v\n%s", err, x.together().Source(64))
		}
	})
}

// sameBatches draws batches on a GPU and one by one on a CPU.
func sameBatches(t *testing.T, p *Program, x *GPU, batches [][]uint32, key Key) {
	t.Helper()
	got, err := x.BlocksOf(batches, key)
	if err != nil {
		t.Fatal(err)
	}
	for b, blocks := range got {
		k := key
		k.Batch += uint32(b)
		var want Blocks
		if err := p.Blocks(&want, batches[b], k); err != nil {
			t.Fatal(err)
		}
		if err := sameBlocks(blocks, &want); err != nil {
			t.Errorf("batch %d of %d: %v", b, len(got), err)
		}
	}
}

// TestGPULevelsRoom: batches that have far more edges than others are drawn by a second launch, with room for them.
func TestGPULevelsRoom(t *testing.T) {
	const vertices, hubs = 300, 10
	e := &chunk.Edges{V: vertices}
	for v := range uint32(vertices) {
		for hub := range uint32(hubs) {
			e.Src, e.Dst = append(e.Src, v), append(e.Dst, hub)
		}
	}
	p, err := Compile(mustGraph(t, e), MVS(40))
	if err != nil {
		t.Fatal(err)
	}
	x, err := p.OnGPU(openGPU(t, 8<<20, 1<<30))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}()
	batches := [][]uint32{{20, 21, 22, 23, 24, 25, 26, 27, 28, 29}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {30, 3, 31}, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}}
	sameBatches(t, p, x, batches, Key{Seed: 7})
	list, err := x.crowd.Read(0, len(batches))
	if err != nil {
		t.Fatal(err)
	}
	for b := range batches {
		if _, _, full := list.Counts(b); full {
			t.Errorf("batch %d had no room on the GPU, and was drawn by the CPU", b)
		}
	}
}

// TestGPURedrawn: batches that the CPU draws in the GPU's place are counted, and are the same.
func TestGPURedrawn(t *testing.T) {
	e := &chunk.Edges{V: 100}
	for range 20_000 {
		e.Src, e.Dst = append(e.Src, 3), append(e.Dst, 4)
	}
	p, err := Compile(mustGraph(t, e), ClusterGCN())
	if err != nil {
		t.Fatal(err)
	}
	x, err := p.OnGPU(openGPU(t, 8<<20, 1<<30))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}()
	batches := [][]uint32{{3, 4}, {5, 6}, {4, 3, 9}}
	sameBatches(t, p, x, batches, Key{Seed: 7})
	if n := x.Redrawn(); n != 2 {
		t.Errorf("%d batches count as drawn by the CPU, want 2", n)
	}
}

// TestGPULevelsLongRows: draws from rows that are long, and from those that have few more edges than are drawn.
func TestGPULevelsLongRows(t *testing.T) {
	degrees := []int{4000, 2049, 2048, 1000, 200, 131, 130, 71, 70, 41, 40, 33, 32, 3, 0}
	e := &chunk.Edges{V: degrees[0]}
	for v, d := range degrees {
		for u := range uint32(d) {
			e.Src, e.Dst = append(e.Src, u), append(e.Dst, uint32(v))
		}
	}
	batch := make([]uint32, len(degrees))
	for v := range batch {
		batch[v] = uint32(v)
	}
	gpu := openGPU(t, 8<<20, 1<<30)
	for _, s := range []Sampler{MVS(32), MVS(40), MVS(70), MVS(130)} {
		p, err := Compile(mustGraph(t, e), s)
		if err != nil {
			t.Fatal(err)
		}
		x, err := p.OnGPU(gpu)
		if err != nil {
			t.Fatal(err)
		}
		sameBatches(t, p, x, [][]uint32{batch, batch[:7], batch, batch, batch[3:], batch}, Key{Seed: 3})
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}
