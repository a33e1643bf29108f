package saga

import (
	"errors"
	"fmt"
	"slices"

	"sagann/backend"
	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/internal/units"
	"sagann/saga/rows"
	"sagann/sample"
	"sagann/sample/cuda"
)

// Batches drawn on the GPU that trains. While a step runs, the blocks of the next batch are drawn on a queue of their
// own, in memory beside the plan's. The host reads the counts of vertices and edges. Then the blocks are copied, within
// the GPU, to the room that the step does not use. From the host come only the seeds, their labels and weights.

// drawnThere is the state of a session whose GPU draws its batches.
type drawnThere struct {
	gpu     *sample.GPU
	batches [3]*batch // in rotation: the batch of the running step, and the two after it
	turn    int       // index of the batch that was filled last
	filled  [3]bool   // batches[i] is filled, for its place batches[i].at
	at      step      // place of the batch whose drawing was begun last
	begun   bool      // words of that batch are not read yet
	order   []uint32  // items of epoch at.epoch, in the order of its batches
	words   []uint32  // what the GPU reports of a batch: counts (sample/cuda)
	of      exec.EdgeTables
	numbers map[string]device.Mem // by input that never changes: one number per vertex
	mems    []device.Mem          // memory of the tables in of and numbers
}

// madeThere lists the inputs that the GPU computes from the blocks it has drawn.
var madeThere = map[string]exec.Made{dataflow.IDInput: exec.IDs, dataflow.InDegree: exec.InDegrees, rows.InvDegree: exec.InvDegrees}

// drawsThere returns the device memory in bytes that drawing on the GPU takes, or an error that says why the host must
// draw.
func (p *Program) drawsThere() (int64, error) {
	s, low := p.sampled, p.train.low
	w := low.Want
	switch {
	case p.cfg.without("draw"):
		return 0, errors.New("drawing on the GPU is left out")
	case s.Sampler.Output != sample.Layers || s.Clusters != nil || s.Norms != nil:
		return 0, errors.New("a GPU draws only blocks of neighbours, each with equal probability, or of the vertices that walks visit most")
	case p.dims.taskName() != VertexTask:
		return 0, fmt.Errorf("a GPU draws for labels of vertices, not for the task %s", p.dims.taskName())
	case w.Data:
		return 0, errors.New("edges have vectors")
	case w.Weight && !s.weighs() && p.in.Edges.Weight == nil:
		return 0, errors.New("weights of edges are computed with the batch")
	case w.Type && p.in.Edges.Type == nil:
		return 0, errors.New("edges have no types")
	}
	deepest := len(s.most.Vertices)
	for in, id := range low.Inputs {
		v, name := &low.Spec.Values[id], in.Name
		table := p.staysTable(name) && (v.RowBytes%16 == 0 && int(v.Set) == deepest || v.RowBytes == 4)
		if name == dataflow.BlockOutDegree || p.tabled(name) || madeThere[name] == exec.NotMade && !table && v.Set != 1 {
			return 0, fmt.Errorf("the host makes the rows of %s of a batch", name)
		}
	}
	n, err := s.draw.GPUBytes(s.Batch, len(s.draw.items))
	if err != nil {
		return 0, err
	}
	for _, is := range []bool{w.Weight && !s.weighs(), w.Rank, w.Type} {
		if is {
			n += 4*int64(p.in.Edges.E()) + device.Align
		}
	}
	return n + int64(len(p.numbersThere()))*(4*int64(p.in.Edges.V)+device.Align), nil
}

// hostDraws says why the host draws the batches that a GPU trains on. It is "" if the GPU draws them, or if there is no
// GPU.
func (p *Program) hostDraws() string {
	if !backend.Of(p.cfg.Device).GPU() || p.sampled.filling.ahead.drawn {
		return ""
	}
	if p.sampled.draw.far != nil {
		return "rows of features come over the network with a batch"
	}
	bytes, err := p.drawsThere()
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("the memory has no room for the %s that the GPU takes to draw", units.Size(bytes))
}

// numbersThere lists the inputs with one number per vertex that the GPU reads from a table of all vertices. Inputs of
// seeds are not among them: they come from the host.
func (p *Program) numbersThere() (names []string) {
	for in, id := range p.train.low.Inputs {
		v, name := &p.train.low.Spec.Values[id], in.Name
		if v.RowBytes == 4 && v.Set != 1 && p.staysTable(name) && madeThere[name] == exec.NotMade && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// edgeTables copies to the GPU the weights, ranks and types of all edges that cells contain, and the tables of
// numbersThere.
func (s *session) edgeTables() error {
	p, d, dev := s.p, s.draws, s.devices[0]
	q, err := dev.NewQueue("edges")
	put := func(is bool, to *device.Mem, rows []byte) {
		if !is || err != nil {
			return
		}
		if *to, err = dev.Alloc(int64(len(rows))); err == nil {
			d.mems = append(d.mems, *to)
			err = dev.CopyH2D(q, *to, 0, rows)
		}
	}
	g, w := p.in.Edges, p.train.low.Want
	put(w.Weight && !p.sampled.weighs(), &d.of.Weight, device.Bytes(g.Weight))
	if w.Rank {
		put(true, &d.of.Rank, device.Bytes(p.sampled.edgeRanks(g)))
	}
	put(w.Type, &d.of.Type, device.Bytes(g.Type))
	d.numbers = map[string]device.Mem{}
	for _, name := range p.numbersThere() {
		if err != nil {
			break
		}
		var table []byte
		if table, err = p.in.Layout(name, nil, rows.All(p.in.Edges.V)); err == nil {
			var m device.Mem
			put(true, &m, table)
			d.numbers[name] = m
		}
	}
	return errors.Join(err, dev.Sync())
}

// close frees the memory of drawing.
func (d *drawnThere) close(dev device.Device) (err error) {
	for _, m := range d.mems {
		err = errors.Join(err, dev.Free(m))
	}
	return errors.Join(err, d.gpu.Close())
}

// drawing is the device memory in bytes that drawing on the GPU takes; 0 if the host draws.
func (p *Program) drawing() int64 {
	if p.sampled == nil {
		return 0
	}
	return p.sampled.filling.ahead.bytes
}

// openDraws opens drawing on the session's GPU, if the plan has it.
func (s *session) openDraws() error {
	p := s.p
	d, ok := s.devices[0].(device.Capturer)
	if !p.sampled.filling.ahead.drawn || !ok {
		return nil
	}
	gpu, err := p.sampled.draw.OnGPU(d)
	if err != nil {
		return err
	}
	s.draws = &drawnThere{gpu: gpu, words: make([]uint32, cuda.Words)}
	for i := range s.draws.batches {
		if s.draws.batches[i], err = s.newBatch(); err != nil {
			return err
		}
	}
	return s.edgeTables()
}

// beginDraw begins to draw the batch of a place on the GPU.
func (s *session) beginDraw(at step) error {
	p, d := s.p, s.draws
	key := sample.Key{Seed: p.cfg.Seed, Epoch: uint32(at.epoch), Batch: uint32(at.batch)}
	switch {
	case d.order == nil || at.epoch != d.at.epoch:
		order, err := p.sampled.order(p.cfg.Seed, at.epoch)
		if err != nil {
			return err
		}
		d.order = order.items
		if err := d.gpu.Batches(d.order, p.sampled.Batch, key); err != nil {
			return err
		}
	case at.batch != d.at.batch+1: // other devices draw the batches between
		if err := d.gpu.Jump(key); err != nil {
			return err
		}
	}
	d.at = at
	err := d.gpu.Next()
	if d.begun = err == nil; !d.begun {
		d.order = nil
	}
	return err
}

// drawn returns the batch of a place. If it is not filled yet, drawn begins to draw it, unless beginDraw has, and waits.
func (s *session) drawn(at step) (*batch, error) {
	d := s.draws
	for i, b := range d.batches {
		if d.filled[i] && b.at == at {
			return b, nil
		}
	}
	if !d.begun || d.at != at {
		if err := s.beginDraw(at); err != nil {
			return nil, err
		}
	}
	d.begun = false
	if err := d.gpu.Read(d.words); err != nil {
		d.order = nil
		return nil, err
	}
	d.turn = (d.turn + 1) % len(d.batches)
	b := d.batches[d.turn]
	err := s.fillThere(b)
	d.filled[d.turn] = err == nil
	return b, err
}

// fillThere fills b with the host's part of the batch that the GPU has drawn: seeds and their inputs, sizes, and where
// the GPU finds the rest.
func (s *session) fillThere(b *batch) error {
	p, d := s.p, s.draws
	low := p.train.low
	b.at = d.at
	b.blocks.items = p.sampled.seeds(d.order, d.at.batch)
	b.blocks.seeds = append(b.blocks.seeds[:0], b.blocks.items...)
	b.blocks.Vertices, b.blocks.Counts = b.blocks.seeds, b.blocks.Counts[:0]
	vertexCounts, edgeCounts := d.gpu.Counts(d.words)
	for _, n := range vertexCounts {
		b.blocks.Counts = append(b.blocks.Counts, int(n))
	}
	if b.blocks.Counts[0] != len(b.blocks.seeds) {
		return fmt.Errorf("the GPU has drawn for %d seeds of %d", b.blocks.Counts[0], len(b.blocks.seeds))
	}
	b.weight, b.blocks.total = p.itemWeights(b.blocks.items), p.updateWeight(&epochOrder{items: d.order}, d.at.batch)
	b.Rows = append(append(b.Rows[:0], 0), b.blocks.Counts...)
	l := d.gpu.Lists()
	behind := func(list []device.Mem) []device.Mem { return append([]device.Mem{{}}, list...) } // sets count from 1
	x := &exec.Drawn{Vertices: l.Vertices, Begin: behind(l.Begin), Far: behind(l.Far), Edge: behind(l.Edge), Of: d.of, Tables: map[int]device.Mem{},
		Made: map[int]exec.Made{}, Queue: l.Queue}
	if l.Weight != nil {
		x.Weight = behind(l.Weight)
	}
	b.Drawn, b.Most = x, p.sampled.draw.most
	used := walks(low)
	b.Cells = make([][2]exec.Cell, len(used))
	for e := 1; e < len(used); e++ {
		for dir, is := range used[e] {
			rows := b.Rows[e]
			if plan.Dir(dir) == plan.CSR {
				rows = b.Rows[e+1]
			}
			if is {
				b.Cells[e][dir].Cell = chunk.RectOf(rows, int64(edgeCounts[e-1]), low.Want, 0)
			}
		}
	}
	for in, id := range low.Inputs {
		v, name := &low.Spec.Values[id], in.Name
		switch {
		case p.train.plan.Places.Sets.TableOf(id) != nil:
		case madeThere[name] != exec.NotMade:
			x.Made[id] = madeThere[name]
		case v.Set != 1 && d.numbers[name].Len() > 0:
			x.Made[id], x.Tables[id] = exec.Picked, d.numbers[name]
		default:
			ld := int(v.RowBytes / 4)
			rows := b.rooms[id][:b.Rows[v.Set]*ld]
			if err := p.fillInput(b, rows, name, v, ld); err != nil {
				return err
			}
			b.Inputs[id] = device.Bytes(rows)
		}
	}
	return nil
}

// edges is the number of edges of each block of the batch.
func (b *batch) edges() (list []int) {
	if b.Drawn != nil {
		for e := 1; e < len(b.Cells); e++ {
			list = append(list, int(max(b.Cells[e][0].NNZ, b.Cells[e][1].NNZ)))
		}
		return list
	}
	for _, l := range b.blocks.Layers {
		list = append(list, len(l.Far))
	}
	return list
}
