package dataflow_test

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/internal/eval"
	"sagann/sample"
)

// leveled is a program of the full graph written over sampled blocks: a vertex tensor has the rows of
// the level on which it is asked for. Some are computed a level higher than need be, and their
// first rows taken.
type leveled struct {
	*program
	top   int // level of the features
	salt  uint64
	high  map[*node]int // levels above its own that a node needs
	done  map[levelOf]*node
	loose map[string]*node // features by name, on level top
}

// levelOf is a vertex node on a level, or an edge node in a block.
type levelOf struct {
	n *node
	l int
}

// overBlocks writes p over blocks. Results of rows are those of the seeds.
func overBlocks(p *program, salt uint64) *leveled {
	w := &leveled{program: &program{g: dataflow.NewTrace(), names: p.names, loss: p.loss}, salt: salt, high: map[*node]int{}, done: map[levelOf]*node{}, loose: map[string]*node{}}
	for _, o := range p.outs {
		w.top = max(w.top, w.height(o)+2)
	}
	for _, o := range p.outs {
		w.outs = append(w.outs, w.at(o, 0))
	}
	for _, x := range p.wrt {
		n := w.loose[x.Attr().S]
		if n == nil {
			n = w.at(x, 0)
			for n.Op() == dataflow.PrefixOp {
				n = n.In(0)
			}
		}
		w.wrt = append(w.wrt, n)
	}
	return w
}

// height is how many levels above its own n needs.
func (w *leveled) height(n *node) int {
	if h, ok := w.high[n]; ok {
		return h
	}
	h := 0
	for i := range n.NumIn() {
		h = max(h, w.height(n.In(i)))
	}
	switch n.Op() {
	case dataflow.ScatterSrcOp, dataflow.GatherSrcOp:
		h++
	}
	if n.Shape().Set.Kind == dataflow.Edge { // edges come from the level above
		h = max(h, 1)
	}
	w.high[n] = h
	return h
}

// draws is a number below k that depends on n, l and the salt.
func (w *leveled) draws(n *node, l, k int) int {
	h := fnv.New64a()
	h.Write([]byte{byte(n.ID()), byte(n.ID() >> 8), byte(l)})
	return rand.New(rand.NewPCG(w.salt, h.Sum64())).IntN(k)
}

// at is n on level l, or in block l; where a Global is asked for, wherever l is.
func (w *leveled) at(n *node, l int) *node {
	set := n.Shape().Set.Kind
	if set == dataflow.Global {
		l = 0
	}
	k := levelOf{n, l}
	if m := w.done[k]; m != nil {
		return m
	}
	m := w.make(n, l)
	w.done[k] = m
	return m
}

func (w *leveled) make(n *node, l int) *node {
	set := dataflow.Set{}
	switch n.Shape().Set.Kind {
	case dataflow.Vertex:
		set = dataflow.Level(l)
	case dataflow.Edge:
		set = dataflow.Block(l)
	}
	s := n.Shape()
	s.Set = set
	switch {
	case n.Op() == dataflow.InputOp && n.Attr().J != 0 && set.Kind == dataflow.Vertex: // a feature
		if l < w.top {
			return dataflow.Prefix(w.at(n, l+1))
		}
		w.loose[n.Attr().S] = w.g.Variable(n.Attr().S, s)
		return w.loose[n.Attr().S]
	case n.NumIn() == 0 && n.Op() == dataflow.ConstOp:
		return w.g.Const(n.Attr().F)
	case n.NumIn() == 0:
		return w.g.Leaf(n.Op(), n.Attr().S, s)
	case set.Kind == dataflow.Vertex && (n.Op() == dataflow.GatherSrcOp && l == 0 || l+1+w.height(n) <= w.top && w.draws(n, l, 4) == 0):
		return dataflow.Prefix(w.at(n, l+1))
	}
	var in []*node
	for i := range n.NumIn() {
		from := l
		switch n.Op() {
		case dataflow.ScatterSrcOp:
			from++
		case dataflow.GatherSrcOp:
			from--
		default:
			if set.Kind == dataflow.Global { // a sum over rows, of any level
				from = w.draws(n, 0, 2)
			}
		}
		in = append(in, w.at(n.In(i), from))
	}
	return dataflow.Apply(n.Op(), n.Attr(), in...)
}

// blockValues gives leaves of a program over blocks their numbers.
type blockValues struct {
	values
	b     *sample.Blocks
	e     *eval.Blocks
	whole bool // all vertices are seeds, and all of their edges are there
}

// drawBlocks draws blocks of g with so many levels above the seeds.
func drawBlocks(t *rapid.T, v values, top int) blockValues {
	g, err := sample.NewGraph(v.g)
	if err != nil {
		t.Fatal(err)
	}
	fanout := rapid.SampledFrom([]int{1, 2, 4, 1000}).Draw(t, "fan-out")
	p, err := sample.Compile(g, sample.Neighbours(slices.Repeat([]int{fanout}, top)...))
	if err != nil {
		t.Fatal(err)
	}
	r := newRandom(v.seed, "seeds")
	var seeds []uint32
	n := rapid.IntRange(1, v.g.V).Draw(t, "seeds")
	if fanout == 1000 {
		n = v.g.V
	}
	for _, x := range r.Perm(v.g.V)[:n] {
		seeds = append(seeds, uint32(x))
	}
	x := blockValues{v, &sample.Blocks{}, &eval.Blocks{}, fanout == 1000 && len(seeds) == v.g.V}
	if err := p.Blocks(x.b, seeds, sample.Key{Seed: v.seed}); err != nil {
		t.Fatal(err)
	}
	x.e.Rows = x.b.Counts
	rank, next := make([]int, v.g.E()), make([]int, v.g.V)
	for e, d := range v.g.Dst {
		rank[e] = next[d]
		next[d]++
	}
	for l, b := range x.b.Layers {
		to := chunk.Edges{V: x.b.Counts[l], Types: graphTypes, DataCols: graphDataCols}
		var ranks []int
		for row := range x.b.Counts[l] {
			for i := b.Offsets[row]; i < b.Offsets[row+1]; i++ {
				e := int(b.Edge[i])
				to.Src, to.Dst = append(to.Src, uint32(b.Far[i])), append(to.Dst, uint32(row))
				to.Type, to.Weight = append(to.Type, v.g.Type[e]), append(to.Weight, v.g.Weight[e])
				to.Data = append(to.Data, v.g.Data[e*graphDataCols:(e+1)*graphDataCols]...)
				ranks = append(ranks, rank[e])
			}
		}
		x.e.Edges, x.e.Rank = append(x.e.Edges, to), append(x.e.Rank, ranks)
	}
	return x
}

// leaf is input or parameter name of set s.
func (x blockValues) leaf(name string, s dataflow.Shape) []float32 {
	if s.Set.Kind != dataflow.Vertex {
		return x.of(name, s)
	}
	l := s.Set.Level()
	in, out := make([]float32, x.b.Counts[l]), make([]float32, x.b.Counts[l])
	if l < len(x.e.Edges) {
		for _, d := range x.e.Edges[l].Dst {
			in[d]++
		}
	}
	if l > 0 {
		for _, s := range x.e.Edges[l-1].Src {
			out[s]++
		}
	}
	switch name {
	case dataflow.InDegree:
		return in
	case dataflow.BlockOutDegree:
		return out
	case "inv":
		for i := range in {
			in[i] = 1 / max(in[i], 1)
		}
		return in
	}
	all := x.of(name, dataflow.Shape{Set: dataflow.V0, Cols: s.Cols})
	var rows []float32
	for _, v := range x.b.Vertices[:x.b.Counts[l]] {
		rows = append(rows, all[int(v)*s.Cols:(int(v)+1)*s.Cols]...)
	}
	return rows
}

// oracle is oracle over the blocks.
func (x blockValues) oracle(p *program) (results map[string][]float32, all map[*node][]float32) {
	nodes, names := slices.Clone(p.outs), slices.Clone(p.names)
	for i, d := range dataflow.Grad(p.outs[p.loss], p.g.Const(1), p.wrt) {
		if d != nil {
			nodes, names = append(nodes, d), append(names, "grad:"+p.wrt[i].Attr().S)
		}
	}
	all = eval.RunBlocks(nodes, func(n *node) []float32 { return x.leaf(n.Attr().S, n.Shape()) }, x.e, x.blur)
	results = map[string][]float32{}
	for i, n := range nodes {
		results[names[i]] = all[n]
	}
	return results, all
}

// on are the edges of the block that n reduces rows of, nil where n reduces none.
func (x blockValues) on(n *node) *chunk.Edges {
	if n.NumIn() == 0 || n.In(0).Shape().Set.Kind != dataflow.Edge {
		return nil
	}
	return &x.e.Edges[n.In(0).Shape().Set.Level()]
}
