package cuda

import (
	"context"
	"errors"
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
	n, sure, joins, _         uint32
	label, orbit, near, words [mostVertices]uint32
	at                        [mostVertices]uint64
	arc                       [mostVertices][mostVertices]uint32
	order                     [mostVertices][mostVertices]uint8
	join                      [mostJoins][2]uint8
}

type domainPart struct{ candidate, vertex, from, _ uint32 }

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
	state, room  device.Mem
}

// LeastArcs is the bytes of the arcs on a GPU if all are in host memory.
const LeastArcs = device.Align

// DomainsNeed is the bytes that Domains takes on a GPU in addition to the arcs: the least that works, and what one
// batch after the other needs to use a GPU well.
func DomainsNeed(g *domain.Graph, whole *rows.Rows, vertices int) (least, most int64) {
	fixed := block(int64(len(g.Arcs()))*int64(unsafe.Sizeof(arc{}))) + block(8*stateWords)
	if whole != nil {
		fixed += block(4*int64(len(whole.Col))) + block(8*int64(whole.V()+1)) + block(4*int64(whole.V())) + block(8*int64(len(g.Labels)))
	}
	words := int64(g.MostWords())
	one := batchBytes(1, int64(vertices)*pieces(2*words), int64(vertices)*words)
	return fixed + block(one), fixed + max(block(one), domainBatch)
}

// block is what a block of so many bytes takes of a GPU's memory.
func block(bytes int64) int64 { return up(max(bytes, 8), device.Align) }

// domainBatch is the memory for a batch that uses a GPU well.
const domainBatch = 256 << 20

// pieces is how many pieces so many 32-bit words are.
func pieces(words int64) int64 { return (words + domainPiece - 1) / domainPiece }

// batchBytes is the memory of a batch of candidates with so many pieces and 64-bit words: records, pieces, words of the
// domains, counts, known words and sizes.
func batchBytes(candidates, pieces, words int64) int64 {
	return candidates*(candidateBytes+2*countBytes) + pieces*pieceBytes + 16*words + 4*device.Align
}

// ArcBytes is the bytes of all arcs.
func ArcBytes(g *domain.Graph) (n int64) {
	for _, a := range g.Arcs() {
		n += 4 * arcWords(&a)
	}
	return block(n)
}

// arcWords is the 32-bit words of an arc, in a multiple of a sector.
func arcWords(a *domain.Arc) int64 {
	return up(int64(2*len(a.Words)+len(a.Before)+len(a.IDs)+len(a.Off)+len(a.Col)), sector)
}

// NewDomains uploads the graph by labels. Arcs take up to hot bytes of each GPU, at least LeastArcs, the others stay in host memory; below 0: all
// are on the GPUs. room is the bytes for everything else, see DomainsNeed. whole is the rows by the user's numbers if patterns are induced.
func NewDomains(gpus []device.GPU, g *domain.Graph, whole *rows.Rows, least, hot, room int64) (*Domains, error) {
	d := &Domains{graph: g, whole: whole, least: uint64(least), first: gpus[0]}
	if err := d.upload(gpus, hot, room); err != nil {
		for _, c := range d.cards {
			err = errors.Join(err, c.GPU.Sync()) // copies still read lists of this function
		}
		return nil, errors.Join(err, d.Free())
	}
	return d, nil
}

// Cards are the GPUs, for domain.Question.
func (d *Domains) Cards() (list []domain.Card) {
	for _, c := range d.cards {
		list = append(list, c)
	}
	return list
}

// Free frees the memory. The GPUs stay open.
func (d *Domains) Free() (err error) {
	for _, c := range d.cards {
		err = errors.Join(err, c.Release(0))
	}
	if len(d.cold.Bytes()) > 0 {
		err = errors.Join(err, d.first.HostFree(d.cold))
	}
	d.cards, d.cold = nil, device.HostMem{}
	return err
}

func (d *Domains) upload(gpus []device.GPU, hot, room int64) (err error) {
	list := d.graph.Arcs()
	at := make([]int64, len(list)) // words in the column on the GPUs or, if negative, ^at in that of the host
	var there, here int64
	for i := range list {
		if n := arcWords(&list[i]); hot < 0 || 4*(there+n) <= hot/device.Align*device.Align {
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
	for i := range list {
		if at[i] >= 0 {
			layArc(column[at[i]:], &list[i])
		} else {
			layArc(cold[^at[i]:], &list[i])
		}
	}
	for _, gpu := range gpus {
		c := &domainCard{card: &card{Card: &launch.Card{GPU: gpu}, chip: ChipOf(gpu)}, of: d}
		d.cards = append(d.cards, c)
		if err := c.upload(list, at, column, room); err != nil {
			return err
		}
	}
	return nil
}

// layArc writes the lists of an arc one after the other.
func layArc(to []uint32, a *domain.Arc) {
	for i, m := range a.Words {
		to[2*i], to[2*i+1] = uint32(m), uint32(m>>32)
	}
	n := 2 * len(a.Words)
	for _, list := range [][]uint32{a.Before, a.IDs, a.Off, a.Col} {
		n += copy(to[n:], list)
	}
}

// upload fills a GPU.
func (c *domainCard) upload(list []domain.Arc, at []int64, column []uint32, room int64) (err error) {
	address, err := c.begin(column, &c.of.cold)
	if err != nil {
		return err
	}
	table := make([]arc, len(list))
	for i := range list {
		a, p := &list[i], address(at[i])
		x := arc{before: p + 8*uint64(len(a.Words)), members: uint64(len(a.Off) - 1)}
		if a.Words != nil {
			x.words = p
		}
		x.ids = x.before + 4*uint64(len(a.Before))
		x.off = x.ids + 4*uint64(len(a.IDs))
		x.col = x.off + 4*uint64(len(a.Off))
		table[i] = x
	}
	before := c.Taken()
	if c.arcs, err = launch.Put(c.Card, table); err != nil {
		return err
	}
	if err := c.whole(); err != nil {
		return err
	}
	if c.state, err = c.Alloc(8 * stateWords); err != nil {
		return err
	}
	if c.room, err = c.Alloc((room - (c.Taken() - before)) / device.Align * device.Align); err != nil {
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

// Room is the bytes for a batch.
func (c *domainCard) Room() int64 { return c.room.Len() - 4*device.Align }

// Bytes is the bytes of a candidate in a batch.
func (c *domainCard) Bytes(s *domain.Search) int64 {
	n, words := int64(0), int64(0)
	for v := range s.N {
		n, words = n+pieces(2*int64(len(s.Sets[v]))), words+int64(len(s.Sets[v]))
	}
	return batchBytes(1, n, words) - 4*device.Align
}

// batch is a batch as it lies in the memory of a GPU.
type batch struct {
	candidates []candidate
	pieces     []domainPart
	sets       []uint64 // domains
	counts     []uint32
	joins      int // most of a candidate
}

// pack makes a batch.
func pack(list []*domain.Search) *batch {
	b := &batch{candidates: make([]candidate, len(list)), counts: make([]uint32, mostVertices*len(list))}
	for i, s := range list {
		c := &b.candidates[i]
		c.n = uint32(s.N)
		if s.Sure {
			c.sure = 1
		}
		for v := range s.N {
			c.label[v], c.orbit[v], c.near[v] = uint32(s.Label[v]), uint32(s.Orbit[v]), uint32(s.Near[v])
			c.words[v], c.at[v] = uint32(2*len(s.Sets[v])), uint64(2*len(b.sets))
			c.order[v] = s.Order(v)
			for u := range s.N {
				c.arc[v][u] = uint32(s.Arc[v][u])
			}
			b.sets = append(b.sets, s.Sets[v]...)
			b.counts[mostVertices*i+v] = s.Count[v]
			for w := uint32(0); w < c.words[v]; w += domainPiece {
				b.pieces = append(b.pieces, domainPart{candidate: uint32(i), vertex: uint32(v), from: w})
			}
		}
		b.joins = max(b.joins, c.plan(s))
	}
	return b
}

// plan makes the semi-joins: towards the first vertex of an order, then back. In a tree these make all
// vertices consistent.
func (c *candidate) plan(s *domain.Search) int {
	order := s.Order(0)
	place := func(v, with uint8) {
		c.join[c.joins] = [2]uint8{v, with}
		c.joins++
	}
	for k := s.N - 1; k > 0; k-- {
		for _, before := range order[:k] {
			if s.Near[order[k]]>>before&1 == 1 {
				place(before, order[k])
			}
		}
	}
	for k := 1; k < s.N; k++ {
		for _, before := range order[:k] {
			if s.Near[order[k]]>>before&1 == 1 {
				place(order[k], before)
			}
		}
	}
	return int(c.joins)
}

// Search finds the domains of a batch. When ctx is done, the kernels stop.
func (c *domainCard) Search(ctx context.Context, list []*domain.Search) (err error) {
	b := pack(list)
	at := int64(0)
	take := func(bytes int64) device.Mem {
		m := c.room.Slice(at, max(bytes, 8))
		at = up(at+max(bytes, 8), 16)
		return m
	}
	records, parts, sets := take(int64(len(b.candidates))*candidateBytes), take(int64(len(b.pieces))*pieceBytes), take(8*int64(len(b.sets)))
	counts, known, sizes := take(4*int64(len(b.counts))), take(8*int64(len(b.sets))), take(4*int64(len(b.counts)))
	for _, x := range []struct {
		to    device.Mem
		bytes []byte
	}{{records, device.Bytes(b.candidates)}, {parts, device.Bytes(b.pieces)}, {sets, device.Bytes(b.sets)}, {counts, device.Bytes(b.counts)}} {
		if err := c.GPU.CopyH2D(c.Queue, x.to, 0, x.bytes); err != nil {
			return errors.Join(err, c.GPU.Sync())
		}
	}
	if err := c.Launch(c.calls(b, records, parts, sets, counts, known, sizes)...); err != nil {
		return errors.Join(err, c.GPU.Sync())
	}
	if err := c.await(ctx, c.state); err != nil {
		return err
	}
	got := make([]uint32, len(b.counts))
	err = c.GPU.CopyD2H(c.Queue, device.Bytes(got), sizes, 0)
	for _, s := range list {
		if err == nil && !s.Last {
			err = c.GPU.CopyD2H(c.Queue, device.Bytes(b.sets), sets, 0)
			break
		}
	}
	if err := errors.Join(err, c.GPU.Sync()); err != nil {
		return err
	}
	for i, s := range list {
		copy(s.Count[:], got[mostVertices*i:])
		for v := range s.N {
			from := b.candidates[i].at[v] / 2
			copy(s.Sets[v], b.sets[from:])
		}
	}
	return nil
}

// calls are the launches of a batch.
func (c *domainCard) calls(b *batch, records, parts, sets, counts, known, sizes device.Mem) (list []launch.Call) {
	n, source := uint64(len(b.pieces)), domainsOf(c.of.whole != nil)
	grid := atMost(16*c.chip.Processors, len(b.pieces), 1)
	all := launch.Args{"candidates": records, "pieces": parts, "n": n, "sets": sets, "counts": counts, "least": c.of.least}
	add := func(name string, args launch.Args) {
		list = append(list, launch.Call{Source: source, Name: name, Grid: grid, Block: domainsBlock, Args: all.With(args)})
	}
	for step := range b.joins {
		add("saga_join", launch.Args{"step": uint64(step), "arcs": c.arcs})
	}
	add("saga_search", launch.Args{"arcs": c.arcs, "known": known, "state": c.state, "first": c.from, "number": c.number, "off": c.off, "col": c.col})
	add("saga_found", launch.Args{"known": known, "sizes": sizes})
	list[0].Clear = []device.Mem{known, sizes, c.state}
	return list
}
