package layout

import (
	"slices"

	"sagann/dataflow/plan"
)

// Layout is a plan without tasks, and the addresses that package order needs to emit them.
type Layout struct {
	Plan      *plan.Plan
	Usage     *plan.Usage
	Largest   *largest
	Slots     []PhaseSlots  // by phase
	Places    []WindowPlace // by window, as in Plan.Places.Windows
	Scratch   int64         // device offset where a Global of another device arrives
	ZeroAt    int64         // device offset of the Globals of kind Sum, cleared at the start of a step
	ZeroBytes int64
	windows   byKey
	clock     clock
	shape     []piece // of the buffer that is placed
	work      []int64 // by phase: bytes of scratch memory (plan.WorkOf)
	sizing    bool    // only Peak is wanted, no names and no setup (size.go)
}

// WindowPlace says where a window lies in device memory.
type WindowPlace struct {
	At     int64
	Cells  []int64 // of a window of cells: the offset of each cell from At
	Chunks []int64 // of a window of a value: the offset of each chunk; nil: one lies behind the other
	Late   []int64 // of one that lasts: those from phase From on; nil: as Chunks. The end of a step copies from there
}

// Choice says what stays on the device and how many buffers streamed operands have. Fit makes it, Place lays it out.
type Choice struct {
	resident []bool // by value
	cells    []bool // by direction: all its cells are resident
	Slots    int    // buffers of a streamed operand
	group    int    // least number of intervals that a device visits together; 0: one
	groups   []int  // by phase: the number, at least group; nil: group
	more     []int  // by phase: slots for chunks at the far end, at least Slots; nil: Slots
	windows  []plan.Window
	ahead    int  // buffers of streamed cells beyond Slots
	All      bool // everything is resident
	over     bool // plan.Rule.Over
	move     bool // plan.Rule.Move
}

// phase is the number of slots for chunks at the far end in phase q.
func (c *Choice) phase(q int) int {
	if c.more != nil {
		return c.more[q]
	}
	return c.Slots
}

func streams(ph *plan.Phase) bool {
	return slices.ContainsFunc(ph.Steps, func(st plan.Step) bool { return st.Kind == plan.Stream })
}

// bookPieces is book for a buffer of such pieces, whose addresses are offsets from at.
func (l *Layout) bookPieces(name string, at int64, from, to int, list []piece) {
	if l.flat(list, from, to) {
		l.book(name, at+list[0].off, list[0].bytes, from, to)
		return
	}
	var bytes int64
	first := list[0].off
	for _, p := range list {
		bytes, first = bytes+p.bytes, min(first, p.off)
	}
	l.book(name, at+first, bytes, from, to)
	b := &l.Plan.Places.Memory[len(l.Plan.Places.Memory)-1]
	for _, p := range list {
		b.Parts = append(b.Parts, plan.Part{At: at + p.off, Bytes: p.bytes, From: p.from, To: p.to})
	}
	l.Plan.Peak = max(l.Plan.Peak, at+end(list))
}

// end is where the last piece of a buffer ends.
func end(list []piece) (most int64) {
	for i := range list {
		most = max(most, list[i].off+list[i].bytes)
	}
	return most
}

// endNext is where the last piece of a scattered window ends when a step begins.
func endNext(list []piece) (most int64) {
	for i := range list {
		most = max(most, list[i].next+list[i].bytes)
	}
	return most
}

// book adds a buffer to Plan.Places.Memory and raises Peak to its end.
func (l *Layout) book(name string, at, bytes int64, from, to int) {
	p := l.Plan
	p.Peak = max(p.Peak, at+bytes)
	p.Places.Memory = append(p.Places.Memory, plan.Buffer{Name: name, At: at, Bytes: bytes, From: from, To: to})
}

// setupValue adds loads of n intervals of a value, from first on, to Plan.Setup. Each device has its intervals from
// address at on, one behind the other or at offsets.
func (l *Layout) setupValue(id int, at int64, first, n int, offsets []int64) {
	p := l.Plan
	v := &p.Spec.Values[id]
	for k := range n {
		i := first + k
		bytes := int64(p.Cells.Rows(i)) * v.RowBytes
		if bytes == 0 { // a trailing interval without vertices
			continue
		}
		off := int64(k/p.Devices) * p.Cells.ChunkBytes(v)
		if offsets != nil {
			off = offsets[k]
		}
		p.Setup = append(p.Setup, plan.Task{Kind: plan.Load, Queue: plan.H2D, Device: uint16(p.Owner(i)), Value: int32(id), Own: int32(i),
			Other: -1, Addr: at + off, Bytes: bytes})
		p.Once += bytes
	}
}

// setupCell adds the load of cell i to address at to Plan.Setup.
func (l *Layout) setupCell(d plan.Dir, i int, at, bytes int64) {
	p := l.Plan
	p.Setup = append(p.Setup, plan.Task{Kind: plan.Load, Queue: plan.H2D, Device: uint16(p.Owner(i / p.Cells.P)), Dir: d, Value: -1, Own: int32(i / p.Cells.P),
		Other: int32(i % p.Cells.P), Addr: at, Bytes: bytes})
	p.Once += bytes
}
