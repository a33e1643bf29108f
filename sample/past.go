package sample

import (
	"fmt"
	"math"
	"slices"
)

// Past draws blocks of edges up to the times of their seeds. Any number of goroutines may use it.
type Past struct {
	p      *Program
	latest bool
}

// moment is a vertex at a time, which draws its edges up to that time.
type moment struct {
	vertex uint32
	time   float64
}

// NewPast returns what draws blocks as p does, of edges up to a time: each of these with equal probability or, if latest is set, the latest of
// them, of equal times those that stand later in the user's list. The edges of the graph must have times, and p draws edges of single
// vertices with equal probability and without replacement, as Neighbours does; others are an error.
func NewPast(p *Program, latest bool) (*Past, error) {
	switch s := &p.s; {
	case p.g.Time == nil:
		return nil, p.errorf("it draws edges up to a time, and the edges of the graph have no times")
	case s.Output != Layers || s.Over != Individual || s.Next != nil || s.Score != nil || s.Replace:
		return nil, p.errorf("edges up to a time are drawn with equal probability and without replacement, in blocks whose vertices draw one by one: it needs the output Layers, without Next, Score and Replace")
	}
	return &Past{p, latest}, nil
}

// Blocks is Program.Blocks, but seed i draws edges with times up to until[i] only, and so does every vertex that is reached
// from it, at every step. A vertex that is reached from seeds of several times is there once for each of these times. b.Until has the
// time of each vertex of the blocks. What a vertex draws depends on the key, its id, its time and the step. Seeds may be equal if
// their times differ. A time that is not a number is an error; edges of time -Inf, such as self loops of a model, are always there.
func (x *Past) Blocks(b *Blocks, seeds []uint32, until []float64, key Key) error {
	p := x.p
	if len(seeds) != len(until) {
		return p.errorf("%d seeds and %d times", len(seeds), len(until))
	}
	local := map[moment]int32{}
	b.Vertices, b.Until, b.Counts = b.Vertices[:0], b.Until[:0], b.Counts[:0]
	for i, v := range seeds {
		m := moment{v, until[i]}
		if int64(v) >= int64(p.g.Vertices()) {
			return fmt.Errorf("seed %d of a graph with %d vertices: seeds are 0 to %d", v, p.g.Vertices(), p.g.Vertices()-1)
		}
		if until[i] != until[i] {
			return fmt.Errorf("seed %d, vertex %d, has the time NaN", i, v)
		}
		if at, twice := local[m]; twice {
			return fmt.Errorf("seed %d stands in the batch twice with time %v, at places %d and %d: seeds of a batch must differ", v, until[i], at, i)
		}
		local[m] = int32(i)
		b.Vertices, b.Until = append(b.Vertices, v), append(b.Until, until[i])
	}
	b.Counts = append(b.Counts, len(seeds))
	for len(b.Layers) < len(p.sizes) {
		b.Layers = append(b.Layers, Block{})
	}
	b.Layers = b.Layers[:len(p.sizes)]
	for step := range p.sizes {
		layer := &b.Layers[step]
		if err := x.Rows(layer, b.Vertices[:b.Counts[step]], b.Until[:b.Counts[step]], key, step); err != nil {
			return err
		}
		for i := range b.Counts[step] {
			far := layer.Far[layer.Offsets[i]:layer.Offsets[i+1]]
			for k, f := range far {
				m := moment{uint32(f), b.Until[i]}
				n, ok := local[m]
				if !ok {
					n = int32(len(b.Vertices))
					local[m] = n
					b.Vertices, b.Until = append(b.Vertices, m.vertex), append(b.Until, m.time)
				}
				far[k] = n
			}
		}
		b.Counts = append(b.Counts, len(b.Vertices))
	}
	return nil
}

// Rows is Program.Rows for vertices at times: vertex i draws edges with times up to until[i]. A vertex may stand there for several times.
func (x *Past) Rows(b *Block, vertices []uint32, until []float64, key Key, step int) error {
	p := x.p
	if len(vertices) != len(until) || step < 0 || step >= len(p.sizes) {
		return p.errorf("%d vertices and %d times at step %d of %d", len(vertices), len(until), step, len(p.sizes))
	}
	t := p.tools.take(p.g)
	defer p.tools.put(t)
	b.clear()
	for i, v := range vertices {
		if int64(v) >= int64(p.g.Vertices()) {
			return p.errorf("vertex %d of a graph with %d vertices", v, p.g.Vertices())
		}
		x.row(t, b, v, until[i], key.stream(), step)
	}
	if p.s.RowNormal {
		b.normalise()
	}
	return nil
}

// row adds the row of v at a time to b, with the ids of far ends.
func (x *Past) row(t *tool, b *Block, v uint32, until float64, s stream, step int) {
	p := x.p
	past, always := p.g.past(v, until), 0
	if p.s.KeepLoops { // those that are always there come first in time
		for always < len(past) && math.IsInf(p.g.Time[p.g.Offsets[v]+int64(past[always])], -1) {
			always++
		}
	}
	kept, rest := past[:always], past[always:]
	k := p.sizes[step]
	switch n := len(rest); {
	case n <= k:
		t.places = append(t.places[:0], rest...)
	case x.latest:
		t.places = append(t.places[:0], rest[n-k:]...)
	default:
		t.draw(n, k, s, place{of: v, step: uint32(step)})
		for i, at := range t.places {
			t.places[i] = rest[at]
		}
	}
	t.places = append(t.places, kept...)
	slices.Sort(t.places)
	p.place(b, v, t.places)
}
