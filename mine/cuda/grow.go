package cuda

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"sagann/device"
	"sagann/device/launch"
	"sagann/mine/pattern"
	"sagann/mine/rows"
	"sagann/mine/table"
)

// Growable says why GPUs cannot make the rows of a table; nil: they can.
func Growable(s *table.Spec) error {
	switch {
	case s.Rows.MaxDegree >= WidestTable:
		return errors.New("a vertex has 16,777,216 neighbours or more")
	case len(s.Rows.Col) > math.MaxUint32:
		return errors.New("there are 2,147,483,648 edges or more")
	case s.From != nil && !s.From.Joined():
		return errors.New("the rows that it begins with are stored by the CPU")
	}
	return nil
}

// Filters are by size whether rows of a pattern, in canonical form or not, are wanted; nil: all are. They are called from several goroutines.
type Filters []func(p pattern.Pattern) bool

// any reports whether there is one.
func (f Filters) any() bool {
	return slices.ContainsFunc(f, func(wanted func(pattern.Pattern) bool) bool { return wanted != nil })
}

// Making is what rows are made of, and how.
type Making struct {
	Spec    *table.Spec // without Keep
	Filters Filters
	Room    int64 // bytes that it may take on each GPU, see GrowNeed
	Stage   int64 // pinned memory for each GPU, see StageBytes
	Workers int   // threads that ask filters
	Part    table.Part
}

// growth is the making of rows.
type growth struct {
	*Making
	spec  *table.Spec
	shape growShape
	texts []string       // by size of the rows that become one longer
	quick []*table.Quick // by size: the codes by which rows are filtered
	by    *keyed         // nil: rows are stored
	from  int            // rows of sizes up to this are read
	deal  growDeal
}

// newGrowth begins to make rows, to count them by what is not nil.
func newGrowth(m *Making, by *keyed, gpus int) (*growth, error) {
	s := m.Spec
	x := &growth{Making: m, spec: s, shape: growShape{s.Vertices, s.NearBits()}, by: by, deal: growDeal{rows: s.Rows, Span: m.Part.Span(s.Rows.V()), enough: m.Part.Enough}, quick: make([]*table.Quick, s.Size+1)}
	x.deal.all = s.Rows.Edges() + int64(s.Rows.V())
	x.deal.each = max(leastGrown, x.deal.all/int64(max(leastPieces, 16*gpus))+1)
	if s.From != nil {
		x.from, x.deal.pieces = s.From.Size(), s.From.Pieces()
		x.deal.all, x.deal.each = int64(x.deal.pieces), 1
	}
	for size := 1; size <= s.Size; size++ {
		last := by != nil && by.key == nil && size == s.Size
		if !last && (size >= len(m.Filters) || m.Filters[size] == nil) {
			continue
		}
		q, ok := table.QuickOf(s, size)
		if !ok {
			return nil, ErrWide
		}
		x.quick[size] = &q
	}
	for size := range s.Size {
		var where *pattern.Expr
		if size+1 < len(s.Where) && size+1 > x.from {
			where = s.Where[size+1]
		}
		q := x.quick[size+1]
		if size+1 >= len(m.Filters) || m.Filters[size+1] == nil {
			q = nil
		}
		x.texts = append(x.texts, x.shape.make(size, size > 0 && size+1 == s.Size, where, q))
		if by != nil && size+1 == s.Size {
			x.texts = append(x.texts, x.shape.count(s.Size, *by, where, x.quick[s.Size]))
		}
	}
	return x, nil
}

// use is what the rows are made for.
func (x *growth) use() Use {
	switch {
	case x.by == nil:
		return ForStore
	case x.by.key == nil:
		return ForCodes
	}
	return ForKeys
}

// ErrWide says that rows are told apart by more than GPUs can.
var ErrWide = errors.New("the labels of a row and what it joins take more than 63 bits")

// leastGrown is the least edges and vertices of a piece, leastPieces the least number of larger ones: small kernels begin each.
const (
	leastGrown  = 16
	leastPieces = 64
)

// growDeal deals pieces of the rows: those that begin at consecutive vertices, or those that are stored so.
type growDeal struct {
	mu     sync.Mutex
	rows   *rows.Rows
	each   int64 // edges and vertices of a piece
	pieces int   // that are stored
	*table.Span
	number int
	enough func() bool
	ended  bool

	all, dealt int64        // edges and vertices or, of stored rows, pieces
	written    atomic.Int64 // bytes of columns
}

// expect is how many bytes all columns are expected to take: half of the last piece is taken to be written.
func (d *growDeal) expect() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int64(float64(d.written.Load()) * float64(d.all) / max(float64(d.dealt)-float64(d.each)/2, float64(d.dealt)/2, 1))
}

// take is the next piece, its number and vertices: none at the end.
func (d *growDeal) take() (number, from, to int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	number = d.number
	switch {
	case d.ended || d.enough != nil && d.enough():
		return number, d.Next, d.Next
	case d.pieces > 0:
		if from = d.Next; d.number == d.pieces {
			return number, from, from
		}
		d.Next++
		d.dealt++
	default:
		if !d.More() {
			return number, d.Next, d.Next
		}
		from = d.Next
		sum := int64(0)
		for ; d.Next < d.End && sum < d.each; d.Next++ {
			sum += 1 + int64(len(d.rows.Above(uint32(d.Next))))
		}
		d.dealt += sum
	}
	d.number++
	return number, from, d.Next
}

func (d *growDeal) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
}

// leastTwo is the least rows at a time of each of two lanes of a GPU. Tests lower it.
var leastTwo int64 = 1 << 17

// lanes is how many lanes work on each GPU, and the bytes of each: while the host waits for what one of two has made, the other's kernels run.
func (m *Making) lanes(use Use) (lanes int, room int64) {
	if t, ok := newCase(m, use).divide(m.Room / 2 / device.Align * device.Align); ok && t.rows[m.Spec.Size-1] >= leastTwo {
		return 2, m.Room / 2 / device.Align * device.Align
	}
	return 1, m.Room
}

// run has the lanes of all GPUs work, and gives what they have taken back.
func (x *growth) run(ctx context.Context, g *Graph, sink func(l *growLane) (growSink, error)) (err error) {
	many, room := x.lanes(x.use())
	least, _ := GrowNeed(x.Making, x.use())
	var lanes []*growLane
	var held []int
	defer func() {
		for i, l := range lanes {
			err = errors.Join(err, l.close(), l.Release(held[i]))
		}
	}()
	for _, c := range g.cards {
		for i := range many {
			if i > 0 {
				if c, err = c.beside(); err != nil {
					return err
				}
			}
			l := &growLane{card: c, growth: x}
			lanes, held = append(lanes, l), append(held, c.Held())
			err := l.open(room, x.Stage/int64(many)&^7)
			for bytes := room; scattered(err); { // what is free may lie in pieces, of which one is too small
				if bytes -= bytes / 8; bytes < least {
					break
				}
				if err = errors.Join(l.close(), c.Release(held[len(held)-1])); err == nil {
					err = l.open(bytes, x.Stage/int64(many)&^7)
				}
			}
			if err != nil {
				return err
			}
			if l.sink, err = sink(l); err != nil {
				return err
			}
		}
	}
	errs := make([]error, len(lanes))
	var wg sync.WaitGroup
	for i, l := range lanes {
		wg.Go(func() {
			if errs[i] = l.run(ctx); errs[i] != nil {
				x.deal.stop()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// scattered reports whether memory could not be taken although there is as much.
func scattered(err error) bool {
	var small *device.BudgetError
	return errors.As(err, &small) && !small.Host && small.Asked <= small.Budget-small.Used
}

// growSink is what becomes of rows of the last size.
type growSink interface {
	// begin begins a piece.
	begin(number int)
	// last takes whole rows, which are in the slots.
	last(ctx context.Context, b *grownBatch) error
	// settle takes n rows of a size, of which kept leads to whole rows, and counts them by the rows before.
	settle(size int, n int64) (settled bool, err error)
	// finish ends the piece, end all of them.
	finish() error
	end() error
}

// growSize is what there is of rows of a size.
type growSize struct {
	rows, values device.Mem
	kept         device.Mem // how many neighbours may follow each, then how many do
	place, child device.Mem // where slots of each begin, and what comes of it
	need, packs  device.Mem // with bits: how many neighbours may follow each, and where stored words begin
}

// growLane makes rows on a GPU.
type growLane struct {
	*card
	*growth
	room         growRoom
	off, kind    device.Mem
	labels       growLabels
	slots        device.Mem
	bits         device.Mem // a bit for each neighbour that may follow a row
	ahead        growAhead
	tiles, state device.Mem
	counters     device.Mem
	packed       device.Mem // keys that are given up
	left         device.Mem // what warps have left when the table was full
	out          [2]device.Mem
	filter       growFilters
	size         []growSize
	at           []int64 // by size: stored rows that were read
	sink         growSink
	host         growHost
}

func (l *growLane) open(room, stage int64) (err error) {
	s := l.spec
	var ok bool
	if l.room, ok = newCase(l.Making, l.use()).divide(room); !ok {
		least, _ := GrowNeed(l.Making, l.use())
		return &device.BudgetError{Device: l.GPU.Info().Name, Asked: least, Budget: room, Largest: room}
	}
	if l.off, err = launch.Put(l.Card, s.Rows.Off); err != nil {
		return err
	}
	if s.Kinds != nil {
		if l.kind, err = launch.Put(l.Card, s.Kinds.Label); err != nil {
			return err
		}
	}
	if i := slices.IndexFunc(l.quick, func(q *table.Quick) bool { return q != nil }); i >= 0 {
		if err := l.labels.put(l.Card, l.quick[i], s.Rows.Label); err != nil {
			return err
		}
	}
	type want struct {
		to    *device.Mem
		bytes int64
	}
	list := []want{{&l.slots, 4 * l.room.slots}, {&l.bits, 4 * l.room.words}, {&l.tiles, 8 * (slices.Max(l.room.rows)/sumsTile + 2)}, {&l.state, 8 * growWords}}
	if l.by != nil {
		list = append(list, want{&l.counters, counterBytes * l.room.counters}, want{&l.packed, counterBytes * l.room.packed()}, want{&l.left, leftBytes(l.room.counters)})
	} else {
		list = append(list, want{&l.out[0], 4 * l.room.out()}, want{&l.out[1], 4 * l.room.out()})
	}
	if l.from > 1 {
		list = append(list, want{&l.ahead.words[0], 4 * l.room.words}, want{&l.ahead.words[1], 4 * l.room.words})
	}
	if n := l.room.codes; n > 0 {
		f := &l.filter
		list = append(list, want{&f.of, 4 * l.room.most()}, want{&f.codes, 8 * n}, want{&f.flags, 4 * n}, want{&f.fresh, 16 * n})
	}
	l.size, l.at = make([]growSize, s.Size+1), make([]int64, s.Size+1)
	for size := range l.size {
		x, n := &l.size[size], l.room.rows[size]
		if size < s.Size {
			list = append(list, want{&x.kept, 4 * n}, want{&x.values, 4 * n}, want{&x.place, 8 * (n + 1)}, want{&x.child, 8 * (n + 1)},
				want{&x.rows, 4 * int64(l.shape.places(size)) * n})
			if withBits(s, size) {
				list = append(list, want{&x.need, 4 * n})
			}
			if isPacked(s, size) {
				list = append(list, want{&x.packs, 8 * (n + 1)})
			}
		}
	}
	for _, x := range list {
		if x.bytes == 0 {
			continue
		}
		if *x.to, err = l.Alloc(x.bytes); err != nil {
			return err
		}
	}
	if err = l.host.open(l.GPU, stage); err != nil {
		return err
	}
	if l.ahead.ready, err = l.GPU.NewEvent(); err != nil {
		return err
	}
	if l.ahead.free, err = l.GPU.NewEvent(); err != nil {
		return err
	}
	return l.GPU.Sync() // copies read lists of this function
}
