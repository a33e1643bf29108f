package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"sagann/device"
	"sagann/device/launch"
	"sagann/mine/plan"
	"sagann/mine/rows"
)

// Part says which part of each row the GPUs need.
type Part uint8

// Parts of rows.
const (
	Above Part = iota // the neighbours above a vertex: enough for cliques and triangles at edges
	Whole             // all neighbours
)

// Layout says which part of the graph is uploaded, and where it lies.
type Layout struct {
	Part Part
	// Hot bounds the bytes of rows in the memory of each GPU; the other rows are read from pinned
	// host memory. Below 0: all rows are in GPU memory.
	Hot int64
	// Reads is how often the rows of each class are read; all 0: once for each neighbour that reads
	// them.
	Reads plan.Reads
	// Hubs also uploads the bits of hubs (see rows.Rows), for loops. It needs whole rows.
	Hubs bool
}

// Graph is a graph on one or more GPUs: a table with the 64-bit address of each row. Kernels read rows
// from GPU memory or host memory alike.
type Graph struct {
	rows   *rows.Rows
	layout Layout
	waits  bool     // kernels mostly wait for host memory; see Upload
	order  []uint32 // vertices by descending number of neighbours above
	cards  []*card
	cold   device.HostMem // rows in host memory, taken on the first GPU and read by all
	first  device.GPU
}

// card is one GPU.
type card struct {
	*launch.Card
	side device.Queue // for copies that must not wait for kernels
	chip Chip
	twin *card // for a second goroutine; nil: there was none

	table, order, label, id device.Mem
	hub                     device.Mem // by vertex: the address of its bits
}

// row is an entry of the table, as kernels see it. For whole rows, below is the number of neighbours
// below the vertex and degree that of all. For Part Above, below is the number of neighbours above
// that take a whole word each (see packing), and degree the number of neighbours above.
type row struct {
	at            uint64
	below, degree uint32
}

// Rows begin at multiples of 32 bytes, the smallest piece in which GPU memory is read. In host
// memory, rows of at least 128 bytes begin at multiples of 128, the largest piece of one request.
const (
	sector = 8 // words
	line   = 32
)

// up rounds n up to a multiple of to.
func up(n, to int64) int64 { return (n + to - 1) / to * to }

// TableBytes is the bytes that the graph takes on a GPU in addition to its rows.
func TableBytes(r *rows.Rows) int64 {
	n := 16 + 4
	if r.Label != nil {
		n += 4
	}
	if r.ID != nil {
		n += 4
	}
	return int64(n)*int64(r.V()) + 8*device.Align
}

// HubBytes is the bytes that the bits of hubs and their addresses take.
func HubBytes(r *rows.Rows) int64 {
	if r.Hub == nil {
		return 0
	}
	return 8*int64(len(r.Bits)) + 8*int64(r.V()) + 2*device.Align
}

// RowBytes is the memory that all rows of a layout take.
func (l Layout) RowBytes(r *rows.Rows) int64 {
	n := int64(0)
	for v := range r.V() {
		n += up(int64(l.words(r, uint32(v))), sector)
	}
	return 4*n + device.Align
}

// Upload copies the graph to the GPUs.
func Upload(gpus []device.GPU, r *rows.Rows, l Layout) (*Graph, error) {
	g := &Graph{rows: r, layout: l, first: gpus[0]}
	if err := g.upload(gpus); err != nil {
		for _, c := range g.cards {
			err = errors.Join(err, c.GPU.Sync()) // copies still read lists of this function
		}
		return nil, errors.Join(err, g.Free())
	}
	return g, nil
}

func (g *Graph) upload(gpus []device.GPU) (err error) {
	r, l := g.rows, g.layout
	if int64(r.V()) >= 1<<32-1 {
		return fmt.Errorf("a graph of %d vertices: the kernels take fewer than 4294967295", r.V())
	}
	at, hot, cold := l.places(r)
	host, reads := l.hostReads(r, at)
	g.waits = 4*host > reads // reading a quarter of all bytes over the link takes as long as counting cliques of four
	if cold > 0 {
		if g.cold, err = g.first.HostAlloc(max(4*cold, 1<<20)); err != nil { // smaller blocks are not pinned
			return err
		}
	}
	column := make([]uint32, hot)
	coldBytes := device.View[uint32](g.cold.Bytes())
	for v := range r.V() {
		if at[v] >= 0 {
			l.copyRow(column[at[v]:], r, uint32(v))
		} else {
			l.copyRow(coldBytes[^at[v]:], r, uint32(v))
		}
	}
	g.order = make([]uint32, r.V())
	for v := range g.order {
		g.order[v] = uint32(v)
	}
	slices.SortStableFunc(g.order, func(a, b uint32) int { return cmp.Compare(len(r.Above(b)), len(r.Above(a))) })
	for _, gpu := range gpus {
		c := &card{Card: &launch.Card{GPU: gpu}, chip: ChipOf(gpu)}
		g.cards = append(g.cards, c)
		if err := c.upload(g, at, column); err != nil {
			return err
		}
	}
	return nil
}

// readers is how often the row of v is expected to be read. If Reads is not known, that is once by each
// vertex that has v in its row, and once by v itself.
func (l Layout) readers(r *rows.Rows, v uint32) float64 {
	switch {
	case l.Reads != plan.Reads{}:
		return l.Reads[r.Class(v)]
	case l.Part == Above:
		return float64(r.Mid[v]) + 1
	}
	return float64(r.Degree(v)) + 1
}

// places returns where each row begins, in words: at[v] in the column in GPU memory or, if negative,
// ^at[v] in the column in host memory. hot and cold are the words of these columns. Rows that are
// expected to be read most go to GPU memory.
func (l Layout) places(r *rows.Rows) (at []int64, hot, cold int64) {
	n := r.V()
	at = make([]int64, n)
	stays := make([]bool, n)
	left := l.Hot / 4
	if l.Hot >= 0 && l.RowBytes(r) > l.Hot {
		by := make([]uint32, n)
		for v := range by {
			by[v] = uint32(v)
		}
		slices.SortStableFunc(by, func(a, b uint32) int { return cmp.Compare(l.readers(r, b), l.readers(r, a)) })
		for _, v := range by {
			if need := up(int64(l.words(r, v)), sector); need <= left {
				stays[v] = true
				left -= need
			}
		}
	} else {
		for v := range stays {
			stays[v] = true
		}
	}
	for v := range n {
		k := int64(l.words(r, uint32(v)))
		switch {
		case k == 0:
		case stays[v]:
			at[v], hot = hot, hot+up(k, sector)
		default:
			x := up(cold, sector)
			if k >= line {
				x = up(cold, line)
			}
			at[v], cold = ^x, x+k
		}
	}
	return at, hot, cold
}

// begin makes the queues and uploads the column of the rows that lie on the GPU. address is where a row lies for kernels: at is its
// place in column, or ^at that in cold, counted in words.
func (c *card) begin(column []uint32, cold *device.HostMem) (address func(at int64) uint64, err error) {
	if err := c.queues(); err != nil {
		return nil, err
	}
	columns, err := launch.Put(c.Card, column)
	if err != nil {
		return nil, err
	}
	base, err := c.GPU.Address(columns)
	return func(at int64) uint64 {
		if at >= 0 {
			return base + 4*uint64(at)
		}
		return c.GPU.HostAddress(cold.Bytes()) + 4*uint64(^at)
	}, err
}

// upload fills one GPU.
func (c *card) upload(g *Graph, at []int64, column []uint32) (err error) {
	r := g.rows
	address, err := c.begin(column, &g.cold)
	if err != nil {
		return err
	}
	table := make([]row, r.V())
	for v := range table {
		table[v].at = address(at[v])
		if g.layout.Part == Above {
			p := packed(r, uint32(v))
			table[v].below, table[v].degree = uint32(p.whole), uint32(p.whole+p.half)
		} else {
			table[v].below, table[v].degree = r.Mid[v], uint32(r.Degree(uint32(v)))
		}
	}
	if c.table, err = launch.Put(c.Card, table); err != nil {
		return err
	}
	if c.order, err = launch.Put(c.Card, g.order); err != nil {
		return err
	}
	if r.Label != nil {
		if c.label, err = launch.Put(c.Card, r.Label); err != nil {
			return err
		}
	}
	if r.ID != nil {
		if c.id, err = launch.Put(c.Card, r.ID); err != nil {
			return err
		}
	}
	if g.layout.Hubs && r.Hub != nil {
		if err := c.hubs(r); err != nil {
			return err
		}
	}
	return c.GPU.Sync() // copies still read lists of this function
}

// queues makes the queues.
func (c *card) queues() (err error) {
	for _, q := range []struct {
		to   *device.Queue
		name string
	}{{&c.Queue, "mine"}, {&c.side, "mine beside"}} {
		if *q.to, err = c.GPU.NewQueue(q.name); err != nil {
			return err
		}
	}
	return nil
}

// beside is c for a second goroutine, with queues and memory of its own for what it does with the graph.
func (c *card) beside() (*card, error) {
	if c.twin == nil {
		t := &card{Card: c.Card.Beside(nil), chip: c.chip, table: c.table, order: c.order, label: c.label, id: c.id, hub: c.hub}
		if err := t.queues(); err != nil {
			return nil, err
		}
		c.twin = t
	}
	return c.twin, nil
}

// hubs uploads the bits of hubs and the table of their addresses.
func (c *card) hubs(r *rows.Rows) error {
	bits, err := launch.Put(c.Card, r.Bits)
	if err != nil {
		return err
	}
	base, err := c.GPU.Address(bits)
	if err != nil {
		return err
	}
	at := make([]uint64, r.V())
	for v, h := range r.Hub {
		if h > 0 {
			at[v] = base + 8*uint64(int(h-1)*r.Words)
		}
	}
	if c.hub, err = launch.Put(c.Card, at); err != nil {
		return err
	}
	return c.GPU.Sync() // the copy still reads the table
}

// Free frees the graph's memory. The GPUs stay open.
func (g *Graph) Free() (err error) {
	for _, c := range g.cards {
		err = errors.Join(err, c.Release(0))
	}
	if len(g.cold.Bytes()) > 0 {
		err = errors.Join(err, g.first.HostFree(g.cold))
	}
	g.cards, g.cold = nil, device.HostMem{}
	return err
}

// HostReads is how many bytes are expected to be read of rows in host memory, and of all rows. A row
// that is read twice counts twice.
func (l Layout) HostReads(r *rows.Rows) (host, all int64) {
	at, _, _ := l.places(r)
	return l.hostReads(r, at)
}

func (l Layout) hostReads(r *rows.Rows, at []int64) (host, all int64) {
	for v := range at {
		n := int64(4 * float64(l.words(r, uint32(v))) * l.readers(r, uint32(v)))
		if all += n; at[v] < 0 {
			host += n
		}
	}
	return host, all
}
