package sample

import (
	"slices"
	"sync"
)

// tool is the memory that one goroutine needs to draw.
type tool struct {
	local  []int32  // by vertex: its local number + 1 in the current sample, 0 for none
	set    []uint64 // bit set of the places that a row has drawn; all 0 between rows
	places []uint32 // places that a row has drawn, ascending
	begin  [looked]int64
	wanted []int64 // drawn edges that are not copied yet, by index in Graph.Far

	runners []runner
	sums    []uint64 // Collective: prefix sums of the rows' scores
	aims    [looked]aim
	drawn   []int32 // by vertex: its index + 1 in columns, 0 for none
	columns []column
	filter  filter // of the vertices in drawn, or in local
	visits  visits
	run     run
}

// tools is a pool of the tools that are not in use.
type tools struct {
	mu   sync.Mutex
	idle []*tool
	by   func() run // makes the run of a new tool; nil: strips
}

func (t *tools) take(g *Graph) *tool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.idle); n > 0 {
		x := t.idle[n-1]
		t.idle = t.idle[:n-1]
		return x
	}
	by := t.by
	if by == nil {
		by = func() run { return newStrips().run }
	}
	return &tool{local: make([]int32, g.Vertices()), run: by()}
}

func (t *tools) put(x *tool) {
	t.mu.Lock()
	t.idle = append(t.idle, x)
	t.mu.Unlock()
}

// forget clears the local numbers of vertices.
func (t *tool) forget(vertices []uint32) {
	for _, v := range vertices {
		t.local[v] = 0
	}
}

// drawLayer draws the edges of a step into vertices, without Next. As layer, it writes the ids of far
// ends to b.Far.
func (p *Program) drawLayer(t *tool, b *Block, vertices []uint32, s stream, step int) {
	k := p.sizes[step]
	if cap(b.Far) == 0 { // takes all memory at once, so that no slice is copied as it grows
		n := 0
		for _, v := range vertices {
			n += min(k+1, p.g.Degree(v))
		}
		b.Far, b.Edge, b.Offsets = make([]int32, 0, n), make([]uint32, 0, n), append(make([]int64, 0, len(vertices)+1), b.Offsets...)
	}
	for i, v := range vertices {
		if i%looked == 0 {
			t.touch(p, vertices[i:min(i+looked, len(vertices))])
		}
		first, end := p.kept(v)
		n := p.g.Degree(v) - (end - first)
		at := place{of: v, step: uint32(step)}
		switch {
		case p.scores != nil:
			p.weighted(t, v, first, end, k, s, at)
			t.add(first, end)
		case p.s.Replace:
			t.drawAgain(n, k, s, at)
			t.leave(first, end)
		case n <= k:
			p.take(t, b, v)
			continue
		default:
			t.draw(n, k, s, at)
			t.leave(first, end)
		}
		if p.edge != nil {
			p.place(b, v, t.places)
			continue
		}
		for _, i := range t.places {
			t.wanted = append(t.wanted, p.g.Offsets[v]+int64(i))
		}
		p.copyLater(t, b)
	}
	p.copyWanted(t, b)
}

// looked is the number of vertices, or draws, whose memory is read ahead.
const looked = 64

// touch reads the offsets of the rows of vertices ahead, so that the cache misses overlap. With
// KeepLoops it also reads the place where the search for self loops begins.
func (t *tool) touch(p *Program, vertices []uint32) {
	for i, v := range vertices {
		t.begin[i] = p.g.Offsets[v]
	}
	if !p.s.KeepLoops || p.g.Edges() == 0 {
		return
	}
	n, last := uint64(p.g.Vertices()), int64(len(p.g.Far)-1)
	for i, v := range vertices {
		d := uint64(p.g.Offsets[v+1] - t.begin[i])
		t.begin[i] = int64(p.g.Far[min(last, t.begin[i]+int64(uint64(v)*d/n))])
	}
}

// look reads ahead, for vertex i and those after it, the offsets of their rows and their first edges.
// It does so once for looked vertices.
func (t *tool) look(p *Program, vertices []uint32, i int) {
	if i%looked != 0 || p.g.Edges() == 0 {
		return
	}
	some, last := vertices[i:min(i+looked, len(vertices))], int64(len(p.g.Far)-1)
	for i, v := range some {
		t.begin[i] = p.g.Offsets[v]
	}
	for i, at := range t.begin[:len(some)] {
		t.begin[i] = int64(p.g.Far[min(last, at)])
	}
}

// atATime is the number of edges that are copied together: enough for many cache misses to overlap,
// more than one row has, and few enough for their indexes to stay in the L1 cache.
const atATime = 1024

// copyLater ends a row of b whose edges are in t.wanted. It copies the edges once there are enough.
func (p *Program) copyLater(t *tool, b *Block) {
	b.Offsets = append(b.Offsets, int64(len(b.Far)+len(t.wanted)))
	if len(t.wanted) >= atATime {
		p.copyWanted(t, b)
	}
}

// copyWanted copies the edges of t.wanted to b.
func (p *Program) copyWanted(t *tool, b *Block) {
	n, more := len(b.Far), len(t.wanted)
	b.Far, b.Edge = slices.Grow(b.Far, more)[:n+more], slices.Grow(b.Edge, more)[:n+more]
	far, edge := b.Far[n:], b.Edge[n:]
	for k, i := range t.wanted {
		far[k], edge[k] = int32(p.g.Far[i]), p.g.Edge[i]
	}
	t.wanted = t.wanted[:0]
}

// place adds a row to b: the edges at places of the row of v.
func (p *Program) place(b *Block, v uint32, places []uint32) {
	far, edge := p.g.row(v)
	for _, i := range places {
		b.Far, b.Edge = append(b.Far, int32(far[i])), append(b.Edge, edge[i])
	}
	if p.edge != nil {
		values := make([]cell, len(p.edge.list))
		for _, i := range places {
			b.Weight = append(b.Weight, p.value(p.edge, values, &drawn{at: p.g.Offsets[v] + int64(i), target: v, draws: float32(len(places))}))
		}
	}
	b.Offsets = append(b.Offsets, int64(len(b.Far)))
}

// take adds the whole row of v to b.
func (p *Program) take(t *tool, b *Block, v uint32) {
	if p.edge != nil {
		all := make([]uint32, p.g.Degree(v))
		for i := range all {
			all[i] = uint32(i)
		}
		p.place(b, v, all)
		return
	}
	for i := p.g.Offsets[v]; i < p.g.Offsets[v+1]; i++ {
		if t.wanted = append(t.wanted, i); len(t.wanted) == atATime {
			p.copyWanted(t, b)
		}
	}
	p.copyLater(t, b)
}

// kept is the range of places, first to end-1, in the row of v that KeepLoops takes without a draw.
func (p *Program) kept(v uint32) (first, end int) {
	if !p.s.KeepLoops {
		return 0, 0
	}
	return p.g.loops(v)
}

// leave converts t.places, which were drawn from a row without the places first to end-1, to places
// of the whole row. Then it adds the places first to end-1.
func (t *tool) leave(first, end int) {
	if first == end {
		return
	}
	at, _ := slices.BinarySearch(t.places, uint32(first))
	for i := at; i < len(t.places); i++ {
		t.places[i] += uint32(end - first)
	}
	for i := first; i < end; i++ {
		t.places = slices.Insert(t.places, at+i-first, uint32(i))
	}
}

// add adds the places first to end-1 to t.places, which has none of them.
func (t *tool) add(first, end int) {
	for i := first; i < end; i++ {
		at, _ := slices.BinarySearch(t.places, uint32(i))
		t.places = slices.Insert(t.places, at, uint32(i))
	}
}

// draw sets t.places to k different numbers of 0..n-1, ascending, every set of k with equal
// probability (Floyd's method: Bentley and Floyd, "A sample of brilliance", 1987). k must be below n.
func (t *tool) draw(n, k int, s stream, at place) {
	if words := n>>6 + 1; words > len(t.set) {
		t.set = make([]uint64, words)
	}
	t.places = t.places[:0]
	var random [4]uint32
	for j := range k {
		if j&3 == 0 {
			at.slot = uint32(j >> 2)
			random = s.words(at)
		}
		top := n - k + j
		i := below(random[j&3], top+1)
		if t.set[i>>6]>>(i&63)&1 != 0 {
			i = top
		}
		t.set[i>>6] |= 1 << (i & 63)
		t.places = append(t.places, uint32(i))
	}
	if n > sparse*k {
		for _, i := range t.places {
			t.set[i>>6] = 0
		}
		slices.Sort(t.places)
		return
	}
	t.places = t.places[:0]
	each(t.set[:n>>6+1], func(i int) { t.places = append(t.places, uint32(i)) })
}

// sparse is the length of a row per draw above which sorting the draws takes less time than reading
// the bit set of the row.
const sparse = 256

// drawAgain sets t.places to k numbers of 0..n-1, ascending, drawn with replacement; to none if n is 0.
func (t *tool) drawAgain(n, k int, s stream, at place) {
	t.places = t.places[:0]
	if n == 0 {
		return
	}
	var random [4]uint32
	for j := range k {
		if j&3 == 0 {
			at.slot = uint32(j >> 2)
			random = s.words(at)
		}
		t.places = append(t.places, uint32(below(random[j&3], n)))
	}
	slices.Sort(t.places)
}
