package plan_test

import (
	"fmt"

	"sagann/dataflow/plan"
)

// A checker runs a plan on a model of memory, task by task in the global order, and
// knows nothing of how plans are made. Device memory is units of 256 bytes; a unit holds
// a version of something. What a task reads must be there, in its latest version.
//
// That other interleavings of the queues give the same is a matter of order alone: two
// tasks that touch one unit, one of them writing, must be ordered by queues and
// dependences. The checker follows that order with a vector clock for each task.
type checker struct {
	p       *plan.Plan
	units   []unit
	host    map[chunkID]*unit
	latest  map[content]int // version of everything, counted by writes
	clocks  [][plan.Queues]int
	queue   [plan.Queues][plan.Queues]int // clock of the last task of a queue
	preset  map[int64]content             // what earlier loads left, by unit
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
	write   int // task, -1 before the first
	reads   [plan.Queues]int
}

func newUnit() unit {
	u := unit{write: -1}
	for q := range u.reads {
		u.reads[q] = -1
	}
	return u
}

// check returns what is wrong with p: nil for a plan whose every interleaving computes
// the same right thing. loaded are the setup tasks of a plan that p shares memory with.
func check(p *plan.Plan, base *plan.Plan) error {
	c := &checker{p: p, host: map[chunkID]*unit{}, latest: map[content]int{}, preset: map[int64]content{}}
	for range (p.Peak + unitBytes - 1) / unitBytes {
		c.units = append(c.units, newUnit())
	}
	c.load(p)
	if base != nil {
		c.load(base)
	}
	for i, g := range p.Spec.Globals {
		if g.Kind == plan.Param || g.Kind == plan.Const {
			c.set("global", int32(i), -1, -1, p.Globals[i], g.Bytes())
		}
	}
	for i := range p.Tasks {
		c.task(i)
		if c.problem != nil {
			return fmt.Errorf("%s: %w", p.Describe(i), c.problem)
		}
	}
	for at, holds := range c.preset {
		if c.units[at].holds != holds {
			return fmt.Errorf("unit %d held %+v for the whole run, now %+v", at, holds, c.units[at].holds)
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

func value(id, j int32) content { return content{kind: "value", id: id, own: j, far: -1} }

// set puts something into memory before the first task.
func (c *checker) set(kind string, id, own, far int32, at, bytes int64) {
	for k := range (bytes + unitBytes - 1) / unitBytes {
		u := &c.units[at/unitBytes+k]
		u.holds = content{kind, id, own, far, k}
	}
}

// load runs the setup tasks of q, whose values and parameters p knows by name.
func (c *checker) load(q *plan.Plan) {
	for _, t := range q.Setup {
		kind, id, own := "cell", int32(t.Dir), t.Own
		if t.Value >= 0 {
			kind, id = "value", -1
			for i, v := range c.p.Spec.Values {
				if v.Name == q.Spec.Values[t.Value].Name {
					id = int32(i)
				}
			}
		}
		c.set(kind, id, own, t.Other, t.Addr, t.Bytes)
		for k := range (t.Bytes + unitBytes - 1) / unitBytes {
			c.preset[t.Addr/unitBytes+k] = c.units[t.Addr/unitBytes+k].holds
		}
	}
}

func (c *checker) task(i int) {
	t := &c.p.Tasks[i]
	clock := c.queue[t.Queue]
	for _, d := range c.p.Deps[t.Deps[0]:t.Deps[1]] {
		for q := range clock {
			clock[q] = max(clock[q], c.clocks[d][q])
		}
	}
	clock[t.Queue] = i + 1 // tasks up to and with i are over when i is
	c.clocks = append(c.clocks, clock)
	c.queue[t.Queue] = clock

	switch t.Kind {
	case plan.Load:
		what, bytes := content{"cell", int32(t.Dir), t.Own, t.Other, 0}, t.Bytes
		if t.Value >= 0 {
			what = value(t.Value, t.Own)
			h := c.hostUnit(t.Value, t.Own)
			c.reading(i, h)
			if c.p.Spec.Values[t.Value].Kind != plan.Input && h.write < 0 || h.version != c.latest[what] {
				c.fail("host memory holds version %d of %d", h.version, c.latest[what])
			}
		}
		c.write(i, what, t.Addr, bytes)
	case plan.Save:
		what := value(t.Value, t.Own)
		c.read(i, what, t.Addr, t.Bytes)
		h := c.hostUnit(t.Value, t.Own)
		c.writing(i, h)
		h.version = c.latest[what]
	case plan.Zero:
		for id, g := range c.p.Spec.Globals {
			if at := c.p.Globals[id]; g.Kind == plan.Sum {
				if at < t.Addr || at+g.Bytes() > t.Addr+t.Bytes {
					c.fail("%s is not cleared", g.Name)
				}
				c.write(i, content{"global", int32(id), -1, -1, 0}, at, g.Bytes())
			}
		}
	case plan.Update:
		for _, m := range c.p.Spec.Updates {
			c.global(i, m.Grad, false)
			c.global(i, m.Param, false)
		}
	case plan.Results:
		for _, id := range c.p.Spec.Results {
			c.global(i, id, false)
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
	far := t.Other
	if derived {
		far = t.Own
	}
	if t.Other >= 0 {
		c.read(i, content{"cell", int32(t.Dir), t.Own, t.Other, 0}, t.Cell, c.p.Cells.Bytes[t.Dir][int(t.Own)*c.p.Cells.P+int(t.Other)])
	}
	for k, o := range call.Operands {
		at := c.p.Args[int(t.Args[0])+k]
		var what content
		var bytes int64
		again := t.Other >= 0 && !t.First // adds to what the cells before made
		switch o.Kind {
		case plan.GlobalRef:
			if at != c.p.Globals[o.ID] {
				c.fail("operand %d lies at %d, the Global at %d", k, at, c.p.Globals[o.ID])
			}
			c.global(i, o.ID, o.Write)
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
			bytes = int64(c.p.Cells.Rows(int(j))) * c.p.Spec.Values[o.ID].RowBytes
		}
		if !o.Write || again {
			c.read(i, what, at, bytes)
		}
		if o.Write {
			if !derived { // what is derived again is the same again
				c.latest[what]++
			}
			c.write(i, what, at, bytes)
		}
	}
}

func (c *checker) global(i, id int, write bool) {
	g := c.p.Spec.Globals[id]
	what := content{"global", int32(id), -1, -1, 0}
	if !write || g.Kind == plan.Sum {
		c.read(i, what, c.p.Globals[id], g.Bytes())
	}
	if write {
		c.latest[what]++
		c.write(i, what, c.p.Globals[id], g.Bytes())
	}
}

func (c *checker) hostUnit(id, j int32) *unit {
	h := c.host[chunkID{id, j}]
	if h == nil {
		u := newUnit()
		h = &u
		c.host[chunkID{id, j}] = h
	}
	return h
}

func (c *checker) fail(format string, args ...any) {
	if c.problem == nil {
		c.problem = fmt.Errorf(format, args...)
	}
}

// each visits the units of a range.
func (c *checker) each(at, bytes int64, f func(u *unit, part int64)) {
	if at < 0 || at%unitBytes != 0 || at+bytes > c.p.Peak {
		c.fail("bytes %d..%d of %d", at, at+bytes, c.p.Peak)
		return
	}
	for k := range (bytes + unitBytes - 1) / unitBytes {
		f(&c.units[at/unitBytes+k], k)
	}
}

func (c *checker) read(i int, what content, at, bytes int64) {
	c.each(at, bytes, func(u *unit, part int64) {
		latest := c.latest[what]
		want := what
		want.part = part
		if u.holds != want || u.version != latest {
			c.fail("reads %+v version %d at %d, where %+v version %d is", want, latest, at, u.holds, u.version)
		}
		c.reading(i, u)
	})
}

func (c *checker) write(i int, what content, at, bytes int64) {
	c.each(at, bytes, func(u *unit, part int64) {
		c.writing(i, u)
		u.holds, u.version = what, c.latest[what]
		u.holds.part = part
	})
}

// before tells whether task j is over before task i starts, in every interleaving.
func (c *checker) before(j, i int) bool {
	return j < 0 || j == i || c.clocks[i][c.p.Tasks[j].Queue] > j
}

func (c *checker) reading(i int, u *unit) {
	if !c.before(u.write, i) {
		c.fail("may read before %s has written", c.p.Describe(u.write))
	}
	u.reads[c.p.Tasks[i].Queue] = i
}

func (c *checker) writing(i int, u *unit) {
	if !c.before(u.write, i) {
		c.fail("may write before %s has", c.p.Describe(u.write))
	}
	for _, r := range u.reads {
		if !c.before(r, i) {
			c.fail("may write before %s has read", c.p.Describe(r))
		}
	}
	*u = unit{holds: u.holds, version: u.version, write: i, reads: newUnit().reads}
}
