package domain

import (
	"context"
	"errors"
	"math/bits"
	"sync"

	"sagann/mine/lattice"
)

// Card finds domains in batches, such as on a GPU. It is used by one goroutine.
type Card interface {
	// Room is the memory for a batch, and Bytes what a candidate takes of it, which is never more.
	Room() int64
	Bytes(s *Search) int64
	// Search finds the domains of all candidates of a batch.
	Search(ctx context.Context, batch []*Search) error
}

// Search is a candidate whose domains are to be found.
type Search struct {
	N     int
	Label [most]int32 // index in Graph.Labels
	Near  [most]uint8 // neighbours as bits
	Orbit [most]uint8 // the first vertex of its orbit
	Arc   [most][most]int32
	Sure  uint8 // the vertices, as bits, whose domains semi-joins make exact
	Last  bool  // only the sizes of the domains are needed

	// Sets hold the domains as bits, with other vertices; the domains of the first vertex of each orbit take their
	// place. Count is how many there are; it is less than the least support or 0 for any vertex if the pattern is not frequent.
	Sets  [most][]uint64
	Count [most]uint32
}

// Order is the order in which a search that begins with root places the vertices.
func (s *Search) Order(root int) [most]uint8 { return order(&s.Near, s.N, root) }

// Peers are the neighbours of v along edges as that to u, as bits, u among them. They must be different vertices of the graph.
func (s *Search) Peers(v, u int) uint8 { return peers(s.Near[v], &s.Arc[v])[u] }

// Square is a square that begins in v, if there is one.
func (s *Search) Square(v int) (Square, bool) { return square(&s.Near, &s.Arc, s.N, v) }

// Arc is the neighbours along the edges of one label from vertices of one label to those of another, for the vertices that have
// any. Members are bits with the number of members before each word, or a list if Words is nil. Off has a row for each member.
type Arc struct {
	Words       []uint64
	Before, IDs []uint32
	Off, Col    []uint32
	Vertices    int // of the label that it leads from
}

// Rows calls f with the vertices of the label in turn, and where the row of each begins in Col: where that of the next member does, if it is none.
func (a *Arc) Rows(f func(x int, from uint32)) {
	k := 0
	for x := range a.Vertices {
		f(x, a.Off[k])
		if a.Words != nil && a.Words[x>>6]>>(x&63)&1 != 0 || a.Words == nil && k < len(a.IDs) && a.IDs[k] == uint32(x) {
			k++
		}
	}
	f(a.Vertices, a.Off[k])
}

// Arcs lists the arcs of frequent edges by their number.
func (g *Graph) Arcs() []Arc {
	out := make([]Arc, len(g.list))
	for i, a := range g.list {
		out[i] = Arc{a.words, a.before, a.ids, a.off, a.col, len(g.Labels[a.key.from].Vertices)}
	}
	return out
}

// MostWords is the 64-bit words of the bits of the label with the most vertices.
func (g *Graph) MostWords() int {
	n := 0
	for _, l := range g.Labels {
		n = max(n, (len(l.Vertices)+63)/64)
	}
	return n
}

// ready is a candidate that a card may take.
type ready struct {
	task
	Search
}

// mostWaiting is how many candidates wait for a card, at most.
const mostWaiting = 1 << 10

// waiting is how many candidates may wait for a card: a batch for each card, as their domains lie in host memory, and at least
// one of each worker.
func waiting(g *Graph, q *Question) int {
	room := int64(0)
	for _, c := range q.Cards {
		room += c.Room()
	}
	most := 8 * int64(q.Vertices) * int64(g.MostWords()) // bytes of a candidate's domains
	return max(q.Workers, int(min(mostWaiting, room/most)))
}

// onCards evaluates the candidates of a level on cards. Workers make them, with the domains' beginnings.
func (d *dealer) onCards(ctx context.Context, g *Graph, q *Question, grower *lattice.Grower, level []Found) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	list := make(chan *ready, waiting(g, q))
	var makers, cards sync.WaitGroup
	for range q.Workers {
		makers.Go(func() {
			d.make(ctx, grower, g.worker(q), level, list)
		})
	}
	errs := make([]error, len(q.Cards))
	for i, c := range q.Cards {
		cards.Go(func() {
			if errs[i] = d.search(ctx, c, q, list); errs[i] != nil {
				cancel()
			}
		})
	}
	makers.Wait()
	close(list)
	cards.Wait()
	for _, err := range errs { // the others were cancelled
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return errors.Join(errs...)
}

// make makes the candidates of one parent after the other.
func (d *dealer) make(ctx context.Context, grower *lattice.Grower, w *worker, level []Found, list chan<- *ready) {
	var s lattice.Scratch
	for {
		i, ok := d.parent(len(level))
		if !ok {
			return
		}
		for k, c := range grower.Children(d.parents, i, &s) {
			w.begin(c.Pattern)
			if !w.meet(&c, level) {
				continue
			}
			select {
			case list <- w.ready(task{i, k, c}):
			case <-ctx.Done():
				return
			}
		}
	}
}

// ready is the candidate that the worker has begun.
func (w *worker) ready(t task) *ready {
	x := &ready{task: t, Search: Search{N: w.n, Label: w.label, Near: w.near, Orbit: t.Pattern.Orbits(), Sure: w.sureOf(t.Pattern), Last: w.last(t.Pattern), Count: w.count}}
	n := 0
	for v := range w.n {
		n += len(w.sets[v])
		for u := range w.n {
			if w.near[v]>>u&1 == 1 {
				x.Arc[v][u] = w.arcs[v][u].number
			}
		}
	}
	all := make([]uint64, 0, n)
	for v := range w.n {
		from := len(all)
		all = append(all, w.sets[v]...)
		x.Sets[v] = all[from:len(all):len(all)]
	}
	return x
}

// search takes candidates in batches that fill the room of a card, and adds those that are frequent.
func (d *dealer) search(ctx context.Context, c Card, q *Question, list <-chan *ready) error {
	var batch []*ready
	var searches []*Search
	var found []dealt
	left := c.Room()
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		if err := c.Search(ctx, searches); err != nil {
			return err
		}
		found = found[:0]
		for _, x := range batch {
			if f, ok := x.found(q); ok {
				found = append(found, dealt{x.parent, x.child, f})
			}
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, f := range found {
			d.add(f)
		}
		batch, searches, left = batch[:0], searches[:0], c.Room()
		return nil
	}
	for x := range list {
		n := c.Bytes(&x.Search)
		if n > left {
			if err := flush(); err != nil {
				return err
			}
		}
		left -= n
		batch, searches = append(batch, x), append(searches, &x.Search)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return flush()
}

// found is the frequent pattern of a candidate that was searched.
func (x *ready) found(q *Question) (f Found, ok bool) {
	support := uint32(1<<32 - 1)
	for v := range x.N {
		support = min(support, x.Count[x.Orbit[v]])
	}
	if int64(support) < q.Least {
		return f, false
	}
	f = Found{Pattern: x.Pattern, Support: int64(support)}
	if x.Last {
		return f, true
	}
	f.Domains = make([]Set, x.N)
	for v := range x.N {
		if low := int(x.Orbit[v]); low < v {
			f.Domains[v] = f.Domains[low]
		} else {
			f.Domains[v] = pack(x.Sets[v], x.Count[v])
		}
	}
	return f, true
}

// order is the order in which a search that begins with root places the n vertices: always the vertex with the most edges
// to those placed, then with the most edges.
func order(near *[most]uint8, n, root int) (to [most]uint8) {
	used := uint8(1) << root
	to[0] = uint8(root)
	for k := 1; k < n; k++ {
		best, most := -1, -1
		for v := range n {
			if back := bits.OnesCount8(near[v] & used); used>>v&1 == 0 && back > 0 {
				if score := back<<4 + bits.OnesCount8(near[v]); score > most {
					best, most = v, score
				}
			}
		}
		to[k] = uint8(best)
		used |= 1 << best
	}
	return to
}
