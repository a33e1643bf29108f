package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"sagann/device"
)

// Kind is what a level is drawn from.
type Kind int

// Kinds; the numbers stand in the kernel's text, too.
const (
	Pool       Kind = iota // edges into the level, each with equal probability
	Everywhere             // all vertices, by score
	Columns                // sources of edges into the level, by the sum of their scores
	Among                  // nothing: the one step takes the edges among the seeds
	RowsAlone              // each row by itself: a number of its edges, without replacement; it reads Pairs
)

// Levels says how batches of blocks are drawn whose levels draw together, or many small batches at a time. Everywhere and Columns need Scores.
type Levels struct {
	Kind       Kind
	Sizes      []int
	EdgeWeight string // the text of edge_weight; "": edges have none
	RowNormal  bool

	EdgesOfRow func(most int, byEdge bool) float64 // for RowsAlone: how many edges a row has on average, at most so many, of any vertex or of one to which an edge leads
}

// Scores are what draws by score read, as whole numbers. Before[e] is the sum over edges before e, of all edges in the end: Columns reads them.
// Sums[v] is the sum over out-edges of the vertices up to and with v: Everywhere reads them.
type Scores struct{ Before, Sums []uint64 }

// MostLevel is how many vertices a batch has at most.
const MostLevel = 6144

// Crowd draws many batches at a time, a block of threads for each.
type Crowd struct {
	g           *Graph
	l           Levels
	size, many  int   // seeds of a batch at most, and batches that there is room for
	rows, edges []int // room of each step
	source      string
	threads     int // of a block
	usual, full room
	mems        []device.Mem

	reads         crowdReads
	seeds, starts device.Mem
	named, again  device.Mem
	lists         [6]device.Mem // as in the kernel
}

// crowdReads is what is read of edges and vertices; what is not is none.
type crowdReads struct{ edge, weight, scores, sums, guide device.Mem }

// mostShared is what a block of threads can have on GPUs of compute capability 9, and the system takes sharedOfBlock for each.
const (
	mostShared    = 227 << 10
	sharedOfBlock = 1 << 10
)

// powerOver is the places of a table of which so many are taken, at most three quarters.
func powerOver(n int) (p int) {
	for p = 64; 3*p < 4*n; p *= 2 {
	}
	return p
}

// amongEdges is how many edges a seed may have from others, on average over a batch.
const amongEdges = 64

// limits sets the most that a batch can have. A row has no more edges from what is drawn than there are draws, but for parallel ones.
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

// Source is the text for batches of so many seeds of a graph with many vertices, for tests that compile it.
func (l Levels) Source(size int) string {
	c := &Crowd{g: &Graph{vertices: math.MaxInt32}, l: l, size: size}
	if err := c.limits(); err != nil {
		return err.Error()
	}
	c.tables()
	return c.text()
}

// NewCrowd has memory for so many batches of so many seeds. What it reads of the graph was uploaded with Far, or for RowsAlone with Pairs.
func (g *Graph) NewCrowd(l Levels, s Scores, edge []uint32, weight []float32, size, batches int) (c *Crowd, err error) {
	c = &Crowd{g: g, l: l, size: size, many: batches}
	if err := c.limits(); err != nil {
		return nil, err
	}
	if c.tables(); c.shared(c.full) > mostShared {
		return nil, fmt.Errorf("tables of %d vertices and of draws take %d KB of shared memory: a block of threads has %d", c.rows[len(c.l.Sizes)], c.shared(c.full)>>10, mostShared>>10)
	}
	c.source = c.text()
	defer func() {
		if err != nil {
			err = errors.Join(err, g.gpu.Sync(), c.Free())
			c = nil
		}
	}()
	take := func(to *device.Mem, bytes int) {
		if err == nil {
			if *to, err = g.alloc(max(int64(bytes), 8)); err == nil {
				c.mems = append(c.mems, *to)
			}
		}
	}
	keep := func(to *device.Mem, b []byte) {
		if len(b) == 0 {
			return
		}
		if take(to, len(b)); err == nil {
			err = g.gpu.CopyH2D(g.queue, *to, 0, b)
		}
	}
	keep(&c.reads.edge, bytesOf(edge))
	keep(&c.reads.weight, bytesOf(weight))
	keep(&c.reads.scores, bytesOf(s.Before))
	keep(&c.reads.sums, bytesOf(s.Sums))
	if l.Kind == Everywhere {
		keep(&c.reads.guide, bytesOf(c.guide(s.Sums)))
	}
	take(&c.seeds, 4*size*batches)
	take(&c.starts, 4*(batches+1))
	take(&c.named, 16)
	take(&c.again, 4*(batches+1))
	for i := range c.lists {
		take(&c.lists[i], 4*c.words(i)*batches)
	}
	if err == nil {
		err = g.compile(c.source, "saga_levels")
	}
	return c, err
}

// words are those of a batch in a list.
func (c *Crowd) words(list int) int {
	steps := len(c.l.Sizes)
	if list == 4 && c.l.EdgeWeight == "" {
		return 0
	}
	return []int{c.rows[steps], c.begins(), total(c.edges), total(c.edges), total(c.edges), 2*steps + 2}[list]
}

// guide says of each part of the numbers that draw a vertex by the sums which is the first that it can give; the last entry is the last vertex.
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

// Fits tells whether there is room for so many batches of so many seeds at most.
func (c *Crowd) Fits(size, batches int) bool { return size <= c.size && batches <= c.many }

// Draw draws batches, the first named as b says and the others after it. Seeds of a batch differ.
func (c *Crowd) Draw(batches [][]uint32, b Batch) error {
	g, list, starts := c.g, []uint32(nil), []uint32{0}
	for _, x := range batches {
		list = append(list, x...)
		starts = append(starts, uint32(len(list)))
	}
	err := g.gpu.CopyH2D(g.queue, c.seeds, 0, bytesOf(list))
	if err == nil {
		err = g.gpu.CopyH2D(g.queue, c.starts, 0, bytesOf(starts))
	}
	if err == nil {
		err = g.gpu.CopyH2D(g.queue, c.named, 0, bytesOf([]uint32{uint32(b.Seed), uint32(b.Seed >> 32), b.Epoch, b.Number}))
	}
	if err == nil && c.l.Kind == RowsAlone {
		err = g.gpu.CopyH2D(g.queue, c.again, 0, bytesOf([]uint32{0}))
	}
	if err != nil {
		return err
	}
	far := g.far
	if c.l.Kind == RowsAlone {
		far = g.pairs
	}
	args := []any{g.offsets, far, c.reads.edge, c.reads.weight, c.reads.scores, c.reads.sums, c.reads.guide, uint64(g.vertices), c.seeds, c.starts, c.named}
	for _, m := range c.lists {
		args = append(args, m)
	}
	if c.l.Kind != RowsAlone {
		return g.launch([]call{{c.source, "saga_levels", len(batches), c.threads, c.shared(c.usual), args}})
	}
	calls := []call{c.rowsCall(c.usual, len(batches), 0, args)}
	if c.usual != c.full {
		calls = append(calls, c.rowsCall(c.full, min(len(batches), max(1, g.gpu.Info().Processors)), 1, args))
	}
	return g.launch(calls)
}

// rowsCall is a launch for rows that draw by themselves, with room for each batch.
func (c *Crowd) rowsCall(r room, blocks int, second uint64, args []any) call {
	return call{c.source, "saga_levels", blocks, c.threads, c.shared(r), append(slices.Clip(args), uint64(r.slots), uint64(r.edges), c.again, second)}
}

// tables sets the room of tables and lists, and the threads of a block. Rows that draw by themselves have few edges where the graph has: usual is
// what batches have on average, and a quarter more.
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

// Crowded is batches as they lie in the lists, in memory of the host.
type Crowded struct {
	c     *Crowd
	lists [6][]uint32
}

// ReadAtATime is how many batches Read copies in about 64 MB.
func (c *Crowd) ReadAtATime() int {
	words := 0
	for i := range c.lists {
		words += c.words(i)
	}
	return max(1, 16<<20/words)
}

// Read copies n batches from one on.
func (c *Crowd) Read(from, n int) (*Crowded, error) {
	x := &Crowded{c: c}
	for i, m := range c.lists {
		if c.words(i) == 0 {
			continue
		}
		x.lists[i] = make([]uint32, n*c.words(i))
		if err := c.g.gpu.CopyD2H(c.g.queue, bytesOf(x.lists[i]), m, int64(4*from*c.words(i))); err != nil {
			return nil, errors.Join(err, c.g.gpu.Sync())
		}
	}
	return x, c.g.gpu.Sync()
}

// of is list i of a batch.
func (x *Crowded) of(batch, i int) []uint32 {
	n := x.c.words(i)
	return x.lists[i][batch*n : (batch+1)*n]
}

// Counts are the vertices of each level and the edges of each step of a batch. Full tells that it had no room for its edges.
func (x *Crowded) Counts(batch int) (vertices, edges []uint32, full bool) {
	words, steps := x.of(batch, 5), len(x.c.l.Sizes)
	return words[:steps+1], words[steps+1 : 2*steps+1], words[2*steps+1] != 0
}

// Vertices fills ids with those of a batch.
func (x *Crowded) Vertices(batch int, ids []uint32) { copy(ids, x.of(batch, 0)) }

// Step fills the lists with rows and edges of a step. Where edges have no weights, weight is left as it is.
func (x *Crowded) Step(batch, step int, begin, far, edge []uint32, weight []float32) {
	rows, at := total(x.c.rows[:step])+step, total(x.c.edges[:step])
	copy(begin, x.of(batch, 1)[rows:])
	copy(far, x.of(batch, 2)[at:])
	copy(edge, x.of(batch, 3)[at:])
	for i := range weight {
		weight[i] = math.Float32frombits(x.of(batch, 4)[at+i])
	}
}

// Free gives the memory back.
func (c *Crowd) Free() (err error) {
	for _, m := range c.mems {
		err = errors.Join(err, c.g.drop(m))
	}
	c.mems = nil
	return err
}
