package sample

import (
	"fmt"
	"slices"
)

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
	return p.BlocksFrom(b, seeds, key, nil)
}

// BlocksFrom is Blocks, but the edges into vertices at a step are drawn by rows, which fills its Block as Rows does: where the rows of the graph
// are shared among several processes, it asks the one that has them. An error of rows ends it. Without rows it is Blocks.
func (p *Program) BlocksFrom(b *Blocks, seeds []uint32, key Key, rows func(b *Block, vertices []uint32, step int) error) error {
	if p.s.Output == Steps {
		return p.errorf("it draws steps: call Run")
	}
	t := p.tools.take(p.g)
	defer p.tools.put(t)
	fresh := cap(b.Vertices) == 0
	b.Vertices, b.Counts = b.Vertices[:0], b.Counts[:0]
	defer func() { t.forget(b.Vertices) }()
	for i, v := range seeds {
		if int64(v) >= int64(p.g.Vertices()) {
			return fmt.Errorf("seed %d of a graph with %d vertices: seeds are 0 to %d", v, p.g.Vertices(), p.g.Vertices()-1)
		}
		if t.local[v] != 0 {
			return fmt.Errorf("seed %d stands in the batch twice, at places %d and %d: seeds of a batch must differ", v, t.local[v]-1, i)
		}
		b.Vertices = append(b.Vertices, v)
		t.local[v] = int32(i) + 1
	}
	b.Counts = append(b.Counts, len(seeds))
	for len(b.Layers) < len(p.sizes) {
		b.Layers = append(b.Layers, Block{})
	}
	b.Layers = b.Layers[:len(p.sizes)]
	if p.s.Output != Layers {
		return p.induced(t, b, key)
	}
	for step := range p.sizes {
		layer := &b.Layers[step]
		layer.clear()
		var err error
		if rows != nil {
			err = rows(layer, b.Vertices, step)
		} else {
			err = p.layer(t, layer, b.Vertices, key.stream(), step)
		}
		if err != nil {
			return err
		}
		if fresh {
			b.Vertices = slices.Grow(b.Vertices, min(len(layer.Far), p.g.Vertices()-len(b.Vertices)))
		}
		b.Vertices = t.rename(layer.Far, b.Vertices)
		b.Counts = append(b.Counts, len(b.Vertices))
	}
	return nil
}

// Rows draws the edges of a step into vertices of layers whose every vertex draws by itself. Far of b then has the user's ids, and
// Offsets bound the edges of each of vertices, in the order given. It is an error of other samplers, and of vertices and steps that are not there.
func (p *Program) Rows(b *Block, vertices []uint32, key Key, step int) error {
	if p.s.Output != Layers || p.s.Over != Individual || p.s.Top > 0 || step < 0 || step >= len(p.sizes) {
		return p.errorf("step %d of it does not draw the rows of vertices one by one", step)
	}
	for _, v := range vertices {
		if int64(v) >= int64(p.g.Vertices()) {
			return p.errorf("vertex %d of a graph with %d vertices", v, p.g.Vertices())
		}
	}
	t := p.tools.take(p.g)
	defer p.tools.put(t)
	b.clear()
	return p.layer(t, b, vertices, key.stream(), step)
}

// Most is how many edges a row of each of its blocks has at most; nil where only the graph bounds them.
func (p *Program) Most() (list []int) {
	if p.s.Output != Layers || p.s.Over != Individual || p.code != nil || p.s.Top > 0 {
		return nil
	}
	loops := 0
	if p.s.KeepLoops {
		loops = p.g.mostLoops()
	}
	for _, k := range p.sizes {
		list = append(list, k+loops)
	}
	return list
}

// layer draws the edges into vertices at a step, with the ids of far ends where local
// numbers will stand.
func (p *Program) layer(t *tool, b *Block, vertices []uint32, s stream, step int) (err error) {
	switch {
	case p.s.Over == Individual && p.code == nil:
		p.drawLayer(t, b, vertices, s, step)
	case p.s.Top > 0:
		err = p.visits(t, b, vertices, s, step)
	case p.s.Over == Individual:
		err = p.drawNext(t, b, vertices, s, step)
	case p.code != nil:
		err = p.drawCombined(t, b, vertices, s, step)
	default:
		p.drawVertices(t, b, vertices, s, step)
	}
	if p.s.RowNormal {
		b.normalise()
	}
	return err
}

func (b *Block) clear() {
	b.Offsets, b.Far, b.Edge, b.Weight = append(b.Offsets[:0], 0), b.Far[:0], b.Edge[:0], b.Weight[:0]
}

// normalise divides the weights of each row by their sum.
func (b *Block) normalise() {
	for r := range len(b.Offsets) - 1 {
		row := b.Weight[b.Offsets[r]:b.Offsets[r+1]]
		sum := 0.0
		for _, x := range row {
			sum += float64(x)
		}
		for i := range row {
			row[i] = float32(float64(row[i]) / sum)
		}
	}
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
