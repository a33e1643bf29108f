package plantest

import (
	"fmt"
	"slices"

	"sagann/dataflow/plan"
)

// A checker runs a plan on a model of memory, task by task in the global order, and
// knows nothing of how plans are made. Device memory is units of 256 bytes; a unit holds
// a version of something. What a task reads must be there, in its latest version.
//
// That other interleavings of the queues give the same is a matter of order alone: two
// tasks that touch one unit, one of them writing, must be ordered by queues and
// dependences. The checker follows that order with a vector clock for each task, over
// the queues of all devices.
//
// A sum over several devices is partial on each until they have been added up; its
// version is the set of devices whose part is in it.
type checker struct {
	p       *plan.Plan
	units   [][]unit // by device
	host    map[chunkID]*unit
	latest  map[content]int   // version of everything, counted by writes; of sums the devices that wrote
	clocks  [][]int           // by task: of every lane, how many tasks are over when it is
	lane    [][]int           // clock of the last task of a lane
	preset  map[*unit]content // what earlier loads left
	sent    map[int32][]unit  // by Send of a sum: what it has read
	problem error
}

const unitBytes = 256

type chunkID struct{ value, interval int32 }

// content names what a unit can hold.
type content struct {
	kind     string
	id       int32
	own, far int32
	part     int64 // which unit of it
}

type unit struct {
	holds   content
	version int
	write   int         // task, -1 before the first
	reads   map[int]int // last task, by lane
}

func newUnit() unit { return unit{write: -1, reads: map[int]int{}} }

// Check returns what is wrong with p: nil for a plan whose every interleaving computes
// the same right thing. loaded are the setup tasks of a plan that p shares memory with.
func Check(p *plan.Plan, base *plan.Plan) error {
	c := &checker{p: p, host: map[chunkID]*unit{}, latest: map[content]int{}, preset: map[*unit]content{}, sent: map[int32][]unit{}}
	for range p.Devices {
		var units []unit
		for range (p.Peak + unitBytes - 1) / unitBytes {
			units = append(units, newUnit())
		}
		c.units = append(c.units, units)
	}
	for range p.Devices * int(plan.Queues) {
		c.lane = append(c.lane, make([]int, p.Devices*int(plan.Queues)))
	}
	c.load(p, true)
	if base != nil {
		c.load(base, base.Spec.Between)
	}
	for i, g := range p.Spec.Globals {
		if g.Kind == plan.Param || g.Kind == plan.Const {
			for d := range p.Devices {
				c.set(d, "global", int32(i), -1, -1, p.Globals[i], g.Bytes())
			}
		}
	}
	for i := range p.Tasks {
		c.task(i)
		if c.problem != nil {
			return fmt.Errorf("%s: %w", p.Describe(i), c.problem)
		}
	}
	for u, holds := range c.preset {
		if u.holds != holds {
			return fmt.Errorf("%+v was there for the whole run, now it is %+v", holds, u.holds)
		}
	}
	for id, v := range p.Spec.Values {
		for j := range p.Cells.P {
			h := c.host[chunkID{int32(id), int32(j)}]
			if v.Output && p.Cells.Rows(j) > 0 && (h == nil || h.version != c.latest[value(int32(id), int32(j))]) {
				return fmt.Errorf("result %s, chunk %d is not in host memory at the end", v.Name, j)
			}
		}
	}
	return nil
}

// some are the rows of chunk i that cell (j,i) reads.
func some(id, i int32, dir plan.Dir, j int32) content {
	return content{kind: "rows", id: id, own: i, far: int32(dir)<<16 | j}
}

func value(id, j int32) content { return content{kind: "value", id: id, own: j, far: -1} }

// set puts something into memory before the first task.
func (c *checker) set(d int, kind string, id, own, far int32, at, bytes int64) {
	for k := range (bytes + unitBytes - 1) / unitBytes {
		c.units[d][at/unitBytes+k].holds = content{kind, id, own, far, k}
	}
}

// load runs the setup tasks of q, whose values and parameters p knows by name; those of windows only if they must stay.
func (c *checker) load(q *plan.Plan, windows bool) {
	for _, t := range slices.DeleteFunc(slices.Clone(q.Setup), func(t plan.Task) bool { return t.Addr >= q.Places.Whole && !windows }) {
		kind, id, own := "cell", int32(t.Dir), t.Own
		if t.Value >= 0 {
			kind, id = "value", -1
			for i, v := range c.p.Spec.Values {
				if v.Name == q.Spec.Values[t.Value].Name {
					id = int32(i)
				}
			}
		}
		c.set(int(t.Device), kind, id, own, t.Other, t.Addr, t.Bytes)
		for k := range (t.Bytes + unitBytes - 1) / unitBytes {
			u := &c.units[t.Device][t.Addr/unitBytes+k]
			c.preset[u] = u.holds
		}
	}
}

func (c *checker) task(i int) {
	t := &c.p.Tasks[i]
	mine := t.Lane()
	clock := slices.Clone(c.lane[mine])
	for _, d := range c.p.Deps[t.Deps[0]:t.Deps[1]] {
		for q := range clock {
			clock[q] = max(clock[q], c.clocks[d][q])
		}
	}
	clock[mine] = i + 1 // tasks up to and with i are over when i is
	c.clocks, c.lane[mine] = append(c.clocks, clock), clock

	d := int(t.Device)
	switch t.Kind {
	case plan.Copy:
		if t.Value >= 0 {
			what := value(t.Value, t.Own)
			c.read(i, int(t.From), what, t.FromAddr, t.Bytes)
			c.write(i, d, what, t.Addr, t.Bytes)
			break
		}
		c.copy(i, t)
	case plan.Add:
		c.add(i, t)
	case plan.Send:
		c.send(i, t)
	case plan.Receive:
		c.receive(i, t)
	case plan.Load:
		what, bytes := content{"cell", int32(t.Dir), t.Own, t.Other, 0}, t.Bytes
		if t.Value >= 0 {
			what = value(t.Value, t.Own)
			h := c.hostUnit(t.Value, t.Own)
			c.reading(i, h)
			if c.p.Spec.Values[t.Value].Kind != plan.Input && (h.write < 0 || h.holds != what) || h.version != c.latest[what] {
				c.fail("host memory holds version %d of %d", h.version, c.latest[what])
			}
		}
		if t.Is.Gather {
			row := c.p.Spec.Values[t.Value].RowBytes
			if need := c.p.Cells.Needs[t.Dir][int(t.Other)*c.p.Cells.P+int(t.Own)]; t.Bytes != need*row || int64(t.Rows) != need {
				c.fail("gathers %d rows, %d bytes, of the %d rows that the cell reads", t.Rows, t.Bytes, need)
			}
			c.latest[some(t.Value, t.Own, t.Dir, t.Other)] = c.latest[what]
			what, bytes = some(t.Value, t.Own, t.Dir, t.Other), int64(c.p.Cells.Rows(int(t.Own)))*row
		}
		c.write(i, d, what, t.Addr, bytes)
	case plan.Save:
		what := value(t.Value, t.Own)
		c.read(i, d, what, t.Addr, t.Bytes)
		h := c.hostUnit(t.Value, t.Own)
		c.writing(i, h)
		h.version, h.holds = c.latest[what], what
	case plan.Zero:
		for id, g := range c.p.Spec.Globals {
			if at := c.p.Globals[id]; g.Kind == plan.Sum {
				if at < t.Addr || at+g.Bytes() > t.Addr+t.Bytes {
					c.fail("%s is not cleared", g.Name)
				}
				what := content{"global", int32(id), -1, -1, 0}
				c.each(d, at, g.Bytes(), func(u *unit, part int64) {
					c.writing(i, u)
					u.holds, u.version = what, 0
					u.holds.part = part
				})
			}
		}
	case plan.Update:
		for _, m := range c.p.Spec.Updates {
			c.global(i, d, m.Grad, false)
			c.global(i, d, m.Param, false)
		}
	case plan.Results:
		for _, id := range c.p.Spec.Results {
			c.global(i, d, id, false)
		}
	case plan.Run:
		c.run(i, t)
	}
}

func (c *checker) run(i int, t *plan.Task) {
	var call *plan.Call
	for _, ph := range c.p.Spec.Phases {
		for _, st := range ph.Steps {
			for k := range st.Calls {
				if st.Calls[k].Kernel == int(t.Kernel) {
					call = &st.Calls[k]
				}
			}
		}
	}
	derived := false
	for _, v := range c.p.Spec.Values {
		if v.Derive != nil && v.Derive.Kernel == int(t.Kernel) {
			call, derived = v.Derive, true
		}
	}
	far, d, rows := t.Other, int(t.Device), int32(-1)
	if w := c.p.Places.Work; w != nil {
		c.write(i, d, content{"scratch", t.Phase, -1, -1, 0}, w[t.Phase].At, w[t.Phase].Bytes)
		c.scratch(t, call, derived)
	}
	if derived {
		far = t.Own
	}
	if t.Other >= 0 {
		c.read(i, d, content{"cell", int32(t.Dir), t.Own, t.Other, 0}, t.Cell, c.p.Cells.Bytes[t.Dir][int(t.Own)*c.p.Cells.P+int(t.Other)])
	}
	for k, o := range call.Operands {
		at := c.p.Args[int(t.Args[0])+k]
		var what content
		var bytes int64
		again := t.Other >= 0 && !t.Is.First // adds to what the cells before made
		switch o.Kind {
		case plan.GlobalRef:
			if at != c.p.Globals[o.ID] {
				c.fail("operand %d lies at %d, the Global at %d", k, at, c.p.Globals[o.ID])
			}
			c.global(i, d, o.ID, o.Write)
			continue
		case plan.EdgeTemp:
			what, again = content{"edges", int32(o.ID), t.Own, t.Other, 0}, false
			bytes = c.p.Spec.EdgeTemps[o.ID] * c.p.Cells.NNZ[t.Dir][int(t.Own)*c.p.Cells.P+int(t.Other)]
		case plan.OwnValue, plan.OtherValue:
			j := t.Own
			if o.Kind == plan.OtherValue {
				j = far
			}
			what = value(int32(o.ID), j)
			if o.Kind == plan.OtherValue {
				what = c.partial(i, t, derived, what, o, at, rows)
				if derived && what.kind == "rows" {
					rows = what.far
				}
			}
			bytes = int64(c.p.Cells.Rows(int(j))) * c.p.Spec.Values[o.ID].RowBytes
			if o.Kind == plan.OtherValue && !derived && c.p.Cells.Wide > 0 {
				c.wide(i, d, o.ID, far, at)
				continue
			}
		}
		if !o.Write || again {
			c.read(i, d, what, at, bytes)
		}
		if o.Write {
			if !derived { // what is derived again is the same again
				c.latest[what]++
			}
			c.write(i, d, what, at, bytes)
		}
	}
}

// scratch checks that the phase of t has the scratch memory that its call takes.
func (c *checker) scratch(t *plan.Task, call *plan.Call, derived bool) {
	edges, far := 0, 0
	if t.Other >= 0 && !derived {
		edges, far = int(c.p.Cells.NNZ[t.Dir][int(t.Own)*c.p.Cells.P+int(t.Other)]), c.p.Cells.Reach(int(t.Other))
	}
	if n, has := c.p.Spec.Scratch(call.Kernel, int(t.Rows), edges, far), c.p.Places.Work[t.Phase].Bytes; n > has {
		c.fail("takes %d bytes of scratch memory, the phase has %d", n, has)
	}
}

// wide checks that task i finds on device d all of value id that a cell with interval far reaches over, one interval behind the other.
func (c *checker) wide(i, d, id int, far int32, at int64) {
	s, v := c.p.Span(id), &c.p.Spec.Values[id]
	first, n := c.p.Cells.Reached(s, int(far))
	for k := range n {
		if rows := s.Rows(first + k); rows > 0 {
			c.read(i, d, value(int32(id), int32(first+k)), at+int64(k)*c.p.Cells.ChunkBytes(v), int64(rows)*v.RowBytes)
		}
	}
}

// partial is what an operand at the streamed interval may be: the rows that the cell
// reads do for the cell, and what is derived from some rows is those rows.
func (c *checker) partial(i int, t *plan.Task, derived bool, what content, o plan.Operand, at int64, rows int32) content {
	part := what
	part.kind = "rows"
	if o.Write {
		if part.far = rows; rows >= 0 {
			c.latest[part] = c.latest[what]
			return part
		}
		return what
	}
	holds := c.units[t.Device][at/unitBytes].holds
	if part.far = int32(t.Dir)<<16 | t.Own; derived {
		part.far = holds.far
	}
	if holds == part && c.latest[part] == c.latest[what] {
		return part
	}
	return what
}

// global reads or writes a Global on device d. A sum that is written gets the device's
// part; a sum that is read has the parts of all devices that wrote.
func (c *checker) global(i, d, id int, write bool) {
	g, at := c.p.Spec.Globals[id], c.p.Globals[id]
	what := content{"global", int32(id), -1, -1, 0}
	switch {
	case write && g.Kind == plan.Sum:
		c.latest[what] |= 1 << d
		c.each(d, at, g.Bytes(), func(u *unit, part int64) {
			if u.holds.id != what.id || u.holds.kind != what.kind {
				c.fail("adds to %s, where %+v is", g.Name, u.holds)
			}
			c.writing(i, u)
			u.version |= 1 << d
		})
	case write: // the same on every device
		c.latest[what] = 1
		c.write(i, d, what, at, g.Bytes())
	default:
		c.read(i, d, what, at, g.Bytes())
	}
}

// copy moves a Global, perhaps a part of a sum, between devices.
func (c *checker) copy(i int, t *plan.Task) {
	var from []*unit
	c.each(int(t.From), t.FromAddr, t.Bytes, func(u *unit, _ int64) {
		c.reading(i, u)
		from = append(from, u)
	})
	c.each(int(t.Device), t.Addr, t.Bytes, func(u *unit, part int64) {
		c.writing(i, u)
		if c.problem == nil {
			u.holds, u.version = from[part].holds, from[part].version
		}
	})
}

// add adds a part of a sum to another.
func (c *checker) add(i int, t *plan.Task) {
	d := int(t.Device)
	var from []*unit
	c.each(d, t.FromAddr, t.Bytes, func(u *unit, _ int64) {
		c.reading(i, u)
		from = append(from, u)
	})
	c.each(d, t.Addr, t.Bytes, func(u *unit, part int64) {
		c.writing(i, u)
		if c.problem != nil {
			return
		}
		if u.holds != from[part].holds || u.version&from[part].version != 0 {
			c.fail("adds %+v of devices %b to %+v of devices %b", from[part].holds, from[part].version, u.holds, u.version)
		}
		u.version |= from[part].version
	})
}

func (c *checker) hostUnit(id, j int32) *unit {
	id = int32(c.p.Host.Of[id])
	h := c.host[chunkID{id, j}]
	if h == nil {
		u := newUnit()
		h = &u
		c.host[chunkID{id, j}] = h
	}
	return h
}
