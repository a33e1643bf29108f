package batches

import (
	"errors"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/device"
	"sagann/saga/rows"
)

// Batch is a batch of a run, filled for a step.
type Batch struct {
	exec.Batch
	At     Place
	Weight float64  // weight of its items in the loss
	Seeds  []uint32 // the vertices that its first rows belong to; of clusters only those that are items

	blocks blocks
	filled chan struct{}     // closed when it is ready
	home   chan *Batch       // where Release returns it to; nil: nowhere
	cells  [][2]chunk.Rect   // by edge set and direction
	ids    []uint32          // memory of Batch.IDs
	memory map[int][]float32 // by value: memory of its rows
	err    error             // why it could not be filled
}

// Total is the weight of all items of the batch's update.
func (b *Batch) Total() float64 { return b.blocks.total }

// Items are the items of the batch.
func (b *Batch) Items() []uint32 { return b.blocks.items }

// Counts is the number of vertices of each vertex set, in their order (plan.Numbers).
func (b *Batch) Counts() []int { return b.blocks.Counts }

// Vertices are the vertices of the vertex set whose number is set, which is of type typ.
func (b *Batch) Vertices(set, typ int) []uint32 { return b.blocks.ofType(typ)[:b.blocks.Counts[set-1]] }

// Edges is the number of edges of each edge set, in their order.
func (b *Batch) Edges() (list []int) {
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

// Release lets the memory of the batch be used for another one. It never blocks.
func (b *Batch) Release() {
	if b.home != nil {
		b.home <- b
	}
}

// Maker makes the batches of one plan.
type Maker struct {
	*Draws
	rooms *Rooms
	low   *dataflow.Lowered
	plan  *plan.Plan
	way   Way
}

// Maker returns what makes batches for a plan of low whose batches come in the way x.
func (r *Rooms) Maker(low *dataflow.Lowered, pl *plan.Plan, x Way) *Maker {
	return &Maker{Draws: r.d, rooms: r, low: low, plan: pl, way: x}
}

// Make makes the batch of a place, apart from any run.
func (m *Maker) Make(at Place) (*Batch, error) {
	o, err := m.Order(at.Epoch)
	if err != nil {
		return nil, err
	}
	b := &Batch{At: at}
	return b, m.fill(b, o)
}

// newBatch is a batch whose inputs and cells are in the runner's pinned memory, if it has such memory.
func (m *Maker) newBatch(run *exec.Runner) (*Batch, error) {
	b := &Batch{}
	buffer, from, err := run.Buffer()
	if err != nil || buffer == nil {
		return b, err
	}
	z := m.plan.Places.Sets
	part := func(at, bytes int64) []byte { return buffer[at-from : at-from+bytes : at-from+bytes] }
	b.memory, b.Inputs = map[int][]float32{}, map[int][]byte{}
	for _, id := range m.low.Inputs {
		if z.TableOf(id) == nil {
			b.memory[id] = device.View[float32](part(m.plan.Places.ValueAt[id], z.RoomBytes(m.low.Spec, id)))
		}
	}
	b.cells = make([][2]chunk.Rect, len(z.Cells))
	for e, dirs := range walks(m.low) {
		for d, used := range dirs {
			if used {
				b.cells[e][d].Mem = part(z.CellAt[e][d], z.Cells[e][d])
			}
		}
	}
	if len(z.Ahead.Tables) > 0 {
		b.ids = device.View[uint32](part(z.Ahead.IDs, 4*int64(z.IDsOf(m.types()))))
	}
	return b, nil
}

// fill draws the batch for its place b.At and makes the cells and input rows that the plan reads. It uses the memory
// of the batch that b was before.
func (m *Maker) fill(b *Batch, o *Order) error {
	if err := m.draw(&b.blocks, o, b.At); err != nil {
		return err
	}
	b.Weight = o.of.weight(b.At.Batch)
	if b.Seeds = b.blocks.seeds; m.Task == dataset.VertexLabels {
		b.Seeds = b.Seeds[:b.blocks.Counts[m.target()]]
	}
	b.Rows, b.Most = append(append(b.Rows[:0], 0), b.blocks.Counts...), m.most
	m.fillCells(b)
	if len(m.plan.Places.Sets.Ahead.Tables) > 0 {
		m.fillIDs(b)
	}
	if b.memory == nil {
		b.memory, b.Inputs = map[int][]float32{}, map[int][]byte{}
	}
	for in, id := range m.low.Inputs {
		v := &m.low.Spec.Values[id]
		if m.plan.Places.Sets.TableOf(id) != nil {
			continue
		}
		ld := int(v.RowBytes / 4)
		n := b.Rows[v.Set] * ld
		if cap(b.memory[id]) < n {
			b.memory[id] = make([]float32, n+n/8)
		}
		to := b.memory[id][:n]
		b.Inputs[id] = device.Bytes(to)
		if m.learned(in.Name) { // the step sets them, as they are then
			continue
		}
		if err := m.fillInput(b, to, in, v, ld); err != nil {
			return err
		}
	}
	return nil
}

// fillIDs lists the vertices of the batch, those of each type at the place of its room.
func (m *Maker) fillIDs(b *Batch) {
	z := m.plan.Places.Sets
	for t := range m.types() {
		for len(b.ids) < z.IDsOf(t) {
			b.ids = append(b.ids, 0)
		}
		b.ids = append(b.ids[:z.IDsOf(t)], b.blocks.ofType(t)...)
	}
	b.IDs = b.ids
}

// fillInput writes the rows of an input of the batch.
func (m *Maker) fillInput(b *Batch, to []float32, in dataflow.Input, v *plan.Value, ld int) error {
	of, name := m.source(in)
	_, r := dataflow.RelationOf(in.Name)
	level, n := in.Set.Level(), m.Numbers()
	vertices := b.Vertices(int(v.Set), int(in.Set.Type))
	each := func(f func(local int) float32) error {
		for i := range vertices {
			to[i] = f(i)
		}
		return nil
	}
	inDegree := func(i int) int64 {
		o := b.blocks.Layers[n.Edge(level, r)-1].Offsets
		return o[i+1] - o[i]
	}
	switch name {
	case rows.Weight: // the loss is the mean over the items of the whole update
		total := b.blocks.total
		return each(func(i int) float32 {
			if total == 0 {
				return 0
			}
			return float32(m.weightOf(vertices[i]) * b.blocks.count(i) / total)
		})
	case rows.GraphOf: // graphs are numbered by their places in the batch
		i := 0
		for n, g := range b.blocks.items {
			for range m.members[g] {
				to[i], i = float32(n), i+1
			}
		}
		return nil
	case dataflow.InDegree:
		return each(func(i int) float32 { return float32(inDegree(i)) })
	case rows.InvDegree:
		return each(func(i int) float32 { return 1 / float32(max(inDegree(i), 1)) })
	case dataflow.BlockOutDegree:
		clear(to)
		for _, f := range b.blocks.Layers[n.Edge(level-1, r)-1].Far {
			to[f]++
		}
		return nil
	}
	if m.far != nil && name == rows.Features {
		return m.far.rows(to, vertices, ld)
	}
	row, err := m.rowOf(reader{of, name})
	if err != nil {
		return err
	}
	chunk.Ranges(len(vertices), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			at := to[i*ld : (i+1)*ld]
			row(int(vertices[i]), at[:v.Cols])
			clear(at[v.Cols:])
		}
	})
	return nil
}

// Globals are the Globals that a step over b reads of it: labels, weights and sizes of the batch's graphs, in their order in
// the batch. There are none if items are no graphs.
func (m *Maker) Globals(b *Batch) map[string][]float32 {
	if m.Task != dataset.GraphLabels {
		return nil
	}
	n := m.Full()
	cols := max(1, m.In.Meaning.Rows.Cols)
	labels, weights, counts := make([]float32, n*cols), make([]float32, n), make([]float32, n)
	total := b.blocks.total
	for i, g := range b.blocks.items {
		m.In.GraphLabel(labels[i*cols:][:cols], int(g))
		counts[i] = 1 / float32(max(1, len(m.members[g])))
		if total > 0 {
			weights[i] = float32(m.weightOf(g) / total)
		}
	}
	return map[string][]float32{rows.GraphLabels: labels, rows.GraphWeight: weights, rows.GraphInvCount: counts}
}

// stage begins to copy b to the device and tells whether it does. A batch that does not fit is no error here: the step
// finds it at its turn.
func stage(run *exec.Runner, b *Batch) (bool, error) {
	if run.Staged(&b.Batch) {
		return true, nil
	}
	err := run.Stage(&b.Batch)
	var over *exec.OverflowError
	if errors.As(err, &over) {
		err = nil
	}
	return run.Staged(&b.Batch), err
}
