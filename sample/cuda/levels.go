package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"sagann/device"
	"sagann/device/launch"
)

// Kind is what a level is drawn from.
type Kind int

// Kinds. The kernel's text uses the same numbers.
const (
	Pool       Kind = iota // edges into the level, each with equal probability
	Everywhere             // all vertices, by score
	Columns                // sources of edges into the level, by the sum of their scores
	Among                  // no draws: the only step takes the edges among the seeds
	RowsAlone              // each row draws some of its edges, without replacement; needs Pairs
)

// Levels says how a Crowd draws batches: blocks whose levels draw as a whole, subgraphs of the seeds, or
// small blocks whose rows draw by themselves. Everywhere and Columns need Scores.
type Levels struct {
	Kind       Kind
	Sizes      []int
	EdgeWeight string // the CUDA text of edge_weight; "": edges have no weights
	RowNormal  bool

	// EdgesOfRow is for RowsAlone. It returns the mean over vertices of min(degree, most); with byEdge
	// each vertex counts once per in-edge.
	EdgesOfRow func(most int, byEdge bool) float64
}

// Scores are prefix sums of scores in fixed point. Before, for Columns, has E+1 elements: Before[e] is the
// sum over the edges before e. Sums, for Everywhere, has V: Sums[v] is the sum over the out-edges of the
// vertices 0 to v.
type Scores struct{ Before, Sums []uint64 }

// MostLevel is the largest number of vertices of a batch.
const MostLevel = 6144

// Crowd draws many batches at a time, one thread block per batch.
type Crowd struct {
	g           *Graph
	l           Levels
	size, many  int   // largest number of seeds per batch, and of batches
	rows, edges []int // largest number of rows and edges of each step; rows also has the last level
	source      string
	threads     int // per block
	usual, full room
	mems        []device.Mem

	reads         crowdReads
	seeds, starts device.Mem
	named, again  device.Mem
	lists         [6]device.Mem // vertices, begins of rows, far ends, edge numbers, weights, counts
}

// crowdReads are the lists that the kernel reads, besides the graph. Those that it does not need are not set.
type crowdReads struct{ edge, weight, scores, sums, guide device.Mem }

// mostShared is the shared memory in bytes that a thread block can use on GPUs of compute capability 9, for which
// blocks are sized where no GPU is open. Of each block's shared memory the system takes sharedOfBlock bytes more.
const (
	mostShared    = 227 << 10
	sharedOfBlock = 1 << 10
)

// shared is the shared memory in bytes that a thread block can use on the graph's GPU.
func (g *Graph) shared() int {
	if g.card != nil {
		if n := g.card.GPU.Info().Shared; n > 0 {
			return n
		}
	}
	return mostShared
}

// powerOver is the size of a hash table for n entries: the smallest power of two, 64 or more, of which n is
// at most three quarters.
func powerOver(n int) (p int) {
	for p = 64; 3*p < 4*n; p *= 2 {
	}
	return p
}

// amongEdges is the number of edges from other seeds that there is room for, per seed.
const amongEdges = 64

// limits sets rows and edges. Parallel edges aside, a row has at most as many edges from drawn vertices as
// there are draws.
func (c *Crowd) limits() error {
	c.rows, c.edges = []int{c.size}, nil
	if c.l.Kind == Among {
		c.rows, c.edges, c.l.Sizes = []int{c.size, c.size}, []int{amongEdges * c.size}, []int{c.size}
	}
	for _, k := range c.l.Sizes {
		if c.l.Kind == Among {
			break
		}
		n, new := c.rows[len(c.rows)-1], k
		if c.l.Kind == RowsAlone {
			new = n * k
		}
		c.edges = append(c.edges, n*k)
		c.rows = append(c.rows, min(c.g.vertices, n+new))
	}
	if n := c.rows[len(c.l.Sizes)]; n > MostLevel {
		return fmt.Errorf("a batch can have %d vertices: at most %d are possible", n, MostLevel)
	}
	return nil
}

func total(list []int) (sum int) {
	for _, n := range list {
		sum += n
	}
	return sum
}

func (c *Crowd) begins() int { return total(c.rows[:len(c.l.Sizes)]) + len(c.l.Sizes) }

// Source is the kernel source for batches of size seeds of a large graph, for tests that compile it.
func (l Levels) Source(size int) string {
	c := &Crowd{g: &Graph{vertices: math.MaxInt32}, l: l, size: size}
	if err := c.limits(); err != nil {
		return err.Error()
	}
	c.tables()
	return c.text()
}

// NewCrowd takes memory for so many batches of at most size seeds. The graph must have been uploaded with
// Needs.Far, for RowsAlone with Needs.Pairs.
func (g *Graph) NewCrowd(l Levels, s Scores, edge []uint32, weight []float32, size, batches int) (c *Crowd, err error) {
	c = &Crowd{g: g, l: l, size: size, many: batches}
	if err := c.limits(); err != nil {
		return nil, err
	}
	if c.tables(); c.shared(c.full) > g.shared() {
		return nil, fmt.Errorf("tables of %d vertices and of draws take %d KB of shared memory: a block of threads has %d", c.rows[len(c.l.Sizes)], c.shared(c.full)>>10, g.shared()>>10)
	}
	c.source = c.text()
	defer func() {
		if err != nil {
			err = errors.Join(err, g.card.GPU.Sync(), c.Free())
			c = nil
		}
	}()
	take := func(to *device.Mem, bytes int) {
		if err == nil {
			if *to, err = g.card.Alloc(max(int64(bytes), 8)); err == nil {
				c.mems = append(c.mems, *to)
			}
		}
	}
	keep := func(to *device.Mem, b []byte) {
		if len(b) == 0 {
			return
		}
		if take(to, len(b)); err == nil {
			err = g.card.GPU.CopyH2D(g.card.Queue, *to, 0, b)
		}
	}
	keep(&c.reads.edge, device.Bytes(edge))
	keep(&c.reads.weight, device.Bytes(weight))
	keep(&c.reads.scores, device.Bytes(s.Before))
	keep(&c.reads.sums, device.Bytes(s.Sums))
	if l.Kind == Everywhere {
		keep(&c.reads.guide, device.Bytes(c.guide(s.Sums)))
	}
	take(&c.seeds, 4*size*batches)
	take(&c.starts, 4*(batches+1))
	take(&c.named, 16)
	take(&c.again, 4*(batches+1))
	for i := range c.lists {
		take(&c.lists[i], 4*c.words(i)*batches)
	}
	if err == nil {
		err = g.card.Compile(c.source, "saga_levels")
	}
	return c, err
}

// words is the number of uint32 words per batch in a list.
func (c *Crowd) words(list int) int {
	steps := len(c.l.Sizes)
	if list == 4 && c.l.EdgeWeight == "" {
		return 0
	}
	return []int{c.rows[steps], c.begins(), total(c.edges), total(c.edges), total(c.edges), 2*steps + 2}[list]
}

// guide speeds up the search in sums. It divides the range of random numbers into equal parts, and has for
// each part the first vertex that a number of this part can give. The last entry is the last vertex.
func (c *Crowd) guide(sums []uint64) []uint32 {
	shift := 64 - c.guideBits()
	list := make([]uint32, 1<<c.guideBits()+1)
	v := uint32(0)
	for i := range list[:len(list)-1] {
		at, _ := bits.Mul64(uint64(i)<<shift, sums[len(sums)-1])
		for int(v) < len(sums)-1 && sums[v] <= at {
			v++
		}
		list[i] = v
	}
	list[len(list)-1] = uint32(len(sums) - 1)
	return list
}

// Fits tells whether there is room for so many batches of at most size seeds.
func (c *Crowd) Fits(size, batches int) bool { return size <= c.size && batches <= c.many }

// Draw draws batches, batch i by the key of b with Number + i. The seeds of a batch must differ.
func (c *Crowd) Draw(batches [][]uint32, b Batch) error {
	g, list, starts := c.g, []uint32(nil), []uint32{0}
	for _, x := range batches {
		list = append(list, x...)
		starts = append(starts, uint32(len(list)))
	}
	err := g.card.GPU.CopyH2D(g.card.Queue, c.seeds, 0, device.Bytes(list))
	if err == nil {
		err = g.card.GPU.CopyH2D(g.card.Queue, c.starts, 0, device.Bytes(starts))
	}
	if err == nil {
		err = g.card.GPU.CopyH2D(g.card.Queue, c.named, 0, device.Bytes([]uint32{uint32(b.Seed), uint32(b.Seed >> 32), b.Epoch, b.Number}))
	}
	if err == nil && c.l.Kind == RowsAlone {
		err = g.card.GPU.CopyH2D(g.card.Queue, c.again, 0, device.Bytes([]uint32{0}))
	}
	if err != nil {
		return err
	}
	far := g.far
	if c.l.Kind == RowsAlone {
		far = g.pairs
	}
	args := launch.Args{"offsets": g.offsets, "far": far, "edge": c.reads.edge, "weight": c.reads.weight, "scores": c.reads.scores, "sums": c.reads.sums, "guide": c.reads.guide,
		"vertices": uint64(g.vertices), "seeds": c.seeds, "starts": c.starts, "named": c.named,
		"l_vertices": c.lists[0], "l_begin": c.lists[1], "l_far": c.lists[2], "l_edge": c.lists[3], "l_weight": c.lists[4], "l_counts": c.lists[5]}
	if c.l.Kind != RowsAlone {
		return g.card.Launch(launch.Call{Source: c.source, Name: "saga_levels", Grid: len(batches), Block: c.threads, Shared: c.shared(c.usual), Args: args})
	}
	calls := []launch.Call{c.rowsCall(c.usual, len(batches), 0, args)}
	if c.usual != c.full {
		calls = append(calls, c.rowsCall(c.full, min(len(batches), g.card.Processors()), 1, args))
	}
	return g.card.Launch(calls...)
}

// rowsCall is a launch for RowsAlone, with room r for each batch.
func (c *Crowd) rowsCall(r room, blocks int, second uint64, args launch.Args) launch.Call {
	return launch.Call{Source: c.source, Name: "saga_levels", Grid: blocks, Block: c.threads, Shared: c.shared(r),
		Args: args.With(launch.Args{"slots": uint64(r.slots), "edges": uint64(r.edges), "again": c.again, "second": second})}
}

// tables sets the room of tables and lists, and the threads of a block. For RowsAlone, usual is the expected
// size of a batch plus a quarter, as rows of vertices with a low degree have fewer edges than draws.
func (c *Crowd) tables() {
	if c.l.Kind == RowsAlone {
		thirties := func(n int) int { return (n + 31) &^ 31 }
		c.full = room{powerOver(c.rows[len(c.l.Sizes)-1] + slices.Max(c.edges)), thirties(slices.Max(c.edges))}
		n, edges := float64(c.size), 0.0
		for step, k := range c.l.Sizes {
			each := float64(k)
			if c.l.EdgesOfRow != nil {
				each = c.l.EdgesOfRow(k, step > 0)
			}
			edges = max(edges, n*each)
			n += n * each
		}
		c.usual = room{min(c.full.slots, powerOver(int(1.25*n))), min(c.full.edges, thirties(int(1.25*edges)))}
	}
	c.fit(c.usual)
}

// Crowded holds batches that Read has copied to the host.
type Crowded struct {
	c     *Crowd
	lists [6][]uint32
}

// ReadAtATime is the number of batches that take about 64 MB in Crowded.
func (c *Crowd) ReadAtATime() int {
	words := 0
	for i := range c.lists {
		words += c.words(i)
	}
	return max(1, 16<<20/words)
}

// Read copies n batches of the last Draw, from number from on, to the host.
func (c *Crowd) Read(from, n int) (*Crowded, error) {
	x := &Crowded{c: c}
	for i, m := range c.lists {
		if c.words(i) == 0 {
			continue
		}
		x.lists[i] = make([]uint32, n*c.words(i))
		if err := c.g.card.GPU.CopyD2H(c.g.card.Queue, device.Bytes(x.lists[i]), m, int64(4*from*c.words(i))); err != nil {
			return nil, errors.Join(err, c.g.card.GPU.Sync())
		}
	}
	return x, c.g.card.GPU.Sync()
}

// of is the part of list i that belongs to a batch.
func (x *Crowded) of(batch, i int) []uint32 {
	n := x.c.words(i)
	return x.lists[i][batch*n : (batch+1)*n]
}

// Counts returns the numbers of vertices of each level and of edges of each step of a batch. full means that
// there was no room for the batch's edges: the batch is not complete, and a CPU must draw it.
func (x *Crowded) Counts(batch int) (vertices, edges []uint32, full bool) {
	words, steps := x.of(batch, 5), len(x.c.l.Sizes)
	return words[:steps+1], words[steps+1 : 2*steps+1], words[2*steps+1] != 0
}

// Vertices copies the ids of a batch's vertices to ids.
func (x *Crowded) Vertices(batch int, ids []uint32) { copy(ids, x.of(batch, 0)) }

// Step copies the rows and edges of a step to the lists: begin, where rows begin; far, local numbers; edge,
// edge numbers. It does not change weight if edges have no weights.
func (x *Crowded) Step(batch, step int, begin, far, edge []uint32, weight []float32) {
	rows, at := total(x.c.rows[:step])+step, total(x.c.edges[:step])
	copy(begin, x.of(batch, 1)[rows:])
	copy(far, x.of(batch, 2)[at:])
	copy(edge, x.of(batch, 3)[at:])
	for i := range weight {
		weight[i] = math.Float32frombits(x.of(batch, 4)[at+i])
	}
}

// Free frees the memory of the crowd.
func (c *Crowd) Free() (err error) {
	for _, m := range c.mems {
		err = errors.Join(err, c.g.card.Drop(m))
	}
	c.mems = nil
	return err
}
