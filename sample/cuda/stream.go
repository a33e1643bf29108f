package cuda

import (
	"errors"
	"fmt"
	"strings"

	"sagann/device"
	"sagann/device/launch"
)

// Stream draws trees and walks of a graph whose edges are in pinned host memory. At each step it groups
// the transits by intervals of vertices. It copies the edges of an interval to one of two buffers (rooms)
// on the GPU, while it draws from the other one. It draws as many samples at a time as fit in memory.
type Stream struct {
	g        *Graph
	w        *Walk
	source   string
	host     device.HostMem // far ends
	parts    []interval
	bound    device.Mem
	room     [2]device.Mem
	wrong    device.Mem // a word, and the sum of samples
	blocks   int        // that group
	counts   device.Mem
	starts   device.Mem
	copies   device.Queue
	results  device.Queue
	filled   [2]device.Event
	emptied  [2]device.Event
	drawn    device.Event
	returned []device.Event // of levels
	used     int            // rooms filled so far
}

// interval is vertices in order: the first, and their edges.
type interval struct {
	vertex      uint32
	edge, edges int64
}

// roomsOf is the memory budget of the GPU over the size of the two rooms together.
const roomsOf = 32

// intervals divides the vertices into intervals of at most so many edges, or of one vertex with more.
func intervals(offsets []int64, edges int64) (list []interval) {
	for v := 0; v < len(offsets)-1; {
		x := interval{uint32(v), offsets[v], 0}
		for v++; v < len(offsets)-1 && offsets[v+1]-x.edge <= edges; v++ {
		}
		x.edges = offsets[v] - x.edge
		list = append(list, x)
	}
	return list
}

// NewStream copies far ends to pinned host memory, and offsets to the GPU. The sampler must have one root
// and bounded steps, and read only the rows of transits and Prev(1).
func NewStream(gpu device.GPU, w *Walk, offsets []int64, far []uint32) (s *Stream, err error) {
	g := &Graph{card: &launch.Card{GPU: gpu}, vertices: len(offsets) - 1, edges: len(far)}
	s = &Stream{g: g, w: w}
	defer func() {
		if err != nil {
			err = errors.Join(err, gpu.Sync(), s.Free())
			s = nil
		}
	}()
	if g.card.Queue, err = gpu.NewQueue("sample"); err != nil {
		return s, err
	}
	if s.copies, err = gpu.NewQueue("intervals"); err != nil {
		return s, err
	}
	if s.results, err = gpu.NewQueue("samples"); err != nil {
		return s, err
	}
	s.returned = make([]device.Event, max(3, len(w.Sizes)+1))
	events := []*device.Event{&s.filled[0], &s.filled[1], &s.emptied[0], &s.emptied[1], &s.drawn}
	for i := range s.returned {
		events = append(events, &s.returned[i])
	}
	for _, e := range events {
		if *e, err = gpu.NewEvent(); err != nil {
			return s, err
		}
	}
	if s.host, err = gpu.HostAlloc(max(4*int64(len(far)), 8)); err != nil {
		return s, err
	}
	copy(s.host.Bytes(), device.Bytes(far))
	g.rows.Offsets = offsets
	list := make([]uint32, len(offsets))
	for i, o := range offsets {
		list[i] = uint32(o)
	}
	if g.offsets, err = launch.Put(g.card, list); err != nil {
		return s, err
	}
	s.parts = intervals(offsets, gpu.Info().Budget/roomsOf/8)
	if len(s.parts) > mostParts {
		return s, fmt.Errorf("a GPU with %d bytes draws from a graph of %d edges by %d intervals: at most %d are possible", gpu.Info().Budget, len(far), len(s.parts), mostParts)
	}
	s.blocks = max(1, min(4*gpu.Info().Processors, 512))
	if err = s.memory(); err != nil {
		return s, err
	}
	s.source = s.text()
	return s, gpu.Sync()
}

// mostParts is the largest number of intervals: a block that groups counts them in shared memory.
const mostParts = 4096

// memory takes the memory that does not depend on samples.
func (s *Stream) memory() (err error) {
	bounds, most := make([]uint32, len(s.parts)), int64(0)
	for i, p := range s.parts {
		bounds[i], most = p.vertex, max(most, p.edges)
	}
	if s.bound, err = launch.Put(s.g.card, bounds); err != nil {
		return err
	}
	for _, m := range []struct {
		at    *device.Mem
		words int64
	}{{&s.room[0], most}, {&s.room[1], most}, {&s.wrong, 4}, {&s.counts, int64(len(s.parts)+1) * int64(s.blocks)}, {&s.starts, int64(len(s.parts) + 2)}} {
		if *m.at, err = s.g.card.Alloc(max(4*m.words, 8)); err != nil {
			return err
		}
	}
	return nil
}

// text is the kernels' source.
func (s *Stream) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#define THREADS 256\n#define PARTS %d\n", len(s.parts))
	b.WriteString(s.w.head(false) + scanText + streamText)
	if s.w.Sizes == nil {
		for turn := range s.w.Pack {
			fmt.Fprintf(&b, streamHead, turn, 1, 1, turn)
		}
		return b.String()
	}
	for step, size := range s.w.Sizes {
		fmt.Fprintf(&b, streamHead, step, s.w.widths()[step+1], size, 0)
	}
	return b.String()
}

// Sources are texts for tests that compile them.
func (s *Stream) Sources() []string { return []string{s.source} }

// kernel is that of a step.
func (s *Stream) kernel(step int) string {
	if s.w.Sizes == nil {
		step %= s.w.Pack
	}
	return fmt.Sprintf("saga_stream_%d", step)
}

// piece is samples that are drawn at a time: levels of vertices on the GPU, and the list of grouped transits.
type piece struct {
	n      int64
	levels []device.Mem // of walks three, which take turns
	list   device.Mem
}

func (p *piece) level(k int) device.Mem { return p.levels[k%len(p.levels)] }

func (p *piece) event(s *Stream, k int) device.Event { return s.returned[k%len(p.levels)] }

// words are the uint32 words that a sample takes in each level and in the list. Without results the last
// level of a tree is not kept.
func (s *Stream) words(results bool) (levels []int64, list int64) {
	if s.w.Sizes == nil {
		return []int64{1, 1, 1}, 1
	}
	widths := s.w.widths()
	for k, n := range widths {
		if k == len(widths)-1 {
			if !results {
				n = 0
			}
		} else {
			list = max(list, int64(n))
		}
		levels = append(levels, int64(n))
	}
	return levels, list
}

// fits is the number of samples that are drawn at a time.
func (s *Stream) fits(samples int64, results bool) (n int64, err error) {
	levels, list := s.words(results)
	each := list
	for _, n := range levels {
		each += n
	}
	c := s.g.card.GPU.Counters()
	free := s.g.card.GPU.Info().Budget - c.Used - int64(len(levels)+2)*device.Align
	if n = min(samples, free/(4*each), (1<<32-1)/list); n < 1 {
		return 0, fmt.Errorf("%d bytes are free on the GPU, and a sample takes %d", free, 4*each)
	}
	return (samples + (samples+n-1)/n - 1) / ((samples + n - 1) / n), nil // pieces of about equal size
}

// take takes memory for as many samples as fit.
func (s *Stream) take(samples int64, results bool) (p *piece, err error) {
	levels, list := s.words(results)
	p = &piece{}
	if p.n, err = s.fits(samples, results); err != nil {
		return nil, err
	}
	for _, n := range append(levels, list) {
		m, err := s.g.card.Alloc(max(4*n*p.n, 8))
		if err != nil {
			return nil, errors.Join(err, s.drop(p))
		}
		p.levels = append(p.levels, m)
	}
	p.list, p.levels = p.levels[len(levels)], p.levels[:len(levels)]
	return p, nil
}

func (s *Stream) drop(p *piece) (err error) {
	for _, m := range append(p.levels, p.list) {
		if m.Len() > 0 {
			err = errors.Join(err, s.g.card.Drop(m))
		}
	}
	return err
}

// Draw draws samples from roots, the first with the number first, by the Philox key k0, k1. to(k, lo, n)
// returns memory for the vertices that step k, from 0, adds to samples lo to lo+n-1; the memory must be
// valid until Draw returns. If to is nil, Draw only computes sum, as sample.Samples.Sum does. wrong means
// that a draw failed.
func (s *Stream) Draw(roots []uint32, first uint64, k0, k1 uint32, to func(step, lo, n int) []uint32) (sum uint64, wrong bool, err error) {
	p, err := s.take(int64(len(roots)), to != nil)
	if err != nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, s.g.card.GPU.Sync(), s.drop(p)) }()
	words := make([]uint64, 2)
	if err := s.g.card.GPU.CopyH2D(s.g.card.Queue, s.wrong, 0, device.Bytes(words)); err != nil {
		return 0, false, err
	}
	for lo := 0; lo < len(roots); lo += int(p.n) {
		some := roots[lo:min(len(roots), lo+int(p.n))]
		if e := p.event(s, 0); to != nil && e.Recorded() > 0 { // for walks, copies of the last piece may still read this level
			if err := s.g.card.GPU.Wait(s.g.card.Queue, e); err != nil {
				return 0, false, err
			}
		}
		if err := s.g.card.GPU.CopyH2D(s.g.card.Queue, p.level(0), 0, device.Bytes(some)); err != nil {
			return 0, false, err
		}
		for step := range len(s.w.widths()) - 1 {
			if err := s.step(p, step, len(some), first+uint64(lo), uint64(k0)|uint64(k1)<<32, to, lo); err != nil {
				return 0, false, err
			}
		}
	}
	if err := s.g.card.GPU.CopyD2H(s.g.card.Queue, device.Bytes(words), s.wrong, 0); err != nil {
		return 0, false, err
	}
	return words[1], words[0] != 0, s.g.card.GPU.Sync()
}

// group groups the transits of a step and returns where the groups begin in the list.
func (s *Stream) group(p *piece, from device.Mem, transits uint64) ([]uint32, error) {
	each := (transits + uint64(s.blocks) - 1) / uint64(s.blocks)
	shared := 4 * (2*len(s.parts) + 1)
	args := launch.Args{"from": from, "n": transits, "each": each, "bound": s.bound, "counts": s.counts}
	err := s.g.card.Launch(launch.Call{Source: s.source, Name: "saga_count", Grid: s.blocks, Block: 256, Shared: shared, Args: args},
		launch.Call{Source: s.source, Name: "saga_starts", Grid: 1, Block: 256, Shared: 4 * 32, Args: launch.Args{"counts": s.counts, "blocks": uint64(s.blocks), "starts": s.starts}},
		launch.Call{Source: s.source, Name: "saga_group", Grid: s.blocks, Block: 256, Shared: shared, Args: args.With(launch.Args{"list": p.list})})
	if err != nil {
		return nil, err
	}
	starts := make([]uint32, len(s.parts)+2)
	if err := s.g.card.GPU.CopyD2H(s.g.card.Queue, device.Bytes(starts), s.starts, 0); err != nil {
		return nil, err
	}
	return starts, s.g.card.GPU.Sync()
}

// step draws a step of a piece of n samples.
func (s *Stream) step(p *piece, step, n int, first, key uint64, to func(step, lo, n int) []uint32, lo int) error {
	g, widths := s.g, s.w.widths()
	transits := uint64(n) * uint64(widths[step])
	starts, err := s.group(p, p.level(step), transits)
	if err != nil {
		return err
	}
	size := uint64(widths[step+1] / widths[step])
	out, before, sum := p.level(step+1), device.Mem{}, device.Mem{}
	switch {
	case to == nil:
		sum = s.wrong.Slice(8, 8)
		if s.w.Sizes != nil && step == len(widths)-2 {
			out = device.Mem{}
		}
	case p.event(s, step+1).Recorded() > 0: // waits until the level's old vertices are copied
		if err := g.card.GPU.Wait(g.card.Queue, p.event(s, step+1)); err != nil {
			return err
		}
	}
	if s.w.Sizes == nil && step > 0 {
		before = p.level(step - 1)
	}
	for i := range len(s.parts) + 1 { // the last group has the transits that are no vertex
		count := uint64(starts[i+1] - starts[i])
		if count == 0 {
			continue
		}
		room, slot := launch.At(0), s.used%2
		if i < len(s.parts) {
			if room, err = s.fill(slot, s.parts[i]); err != nil {
				return err
			}
		}
		list := p.list.Slice(4*int64(starts[i]), 4*int64(count))
		err := g.card.Launch(launch.Call{Source: s.source, Name: s.kernel(step), Grid: g.grid(int(count * size)), Block: 256,
			Args: launch.Args{"offsets": g.offsets, "room": room, "vertices": uint64(g.vertices), "list": list, "n": count, "from": p.level(step), "before": before, "out": out,
				"step": uint64(step), "first": first, "key": key, "wrong": s.wrong, "sum": sum}})
		if err == nil && i < len(s.parts) {
			s.used++
			err = g.card.GPU.Record(g.card.Queue, s.emptied[slot])
		}
		if err != nil {
			return err
		}
	}
	if to == nil {
		return nil
	}
	return s.give(out, to(step, lo, n), p.event(s, step+1))
}

// fill copies the edges of an interval to a room once its draws are done, and makes the next draws wait for
// the copy. It returns the address that the graph's first edge would have, were all edges before the room.
func (s *Stream) fill(slot int, x interval) (launch.At, error) {
	g := s.g
	at, err := g.card.GPU.Address(s.room[slot])
	if err == nil && s.emptied[slot].Recorded() > 0 {
		err = g.card.GPU.Wait(s.copies, s.emptied[slot])
	}
	if err == nil {
		err = g.card.GPU.CopyH2D(s.copies, s.room[slot], 0, s.host.Bytes()[4*x.edge:4*(x.edge+x.edges)])
	}
	if err == nil {
		err = g.card.GPU.Record(s.copies, s.filled[slot])
	}
	if err == nil {
		err = g.card.GPU.Wait(g.card.Queue, s.filled[slot])
	}
	return launch.At(at - 4*uint64(x.edge)), err
}

// give copies the vertices that a step has added to the host, while the next draws run.
func (s *Stream) give(out device.Mem, to []uint32, returned device.Event) error {
	g := s.g
	err := g.card.GPU.Record(g.card.Queue, s.drawn)
	if err == nil {
		err = g.card.GPU.Wait(s.results, s.drawn)
	}
	if err == nil {
		err = g.card.GPU.CopyD2H(s.results, device.Bytes(to), out, 0)
	}
	if err == nil {
		err = g.card.GPU.Record(s.results, returned)
	}
	return err
}

// Free gives all memory back. The GPU stays open.
func (s *Stream) Free() error {
	err := s.g.Free()
	if s.host.Bytes() != nil {
		err = errors.Join(err, s.g.card.GPU.HostFree(s.host))
		s.host = device.HostMem{}
	}
	return err
}
