package cuda

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"unsafe"

	"sagann/device"
	"sagann/device/launch"
	"sagann/mine/rows"
	"sagann/mine/table"
)

// Bytes of a code, of a step with its place in the table of steps, and of a counter in its table; both tables have two to four
// places for each.
const (
	codeBytes    = int64(unsafe.Sizeof(table.Code{}))
	stepBytes    = 16 + 4 + 4*(8+4)
	counterBytes = 16
)

// mostTable is the bytes that tables use well.
const mostTable = 4 << 30

// rowBytes is the bytes of a row of so many edges: its step and its vertices.
func rowBytes(edges int) int64 { return 4 * (1 + int64(min(edges+1, mostVertices))) }

// tableRoom is how the memory of a GPU is divided: rows and steps of each number of edges, counters, and how many blocks there may be.
type tableRoom struct {
	edges, blocks int
	rows, steps   []int64 // by edges, from 1 on
	counters      int64   // places, of two words each; a power of two
}

// tableFixed is the bytes beside rows, steps and counters.
func tableFixed(r *rows.Rows, edges int, kinds bool, blocks int) int64 {
	n := block(4*int64(r.V())) + block(tableState(edges)) + block(16*int64(edges*blocks*tableWarps)) + 6*int64(edges)*device.Align
	if kinds {
		n += block(8*int64(r.V()+1)) + block(4*int64(len(r.Col)))
	}
	return n
}

// tableState is the bytes of the state of a run: the word that stops it, and what the launches of each number of edges have done.
func tableState(edges int) int64 { return 8 * stateWords * int64(edges+1) }

// divideTable divides so many bytes: half of them for counters, and a quarter each for steps and rows. ok is false if that is too little for so many
// blocks: each warp may write a few more rows, steps and counters than there should be.
func divideTable(bytes int64, edges, blocks int) (t tableRoom, ok bool) {
	t = tableRoom{edges: edges, blocks: blocks, rows: make([]int64, edges), steps: make([]int64, edges), counters: 1}
	for t.counters*2*counterBytes <= bytes/2 && t.counters < 1<<31 {
		t.counters *= 2
	}
	warps := int64(blocks * tableWarps)
	ok = t.counters/2 > t.beyondCounters() && t.mostCounters() > 0
	for n := 1; n < edges; n++ {
		share := bytes / 4 / int64(edges-1)
		t.rows[n], t.steps[n] = min(share/rowBytes(n), 1<<31), min(share/(codeBytes+stepBytes), 1<<30)
		ok = ok && t.rows[n] >= 2*32*warps && t.steps[n] >= 2*32*warps
	}
	return t, ok
}

// beyondCounters is how many counters there may be beyond mostCounters, beyondRows how many rows or steps beyond theirs.
func (t *tableRoom) beyondCounters() int64 { return int64(32 * tableCheck * t.blocks * tableWarps) }
func (t *tableRoom) beyondRows() int64     { return int64(32 * t.blocks * tableWarps) }
func (t *tableRoom) mostCounters() int64   { return t.counters/4*3 - t.beyondCounters() }

// TablesNeed is the bytes that CountRows takes on a GPU in addition to the graph: the least that works, and what it uses well.
func TablesNeed(r *rows.Rows, edges int, kinds bool, chip Chip) (least, most int64) {
	fixed := tableFixed(r, edges, kinds, 1)
	for least = 1 << 12; ; least += least / 8 {
		if _, ok := divideTable(least, edges, 1); ok {
			break
		}
	}
	return fixed + least, max(fixed+least, tableFixed(r, edges, kinds, tableBlocks*chip.Processors)+mostTable)
}

// WidestTable bounds the degree of vertices: 32 rows of eight vertices have fewer than 2³² neighbours.
const WidestTable = 1 << 24

// leastDealt is how many edges a GPU gets at a time at least: with fewer it mostly waits for launches. Tests have fewer.
var leastDealt int64 = 1 << 14

// CountRows adds the connected sets of edges of a part to the counts, on the GPUs of g; see table.Graph.Count. Of each root, in order, all rows are made in
// one go: rows of a number of edges go to a buffer; when it is full they are extended before more are made. Rows of the most edges are only counted. room is the
// bytes that it may take on each GPU, see TablesNeed; workers are the threads that add up what is counted.
func CountRows(ctx context.Context, g *Graph, t *table.Graph, edges int, part table.Part, to *table.Counts, workers int, room int64) (end int, err error) {
	codes, err := table.CodesOf(t, edges)
	if err != nil {
		return 0, err
	}
	held := make([]int, len(g.cards))
	for i, c := range g.cards {
		held[i] = c.Held()
	}
	defer func() {
		for i, c := range g.cards {
			if err != nil {
				err = errors.Join(err, c.GPU.Sync()) // copies may still use lists
			}
			err = errors.Join(err, c.Release(held[i]))
		}
	}()
	deal := &tableDeal{rows: t.Rows, Span: part.Span(t.Rows.V()), enough: part.Enough, cards: int64(len(g.cards)), least: max(leastDealt, t.Rows.Edges()/int64(64*len(g.cards)))}
	lanes := make([]*tableLane, len(g.cards))
	for i, c := range g.cards {
		lanes[i] = &tableLane{card: c, codes: codes, edges: edges, to: to, workers: max(1, workers/len(g.cards))}
		if i > 0 {
			lanes[i].codes = codes.Fork()
		}
		defer func() { err = errors.Join(err, lanes[i].close()) }()
		if err := lanes[i].open(t.Rows, room); err != nil {
			return 0, err
		}
	}
	err = g.each(func(i int, _ *card) error {
		err := lanes[i].run(ctx, deal)
		if err != nil {
			deal.stop()
		}
		return err
	})
	return deal.Next, cmp.Or(err, deal.Err())
}

// tableDeal deals roots.
type tableDeal struct {
	mu   sync.Mutex
	rows *rows.Rows
	*table.Span
	dealt  int64 // edges
	cards  int64
	least  int64 // edges at a time
	enough func() bool
	ended  bool
}

// take is the next roots: none at the end. Large pieces come first: at the beginning and the end of a piece a GPU has too few rows to be busy.
func (d *tableDeal) take() (from, to int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended || d.enough != nil && d.enough() || !d.More() {
		return d.Next, d.Next
	}
	from = d.Next
	sum, each := int64(0), d.least
	switch left := d.rows.Edges() - d.dealt; {
	case d.enough != nil:
	case d.cards == 1:
		each = left
	default:
		each = max(each, left/(4*d.cards))
	}
	for ; d.Next < d.End && sum < max(each, 1); d.Next++ {
		sum += int64(len(d.rows.Above(uint32(d.Next))))
	}
	d.dealt += sum
	return from, d.Next
}

func (d *tableDeal) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
}

// tableLane makes rows on a GPU.
type tableLane struct {
	*card
	codes   *table.Codes
	edges   int
	workers int
	to      *table.Counts
	room    tableRoom

	classes, off, kind device.Mem
	state, saved       device.Mem
	counters           device.Mem
	sizes              []tableSize // by edges
	dense              bool        // counters stand by code and slot
	counted            uint64      // counters that are taken
	stage              device.HostMem
	done               device.Event
}

// tableSize is what there is of rows of a number of edges.
type tableSize struct {
	rows, codes, keys, steps, fresh, to device.Mem
	slots                               int64 // of keys and steps
	made                                uint64
	known                               uint64 // steps that lead to a code
	uploaded                            int    // codes
}

// tableDone is what launches have done, as kernels see it.
type tableDone struct{ next, open, made, steps, counters uint64 }

// stageBytes is the pinned memory through which counters come.
const stageBytes = 8 << 20

func (l *tableLane) open(r *rows.Rows, room int64) (err error) {
	kinds := l.codes.KindOf() != nil
	blocks, ok := tableBlocks*l.chip.Processors, false
	for ; ; blocks = (blocks + 1) / 2 {
		if l.room, ok = divideTable(room-tableFixed(r, l.edges, kinds, blocks), l.edges, blocks); ok || blocks == 1 {
			break
		}
	}
	if !ok {
		least, _ := TablesNeed(r, l.edges, kinds, l.chip)
		return &device.BudgetError{Device: l.GPU.Info().Name, Asked: least, Budget: room, Largest: room}
	}
	if l.classes, err = launch.Put(l.Card, l.codes.Classes()); err != nil {
		return err
	}
	l.off, l.kind = device.Mem{}, device.Mem{}
	if kinds {
		if l.off, err = launch.Put(l.Card, r.Off); err != nil {
			return err
		}
		if l.kind, err = launch.Put(l.Card, l.codes.KindOf()); err != nil {
			return err
		}
	}
	type want struct {
		to    *device.Mem
		bytes int64
	}
	list := []want{{&l.state, tableState(l.edges)}, {&l.saved, 16 * int64(l.edges*blocks*tableWarps)}, {&l.counters, counterBytes * l.room.counters}}
	l.sizes = make([]tableSize, l.edges)
	for n := 1; n < l.edges; n++ {
		s, steps := &l.sizes[n], l.room.steps[n]
		for s.slots = 2; s.slots < 2*steps; s.slots *= 2 {
		}
		list = append(list, want{&s.rows, rowBytes(n) * l.room.rows[n]}, want{&s.codes, codeBytes * steps}, want{&s.keys, 8 * s.slots}, want{&s.steps, 4 * s.slots},
			want{&s.fresh, 16 * steps}, want{&s.to, 4 * steps})
	}
	for _, x := range list {
		if *x.to, err = l.Alloc(x.bytes); err != nil {
			return err
		}
	}
	if l.stage, err = l.GPU.HostAlloc(stageBytes); err != nil {
		return err
	}
	l.done, err = l.GPU.NewEvent()
	return err
}

// close frees the memory of the host. That of the GPU is the caller's.
func (l *tableLane) close() (err error) {
	if len(l.stage.Bytes()) > 0 {
		err = errors.Join(l.GPU.Sync(), l.GPU.HostFree(l.stage))
		l.stage = device.HostMem{}
	}
	return err
}
