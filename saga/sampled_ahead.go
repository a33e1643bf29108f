package saga

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"sagann/backend"
	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/sample"
)

// Batches on GPUs: what comes with a batch is filled in pinned memory, several batches side by side, and
// copied while the one before it is at work; rows that do not change from batch to batch, such as
// features, stay on the device where they fit, and kernels read those of a batch there.

// lookahead is how training on sampled blocks gets its batches.
type lookahead struct {
	two    bool    // the device has rooms for batches that come
	tables bool    // and rows of vertices that stay there
	far    bool    // which host memory has but for
	hot    float64 // this share of them
	drawn  bool    // and draws the batches,
	bytes  int64   // in so much memory beside the plan's
}

// feeding is what goroutines that fill batches share, and how long they took.
type feeding struct {
	ahead     lookahead
	host      string                               // why the host draws for a GPU, or ""
	forced    bool                                 // batches come ahead on any device: tests
	mu        sync.Mutex                           // guards what they make once:
	sources   map[string]func(v int, to []float32) // rows of inputs by vertex,
	ranks     []float32                            // and by edge, its place in the in-list of its end; nil until it is asked for
	drawing   atomic.Int64                         // nanoseconds of all of them
	last      []uint32                             // seeds of the last update
	updates   int                                  // so far
	overflows int                                  // batches that were run again with more room
	rows      map[int][]float32                    // outputs of these by value, where an update has several batches
	came      arrivals                             // rows that come for a batch
	waiting   atomic.Int64                         // nanoseconds of steps for the next batch
}

// aheads are the ways to have batches come, the fastest first; memory decides.
func (p *Program) aheads() (list []lookahead) {
	s := p.sampled
	if !s.filling.forced && (!backend.Of(p.cfg.Device).GPU() || p.cfg.without("stream")) {
		return []lookahead{{}}
	}
	if s.draw.far != nil { // rows of features come with batches
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

// aheadOf is what the plan of l has for batches that come by x.
func (p *Program) aheadOf(l *dataflow.Lowered, x lookahead, z *plan.Sets) plan.Ahead {
	a := plan.Ahead{On: x.two, Rooms: 2}
	if x.far || p.sampled.filling.forced {
		a.Rooms = 3
	}
	if !x.tables {
		return a
	}
	for id := range l.Spec.Values { // in their order
		for key, of := range l.Inputs {
			v := &l.Spec.Values[id]
			name, _, _ := strings.Cut(key, "@")
			if of == id && int(v.Set) == z.Deepest() && v.RowBytes%16 == 0 && p.staysTable(name) {
				t := plan.Table{Value: id, Rows: p.in.edges.V, Again: p.sampled.Sampler.Output == sample.Apart, All: p.cfg.without("in-place")}
				if t.Host = x.far && int64(t.Rows)*v.RowBytes >= leastFar; t.Host {
					t.Hot = int(min(1, x.hot) * float64(t.Rows))
				}
				a.Tables = append(a.Tables, t)
			}
		}
	}
	return a
}

// leastFar is the size of the least table that is read over the link: less is not pinned.
const leastFar = 1 << 20

// staysTable tells whether the rows of an input are the same in every batch.
func (p *Program) staysTable(name string) bool {
	switch name {
	case weightInput, graphOf, dataflow.InDegree, invDegree, dataflow.BlockOutDegree, sparseInput:
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
	for key, id := range p.train.low.Inputs {
		t := p.train.plan.Places.Sets.TableOf(id)
		if t == nil {
			continue
		}
		name, _, _ := strings.Cut(key, "@")
		src, err := p.in.checked(name)
		if err != nil {
			return err
		}
		rows := bytesOf(src.rows)
		if s.main != nil {
			rows = s.main.train.Output(id)
		} else if t.Host || src.rows == nil || chunk.LD(p.in.width(name)) != p.in.width(name) {
			if rows, err = p.in.layout(name, nil, allRows(p.in.edges.V)); err != nil {
				return err
			}
		}
		if err := s.train.SetTable(id, rows); err != nil {
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

// ahead is how many batches are prepared beside the one in hand. On the host they share the
// processors with the step, and one is filled while one waits.
func (p *Program) ahead() int {
	if p.sampled.filling.ahead.two {
		return max(2, runtime.GOMAXPROCS(0))
	}
	return 2
}

// newBatch is a batch that is filled in memory of the session which copies reach at full speed.
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
			b.rooms[id] = floatsOf(part(p.train.plan.Places.ValueAt[id], z.RoomBytes(low.Spec, id)))
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
		ids := floatsOf(part(z.Ahead.IDs, 4*int64(z.Rows[z.Deepest()])))
		b.ids = unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(ids))), len(ids))
	}
	return b, nil
}

// stageNext takes the batches behind the one at work and has them come, as many as can. Those of the next epoch do not, as evaluation may come
// between.
func (p *Program) stageNext(open *session, next step) error {
	s := p.sampled
	if open.draws == nil && (!s.filling.ahead.two || len(open.tables.rows) > 0) { // or rows change
		return nil
	}
	for k := range max(1, open.train.Ahead()) {
		last := next.batch < s.parts()
		if last && (k > 0 || open.draws == nil) {
			return nil
		}
		b, err := p.behind(open, next, k)
		if err != nil || b.err != nil || last { // what the host has drawn says so at its turn
			return err
		}
		if err := open.stage(b); err != nil || !open.train.Staged(&b.Batch) {
			return err
		}
		next = s.next(next, open.number, open.of())
	}
	if open.draws != nil && s.filling.ahead.far && next.batch >= s.parts() { // so that the link does not wait; kernels of the step would be slower for it
		return open.beginDraw(next)
	}
	return nil
}

// behind is the batch of a place, number k behind the one at work.
func (p *Program) behind(open *session, at step, k int) (*batch, error) {
	if open.draws != nil {
		return open.drawn(at)
	}
	start := time.Now()
	defer func() { p.sampled.filling.waiting.Add(int64(time.Since(start))) }()
	return open.feed.peek(k), nil
}

// stage has b come to the device; what does not fit is said at its turn.
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
