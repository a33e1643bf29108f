package cuda

import (
	"errors"
	"fmt"

	"sagann/device"
)

// Hops is an embedding by two layers over sampled trees, as sample.TwoHop. A source draws Children in-edges,
// and each child draws Leaves.
type Hops struct {
	Children, Leaves int
	Cols             int    // features per vertex
	Self             bool   // a vertex without in-edges is its own neighbour
	Wf1, Wa1         Matrix // Cols × any
	Wf2, Wa2         Matrix // (Wf1.Cols+Wa1.Cols) × any
	Batch            int    // sources at a time; 0: NewEmbedding chooses
	Half             bool   // rows of the first layer's products are bfloat16
}

// Matrix is a dense matrix, row-major.
type Matrix struct {
	Rows, Cols int
	Data       []float32
}

// MostHopCols is the largest number of columns of Wa1.
const MostHopCols = 2048

// up4 rounds up to a multiple of 4, the number of floats that a thread reads at a time.
func up4(n int) int { return (n + 3) &^ 3 }

// pf and pa are the padded numbers of columns of the first layer's two parts.
func (h *Hops) pf() int { return up4(h.Wf1.Cols) }
func (h *Hops) pa() int { return up4(h.Wa1.Cols) }

func (h *Hops) out() int { return h.Wf2.Cols + h.Wa2.Cols }

// tile is the number of draws that a warp works on together. A thread holds four sums per draw and 128
// columns, and more than 64 sums do not fit in its registers. If a source has few draws, a child has few,
// too. Then small tiles are better: they need fewer registers, so more warps hide the latency of memory.
func (h *Hops) tile() int {
	t := 16
	switch {
	case h.Children <= 16:
		t = 4
	case h.Children <= 48:
		t = 8
	}
	for t > 1 && t*h.parts() > 16 {
		t /= 2
	}
	return t
}

// parts is the number of pieces of 128 columns, which a warp reads at a time, of a row of leaves.
func (h *Hops) parts() int { return (h.pa() + 127) / 128 }

// blocks is the number of resident blocks of saga_leaves per multiprocessor: so many have enough registers
// for their sums.
func (h *Hops) blocks() int {
	switch sums := h.tile() * h.parts(); {
	case sums <= 4:
		return 8
	case sums <= 8:
		return 5
	}
	return 4
}

// dense is the longest row that is read whole. That takes one read per edge of the row for a tile, while
// reading only the drawn edges takes Leaves reads per draw. The counts of a warp take 8 KB at most.
func (h *Hops) dense() int { return min(4*h.Leaves, 128) }

// verticesEach is the number of vertices per thread in scans over vertices.
const verticesEach = 8

func (h *Hops) text() string {
	return fmt.Sprintf("#define THREADS 256\n#define EACH %d\n#define CHILDREN %d\n#define LEAVES %d\n#define PF %d\n#define PA %d\n#define OUT %d\n#define TILE %d\n#define DENSE %d\n#define BLOCKS %d\n#define SELF %t\n#define HALF %t\n",
		verticesEach, h.Children, h.Leaves, h.pf(), h.pa(), h.out(), h.tile(), h.dense(), h.blocks(), h.Self, h.Half) + prelude + scanText + numberText + productText + hopGroupsText + twoHopText
}

// Sources are the kernel sources, for tests that compile them.
func (h *Hops) Sources() []string { return []string{h.text()} }

// Embedding is Hops on a GPU, with features and memory for a batch.
type Embedding struct {
	g      *Graph
	h      *Hops
	source string
	batch  int
	copies device.Queue

	m            hopMemory
	out          [2]device.Mem // in turn: rows of the current batch, and of the last one while they are copied to the host
	done, copied [2]device.Event
	rows         []device.HostMem
}

// hopMemory is the GPU memory of an Embedding, except for the rows of the result.
type hopMemory struct {
	x, w1, wf2, wa2     device.Mem
	first, squared      device.Mem // of all vertices: relu(x·Wf1) and x·Wa1, and sums of squares of the former
	counts, sums, start device.Mem // of all vertices: number of draws of a batch, and where they begin
	sources             device.Mem
	children, place     device.Mem // by draw in the order of sources: the child, and its place in the order of children
	draws, tiles        device.Mem // by draw in the order of children: its number in the order of sources
	mean, norm          device.Mem // by draw in the order of children: mean of its leaves times 1/norm of the child's row, and 1/norm
	own, among          device.Mem // by source of a batch: the first layer's row, and the mean of its children's rows
}

// number is the size in bytes of a number of the first layer's products.
func (h *Hops) number() int64 {
	if h.Half {
		return 2
	}
	return 4
}

// fixed is the memory in bytes that does not depend on the batch, without graph and sources.
func (h *Hops) fixed(vertices int) int64 {
	v, row := int64(vertices), int64(h.pf()+h.pa())
	return 4*(v*int64(h.Cols)+int64(h.Cols)*row+row*int64(h.out())+3*v+2*(v/256/verticesEach+2)) + h.number()*v*row
}

// each is the memory in bytes per source of a batch.
func (h *Hops) each() int64 {
	row, c := int64(h.pf()+h.pa()), int64(h.Children)
	return 4*(2*row+2*int64(h.out())+c*(3+4+1)) + h.number()*c*int64(h.pa())
}

// Bytes is the GPU memory in bytes for batches of batch sources, without the graph and the ids of the
// sources.
func (h *Hops) Bytes(vertices, batch int) int64 {
	return h.fixed(vertices) + int64(batch)*h.each() + 32*device.Align
}

// drawsAtATime is the number of draws of a batch beyond which larger batches are not faster: most vertices of
// large graphs are then drawn often enough to fill tiles.
const drawsAtATime = 1 << 25

// choose returns the number of sources per batch, for so many sources in all and so many free bytes.
func (h *Hops) choose(vertices, sources int, free int64) (int, error) {
	n := h.Batch
	if n == 0 {
		// With several batches, rows are copied while others are computed. If a source draws much, computing
		// takes longer than copying, and fewer batches fill tiles better.
		batches := 4
		if h.tile() <= 4 {
			batches = 8
		}
		n = min(max(1, drawsAtATime/h.Children), max(1<<12, (sources+batches-1)/batches))
	}
	n = max(1, min(n, sources, (1<<32-2)/h.Children))
	most := (free - h.Bytes(vertices, 0)) / h.each()
	if most < 1 {
		return 0, fmt.Errorf("features, their products and the memory of a source take %d bytes, and %d are free", h.Bytes(vertices, 1), free)
	}
	return int(min(int64(n), most)), nil
}

// NewEmbedding copies features (V×h.Cols) and matrices to the GPU, and takes memory to embed at most so many
// sources per call. g must have been uploaded with Needs.Far. Free of the Embedding frees g, too.
func NewEmbedding(g *Graph, h *Hops, x []float32, sources int) (e *Embedding, err error) {
	e = &Embedding{g: g, h: h, source: h.text()}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.card.GPU.Sync(), g.Free())
			e = nil
		}
	}()
	if h.Wa1.Cols > MostHopCols {
		return e, fmt.Errorf("Wa1 has %d columns: a GPU takes at most %d", h.Wa1.Cols, MostHopCols)
	}
	free := g.card.GPU.Info().Budget - g.card.GPU.Counters().Used - 4*int64(sources)
	if e.batch, err = h.choose(g.vertices, sources, free); err != nil {
		return e, err
	}
	if e.copies, err = g.card.GPU.NewQueue("rows"); err != nil {
		return e, err
	}
	for i := range 2 {
		for _, to := range []*device.Event{&e.done[i], &e.copied[i]} {
			if *to, err = g.card.GPU.NewEvent(); err != nil {
				return e, err
			}
		}
	}
	if err = e.memory(sources); err == nil {
		err = e.upload(x)
	}
	return e, errors.Join(err, g.card.GPU.Sync())
}

// memory takes all memory.
func (e *Embedding) memory(sources int) (err error) {
	h, v, b, row := e.h, int64(e.g.vertices), int64(e.batch), int64(e.h.pf()+e.h.pa())
	n := b * int64(h.Children)
	for _, m := range []struct {
		at    *device.Mem
		bytes int64
	}{
		{&e.m.x, 4 * v * int64(h.Cols)}, {&e.m.w1, 4 * int64(h.Cols) * row}, {&e.m.wf2, 4 * row * int64(h.Wf2.Cols)}, {&e.m.wa2, 4 * row * int64(h.Wa2.Cols)},
		{&e.m.first, h.number() * v * row}, {&e.m.squared, 4 * v}, {&e.m.counts, 4 * v}, {&e.m.start, 4 * v}, {&e.m.sums, 8 * (int64(e.blocks()) + 1)},
		{&e.m.sources, 4 * int64(sources)}, {&e.m.children, 4 * n}, {&e.m.place, 4 * n}, {&e.m.draws, 4 * n}, {&e.m.tiles, 16 * n},
		{&e.m.mean, h.number() * n * int64(h.pa())}, {&e.m.norm, 4 * n},
		{&e.m.own, 4 * b * row}, {&e.m.among, 4 * b * row}, {&e.out[0], 4 * b * int64(h.out())}, {&e.out[1], 4 * b * int64(h.out())},
	} {
		if *m.at, err = e.g.card.Alloc(max(m.bytes, 8)); err != nil {
			return err
		}
	}
	return nil
}

// blocks is the number of blocks in scans over vertices.
func (e *Embedding) blocks() int {
	return (e.g.vertices + 256*verticesEach - 1) / (256 * verticesEach)
}

// upload copies features and matrices to the GPU, padded with zeros.
func (e *Embedding) upload(x []float32) error {
	h, row := e.h, e.h.pf()+e.h.pa()
	w1 := make([]float32, h.Cols*row)
	for i := range h.Cols {
		copy(w1[i*row:], h.Wf1.Data[i*h.Wf1.Cols:][:h.Wf1.Cols])
		copy(w1[i*row+h.pf():], h.Wa1.Data[i*h.Wa1.Cols:][:h.Wa1.Cols])
	}
	padded := func(m Matrix) []float32 {
		w := make([]float32, row*m.Cols)
		copy(w, m.Data[:h.Wf1.Cols*m.Cols])
		copy(w[h.pf()*m.Cols:], m.Data[h.Wf1.Cols*m.Cols:])
		return w
	}
	for _, c := range []struct {
		to   device.Mem
		from []float32
	}{{e.m.x, x}, {e.m.w1, w1}, {e.m.wf2, padded(h.Wf2)}, {e.m.wa2, padded(h.Wa2)}} {
		if err := e.g.card.GPU.CopyH2D(e.g.card.Queue, c.to, 0, device.Bytes(c.from)); err != nil {
			return err
		}
	}
	return nil
}

// Batch is the number of sources per batch.
func (e *Embedding) Batch() int { return e.batch }

// Embed writes the embeddings of sources, which must be vertices of the graph, to out, and waits for them.
func (e *Embedding) Embed(sources []uint32, k0, k1 uint32, out []float32) error {
	g, key := e.g, uint64(k0)|uint64(k1)<<32
	if int64(len(sources))*4 > e.m.sources.Len() {
		return fmt.Errorf("%d sources, and the memory is for %d", len(sources), e.m.sources.Len()/4)
	}
	if len(sources) == 0 {
		return nil
	}
	err := g.card.GPU.CopyH2D(g.card.Queue, e.m.sources, 0, device.Bytes(sources))
	if err == nil {
		err = g.card.Launch(e.firstLayer()...)
	}
	for lo := 0; lo < len(sources) && err == nil; lo += e.batch {
		n := min(e.batch, len(sources)-lo)
		err = e.one(lo/e.batch%2, lo, n, key, out[lo*e.h.out():][:n*e.h.out()])
	}
	return errors.Join(err, g.card.GPU.Sync())
}

// one embeds sources lo to lo+n-1 into e.out[slot], and starts the copy of these rows to out.
func (e *Embedding) one(slot, lo, n int, key uint64, out []float32) error {
	g := e.g
	if e.copied[slot].Recorded() > 0 {
		if err := g.card.GPU.Wait(g.card.Queue, e.copied[slot]); err != nil {
			return err
		}
	}
	err := g.card.Launch(e.batchOf(slot, lo, n, key)...)
	if err == nil {
		err = g.card.GPU.Record(g.card.Queue, e.done[slot])
	}
	if err == nil {
		err = g.card.GPU.Wait(e.copies, e.done[slot])
	}
	if err == nil {
		err = g.card.GPU.CopyD2H(e.copies, device.Bytes(out), e.out[slot], 0)
	}
	if err == nil {
		err = g.card.GPU.Record(e.copies, e.copied[slot])
	}
	return err
}
