package sample

import "fmt"

// Blocks is a sample of layers for training: a chain of vertex sets, level 0 the seeds and
// level L the inputs, and between levels l+1 and l the edges of Layers[l]. Each level is
// the beginning of the next, in the order in which vertices first appear; so a vertex
// has one local number on all levels.
type Blocks struct {
	Vertices []uint32 // the user's ids of level L; level l is the first Counts[l]
	Counts   []int    // L+1: vertices of each level
	Layers   []Block  // L
}

// Block is the edges from the vertices of one level to those of the level below it.
type Block struct {
	Offsets []int64   // the in-edges of local vertex v are Offsets[v] to Offsets[v+1]
	Far     []int32   // the local number of each edge's source, on the level above
	Edge    []uint32  // the edge's place in the user's list, ascending with Far's id in a row
	Weight  []float32 // the weight that the sampler gives the edge; nil where it gives none
}

// Blocks draws the blocks of a batch into b, whose memory it uses again. Seeds must
// differ and be vertices of the graph. What it draws depends on the key, and for each
// vertex on its id and the step.
func (p *Program) Blocks(b *Blocks, seeds []uint32, key Key) error {
	t := p.tools.take(p.g)
	defer p.tools.put(t)
	b.Vertices, b.Counts = append(b.Vertices[:0], seeds...), append(b.Counts[:0], len(seeds))
	defer func() { t.forget(b.Vertices) }()
	for i, v := range seeds {
		if int(v) >= p.g.Vertices() {
			b.Vertices = b.Vertices[:i]
			return fmt.Errorf("seed %d of a graph with %d vertices: seeds are 0 to %d", v, p.g.Vertices(), p.g.Vertices()-1)
		}
		if t.local[v] != 0 {
			b.Vertices = b.Vertices[:i]
			return fmt.Errorf("seed %d stands in the batch twice, at places %d and %d: seeds of a batch must differ", v, t.local[v]-1, i)
		}
		t.local[v] = int32(i) + 1
	}
	for len(b.Layers) < len(p.sizes) {
		b.Layers = append(b.Layers, Block{})
	}
	b.Layers = b.Layers[:len(p.sizes)]
	s := key.stream()
	for step := range p.sizes {
		p.drawLayer(t, &b.Layers[step], b.Vertices, s, step)
		b.Vertices = t.rename(b.Layers[step].Far, b.Vertices)
		b.Counts = append(b.Counts, len(b.Vertices))
	}
	return nil
}

// rename gives every vertex in far its local number, in place. Those without get the
// next, in the order in which they stand, and are appended to vertices.
func (t *tool) rename(far []int32, vertices []uint32) []uint32 {
	for i, f := range far {
		n := t.local[uint32(f)]
		if n == 0 {
			vertices = append(vertices, uint32(f))
			n = int32(len(vertices))
			t.local[uint32(f)] = n
		}
		far[i] = n - 1
	}
	return vertices
}
