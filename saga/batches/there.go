package batches

import (
	"errors"
	"fmt"
	"time"

	"sagann/chunk"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/saga/rows"
	"sagann/sample"
	"sagann/sample/cuda"
)

// Batches drawn on the GPU that trains. While a step runs, the blocks of the next batch are drawn on a queue of their
// own, in memory beside the plan's. The host reads the counts of vertices and edges. Then the blocks are copied, within
// the GPU, to the buffer that the step does not use. From the host come only the seeds, their labels and weights.

// gpuSource is the Source whose batches the GPU draws.
type gpuSource struct {
	m       *Maker
	run     *exec.Runner
	turn    Turn
	dev     device.Device
	gpu     *sample.GPU
	batches [3]*Batch // in rotation: the batch of the running step, and the two after it
	last    int       // index of the batch that was filled last
	filled  [3]bool   // batches[i] is filled, for its place batches[i].At
	at      Place     // of the batch whose drawing was begun last
	begun   bool      // words of that batch are not read yet
	order   *Order    // of epoch at.Epoch
	words   []uint32  // what the GPU reports of a batch: counts (sample/cuda)
	of      exec.EdgeTables
	numbers map[string]device.Mem // by input that never changes: one number per vertex
	mems    []device.Mem          // memory of the tables in of and numbers
}

// onGPU opens drawing on a GPU.
func (m *Maker) onGPU(run *exec.Runner, dev device.Capturer, t Turn) (*gpuSource, error) {
	gpu, err := m.program().OnGPU(dev)
	if err != nil {
		return nil, err
	}
	s := &gpuSource{m: m, run: run, turn: t, dev: dev, gpu: gpu, words: make([]uint32, cuda.Words)}
	for i := range s.batches {
		if s.batches[i], err = m.newBatch(run); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	if err := s.edgeTables(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// edgeTables copies to the GPU the weights, ranks and types of all edges that cells contain, and the tables of
// numbersThere.
func (s *gpuSource) edgeTables() error {
	m := s.m
	q, err := s.dev.NewQueue("edges")
	put := func(is bool, to *device.Mem, list []byte) {
		if !is || err != nil {
			return
		}
		if *to, err = s.dev.Alloc(int64(len(list))); err == nil {
			s.mems = append(s.mems, *to)
			err = s.dev.CopyH2D(q, *to, 0, list)
		}
	}
	g, w := m.In.Edges, m.low.Want.Of(0)
	put(w.Weight && !Weighs(&m.Sampler), &s.of.Weight, device.Bytes(g.Weight))
	if w.Rank {
		put(true, &s.of.Rank, device.Bytes(m.edgeRanks(g)))
	}
	put(w.Type, &s.of.Type, device.Bytes(g.Type))
	s.numbers = map[string]device.Mem{}
	for _, name := range m.numbersThere(m.low) {
		if err != nil {
			break
		}
		var table []byte
		if table, err = m.In.Layout(name, nil, rows.All(m.In.Edges.V)); err == nil {
			var mem device.Mem
			put(true, &mem, table)
			s.numbers[name] = mem
		}
	}
	return errors.Join(err, s.dev.Sync())
}

// Take implements Source.
func (s *gpuSource) Take(at Place) (*Batch, error) {
	defer s.m.waits(time.Now())
	return s.drawn(at)
}

// Stage implements Source. It also begins to draw the batch behind those.
func (s *gpuSource) Stage(next Place) error {
	for k := range max(1, s.run.Ahead()) {
		last := next.Batch < s.m.Parts
		if last && k > 0 {
			return nil
		}
		b, err := s.drawn(next)
		if err != nil || last {
			return err
		}
		if staged, err := stage(s.run, b); err != nil || !staged {
			return err
		}
		next = s.m.Next(next, s.turn)
	}
	// With tables in host memory, drawing begins now, so that the link does not wait for it. Otherwise it would only
	// slow the kernels of the step.
	if s.m.way.Far && next.Batch >= s.m.Parts {
		return s.begin(next)
	}
	return nil
}

// Rewind implements Source: the batch of any place can be drawn at any time.
func (s *gpuSource) Rewind() {}

// Close implements Source.
func (s *gpuSource) Close() (err error) {
	for _, m := range s.mems {
		err = errors.Join(err, s.dev.Free(m))
	}
	return errors.Join(err, s.gpu.Close())
}

// begin begins to draw the batch of a place.
func (s *gpuSource) begin(at Place) error {
	key := sample.Key{Seed: s.m.Seed, Epoch: uint32(at.Epoch), Batch: uint32(at.Batch)}
	switch {
	case s.order == nil || at.Epoch != s.at.Epoch:
		order, err := s.m.Order(at.Epoch)
		if err != nil {
			return err
		}
		s.order = order
		if err := s.gpu.Batches(order.all(), s.m.Batch, key); err != nil {
			return err
		}
	case at.Batch != s.at.Batch+1: // other devices draw the batches between
		if err := s.gpu.Jump(key); err != nil {
			return err
		}
	}
	s.at = at
	err := s.gpu.Next()
	if s.begun = err == nil; !s.begun {
		s.order = nil
	}
	return err
}

// drawn returns the batch of a place. If it is not filled yet, drawn begins to draw it, unless begin has, and waits.
func (s *gpuSource) drawn(at Place) (*Batch, error) {
	for i, b := range s.batches {
		if s.filled[i] && b.At == at {
			return b, nil
		}
	}
	if !s.begun || s.at != at {
		if err := s.begin(at); err != nil {
			return nil, err
		}
	}
	s.begun = false
	if err := s.gpu.Read(s.words); err != nil {
		s.order = nil
		return nil, err
	}
	s.last = (s.last + 1) % len(s.batches)
	b := s.batches[s.last]
	err := s.fill(b)
	s.filled[s.last] = err == nil
	return b, err
}

// fill fills b with the host's part of the batch that the GPU has drawn: seeds and their inputs, sizes, and where
// the GPU finds the rest.
func (s *gpuSource) fill(b *Batch) error {
	m, low := s.m, s.m.low
	b.At = s.at
	b.blocks.items, _ = s.order.Items(s.at.Batch)
	b.blocks.seeds = append(b.blocks.seeds[:0], b.blocks.items...)
	b.blocks.Vertices, b.blocks.Counts = b.blocks.seeds, b.blocks.Counts[:0]
	vertexCounts, edgeCounts := s.gpu.Counts(s.words)
	for _, n := range vertexCounts {
		b.blocks.Counts = append(b.blocks.Counts, int(n))
	}
	if b.blocks.Counts[0] != len(b.blocks.seeds) {
		return fmt.Errorf("the GPU has drawn for %d seeds of %d", b.blocks.Counts[0], len(b.blocks.seeds))
	}
	b.Seeds, b.Weight, b.blocks.total = b.blocks.seeds, s.order.of.weight(s.at.Batch), s.order.total(s.at.Batch)
	b.Rows = append(append(b.Rows[:0], 0), b.blocks.Counts...)
	l := s.gpu.Lists()
	behind := func(list []device.Mem) []device.Mem { return append([]device.Mem{{}}, list...) } // sets count from 1
	x := &exec.Drawn{Vertices: l.Vertices, Begin: behind(l.Begin), Far: behind(l.Far), Edge: behind(l.Edge), Of: s.of, Tables: map[int]device.Mem{},
		Made: map[int]exec.Made{}, Queue: l.Queue}
	if l.Weight != nil {
		x.Weight = behind(l.Weight)
	}
	b.Drawn, b.Most = x, m.most
	used := walks(low)
	b.Cells = make([][2]exec.Cell, len(used))
	for e := 1; e < len(used); e++ {
		for dir, is := range used[e] {
			n := b.Rows[e]
			if plan.Dir(dir) == plan.CSR {
				n = b.Rows[e+1]
			}
			if is {
				b.Cells[e][dir].Cell = chunk.RectOf(n, int64(edgeCounts[e-1]), low.Want.Of(0), 0)
			}
		}
	}
	for in, id := range low.Inputs {
		v, name := &low.Spec.Values[id], in.Name
		switch {
		case m.plan.Places.Sets.TableOf(id) != nil:
		case madeThere[name] != exec.NotMade:
			x.Made[id] = madeThere[name]
		case v.Set != 1 && s.numbers[name].Len() > 0:
			x.Made[id], x.Tables[id] = exec.Picked, s.numbers[name]
		default:
			ld := int(v.RowBytes / 4)
			to := b.memory[id][:b.Rows[v.Set]*ld]
			if err := m.fillInput(b, to, in, v, ld); err != nil {
				return err
			}
			b.Inputs[id] = device.Bytes(to)
		}
	}
	return nil
}
