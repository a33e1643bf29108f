package sample

// induced draws vertices and takes all edges of the graph among them (the induced subgraph).
//
// With Together, the vertices of all samples are one set. With Apart, each seed has a set of its
// own. b.Vertices has the seeds first, then the vertices drawn for the first seed, for the second
// and so on. It lists a vertex once for each seed that it was drawn for. Edges join only vertices
// of the same seed.
func (p *Program) induced(t *tool, b *Blocks, key Key) error {
	b.Layers = b.Layers[:1]
	b.Layers[0].clear()
	if p.s.Output == Apart {
		if err := p.apart(t, b, key); err != nil {
			return err
		}
	} else {
		list, err := p.reached(b.Vertices, key.stream(), key)
		if err != nil {
			return err
		}
		for _, v := range list {
			if t.local[v] == 0 {
				b.Vertices = append(b.Vertices, v)
				t.local[v] = int32(len(b.Vertices))
			}
		}
		t.filter.room(len(b.Vertices), p.g.Vertices())
		for _, v := range b.Vertices {
			t.filter.add(v)
		}
		for i, v := range b.Vertices {
			t.look(p, b.Vertices, i)
			t.among(p.g, &b.Layers[0], v)
		}
		t.filter.clear(b.Vertices...)
	}
	b.Counts = append(b.Counts[:0], len(b.Vertices), len(b.Vertices))
	return nil
}

// Deepen turns the single block of a subgraph (Together, Apart) into blocks for a model with so
// many layers (levels) whose output are the first seeds vertices. The first block has the edges into
// the seeds, all others have all edges of the subgraph. The blocks share memory.
func (b *Blocks) Deepen(seeds, levels int) {
	whole := b.Layers[0]
	n := len(b.Vertices)
	b.Counts, b.Layers = append(b.Counts[:0], seeds), b.Layers[:0]
	for range levels {
		b.Counts, b.Layers = append(b.Counts, n), append(b.Layers, whole)
	}
	end := whole.Offsets[seeds]
	b.Layers[0].Offsets, b.Layers[0].Far, b.Layers[0].Edge = whole.Offsets[:seeds+1], whole.Far[:end], whole.Edge[:end]
}

// apart draws a subgraph for each seed.
func (p *Program) apart(t *tool, b *Blocks, key Key) error {
	seeds := append([]uint32(nil), b.Vertices...)
	t.forget(seeds)
	begin := []int{len(seeds)}
	for _, v := range seeds {
		// every seed draws by a key of its own, so that its subgraph does not depend on the batch
		w := key.stream().words(place{of: v, step: ^uint32(0), slot: ^uint32(0)})
		list, err := p.reached([]uint32{v}, stream{w[0], w[1]}, Key{Seed: uint64(w[0])<<32 | uint64(w[1])})
		if err != nil {
			b.Vertices = b.Vertices[:0]
			return err
		}
		t.local[v] = 1
		for _, u := range list {
			if t.local[u] == 0 {
				t.local[u] = 1
				b.Vertices = append(b.Vertices, u)
			}
		}
		t.forget(list)
		t.local[v] = 0
		begin = append(begin, len(b.Vertices))
	}
	// The rows of the seeds come first. t.local holds the local numbers of one seed and its set at a time.
	last := &b.Layers[0]
	enter := func(i int) {
		t.filter.room(1+begin[i+1]-begin[i], p.g.Vertices())
		t.number(seeds[i], i)
		for n := begin[i]; n < begin[i+1]; n++ {
			t.number(b.Vertices[n], n)
		}
	}
	leave := func(i int) {
		for _, set := range [][]uint32{seeds[i : i+1], b.Vertices[begin[i]:begin[i+1]]} {
			t.forget(set)
			t.filter.clear(set...)
		}
	}
	for i, v := range seeds {
		enter(i)
		t.among(p.g, last, v)
		leave(i)
	}
	for i := range seeds {
		enter(i)
		for n := begin[i]; n < begin[i+1]; n++ {
			t.among(p.g, last, b.Vertices[n])
		}
		leave(i)
	}
	return nil
}

// reached lists the vertices that the sampler draws from the roots. The list may have the roots and
// vertices twice.
func (p *Program) reached(roots []uint32, s stream, key Key) ([]uint32, error) {
	if p.s.Steps == 0 {
		return nil, nil
	}
	if p.code != nil {
		var drawn Samples
		whole := len(roots) / p.s.roots() * p.s.roots()
		if err := p.Run(&drawn, roots[:whole], 0, key); err != nil {
			return nil, err
		}
		var list []uint32
		for i := range drawn.N {
			list = drawn.Vertices(list, i)
		}
		return list, nil
	}
	list, seen := append([]uint32(nil), roots...), map[uint32]bool{}
	for _, v := range roots {
		seen[v] = true
	}
	t := p.tools.take(p.g)
	defer p.tools.put(t)
	var block Block
	for step := range p.sizes {
		block.clear()
		p.drawLayer(t, &block, list, s, step)
		for _, f := range block.Far {
			if v := uint32(f); !seen[v] {
				seen[v] = true
				list = append(list, v)
			}
		}
	}
	return list, nil
}

// number gives v the local number n, and adds v to the filter.
func (t *tool) number(v uint32, n int) {
	t.local[v] = int32(n) + 1
	t.filter.add(v)
}

// among adds a row to b: the edges into v from vertices that have a local number. The filter must
// have these vertices, too.
func (t *tool) among(g *Graph, b *Block, v uint32) {
	t.wanted = t.filter.edges(t.wanted[:0], g, v, t.local)
	for _, at := range t.wanted {
		b.Far, b.Edge = append(b.Far, t.local[g.Far[at]]-1), append(b.Edge, g.Edge[at])
	}
	t.wanted = t.wanted[:0]
	b.Offsets = append(b.Offsets, int64(len(b.Far)))
}
