package layout

import "sagann/dataflow/plan"

// Placement: what lies where in device memory. The table is in the order of addresses, and says how long each part is in use:
//
//	parameters and optimiser moments  the whole run
//	resident inputs and cells         the whole run
//	windows of the whole run          the whole run
//	other Globals                     one step
//	windows that last                 from a phase of one step to one of the next
//	resident stored values            from the phase that makes them to the last that reads them
//	other windows                     from a phase to a later one
//	slots                             one phase
//
// Buffers that are in use in different phases may overlap. A task waits for the tasks that used its
// bytes before (order/deps.go).

// Place lays out a plan of s for ch, in device and host memory, without tasks.
func Place(s *plan.Spec, c *plan.Cells, o plan.Options, ch Choice) *Layout {
	p := &plan.Plan{Spec: s, Cells: c, Budget: o.Budget, Schedule: o.Schedule, Devices: o.Devices}
	l := placed(p, ch, o.Base)
	shareHost(p)
	lend(p, o.Base)
	return l
}

// placed lays out p for c in device memory. It sets p's addresses and Peak.
func placed(p *plan.Plan, c Choice, base *plan.Plan) *Layout {
	l := &Layout{Plan: p, Largest: largestOf(p.Cells), Usage: plan.NewUsage(p.Spec), work: plan.WorkOf(p.Spec, p.Cells)}
	if l.work != nil {
		p.Places.Work = make([]plan.Work, len(l.work))
	}
	var f fitter
	floor := l.placeFixed(&c, base)
	l.hold(&f, floor, &c)
	for q := range p.Spec.Phases {
		p.PhaseSlots = append(p.PhaseSlots, c.phase(q))
		l.Slots = append(l.Slots, l.placePhase(&f, floor, q, &c))
	}
	return l
}

// group sets Plan.Groups.
func (l *Layout) group(c *Choice) {
	p := l.Plan
	n := len(p.Spec.Phases)
	p.Groups = zeroed(p.Groups, n+1)
	for q := range n {
		switch {
		case p.Schedule == plan.DestOrder || !streams(&p.Spec.Phases[q]):
			p.Groups[q] = 1
		case c.groups != nil:
			p.Groups[q] = c.groups[q]
		default:
			p.Groups[q] = max(1, c.group)
		}
	}
	p.Groups[n] = max(1, c.group)
}

// placeFixed places the parameters, what is resident or in a window for the whole run, and all Globals. It
// returns the end of that memory.
func (l *Layout) placeFixed(c *Choice, base *plan.Plan) int64 {
	p, s := l.Plan, l.Plan.Spec
	p.Globals = zeroed(p.Globals, len(s.Globals))
	p.Places.ValueAt = zeroed(p.Places.ValueAt, len(s.Values))
	p.Places.Resident = zeroed(p.Places.Resident, len(s.Values))
	p.Places.CellsIn, p.Places.CellAt = make([]bool, len(p.Cells.Bytes)), make([][]int64, len(p.Cells.Bytes))
	p.Slots = c.Slots
	p.Devices = max(1, p.Devices)
	l.group(c)
	l.clock = l.ticks(c)
	p.Places.Windows = append(p.Places.Windows[:0], c.windows...)
	l.windows.find(p.Places.Windows, len(s.Values), len(p.Cells.Bytes))
	l.Places = zeroed(l.Places, len(p.Places.Windows))
	p.Peak, p.Places.Lasting = 0, 0
	var at int64
	add := func(name string, bytes int64) int64 {
		bytes = plan.Align(bytes)
		if !l.sizing {
			l.book(name, at, bytes, plan.Whole, plan.Whole)
		}
		at += bytes
		return at - bytes
	}
	if base != nil {
		at = base.Kept()
		if len(base.Places.CellsIn) > 0 { // else it is over sampled blocks
			p.Places.CellAt, p.Places.CellsIn = base.Places.CellAt, base.Places.CellsIn
		}
	}
	l.placeConstant(c, base, add)
	if base == nil {
		l.placeCells(c, &at, add)
	}
	l.placeWhole(add)
	l.placeTables(add)
	p.Places.Whole = at
	l.ZeroAt = at
	for pass := range 2 { // sums first, side by side: one Zero task clears them
		for i, g := range s.Globals {
			if g.Kind == plan.Param || (g.Kind == plan.Sum) != (pass == 0) {
				continue
			}
			p.Globals[i] = add(g.Name, g.Room())
		}
		if pass == 0 {
			l.ZeroBytes = at - l.ZeroAt
		}
	}
	if p.Devices > 1 {
		var most int64
		for _, g := range s.Globals {
			if g.Kind == plan.Sum {
				most = max(most, g.Room())
			}
		}
		l.Scratch = add("sum of another device", most)
	}
	p.Peak = max(p.Peak, at)
	return at
}

// placeConstant places the parameters and the resident inputs. Those that the plan shares with base lie where base has them.
func (l *Layout) placeConstant(c *Choice, base *plan.Plan, add func(string, int64) int64) {
	p, s := l.Plan, l.Plan.Spec
	if base != nil {
		l.Usage.Inherit(s, base.Spec)
	}
	for i, g := range s.Globals {
		if g.Kind != plan.Param {
			continue
		}
		if base != nil && l.Usage.Params[i] >= 0 {
			p.Globals[i] = base.Globals[l.Usage.Params[i]]
		} else {
			p.Globals[i] = add(g.Name, g.Room())
		}
	}
	for i := range s.Values {
		v := &s.Values[i]
		if v.Kind != plan.Input {
			continue
		}
		if base != nil {
			if k := l.Usage.Inputs[i]; k >= 0 && base.Places.Resident[k] {
				p.Places.ValueAt[i], p.Places.Resident[i] = base.Places.ValueAt[k], true
			}
		} else if c.resident[i] {
			p.Places.Resident[i] = true
			p.Places.ValueAt[i] = add(v.Name, p.ShareOf(i)*p.Cells.ChunkBytes(v))
			if !l.sizing {
				s := p.Span(i)
				l.setupValue(i, p.Places.ValueAt[i], s.First, s.N, nil)
			}
		}
	}
}

// placeCells places the resident cells.
func (l *Layout) placeCells(c *Choice, at *int64, add func(string, int64) int64) {
	p, cells := l.Plan, l.Plan.Cells
	for d := range plan.Dir(len(cells.Bytes)) {
		if !c.cells[d] || cells.Bytes[d] == nil {
			continue
		}
		p.Places.CellsIn[d] = true
		if l.sizing && p.Devices == 1 {
			add("cells", l.Largest.upTo[d][cells.P])
			continue
		}
		p.Places.CellAt[d] = make([]int64, len(cells.Bytes[d]))
		end := make([]int64, p.Devices)
		var most int64
		for i, b := range cells.Bytes[d] {
			if b == 0 {
				continue
			}
			o := p.Owner(i / cells.P)
			p.Places.CellAt[d][i] = *at + end[o]
			end[o] += plan.Align(b)
			most = max(most, end[o])
			if !l.sizing {
				l.setupCell(d, i, p.Places.CellAt[d][i], b)
			}
		}
		add("cells "+d.String(), most)
	}
}

// hold places what is in use for several phases, above floor: windows and resident stored values.
func (l *Layout) hold(f *fitter, floor int64, c *Choice) {
	p := l.Plan
	f.begin(l.clock, len(p.Spec.Phases))
	f.rank = -1
	l.placeLasting(f, floor)
	for i := range p.Spec.Values {
		v := &p.Spec.Values[i]
		if v.Kind != plan.Stored || !c.resident[i] || l.follows(c, i) {
			continue
		}
		chunk, bytes := p.Cells.ChunkBytes(v), p.ShareOf(i)*p.Cells.ChunkBytes(v)
		last, n := l.last(c, i)
		f.rank = i
		list := l.valuePieces(i, last, n)
		at := floor + f.hold(list...)
		flat := l.flat(list, l.Usage.Life[i][0], l.Usage.Life[last][1])
		if !l.sizing && !flat {
			l.bookPieces(l.names(c, i), at, l.Usage.Life[i][0], l.Usage.Life[last][1], list)
		}
		for id, first := i, l.Usage.Life[i][0]; id >= 0; id, n = l.next(c, id), n-1 {
			p.Places.Resident[id], p.Places.ValueAt[id] = true, at+int64(n)*chunk
			if !l.sizing && flat {
				l.book(p.Spec.Values[id].Name, p.Places.ValueAt[id], bytes, first, l.Usage.Life[id][1])
			}
			first = l.Usage.Life[id][1] + 1
		}
	}
	l.placeWindows(f, floor, c)
}

// names are the names of value id and of those that take its place.
func (l *Layout) names(c *Choice, id int) string {
	s := l.Plan.Spec.Values[id].Name
	for id = l.next(c, id); id >= 0; id = l.next(c, id) {
		s += ", " + l.Plan.Spec.Values[id].Name
	}
	return s
}

// last is the last of the resident values that take the place of id one after the other, and how many they are.
func (l *Layout) last(c *Choice, id int) (last, n int) {
	for last = id; l.next(c, last) >= 0; n++ {
		last = l.next(c, last)
	}
	return last, n
}

// next is the resident value that takes the place of resident value id; -1: none does.
func (l *Layout) next(c *Choice, id int) int {
	if n := l.Usage.Next[id]; n >= 0 && l.pairs(c, n) && c.resident[n] {
		return n
	}
	return -1
}

// follows tells whether a resident value has had the place of id before.
func (l *Layout) follows(c *Choice, id int) bool {
	before := l.Usage.Before[id]
	return before >= 0 && l.pairs(c, id) && c.resident[before]
}

// fewLeft is the least number of chunks of a value for each chunk more that a place has for values that follow each other.
const fewLeft = 4

// pairs tells whether value id may take the place of the one before it: visits go from chunk to chunk, on one device, and there are many chunks. Where
// too many values follow each other a place begins anew.
func (l *Layout) pairs(c *Choice, id int) bool {
	n := 1 + int(l.Plan.ShareOf(id))/fewLeft
	return l.byChunk(c) && l.Usage.Depth[id]%n != 0
}

// largest holds sizes of cells that buffers are made for.
type largest struct {
	NNZ   int64     // edges of the largest cell
	bytes []int64   // by direction: bytes of the largest cell
	upTo  [][]int64 // by direction: upTo[d][n] is the aligned bytes of all cells of the first n own intervals
}

func largestOf(c *plan.Cells) *largest {
	m := &largest{bytes: make([]int64, len(c.Bytes)), upTo: make([][]int64, len(c.Bytes))}
	for d := range m.bytes {
		for _, n := range c.NNZ[d] {
			m.NNZ = max(m.NNZ, n)
		}
		if c.Bytes[d] == nil {
			continue
		}
		var sum int64
		m.upTo[d] = append(make([]int64, 0, c.P+1), 0)
		for i, n := range c.Bytes[d] {
			m.bytes[d] = max(m.bytes[d], n)
			if sum += plan.Align(n); (i+1)%c.P == 0 {
				m.upTo[d] = append(m.upTo[d], sum)
			}
		}
	}
	return m
}

// placeTables places the tables of inputs for the whole run. Setup loads a table that lies in device memory; for one in
// host memory it places the hot rows and the lists of places.
func (l *Layout) placeTables(add func(string, int64) int64) {
	z := l.Plan.Places.Sets
	if z == nil || !z.Ahead.On {
		return
	}
	for i := range z.Ahead.Tables {
		t := &z.Ahead.Tables[i]
		v := &l.Plan.Spec.Values[t.Value]
		if t.Host {
			t.Most, t.Kept = z.Rows[z.Deepest()], min(z.Ahead.Buffers-1, plan.FarKept)
			t.At = add("hot rows of "+v.Name, int64(t.Hot)*v.RowBytes)
			t.Slots, t.Last = add("their places", 4*int64(t.Rows)), add("places in the last batches", t.LastBytes())
			continue
		}
		bytes := int64(t.Rows) * v.RowBytes
		t.At = add("table of "+v.Name, bytes)
		l.Plan.Setup = append(l.Plan.Setup, plan.Task{Kind: plan.Load, Queue: plan.H2D, Value: int32(t.Value), Other: -1, Addr: t.At, Bytes: bytes})
		l.Plan.Once += bytes
	}
}
