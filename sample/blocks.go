package sample

import (
	"fmt"
	"slices"
)

// Blocks is a sampled batch for training a model of L layers. It has L+1 levels, which are vertex
// sets: level 0 are the seeds, level L the inputs. Layers[l] has the edges from level l+1 to level
// l. The vertices of a level are the first ones of the next level, in the order in which they
// first appear, so a vertex has the same local number on all levels.
type Blocks struct {
	Vertices []uint32  // the user's ids of level L; level l is Vertices[:Counts[l]]
	Counts   []int     // L+1: number of vertices of each level
	Layers   []Block   // L
	Until    []float64 // of Past.Blocks: the time of each of Vertices, of which it has seen no later edge
}

// Block has the edges from one level to the level below it, as rows of in-edges. Below, N is the
// number of vertices of the lower level and M the number of edges.
type Block struct {
	Offsets []int64   // N+1: the in-edges of local vertex v are Offsets[v] to Offsets[v+1]-1
	Far     []int32   // M: the local number of the edge's source on the level above
	Edge    []uint32  // M: the edge's index in the user's list; empty for edges of Sampler.Top
	Weight  []float32 // M: the weight that the sampler gives the edge; empty if it gives none
}

// Blocks draws the blocks of a batch into b, and reuses the memory of b. Seeds that are equal, or
// are no vertices of the graph, are an error, and so is a sampler whose Output is Steps. With
// Output: Layers and Over: Individual, the edges of a vertex depend only on the key, the vertex's
// id and the step.
func (p *Program) Blocks(b *Blocks, seeds []uint32, key Key) error {
	return p.BlocksFrom(b, seeds, key, nil)
}

// BlocksFrom is Blocks, but calls rows to draw the edges into vertices at a step. rows must fill b
// as Program.Rows does. This is for graphs whose rows are spread over several processes: rows asks
// the process that has the row. BlocksFrom returns an error of rows. If rows is nil, it is Blocks.
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

// Rows draws the edges of a step into the given vertices. Row i of b, from Offsets[i] to
// Offsets[i+1]-1, has the edges into vertices[i], and Far has the user's ids instead of local
// numbers. The sampler must have the output Layers, be Individual and have no Top; others are an
// error, and so are vertices and steps that do not exist.
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

// Most is the largest possible number of edges of a row, for each block. It is nil if the sampler
// does not bound the rows.
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

// layer draws the edges into vertices at a step. It writes the ids of far ends to b.Far, which
// rename turns into local numbers.
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

// rename replaces the ids in far by local numbers, in place. A vertex without a local number gets
// the next one and is appended to vertices.
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
