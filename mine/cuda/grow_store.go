package cuda

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"sagann/device"
	"sagann/device/launch"
	"sagann/mine/run"
	"sagann/mine/table"
)

// Homes is where columns of stored rows lie: on the GPUs as far as these have room, then in pinned host memory, then in a file.
type Homes struct {
	Host int64  // bytes of host memory, at least LeastHost; 0: no bound
	Dir  string // "": there is no file
	Wait bool   // what is in a buffer is copied away before more rows are made; to measure what two buffers bring

	mu    sync.Mutex
	first device.GPU
	slabs slabs
	cards []*cardPage
	file  *table.File
	room  atomic.Int64 // bytes that cards still have
}

// leastStage is the least pinned memory of a GPU for what goes to files, and comes from there.
const leastStage = 1 << 16

// LeastHost is the least host memory of a table on so many GPUs.
func LeastHost(gpus int) int64 { return int64(gpus) * leastStage }

// StageBytes is the pinned memory of each of so many GPUs for what goes to files and comes from there, with a bound of host memory; 0: none.
func StageBytes(host int64, gpus int) int64 {
	if host == 0 {
		return 8 << 20
	}
	return max(leastStage, min(8<<20, host/8/int64(gpus)&^7))
}

// cardPage is a piece of columns in a GPU's memory.
type cardPage struct {
	gpu   device.GPU
	queue device.Queue
	mem   device.Mem
	used  int64 // bytes
}

// Read copies bytes from one on.
func (p *cardPage) Read(to []byte, from int64) error {
	return errors.Join(p.gpu.CopyD2H(p.queue, to, p.mem, from), p.gpu.Sync())
}

// StoreRows makes the rows of a table and keeps them.
func StoreRows(ctx context.Context, g *Graph, m *Making, h *Homes) (*table.Stored, error) {
	x, err := newGrowth(m, nil, len(g.cards))
	if err != nil {
		return nil, err
	}
	s := m.Spec
	h.first = g.first
	h.slabs = slabs{gpu: g.first, bounded: h.Host > 0, left: h.Host - m.Stage*int64(len(g.cards)), expect: func() int64 { return x.deal.expect() - h.onCards() - h.room.Load() }}
	if h.Dir != "" {
		h.file = table.NewFile(h.Dir)
	}
	all := map[int]*table.Columns{}
	var mu sync.Mutex
	err = x.run(ctx, g, func(l *growLane) (growSink, error) {
		h.room.Add(l.room.left)
		l.host.turn = h.slabs.turn
		to := &growStore{growLane: l, homes: h, left: l.room.left, of: func(number int) *table.Columns {
			c := &table.Columns{Values: make([][]table.Page, s.Size), Counts: make([][]table.Page, s.Size)}
			mu.Lock()
			defer mu.Unlock()
			all[number] = c
			return c
		}}
		_, err := to.card() // the first page, before there is work that would wait
		return to, err
	})
	if err = errors.Join(err, h.slabs.end()); err != nil {
		err = errors.Join(err, h.free())
		if h.file != nil {
			err = errors.Join(err, h.file.Close())
		}
		return nil, err
	}
	pieces := make([]table.Columns, 0, len(all))
	for i := range len(all) {
		pieces = append(pieces, *all[i])
	}
	return s.Join(pieces, h.file, h.free), nil
}

// free frees the memory.
func (h *Homes) free() (err error) {
	for _, p := range h.cards {
		err = errors.Join(err, p.gpu.Free(p.mem))
	}
	h.cards = nil
	return errors.Join(err, h.slabs.free())
}

// onCards is what the columns take on the GPUs.
func (h *Homes) onCards() (n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.cards {
		n += p.mem.Len()
	}
	return n
}

// Waited is how long rows waited for memory of the host.
func (h *Homes) Waited() time.Duration { return h.slabs.waits }

// Bytes is what the columns take on the GPUs, on that of them where they take most, and in host memory.
func (h *Homes) Bytes() (cards, most, host int64) {
	on := map[device.GPU]int64{}
	for _, p := range h.cards {
		cards += p.mem.Len()
		on[p.gpu] += p.mem.Len()
		most = max(most, on[p.gpu])
	}
	return cards, most, h.slabs.taken
}

// growStore keeps rows. What the kernels write goes through two buffers on the card, which take turns: while one is copied away the other is written.
type growStore struct {
	*growLane
	homes       *Homes
	left        int64 // bytes on the card
	page        *cardPage
	of          func(number int) *table.Columns
	to          *table.Columns
	begun       bool // rows of the piece are counted
	turn        int
	ready, free [2]device.Event
}

func (s *growStore) begin(number int) { s.to = s.of(number) }

func (s *growStore) end() error { return s.host.written() }

// buffer is the buffer whose turn it is, when it is free.
func (s *growStore) buffer() (b device.Mem, err error) {
	s.turn ^= 1
	if s.free[s.turn] != nil {
		return s.out[s.turn], s.GPU.Wait(s.Queue, s.free[s.turn])
	}
	if s.ready[s.turn], err = s.GPU.NewEvent(); err == nil {
		s.free[s.turn], err = s.GPU.NewEvent()
	}
	return s.out[s.turn], err
}

func (s *growStore) last(_ context.Context, x *grownBatch) error {
	if x.size > 0 {
		return s.pack(x)
	}
	n, err := s.sumUp(x)
	if err != nil || n == 0 {
		return err
	}
	b, err := s.buffer()
	if err != nil {
		return err
	}
	if err := s.write(x, b, device.Mem{}); err != nil {
		return err
	}
	s.to.Rows += n
	return s.flush(&s.to.Values[0], n)
}

// pack keeps which neighbours follow the rows of a batch.
func (s *growStore) pack(x *grownBatch) error {
	if !s.begun {
		if err := s.zero(s.counted()); err != nil {
			return err
		}
		s.begun = true
	}
	at, n := &s.size[x.size], x.end-x.begin
	kept, need := at.kept.Slice(4*x.begin, 4*n), at.need.Slice(4*x.begin, 4*n)
	if err := s.Launch(s.sums(kept, need, n, packedWords, at.child)...); err != nil {
		return err
	}
	if err := s.hear(at.child.Slice(8*n, 8)); err != nil {
		return err
	}
	words := int64(s.host.answer[0])
	b, err := s.buffer()
	if err != nil {
		return err
	}
	err = s.Launch(launch.Call{Source: sums(), Name: "saga_grow_shrink", Grid: s.grid(32*n, growBlock), Block: growBlock,
		Args: launch.Args{"bits": s.bits, "need": need, "kept": kept, "n": uint64(n), "place": at.place.Slice(8*x.begin, 8*(n+1)), "to": at.child, "out": b, "all": s.counted()}})
	if err != nil {
		return err
	}
	return s.flush(&s.to.Values[x.size], words)
}

// counted is how many rows of the piece were kept.
func (s *growStore) counted() device.Mem { return s.words(2, 1) }

func (s *growStore) finish() error {
	if !s.begun {
		return nil
	}
	if err := s.ask(s.counted()); err != nil {
		return err
	}
	s.to.Rows, s.begun = int64(s.host.answer[0]), false
	return nil
}

func (s *growStore) settle(size int, n int64) (bool, error) {
	x := &s.size[size]
	if err := s.Launch(s.sums(x.kept, device.Mem{}, n, ones, x.place)...); err != nil {
		return false, err
	}
	if err := s.hear(x.place.Slice(8*n, 8)); err != nil {
		return false, err
	}
	left := int64(s.host.answer[0])
	if left == 0 {
		return true, nil
	}
	values, err := s.buffer()
	if err != nil {
		return false, err
	}
	counts, err := s.buffer()
	if err != nil {
		return false, err
	}
	err = s.Launch(launch.Call{Source: sums(), Name: "saga_grow_settle", Grid: s.grid(n, growBlock), Block: growBlock,
		Args: launch.Args{"kept": x.kept, "n": uint64(n), "place": x.place, "values": x.values, "out": values, "counts": counts}})
	if err != nil {
		return false, err
	}
	if err := s.flush(&s.to.Counts[size-1], left); err != nil {
		return false, err
	}
	s.turn ^= 1
	err = s.flush(&s.to.Values[size-1], left)
	s.turn ^= 1
	return true, err
}

// flush copies n numbers from the buffer whose turn it is to where they stay.
func (s *growStore) flush(to *[]table.Page, n int64) error {
	b, i := s.out[s.turn], s.turn
	s.deal.written.Add(4 * n)
	if err := s.GPU.Record(s.Queue, s.ready[i]); err != nil {
		return err
	}
	if err := s.GPU.Wait(s.side, s.ready[i]); err != nil {
		return err
	}
	for at := int64(0); at < n; {
		p, err := s.put(b, at, n-at)
		if err != nil {
			return err
		}
		*to = append(*to, p)
		at += p.N
	}
	if err := s.GPU.Record(s.side, s.free[i]); err != nil || !s.homes.Wait {
		return err
	}
	return device.Await(s.GPU, s.free[i])
}

// put copies up to n numbers of a buffer from one on.
func (s *growStore) put(b device.Mem, at, n int64) (p table.Page, err error) {
	page, err := s.card()
	if err != nil {
		return p, err
	}
	if page != nil {
		s.homes.slabs.begin()
		p.N = min(n, (page.mem.Len()-page.used)/4)
		part := &cardPage{gpu: page.gpu, queue: page.queue, mem: page.mem.Slice(page.used, 4*p.N)}
		p.Other = part
		page.used = min(up(page.used+4*p.N, 16), page.mem.Len()) // copies are faster where both sides begin so
		return p, s.GPU.CopyD2D(s.side, part.mem, 0, s.GPU, b, 4*at, 4*p.N)
	}
	if p.Words, err = s.homes.slabs.words(n); err != nil {
		return p, err
	}
	if p.N = min(n, int64(len(p.Words))); p.N > 0 {
		return p, s.GPU.CopyD2H(s.side, device.Bytes(p.Words)[:4*p.N], b, 4*at)
	}
	p.Words = nil
	if s.homes.file == nil {
		return p, fmt.Errorf("a table on GPUs: %w", &run.RoomError{Need: s.homes.Host + 4*n, More: true})
	}
	return s.putFile(b, at, n)
}

// putFile copies up to n numbers to a half of the stage, and has them be written to the file from there while more rows are made.
func (s *growStore) putFile(b device.Mem, at, n int64) (p table.Page, err error) {
	part, err := s.host.next(s.GPU)
	if err != nil {
		return p, err
	}
	p.N = min(n, int64(len(part.words)))
	words := part.words[:p.N]
	if err := s.GPU.CopyD2H(s.side, device.Bytes(words), b, 4*at); err != nil {
		return p, err
	}
	if err := s.GPU.Record(s.side, part.copied); err != nil {
		return p, err
	}
	var write func([]uint32) error
	if p.At, write, err = s.homes.file.Later(p.N); err != nil {
		return p, err
	}
	wrote := make(chan error, 1)
	part.wrote = wrote
	go func() {
		err := device.Await(s.GPU, part.copied)
		if err == nil {
			err = write(words)
		}
		wrote <- err
	}()
	return p, nil
}

// leastPage is the least bytes of a piece of columns on a card.
const leastPage = 1 << 10

// card is a piece of columns on the card with room; nil: there is none left.
func (s *growStore) card() (*cardPage, error) {
	if s.page != nil && s.page.used+4 <= s.page.mem.Len() {
		return s.page, nil
	}
	bytes := min(max(s.room.left/4, leastPage), 1<<28, s.left) / device.Align * device.Align
	if bytes < leastPage {
		return nil, nil
	}
	m, err := s.GPU.Alloc(bytes)
	if scattered(err) {
		s.homes.room.Add(-s.left)
		s.left = 0
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.left -= bytes
	s.homes.room.Add(-bytes)
	s.page = &cardPage{gpu: s.GPU, queue: s.Queue, mem: m}
	s.homes.mu.Lock()
	defer s.homes.mu.Unlock()
	s.homes.cards = append(s.homes.cards, s.page)
	return s.page, nil
}
