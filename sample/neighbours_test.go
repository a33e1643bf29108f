package sample

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"sagann/chunk"
)

// randomEdges is a multigraph with loops and parallel edges.
func randomEdges(vertices, edges int, seed uint64) *chunk.Edges {
	r := rand.New(rand.NewPCG(seed, 1))
	e := &chunk.Edges{V: vertices}
	for range edges {
		e.Src, e.Dst = append(e.Src, uint32(r.IntN(vertices))), append(e.Dst, uint32(r.IntN(vertices)))
		e.Weight = append(e.Weight, 1+4*r.Float32())
	}
	return e
}

func mustGraph(t testing.TB, e *chunk.Edges) *Graph {
	t.Helper()
	g, err := NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// checkBlocks checks what holds for every sampler of blocks.
func checkBlocks(t *testing.T, e *chunk.Edges, b *Blocks, seeds []uint32) {
	t.Helper()
	if !slices.Equal(b.Vertices[:b.Counts[0]], seeds) || b.Counts[len(b.Counts)-1] != len(b.Vertices) || len(b.Counts) != len(b.Layers)+1 {
		t.Fatalf("counts %v of %d vertices, %d layers", b.Counts, len(b.Vertices), len(b.Layers))
	}
	seen := map[uint32]bool{}
	for _, v := range b.Vertices {
		if seen[v] {
			t.Fatalf("vertex %d appears twice", v)
		}
		seen[v] = true
	}
	for l, layer := range b.Layers {
		if len(layer.Offsets) != b.Counts[l]+1 || len(layer.Edge) != len(layer.Far) || layer.Offsets[b.Counts[l]] != int64(len(layer.Far)) {
			t.Fatalf("layer %d: %d offsets, %d far ends, %d edges", l, len(layer.Offsets), len(layer.Far), len(layer.Edge))
		}
		next := int32(b.Counts[l]) // the local number that the next new vertex must have
		for v := range b.Counts[l] {
			for i := layer.Offsets[v]; i < layer.Offsets[v+1]; i++ {
				f, n := layer.Far[i], layer.Edge[i]
				if f > next || int(f) >= b.Counts[l+1] || e.Src[n] != b.Vertices[f] || e.Dst[n] != b.Vertices[v] {
					t.Fatalf("layer %d, row %d: far end %d (next new %d) by edge %d", l, v, f, next, n)
				}
				if f == next {
					next++
				}
			}
		}
		if int(next) != b.Counts[l+1] {
			t.Fatalf("level %d has %d vertices, %d appear", l+1, b.Counts[l+1], next)
		}
	}
}

func TestNeighbours(t *testing.T) {
	e := randomEdges(60, 900, 1)
	g := mustGraph(t, e)
	for _, s := range []Sampler{Neighbours(3, 2), Neighbours(40, 15, 5), {Name: "again", Output: Layers, Steps: 2, Size: func(int) int { return 7 }, Replace: true}, {Name: "loops", Output: Layers, Steps: 2, Size: func(int) int { return 2 }, KeepLoops: true}} {
		p, err := Compile(g, s)
		if err != nil {
			t.Fatal(err)
		}
		var b Blocks
		for batch := range 20 {
			seeds := []uint32{uint32(batch), 59, uint32(20 + batch)}
			if err := p.Blocks(&b, seeds, Key{Seed: 3, Batch: uint32(batch)}); err != nil {
				t.Fatal(err)
			}
			checkBlocks(t, e, &b, seeds)
			for l, layer := range b.Layers {
				for v := range b.Counts[l] {
					row := layer.Edge[layer.Offsets[v]:layer.Offsets[v+1]]
					far, edge := g.row(b.Vertices[v])
					loops := 0
					if s.KeepLoops {
						lo, hi := g.loops(b.Vertices[v])
						loops = hi - lo
						for _, n := range edge[lo:hi] {
							if !slices.Contains(row, n) {
								t.Fatalf("%s: the loop %d of vertex %d is not kept", s.Name, n, b.Vertices[v])
							}
						}
					}
					want := min(len(far), loops+s.Size(l))
					if s.Replace && len(far) > 0 {
						want = s.Size(l)
					}
					if len(row) != want {
						t.Fatalf("%s: %d edges of %d, want %d", s.Name, len(row), len(far), want)
					}
					place := -1
					for _, n := range row { // in the order of the full row
						at := slices.Index(edge, n)
						if at < place || at == place && !s.Replace {
							t.Fatalf("%s: row %v is out of order, of %v", s.Name, row, edge)
						}
						place = at
					}
				}
			}
		}
	}
}

// A batch has the same blocks whatever was drawn before it and beside it.
func TestBlocksDependOnTheKey(t *testing.T) {
	g := mustGraph(t, randomEdges(200, 3000, 2))
	p, err := Compile(g, Neighbours(5, 3))
	if err != nil {
		t.Fatal(err)
	}
	draw := func(batch int) string {
		var b Blocks
		if err := p.Blocks(&b, []uint32{uint32(batch), 100}, Key{Seed: 9, Batch: uint32(batch)}); err != nil {
			t.Error(err)
		}
		return fmt.Sprint(b)
	}
	first, second := make([]string, 64), make([]string, 64)
	for i := range first {
		first[i] = draw(i)
	}
	chunk.Each(64, func(i int) { second[63-i] = draw(63 - i) })
	if !slices.Equal(first, second) {
		t.Error("blocks of a batch change with the order of batches")
	}
}

func TestBadNeighbours(t *testing.T) {
	g := mustGraph(t, randomEdges(10, 30, 3))
	for _, fanouts := range [][]int{{}, {0}, {5, -1}} {
		if _, err := Compile(g, Neighbours(fanouts...)); err == nil {
			t.Errorf("fan-outs %v are taken", fanouts)
		}
	}
	p, err := Compile(g, Neighbours(2))
	if err != nil {
		t.Fatal(err)
	}
	var b Blocks
	for _, seeds := range [][]uint32{{10}, {1, 2, 1}, {3, 1 << 31}} {
		if err := p.Blocks(&b, seeds, Key{}); err == nil {
			t.Errorf("seeds %v are taken", seeds)
		}
	}
	if err := p.Blocks(&b, []uint32{1, 2, 3}, Key{}); err != nil {
		t.Errorf("after bad seeds: %v", err)
	}
}

// No row of a block has more edges than Most says, and some row has as many.
func TestMostOfRows(t *testing.T) {
	e := randomEdges(60, 900, 5)
	for _, loops := range []bool{false, true} {
		s := Neighbours(4, 3)
		s.KeepLoops = loops
		p, err := Compile(mustGraph(t, e), s)
		if err != nil {
			t.Fatal(err)
		}
		var b Blocks
		most := make([]int, 2)
		for k := range 30 {
			if err := p.Blocks(&b, []uint32{uint32(k), uint32(k + 30)}, Key{Seed: uint64(k)}); err != nil {
				t.Fatal(err)
			}
			for step, l := range b.Layers {
				for v := range b.Counts[step] {
					most[step] = max(most[step], int(l.Offsets[v+1]-l.Offsets[v]))
				}
			}
		}
		if !slices.Equal(most, p.Most()) {
			t.Errorf("loops %t: rows have at most %v edges, Most says %v", loops, most, p.Most())
		}
	}
	if p, err := Compile(mustGraph(t, e), ShaDow(3, 2)); err != nil || p.Most() != nil {
		t.Errorf("edges of a subgraph: %v, %v", p.Most(), err)
	}
}

// TestFirstFrom: wherever the search begins it ends where halving does.
func TestFirstFrom(t *testing.T) {
	for _, list := range [][]uint32{nil, {3}, {1, 1, 1, 5, 5, 9}, {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20}} {
		for about := range len(list) + 1 {
			for v := range uint32(22) {
				if want, _ := slices.BinarySearch(list, v); firstFrom(list, v, about) != want {
					t.Errorf("%v: %d begins at %d and not at %d, looked for around %d", list, v, want, firstFrom(list, v, about), about)
				}
			}
		}
	}
}
