package exec

import "sagann/dataflow/plan"

// buffers are the memory on a device for the data of batches, which take them in turn (plan.Ahead).
type buffers struct {
	from, bytes int64 // device offset of the first buffer, and bytes of a buffer; 0 bytes: the plan has no buffers
	count       int
	buffer      int // number of the buffer that the current step reads
}

func newBuffers(p *plan.Plan) buffers {
	if z := p.Places.Sets; z != nil && z.Ahead.On {
		return buffers{from: z.Ahead.At, bytes: z.Ahead.Bytes, count: z.Ahead.Buffers}
	}
	return buffers{}
}

// at is the device offset, for the current step, of what the plan has at addr.
func (x *buffers) at(addr int64) int64 { return x.in(x.buffer, addr) }

// in is the device offset of what the plan has at addr: in the given buffer if addr lies in a buffer, else addr itself.
func (x *buffers) in(buffer int, addr int64) int64 {
	if addr >= x.from && addr < x.from+x.bytes {
		addr += int64(buffer) * x.bytes
	}
	return addr
}

// behind is the n-th buffer after that of the current step.
func (x *buffers) behind(n int) int { return (x.buffer + n) % x.count }

// before is the n-th buffer before another.
func (x *buffers) before(buffer, n int) int { return (buffer + x.count - n) % x.count }

// current is what a step works on: the batch, nil for a plan over a whole graph, and the buffer where its data lies.
type current struct {
	plan *plan.Plan
	buffers
	batch *Batch
}

// of returns what the batch determines of a launch: the number of rows, and the cell or nil.
func (c *current) of(t *plan.Task) (rows int, cell *Cell) {
	if rows = int(t.Rows); t.Own >= 0 {
		rows = c.batch.Rows[t.Own]
	}
	if t.Other >= 0 {
		cell = &c.batch.Cells[t.Other][t.Dir.Way()]
	}
	return rows, cell
}

// cleared is the range of device memory that a Zero task clears: that of a value has the rows of set t.Own after those of
// set t.Other.
func (c *current) cleared(t *plan.Task) (at, bytes int64) {
	if t.Value < 0 {
		return t.Addr, t.Bytes
	}
	row := c.plan.Spec.Values[t.Value].RowBytes
	from, to := int64(c.batch.Rows[t.Other]), int64(c.batch.Rows[t.Own])
	return c.at(t.Addr) + from*row, max(0, to-from) * row
}

// ids is the device offset of the batch's vertices of a type.
func (c *current) ids(typ int) int64 {
	z := c.plan.Places.Sets
	return c.at(z.Ahead.IDs) + 4*int64(z.IDsOf(typ))
}

// index is the type of the vertices by whose list the launch of t reads tables.
func (c *current) index(t *plan.Task) int {
	st := &c.plan.Spec.Phases[t.Phase].Steps[t.Step]
	for k := range st.Calls {
		if call := &st.Calls[k]; call.Kernel == int(t.Kernel) {
			return c.plan.Places.Sets.IndexOf(st, call)
		}
	}
	return 0
}

// during calls f with another batch, in another buffer, as the current one.
func (c *current) during(b *Batch, buffer int, f func()) {
	old, at := c.batch, c.buffer
	c.batch, c.buffer = b, buffer
	defer func() { c.batch, c.buffer = old, at }()
	f()
}
