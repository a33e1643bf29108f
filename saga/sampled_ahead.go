package saga

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"sagann/backend"
	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/saga/rows"
	"sagann/sample"
)

// Batches on GPUs. Goroutines fill the inputs and cells of several batches at a time, in pinned memory. They are copied
// while the device computes the previous batch. Rows of vertices that never change, such as features, stay in tables
// on the device if they fit, and kernels read the rows of a batch from there.

// lookahead is a way in which batches come to the device.
type lookahead struct {
	two    bool    // the device has room for further batches, which are copied while one is computed
	tables bool    // rows of vertices that never change are in tables
	far    bool    // the tables are in host memory; the device has only their hot rows
	hot    float64 // with far: the share of rows that are hot
	drawn  bool    // the device draws the batches
	bytes  int64   // with drawn: device memory in bytes that drawing takes beside the plan
}

// feeding is what the goroutines that fill batches share, and counts and times of the run.
type feeding struct {
	largest dataflow.Sizes // the largest batch that can come, or rooms.most

	ahead     lookahead
	host      string                               // why the host draws for a GPU, or ""
	forced    bool                                 // for tests: batches come ahead on any device
	mu        sync.Mutex                           // guards sources and ranks
	sources   map[string]func(v int, to []float32) // by input: a function that writes the row of a vertex
	ranks     []float32                            // by edge: its place in the in-list of its end; made on demand
	drawing   atomic.Int64                         // nanoseconds that all goroutines took
	last      []uint32                             // seeds of the last update
	updates   int                                  // so far
	overflows int                                  // batches that were run again with more room
	rows      map[int][]float32                    // by value: outputs of the last update, if it had several batches
	came      arrivals                             // how often the row of a vertex comes over the link
	waiting   atomic.Int64                         // nanoseconds that steps waited for their batch
	ballot    func() uint64                        // what this rank says in the vote of an update; nil: nothing
	heard     uint64                               // what any rank has said in the vote of the last update
}

// aheads lists the ways in which batches may come, the fastest first. planSampled takes the first that fits the memory.
func (p *Program) aheads() (list []lookahead) {
	s := p.sampled
	if !s.filling.forced && (!backend.Of(p.cfg.Device).GPU() || p.cfg.without("stream")) {
		return []lookahead{{}}
	}
	if s.draw.far != nil { // ranks have some of the features only: their rows come with each batch, not from tables
		return []lookahead{{two: true}, {}}
	}
	add := func(x lookahead) {
		x.two, x.tables = true, true
		if s.Cache == 0 || s.filling.forced {
			list = append(list, x)
		}
		x.far = true
		for _, x.hot = range []float64{0.5, 0.2, 0.05, 0} {
			if s.Cache != 0 {
				x.hot = max(0, s.Cache)
			}
			if list = append(list, x); s.Cache != 0 {
				break
			}
		}
	}
	if bytes, err := p.drawsThere(); err == nil && !s.filling.forced {
		add(lookahead{drawn: true, bytes: bytes})
	}
	add(lookahead{})
	return append(list, lookahead{two: true}, lookahead{})
}

// aheadOf says what the plan of l, with room for z, provides for batches that come in the way x.
func (p *Program) aheadOf(l *dataflow.Lowered, x lookahead, z *plan.Sets) plan.Ahead {
	a := plan.Ahead{On: x.two, Rooms: 2}
	if x.far || p.sampled.filling.forced {
		a.Rooms = 3
	}
	if !x.tables {
		return a
	}
	for id := range l.Spec.Values { // tables have the order of values, not of the map
		for in, of := range l.Inputs {
			v, name := &l.Spec.Values[id], in.Name
			if of == id && int(v.Set) == z.Deepest() && v.RowBytes%16 == 0 && p.staysTable(name) {
				t := plan.Table{Value: id, Rows: p.in.Edges.V, Again: p.sampled.Sampler.Output == sample.Apart, All: p.cfg.without("in-place")}
				if t.Host = x.far && int64(t.Rows)*v.RowBytes >= leastFar; t.Host {
					t.Hot = int(min(1, x.hot) * float64(t.Rows))
				}
				a.Tables = append(a.Tables, t)
			}
		}
	}
	return a
}

// leastFar is the size in bytes from which a table may be in host memory; smaller tables are not pinned.
const leastFar = 1 << 20

// staysTable tells whether the rows of an input are the same in every batch.
func (p *Program) staysTable(name string) bool {
	switch name {
	case rows.Weight, rows.GraphOf, dataflow.InDegree, rows.InvDegree, dataflow.BlockOutDegree, rows.Sparse:
		return false
	}
	return !p.tabled(name)
}

// setTables gives the runner of training the tables of its plan.
func (s *session) setTables() error {
	p := s.p
	if p.cfg.without("match") {
		s.train.Alone()
	}
	for in, id := range p.train.low.Inputs {
		t := p.train.plan.Places.Sets.TableOf(id)
		if t == nil {
			continue
		}
		name := in.Name
		var table []byte
		if s.main != nil {
			table = s.main.train.Output(id)
		} else {
			var err error
			if table, err = p.in.Table(name, t.Host); err != nil {
				return err
			}
		}
		if err := s.train.SetTable(id, table); err != nil {
			return fmt.Errorf("rows of %s: %w", name, err)
		}
		if t.Host {
			if err := s.train.SetHot(id, p.hotRows(t.Hot)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ahead is how many batches are prepared beside the one that is computed. On a CPU they share the processors with the
// step: one is being filled and one is ready.
func (p *Program) ahead() int {
	if p.sampled.filling.ahead.two {
		return max(2, runtime.GOMAXPROCS(0))
	}
	return 2
}

// newBatch is a batch whose inputs and cells are in the session's pinned memory, if it has such memory.
func (s *session) newBatch() (*batch, error) {
	p, b := s.p, &batch{}
	room, from, err := s.train.Room()
	if err != nil || room == nil {
		return b, err
	}
	z, low := p.train.plan.Places.Sets, p.train.low
	part := func(at, bytes int64) []byte { return room[at-from : at-from+bytes : at-from+bytes] }
	b.rooms, b.Inputs = map[int][]float32{}, map[int][]byte{}
	for _, id := range low.Inputs {
		if z.TableOf(id) == nil {
			b.rooms[id] = device.View[float32](part(p.train.plan.Places.ValueAt[id], z.RoomBytes(low.Spec, id)))
		}
	}
	b.cells = make([][2]chunk.Rect, len(z.Cells))
	for e, dirs := range walks(low) {
		for d, used := range dirs {
			if used {
				b.cells[e][d].Mem = part(z.CellAt[e][d], z.Cells[e][d])
			}
		}
	}
	if len(z.Ahead.Tables) > 0 {
		ids := device.View[float32](part(z.Ahead.IDs, 4*int64(z.Rows[z.Deepest()])))
		b.ids = unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(ids))), len(ids))
	}
	return b, nil
}

// stageNext begins to copy the batches after the one that is computed to the device, as many as it has room for. next is
// the first of them. It does not copy batches of the next epoch, since an evaluation may come before them.
func (p *Program) stageNext(open *session, next step) error {
	s := p.sampled
	if open.draws == nil && (!s.filling.ahead.two || len(open.tables.rows) > 0) { // learned rows change with every step
		return nil
	}
	for k := range max(1, open.train.Ahead()) {
		last := next.batch < s.parts()
		if last && (k > 0 || open.draws == nil) {
			return nil
		}
		b, err := p.behind(open, next, k)
		if err != nil || b.err != nil || last { // batchOf returns b.err when it is the batch's turn
			return err
		}
		if err := open.stage(b); err != nil || !open.train.Staged(&b.Batch) {
			return err
		}
		next = s.next(next, open.number, open.of())
	}
	// With tables in host memory, drawing begins now, so that the link does not wait for it. Otherwise it would only
	// slow the kernels of the step.
	if open.draws != nil && s.filling.ahead.far && next.batch >= s.parts() {
		return open.beginDraw(next)
	}
	return nil
}

// behind returns the batch at a place of the run: the one that k others precede among those not computed yet.
func (p *Program) behind(open *session, at step, k int) (*batch, error) {
	if open.draws != nil {
		return open.drawn(at)
	}
	start := time.Now()
	defer func() { p.sampled.filling.waiting.Add(int64(time.Since(start))) }()
	return open.feed.peek(k), nil
}

// stage begins to copy b to the device. A batch that does not fit is no error here: fit handles it at its turn.
func (s *session) stage(b *batch) error {
	if s.train.Staged(&b.Batch) {
		return nil
	}
	err := s.train.Stage(&b.Batch)
	var over *exec.OverflowError
	if errors.As(err, &over) {
		return nil
	}
	return err
}
