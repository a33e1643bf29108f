package exec

import "sagann/dataflow/plan"

// rooms are the places on a device for the data of a batch, which batches take in turn (plan.Ahead).
type rooms struct {
	from, bytes int64 // device offset of the first room, and bytes of a room; 0 bytes: the plan has no rooms
	count       int
	room        int // number of the room that the current step reads
}

func newRooms(p *plan.Plan) rooms {
	if z := p.Places.Sets; z != nil && z.Ahead.On {
		return rooms{from: z.Ahead.At, bytes: z.Ahead.Bytes, count: z.Ahead.Rooms}
	}
	return rooms{}
}

// at is the device offset, for the current step, of what the plan has at addr.
func (x *rooms) at(addr int64) int64 { return x.in(x.room, addr) }

// in is the device offset of what the plan has at addr: in the given room if addr lies in a room, else addr itself.
func (x *rooms) in(room int, addr int64) int64 {
	if addr >= x.from && addr < x.from+x.bytes {
		addr += int64(room) * x.bytes
	}
	return addr
}

// behind is the n-th room after that of the current step.
func (x *rooms) behind(n int) int { return (x.room + n) % x.count }

// before is the n-th room before another.
func (x *rooms) before(room, n int) int { return (room + x.count - n) % x.count }

// current is what a step works on: the batch, nil for a plan over a whole graph, and the room where its data lies.
type current struct {
	plan *plan.Plan
	rooms
	batch *Batch
}

// of returns what the batch determines of a launch: the number of rows, and the cell or nil.
func (c *current) of(t *plan.Task) (rows int, cell *Cell) {
	if rows = int(t.Rows); t.Own >= 0 {
		rows = c.batch.Rows[t.Own]
	}
	if t.Other >= 0 {
		cell = &c.batch.Cells[t.Other][t.Dir]
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

// ids is the device offset of the batch's vertices.
func (c *current) ids() int64 { return c.at(c.plan.Places.Sets.Ahead.IDs) }

// during calls f with another batch, in another room, as the current one.
func (c *current) during(b *Batch, room int, f func()) {
	old, at := c.batch, c.room
	c.batch, c.room = b, room
	defer func() { c.batch, c.room = old, at }()
	f()
}
