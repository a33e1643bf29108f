package cuda

import (
	"errors"
	"fmt"
	"strings"

	"sagann/device"
)

// Fanouts says how blocks are drawn whose vertices draw from their own rows.
type Fanouts struct {
	Sizes   []int   // edges per vertex at each hop
	Replace bool    // draws with replacement
	Method  Method  // how edges are drawn in proportion to scores
	OnlyNew bool    // at a hop only the vertices that the last hop added draw
	Loops   int     // > 0: self loops are always taken, in addition to Sizes; the most that a vertex has
	Visits  *Visits // not nil: rows are of the vertices that walks visit most, at most Sizes of them
}

// Method is how draws in proportion to scores are made.
type Method int

// Methods. All but Evenly need Weight (the scores) and Drawable of Rows, and its Alias, Inverse or Most.
const (
	Evenly Method = iota
	ByAlias
	ByInverse
	ByRejection
)

// Limits of Fanouts. The places that a block of threads draws must fit in shared memory, and the hops in
// the words of a batch.
const (
	MostDraws = 256
	MostLoops = 16
	MostHops  = 15
)

const (
	threads   = 256
	placeMost = 8 // edges that a thread places at most
)

// The uint32 words of a batch, as the enum of blocks.cu has them: how many there are, the first that the host writes, whether a
// row could not be drawn, and the counts of vertices by level and of edges by hop.
const (
	words      = 80
	seedAt     = 4
	wrongAt    = 11
	verticesAt = 16
	edgesAt    = 32
)

// shape is the launch shape of a hop's draws.
type shape struct{ draws, lanes, rows, each int }

// eachOf is how many edges a thread places: fewer if there are too few edges to fill the GPU.
func eachOf(edges int64, processors int) int {
	each := 1
	for each < placeMost && edges >= int64(8*each*threads*processors) {
		each *= 2
	}
	return each
}

// shared is the bytes of shared memory of a block: places, sums, and rows if several lanes share a row.
func (s shape) shared(loops int) int {
	n := 32 + s.rows*(s.draws+loops)
	if s.lanes > 1 {
		n += s.rows * (1 + 6)
	}
	if s.draws > 32 {
		n += s.rows * s.draws
	}
	return 4 * n
}

// shapeOf chooses the shape of a hop: one thread per row if there are enough rows to fill a GPU, else as
// many lanes of a warp as the draws of a row need.
func (f *Fanouts) shapeOf(draws int, rows int64, processors int) shape {
	s := shape{draws: draws, lanes: 1, each: 1}
	switch {
	case f.Method != Evenly:
		s.rows = min(32, threads*16/draws) // threads of a block that have nothing to draw read edges
		return s
	case draws <= 16 && rows >= int64(threads*processors):
		s.rows = threads
		return s
	case draws <= 16 && rows >= int64(64*processors):
		s.rows = 64
		return s
	}
	for s.lanes = 4; s.lanes < draws && s.lanes < 32; {
		s.lanes *= 2
	}
	s.rows = threads / s.lanes
	return s
}

// room is the largest possible size of a batch of so many seeds: rows and edges of each hop. rows has one
// more element, the vertices of the last level.
func (f *Fanouts) room(vertices, edges, seeds int) (rows, drawn []int64) {
	n := int64(seeds)
	for _, k := range f.Sizes {
		m := n * int64(k+f.Loops)
		if !f.Replace {
			m = min(m, int64(edges))
		}
		rows, drawn = append(rows, n), append(drawn, m)
		n = min(int64(vertices), n+m)
	}
	return append(rows, n), drawn
}

// Blocks draws batches of blocks on a GPU. If the device can capture, a batch is one CUDA graph.
type Blocks struct {
	g        *Graph
	f        Fanouts
	size     int
	rows     []int64 // room: of each level,
	drawn    []int64 // and edges of each hop
	mems     []device.Mem
	queue    device.Queue
	captured device.Graph
	commands []device.Command

	OneByOne bool // Next submits kernels one by one, even if they are captured

	words, table, seeds, vertices device.Mem
	hops                          hopLists
	placed                        []device.Mem // sums of tiles that place writes
	all                           device.Mem   // far of all hops
	starts                        []uint64     // where each hop begins in all, after the seeds
}

// hopLists are the rows and edges of each hop. Only edges of Visits have weights.
type hopLists struct{ begin, far, edge, weight []device.Mem }

// text is the kernels' source.
func (f *Fanouts) text(shapes []shape) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#define THREADS %d\n#define HOPS %d\n#define METHOD %d\n#define ONLY_NEW %v\n", threads, len(shapes), f.Method, f.OnlyNew)
	b.WriteString(prelude + scanText + blocksText + rowsText + hopsText)
	if f.Visits != nil {
		b.WriteString("#define ROOTS 1\ntypedef i64 Number;\n" + functions + f.Visits.Functions + visitsText)
	}
	var args strings.Builder
	for hop, s := range shapes {
		if v := f.Visits; v != nil {
			fmt.Fprintf(&b, visitHead, hop, v.Walks[hop], v.Length, s.draws, s.lanes)
		} else {
			fmt.Fprintf(&b, drawHead, hop, s.draws, s.lanes, s.rows, f.Replace, f.Loops)
		}
		fmt.Fprintf(&b, placeHead, hop, s.each)
		fmt.Fprintf(&args, ", u32 *far%d", hop)
	}
	fmt.Fprintf(&b, finishHead, args.String())
	for hop := range shapes {
		fmt.Fprintf(&b, finishHop, hop)
	}
	b.WriteString(finishEnd)
	return strings.ReplaceAll(b.String(), "__launch_bounds__(THREADS)", fmt.Sprintf("__launch_bounds__(%d)", threads))
}

// shapes are the shapes of all hops.
func (b *Blocks) shapes() (list []shape) {
	for hop := range b.f.Sizes {
		processors := b.g.card.Processors()
		s := b.f.shapeAt(hop, b.rows[hop], processors)
		s.each = eachOf(b.drawn[hop], processors)
		list = append(list, s)
	}
	return list
}

// Sources are the kernel sources for small batches and for large ones, for tests that compile them.
func (f *Fanouts) Sources() []string {
	var small, large []shape
	for hop := range f.Sizes {
		s := f.shapeAt(hop, 1<<30, 1)
		s.each = placeMost
		small, large = append(small, f.shapeAt(hop, 1, 1)), append(large, s)
	}
	return []string{f.text(small) + renameText, f.text(large)}
}

// Bytes is the GPU memory in bytes for batches of so many seeds, from a list of length list, in addition to
// the graph. It is enough for any batch.
func (f *Fanouts) Bytes(vertices, edges, seeds, list int) int64 {
	rows, drawn := f.room(vertices, edges, seeds)
	sum := 8*int64(vertices) + 4*int64(list) + 4*rows[len(drawn)]
	for hop, m := range drawn {
		if f.Visits != nil {
			sum += 4*m + device.Align
		}
		sum += 8*m + 4*(rows[hop]+1) + 8*(m/threads+1) + 8*(rows[hop]/8+1)
	}
	return sum + int64(8+8*len(drawn))*device.Align
}

// NewBlocks takes memory for batches of size seeds, from a list of at most list seeds.
func (g *Graph) NewBlocks(f Fanouts, size, list int) (b *Blocks, err error) {
	b = &Blocks{g: g, f: f, size: size, queue: g.card.Queue}
	b.rows, b.drawn = f.room(g.vertices, g.edges, size)
	defer func() {
		if err != nil {
			err = errors.Join(err, g.card.GPU.Sync(), b.Free())
			b = nil
		}
	}()
	take := func(bytes int64) (m device.Mem) {
		if err == nil {
			if m, err = g.card.Alloc(max(bytes, 8)); err == nil {
				b.mems = append(b.mems, m)
			}
		}
		return m
	}
	b.words, b.table, b.seeds = take(4*words), take(8*int64(g.vertices)), take(4*int64(list))
	b.vertices = take(4 * b.rows[len(f.Sizes)])
	shapes := b.shapes()
	var tiles []device.Mem
	all := int64(0)
	for _, m := range b.drawn {
		all += m
	}
	if all+int64(size) >= 1<<31 {
		return b, fmt.Errorf("batches of %d seeds can have %d edges: at most 2^31 are possible", size, all)
	}
	b.all = take(4 * all)
	all = 0
	for hop, s := range shapes {
		b.hops.begin, b.hops.edge = append(b.hops.begin, take(4*(b.rows[hop]+1))), append(b.hops.edge, take(4*b.drawn[hop]))
		if f.Visits != nil {
			b.hops.weight = append(b.hops.weight, take(4*b.drawn[hop]))
		}
		if err == nil {
			b.hops.far = append(b.hops.far, b.all.Slice(4*all, 4*b.drawn[hop]))
			b.starts = append(b.starts, uint64(int64(size)+all))
		}
		all += b.drawn[hop]
		tiles = append(tiles, take(8*tilesOf(b.rows[hop], s.rows)))
		b.placed = append(b.placed, take(8*tilesOf(b.drawn[hop], threads*s.each)))
	}
	if err != nil {
		return b, err
	}
	var clear []device.Command
	for _, m := range append([]device.Mem{b.words, b.table}, append(tiles, b.placed...)...) {
		at, err := g.card.GPU.Address(m)
		if err != nil {
			return b, err
		}
		clear = append(clear, device.Command{Clear: &device.Clear{Addr: at, Bytes: m.Len() &^ 3}})
	}
	if err = g.card.GPU.Launch(b.queue, device.GPUCommands("saga_clear", clear)); err != nil {
		return b, err
	}
	if err = g.card.GPU.CopyH2D(b.queue, b.words, 0, device.Bytes([]uint32{1})); err != nil { // the first tag
		return b, err
	}
	if err = b.prepare(shapes, tiles); err != nil {
		return b, err
	}
	return b, nil
}

func tilesOf(n int64, each int) int64 { return (n + int64(each) - 1) / int64(each) }

// Seeds copies a list of seeds to the GPU. They must be different vertices of the graph.
func (b *Blocks) Seeds(list []uint32) error {
	return b.g.card.GPU.CopyH2D(b.queue, b.seeds, 0, device.Bytes(list))
}

// Batch selects a batch: seeds From to From+Size-1 of a list of Total seeds, drawn by the key with Seed,
// Epoch and, as its Batch, Number.
type Batch struct {
	Seed                             uint64
	Epoch, Number, From, Size, Total uint32
}

// Set sets the batch that Next draws. Each Next after that draws the following batch of the list.
func (b *Blocks) Set(x Batch) error {
	return b.g.card.GPU.CopyH2D(b.queue, b.words, 4*seedAt, device.Bytes([]uint32{uint32(x.Seed), uint32(x.Seed >> 32), x.Epoch, x.Number, x.From, x.Size, x.Total, 0}))
}

// Next submits the draw of a batch. It overwrites the last batch.
func (b *Blocks) Next() error {
	if b.captured != nil && !b.OneByOne {
		return b.g.card.GPU.(device.Capturer).Replay(b.captured)
	}
	return b.launch()
}

// Counts waits, and returns the numbers of vertices of each level and of edges of each hop of the last
// batch. wrong means that a batch since Set has a row that the GPU could not draw: these blocks are not
// the sample, and a CPU must draw them.
func (b *Blocks) Counts() (vertices, edges []uint32, wrong bool, err error) {
	w := make([]uint32, words)
	if err := errors.Join(b.read(w, b.words), b.g.card.GPU.Sync()); err != nil {
		return nil, nil, false, err
	}
	vertices, edges, wrong = b.CountsOf(w)
	return vertices, edges, wrong, nil
}

func (b *Blocks) read(to []uint32, from device.Mem) error {
	return b.g.card.GPU.CopyD2H(b.queue, device.Bytes(to), from, 0)
}

// Lists says where a batch is in GPU memory. Lists are of uint32, Weight of float32.
type Lists struct {
	Vertices device.Mem   // vertices of the last level
	Begin    []device.Mem // by hop: where rows begin
	Far      []device.Mem // by hop: the far ends, as local numbers
	Edge     []device.Mem // by hop: edge numbers; with Visits the edges' places
	Weight   []device.Mem // by hop, with Visits: the weights
	Queue    device.Queue // the queue that draws
}

// Lists returns the lists, which are the same for every batch.
func (b *Blocks) Lists() Lists {
	return Lists{b.vertices, b.hops.begin, b.hops.far, b.hops.edge, b.hops.weight, b.queue}
}

// Words is the number of words that ReadWords fills.
const Words = words

// ReadWords copies the words of a batch to w. The copy is complete after Sync of the device. CountsOf
// reads the counts from w.
func (b *Blocks) ReadWords(w []uint32) error { return b.read(w[:words], b.words) }

// CountsOf is Counts for words that ReadWords has filled.
func (b *Blocks) CountsOf(w []uint32) (vertices, edges []uint32, wrong bool) {
	hops := len(b.f.Sizes)
	return w[verticesAt : verticesAt+hops+1], w[edgesAt : edgesAt+hops], w[wrongAt] != 0
}

// Vertices copies the ids of the vertices of the last level to ids, which has the length that Counts
// returns. The copy is complete after Sync of the device.
func (b *Blocks) Vertices(ids []uint32) error { return b.read(ids, b.vertices) }

// Hop copies the rows and edges of a hop. begin has one element more than the hop has rows; far and edge
// have one per edge. The copy is complete after Sync of the device.
func (b *Blocks) Hop(hop int, begin, far, edge []uint32) error {
	return errors.Join(b.read(begin, b.hops.begin[hop]), b.read(far, b.hops.far[hop]), b.read(edge, b.hops.edge[hop]))
}

// Weights copies the weights of a hop's edges to list, as Hop does. It is for Visits.
func (b *Blocks) Weights(hop int, list []float32) error {
	return b.g.card.GPU.CopyD2H(b.queue, device.Bytes(list), b.hops.weight[hop], 0)
}

// Free frees the memory of the blocks.
func (b *Blocks) Free() (err error) {
	for _, m := range b.mems {
		err = errors.Join(err, b.g.card.Drop(m))
	}
	b.mems = nil
	return err
}
