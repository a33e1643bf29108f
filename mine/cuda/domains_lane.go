package cuda

import (
	"context"
	"errors"
	"unsafe"

	"sagann/device"
	"sagann/device/launch"
	"sagann/mine/domain"
)

// lane does one batch after the other, in memory and a queue of its own. A GPU has four, if there is room: the kernels of some run while the
// batches of others are made and copied, and while the last searches of one end.
type lane struct {
	*card
	of          *domainCard
	state, room device.Mem
	stage       device.HostMem // a batch as it is copied to room, and then what is found
	done        device.Event   // what was submitted has run
}

// open makes the lanes, which share so many bytes.
func (c *domainCard) open(bytes int64) error {
	n := int64(4)
	for n > 1 && bytes/n < stateBytes+largest(c.of.graph, mostVertices) {
		n /= 2
	}
	for range n {
		l := &lane{card: &card{Card: &launch.Card{GPU: c.GPU}, chip: c.chip}, of: c}
		c.lanes = append(c.lanes, l)
		if err := l.open(bytes/n/device.Align*device.Align - stateBytes); err != nil {
			return err
		}
	}
	return nil
}

func (l *lane) open(room int64) (err error) {
	if err := l.queues(); err != nil {
		return err
	}
	if l.state, err = l.Alloc(8 * stateWords); err != nil {
		return err
	}
	if l.room, err = l.Alloc(room); err != nil {
		return err
	}
	if l.stage, err = l.GPU.HostAlloc(room); err != nil {
		return err
	}
	l.done, err = l.GPU.NewEvent()
	return err
}

// free frees the memory, which no copy uses any more.
func (l *lane) free() (err error) {
	if len(l.stage.Bytes()) > 0 {
		err = l.GPU.HostFree(l.stage)
		l.stage = device.HostMem{}
	}
	return errors.Join(err, l.Release(0))
}

// Room is the bytes for a batch.
func (l *lane) Room() int64 { return l.room.Len() - 4*device.Align }

// Bytes is the bytes of a candidate in a batch.
func (l *lane) Bytes(s *domain.Search) int64 {
	n, words := extent(s)
	return batchBytes(1, n, words) - 4*device.Align
}

// extent is how many pieces and 64-bit words the domains of a candidate are.
func extent(s *domain.Search) (n, words int64) {
	for v := range s.N {
		n, words = n+pieces(2*int64(len(s.Sets[v]))), words+int64(len(s.Sets[v]))
	}
	return n, words
}

// part is bytes from a place of the room on.
type part struct{ from, bytes int64 }

func (p part) of(m device.Mem) device.Mem     { return m.Slice(p.from, p.bytes) }
func (p part) in(stage device.HostMem) []byte { return stage.Bytes()[p.from : p.from+p.bytes] }

// batch is a batch as it lies in the room: up to the domains it comes from the host.
type batch struct {
	records, parts, counts, sets, known, sizes part
	pieces, searched                           int // the latter come first
	joins                                      int // most of a candidate
	squares                                    bool
}

// view is bytes as a list.
func view[T any](b []byte) []T {
	var x T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(x)))
}

// layOut divides the room among the parts of a batch.
func layOut(list []*domain.Search) *batch {
	b := &batch{}
	words := int64(0)
	for _, s := range list {
		n, w := extent(s)
		b.pieces, words = b.pieces+int(n), words+w
	}
	at, n := int64(0), int64(len(list))
	for _, x := range []struct {
		to    *part
		bytes int64
	}{{&b.records, n * candidateBytes}, {&b.parts, int64(b.pieces) * pieceBytes}, {&b.counts, n * countBytes}, {&b.sets, 8 * words},
		{&b.known, 8 * words}, {&b.sizes, n * countBytes}} {
		*x.to = part{at, x.bytes}
		at = up(at+x.bytes, 16)
	}
	return b
}

// pack writes a batch to the stage.
func (b *batch) pack(list []*domain.Search, stage device.HostMem) {
	records, parts := view[candidate](b.records.in(stage)), view[domainPart](b.parts.in(stage))
	counts, sets := view[uint32](b.counts.in(stage)), view[uint64](b.sets.in(stage))
	at, last := 0, len(parts)
	for i, s := range list {
		c := &records[i]
		*c = candidate{n: uint32(s.N), sure: uint32(s.Sure)}
		clear(counts[mostVertices*i : mostVertices*(i+1)])
		for v := range s.N {
			c.label[v], c.orbit[v], c.near[v] = uint32(s.Label[v]), uint32(s.Orbit[v]), uint32(s.Near[v])
			c.words[v], c.at[v] = uint32(2*len(s.Sets[v])), uint64(2*at)
			c.order[v] = s.Order(v)
			for u := range s.N {
				c.arc[v][u] = uint32(s.Arc[v][u])
			}
			at += copy(sets[at:], s.Sets[v])
			counts[mostVertices*i+v] = s.Count[v]
		}
		b.joins = max(b.joins, c.plan(s))
		b.squares = c.findSquares(s) || b.squares
		for v := range s.N {
			steps := uint64(v) << mostJoins
			for k, j := range c.join[:c.joins] {
				if int(j[0]) == v {
					steps |= 1 << k
				}
			}
			for w := uint32(0); w < c.words[v]; w += domainPiece {
				p := domainPart{uint32(i), w, steps}
				if s.Sure>>v&1 == 1 || int(s.Orbit[v]) != v {
					last--
					parts[last] = p
				} else {
					parts[b.searched] = p
					b.searched++
				}
			}
		}
	}
}

// plan makes the semi-joins: towards the first vertex of an order, then back. In a tree these make all
// vertices consistent.
func (c *candidate) plan(s *domain.Search) int {
	order := s.Order(0)
	join := func(v uint8, others []uint8) { // with its neighbours among these
		done := uint8(0)
		for _, u := range others {
			if (s.Near[v]&^done)>>u&1 == 1 {
				group := s.Peers(int(v), int(u))
				c.join[c.joins] = [2]uint8{v, group}
				c.joins++
				done |= group
			}
		}
	}
	for k := s.N - 2; k >= 0; k-- {
		join(order[k], order[k+1:s.N])
	}
	for k := 1; k < s.N; k++ {
		join(order[k], order[:k])
	}
	return int(c.joins)
}

// findSquares notes where squares begin, and reports whether any do.
func (c *candidate) findSquares(s *domain.Search) (any bool) {
	for v := range s.N {
		q, ok := s.Square(v)
		if !ok {
			c.far[v] = uint8(v)
			continue
		}
		any = true
		c.far[v], c.mark[v], c.test[v] = q.Far, q.Mark, q.Test
		if q.Peers {
			c.squares |= 1 << v
		}
		if q.Whole {
			c.squares |= 1 << (mostVertices + v)
		}
	}
	return any
}

// Search finds the domains of a batch. When ctx is done, the kernels stop.
func (l *lane) Search(ctx context.Context, list []*domain.Search) error {
	b := layOut(list)
	b.pack(list, l.stage)
	if err := l.GPU.CopyH2D(l.Queue, l.room, 0, l.stage.Bytes()[:b.sets.from+b.sets.bytes]); err != nil {
		return err
	}
	if err := l.Launch(l.calls(b)...); err != nil {
		return err
	}
	if err := l.GPU.CopyD2H(l.Queue, b.counts.in(l.stage), b.sizes.of(l.room), 0); err != nil {
		return err
	}
	for _, s := range list {
		if !s.Last {
			if err := l.GPU.CopyD2H(l.Queue, b.sets.in(l.stage), b.sets.of(l.room), 0); err != nil {
				return err
			}
			break
		}
	}
	if err := l.GPU.Record(l.Queue, l.done); err != nil {
		return err
	}
	if err := l.await(ctx); err != nil {
		return err
	}
	counts, sets, at := view[uint32](b.counts.in(l.stage)), view[uint64](b.sets.in(l.stage)), 0
	for i, s := range list {
		copy(s.Count[:], counts[mostVertices*i:])
		for v := range s.N {
			n := len(s.Sets[v])
			if !s.Last {
				copy(s.Sets[v], sets[at:])
			}
			at += n
		}
	}
	return nil
}

// await waits for what was submitted. When ctx is done, it writes the word that stops the kernels.
func (l *lane) await(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- device.Await(l.GPU, l.done) }()
	stop := []uint64{1}
	select {
	case err := <-done:
		return errors.Join(err, ctx.Err())
	case <-ctx.Done():
		err := l.GPU.CopyH2D(l.side, l.state, 0, device.Bytes(stop))
		return errors.Join(ctx.Err(), err, <-done, l.GPU.Sync()) // the copy reads stop
	}
}

// calls are the launches of a batch.
func (l *lane) calls(b *batch) (list []launch.Call) {
	n, c := uint64(b.pieces), l.of
	source, grid := domainsOf(c.of.whole != nil), atMost(domainsBlocks*l.chip.Processors, b.pieces, 1)
	known, sizes := b.known.of(l.room), b.sizes.of(l.room)
	all := launch.Args{"candidates": b.records.of(l.room), "pieces": b.parts.of(l.room), "n": n, "sets": b.sets.of(l.room), "counts": b.counts.of(l.room), "least": c.of.least}
	add := func(name string, args launch.Args) {
		list = append(list, launch.Call{Source: source, Name: name, Grid: grid, Block: domainsBlock, Args: all.With(args)})
	}
	for step := range b.joins {
		add("saga_join", launch.Args{"step": uint64(step), "arcs": c.arcs})
	}
	if b.searched > 0 {
		search := launch.Args{"n": uint64(b.searched), "arcs": c.arcs, "known": known, "state": l.state, "first": c.from, "number": c.number, "off": c.off, "col": c.col}
		if b.squares {
			add("saga_squares", search)
			list[len(list)-1].Shared = domainsBlock / 32 * searchMarks / 8
		} else {
			add("saga_search", search)
		}
	}
	add("saga_found", launch.Args{"known": known, "sizes": sizes})
	list[0].Clear = []device.Mem{known, sizes, l.state}
	return list
}
