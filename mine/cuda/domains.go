package cuda

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"sagann/device"
	"sagann/device/launch"
	"sagann/mine/domain"
	"sagann/mine/pattern"
	"sagann/mine/rows"
)

const mostVertices = pattern.MaxVertices

// arc, candidate and domainPart, a Piece there, are as kernels see them.
type arc struct{ words, before, ids, off, col, members uint64 }

type candidate struct {
	n, sure, joins, squares   uint32
	label, orbit, near, words [mostVertices]uint32
	at                        [mostVertices]uint64
	arc                       [mostVertices][mostVertices]uint32
	order                     [mostVertices][mostVertices]uint8
	join                      [mostJoins][2]uint8
	far, mark, test, _        [mostVertices]uint8
}

type domainPart struct {
	candidate, from uint32
	steps           uint64
}

// mostJoins is how many semi-joins a candidate has: each edge of the largest pattern in both directions.
const mostJoins = mostVertices * (mostVertices - 1)

const (
	candidateBytes = int64(unsafe.Sizeof(candidate{}))
	pieceBytes     = int64(unsafe.Sizeof(domainPart{}))
	countBytes     = int64(4 * mostVertices)
)

// Domains finds domains on GPUs. The graph by labels, and for induced patterns the whole graph, is on each of them,
// or as far as it does not fit in pinned host memory.
type Domains struct {
	graph *domain.Graph
	whole *rows.Rows // nil: patterns are not induced
	least uint64
	cards []*domainCard
	cold  device.HostMem
	first device.GPU
}

// domainCard is one of the GPUs.
type domainCard struct {
	*card
	of           *Domains
	arcs         device.Mem
	number, from device.Mem // numbers of vertices by label, and where a label begins
	off, col     device.Mem
	lanes        []*lane
}

// LeastArcs is the bytes of the arcs on a GPU if all are in host memory.
const LeastArcs = device.Align

// DomainsNeed is the bytes that Domains takes on a GPU in addition to the arcs: the least that works, and what one
// batch after the other needs to use a GPU well.
func DomainsNeed(g *domain.Graph, whole *rows.Rows, vertices int) (least, most int64) {
	fixed := block(int64(len(g.Arcs()))*int64(unsafe.Sizeof(arc{}))) + stateBytes
	if whole != nil {
		fixed += block(4*int64(len(whole.Col))) + block(8*int64(whole.V()+1)) + block(4*int64(whole.V())) + block(8*int64(len(g.Labels)))
	}
	one := largest(g, vertices)
	return fixed + one, fixed + max(2*one+stateBytes, domainBatch)
}

// largest is the bytes for a batch of the largest candidate that there can be.
func largest(g *domain.Graph, vertices int) int64 {
	words := int64(g.MostWords())
	return block(batchBytes(1, int64(vertices)*pieces(2*words), int64(vertices)*words))
}

// block is what a block of so many bytes takes of a GPU's memory.
func block(bytes int64) int64 { return up(max(bytes, 8), device.Align) }

// stateBytes is what the state of a lane takes of a GPU's memory.
const stateBytes = (8*stateWords + device.Align - 1) / device.Align * device.Align

// domainBatch is the memory for batches that use a GPU well: each batch ends with a few searches that leave most of the GPU idle.
const domainBatch = 256 << 20

// pieces is how many pieces so many 32-bit words are.
func pieces(words int64) int64 { return (words + domainPiece - 1) / domainPiece }

// batchBytes is the memory of a batch of candidates with so many pieces and 64-bit words: records, pieces, words of the
// domains, counts, known words and sizes.
func batchBytes(candidates, pieces, words int64) int64 {
	return candidates*(candidateBytes+2*countBytes) + pieces*pieceBytes + 16*words + 4*device.Align
}

// ArcLayout is how arcs lie. Up to Hot bytes of them are on each GPU, at least LeastArcs, the others in host memory; below 0: all
// are on the GPUs. Dense arcs have an offset for each vertex of a label, in place of members: kernels look rows up faster, in more memory.
type ArcLayout struct {
	Hot   int64
	Dense bool
}

// ArcBytes is the bytes of all arcs.
func ArcBytes(g *domain.Graph, dense bool) (n int64) {
	for _, a := range g.Arcs() {
		n += 4 * ArcLayout{Dense: dense}.words(&a)
	}
	return block(n)
}

// words is the 32-bit words of an arc, in a multiple of a sector.
func (l ArcLayout) words(a *domain.Arc) int64 {
	if l.Dense {
		return up(int64(a.Vertices+1+len(a.Col)), sector)
	}
	return up(int64(2*len(a.Words)+len(a.Before)+len(a.IDs)+len(a.Off)+len(a.Col)), sector)
}

// lay writes the lists of an arc one after the other.
func (l ArcLayout) lay(to []uint32, a *domain.Arc) {
	if l.Dense {
		a.Rows(func(x int, from uint32) { to[x] = from })
		copy(to[a.Vertices+1:], a.Col)
		return
	}
	for i, m := range a.Words {
		to[2*i], to[2*i+1] = uint32(m), uint32(m>>32)
	}
	n := 2 * len(a.Words)
	for _, list := range [][]uint32{a.Before, a.IDs, a.Off, a.Col} {
		n += copy(to[n:], list)
	}
}

// record is an arc that lies at an address, as kernels see it.
func (l ArcLayout) record(a *domain.Arc, at uint64) arc {
	if l.Dense {
		return arc{off: at, col: at + 4*uint64(a.Vertices+1)}
	}
	x := arc{before: at + 8*uint64(len(a.Words)), members: uint64(len(a.Off) - 1)}
	if a.Words != nil {
		x.words = at
	}
	x.ids = x.before + 4*uint64(len(a.Before))
	x.off = x.ids + 4*uint64(len(a.IDs))
	x.col = x.off + 4*uint64(len(a.Off))
	return x
}

// NewDomains uploads the graph by labels. room is the bytes for everything but arcs, see DomainsNeed. whole is the rows by the user's numbers if
// patterns are induced.
func NewDomains(gpus []device.GPU, g *domain.Graph, whole *rows.Rows, least int64, l ArcLayout, room int64) (*Domains, error) {
	d := &Domains{graph: g, whole: whole, least: uint64(least), first: gpus[0]}
	if err := d.upload(gpus, l, room); err != nil {
		for _, c := range d.cards {
			err = errors.Join(err, c.GPU.Sync()) // copies still read lists of this function
		}
		return nil, errors.Join(err, d.Free())
	}
	return d, nil
}

// Cards are the lanes of all GPUs, for domain.Question.
func (d *Domains) Cards() (list []domain.Card) {
	for _, c := range d.cards {
		for _, l := range c.lanes {
			list = append(list, l)
		}
	}
	return list
}

// Free frees the memory. The GPUs stay open.
func (d *Domains) Free() (err error) {
	for _, c := range d.cards {
		if len(c.lanes) > 0 {
			err = errors.Join(err, c.GPU.Sync()) // copies may still use the memory of the host
		}
		for _, l := range c.lanes {
			err = errors.Join(err, l.free())
		}
		err = errors.Join(err, c.Release(0))
	}
	if len(d.cold.Bytes()) > 0 {
		err = errors.Join(err, d.first.HostFree(d.cold))
	}
	d.cards, d.cold = nil, device.HostMem{}
	return err
}

func (d *Domains) upload(gpus []device.GPU, l ArcLayout, room int64) (err error) {
	list := d.graph.Arcs()
	at := make([]int64, len(list)) // words in the column on the GPUs or, if negative, ^at in that of the host
	var there, here int64
	for i := range list {
		if n := l.words(&list[i]); l.Hot < 0 || 4*(there+n) <= l.Hot/device.Align*device.Align {
			at[i], there = there, there+n
		} else {
			at[i], here = ^here, here+n
		}
	}
	if here > 0 {
		if d.cold, err = d.first.HostAlloc(max(4*here, 1<<20)); err != nil { // smaller blocks are not pinned
			return err
		}
	}
	column, cold := make([]uint32, there), device.View[uint32](d.cold.Bytes())
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				if at[i] >= 0 {
					l.lay(column[at[i]:], &list[i])
				} else {
					l.lay(cold[^at[i]:], &list[i])
				}
			}
		})
	}
	wg.Wait()
	for _, gpu := range gpus {
		c := &domainCard{card: &card{Card: &launch.Card{GPU: gpu}, chip: ChipOf(gpu)}, of: d}
		d.cards = append(d.cards, c)
		if err := c.upload(l, list, at, column, room); err != nil {
			return err
		}
	}
	return nil
}

// upload fills a GPU.
func (c *domainCard) upload(l ArcLayout, list []domain.Arc, at []int64, column []uint32, room int64) (err error) {
	address, err := c.begin(column, &c.of.cold)
	if err != nil {
		return err
	}
	table := make([]arc, len(list))
	for i := range list {
		table[i] = l.record(&list[i], address(at[i]))
	}
	before := c.Taken()
	if c.arcs, err = launch.Put(c.Card, table); err != nil {
		return err
	}
	if err := c.whole(); err != nil {
		return err
	}
	if err := c.open((room - (c.Taken() - before)) / device.Align * device.Align); err != nil {
		return err
	}
	return c.GPU.Sync() // copies still read lists of this function
}

// whole uploads the rows that induced patterns need.
func (c *domainCard) whole() (err error) {
	c.from, c.number, c.off, c.col = c.arcs, c.arcs, c.arcs, c.arcs // not read
	r := c.of.whole
	if r == nil {
		return nil
	}
	var numbers []uint32
	var first, off []uint64
	for _, l := range c.of.graph.Labels {
		first = append(first, uint64(len(numbers)))
		numbers = append(numbers, l.Vertices...)
	}
	for _, o := range r.Off {
		off = append(off, uint64(o))
	}
	if c.from, err = launch.Put(c.Card, first); err != nil {
		return err
	}
	if c.number, err = launch.Put(c.Card, numbers); err != nil {
		return err
	}
	if c.off, err = launch.Put(c.Card, off); err != nil {
		return err
	}
	if c.col, err = launch.Put(c.Card, r.Col); err != nil {
		return err
	}
	return c.GPU.Sync() // copies still read lists of this function
}
