package plantest

import (
	"fmt"

	"sagann/dataflow/plan"
)

// Joined is the parts of p, by rank, as one plan with p's tasks in an order, in which a Receive comes right after its Send and
// waits for it. It is an error when the parts do not have every task of p once, on the rank that rankOf gives its
// device, or both ends of a message.
func Joined(p *plan.Plan, order []int32, parts []*plan.Plan, rankOf func(d int) int) (*plan.Plan, error) {
	out := *p
	out.Tasks, out.Deps = nil, nil
	next := make([]int, len(parts))   // by rank: its first task that is not in out
	at := make([][]int32, len(parts)) // by rank and task: where it is
	take := func(r int, send int32) int32 {
		q, t := parts[r], parts[r].Tasks[next[r]]
		n := int32(len(out.Tasks))
		deps := q.Deps[t.Deps[0]:t.Deps[1]]
		t.Deps[0] = int32(len(out.Deps))
		for _, d := range deps {
			out.Deps = append(out.Deps, at[r][d])
		}
		if send >= 0 {
			out.Deps = append(out.Deps, send)
		}
		t.Deps[1] = int32(len(out.Deps))
		out.Tasks, at[r] = append(out.Tasks, t), append(at[r], n)
		next[r]++
		return n
	}
	is := func(r int, t *plan.Task, kind plan.TaskKind, on, with uint16) bool {
		if next[r] == len(parts[r].Tasks) {
			return false
		}
		x := &parts[r].Tasks[next[r]]
		return x.Kind == kind && x.Device == on && x.From == with && x.Addr == t.Addr && x.Value == t.Value && x.Own == t.Own && x.Kernel == t.Kernel
	}
	for _, i := range order {
		t := &p.Tasks[i]
		from, r := t.From, rankOf(int(t.Device))
		if t.Kind == plan.Load && t.Value >= 0 {
			from = uint16(p.Owner(int(t.Own)))
		}
		switch s := rankOf(int(from)); {
		case is(r, t, t.Kind, t.Device, t.From) && (t.Kind != plan.Load || t.Value < 0 || s == r):
			take(r, -1)
		case s != r && is(s, t, plan.Send, from, t.Device) && is(r, t, plan.Receive, t.Device, from):
			if a, b := parts[s].Tasks[next[s]], parts[r].Tasks[next[r]]; a.Bytes != b.Bytes || a.Channel(p.Devices) != b.Channel(p.Devices) {
				return nil, fmt.Errorf("%s: the ends differ: %+v, %+v", p.Describe(int(i)), a, b)
			}
			take(r, take(s, -1))
		default:
			return nil, fmt.Errorf("%s is not what ranks %d and %d have next", p.Describe(int(i)), s, r)
		}
	}
	for r := range parts {
		if next[r] < len(parts[r].Tasks) {
			return nil, fmt.Errorf("rank %d has %s, which the plan has not", r, parts[r].Describe(next[r]))
		}
	}
	return &out, nil
}

// send is one end of a message, whose receive takes what it has read.
func (c *checker) send(i int, t *plan.Task) {
	if t.Is.Host {
		h := c.hostUnit(t.Value, t.Own)
		c.reading(i, h)
		if what := value(t.Value, t.Own); c.p.Spec.Values[t.Value].Kind != plan.Input && (h.write < 0 || h.holds != what) || h.version != c.latest[what] {
			c.fail("host memory holds version %d of %d", h.version, c.latest[what])
		}
		return
	}
	if t.Value >= 0 {
		c.read(i, int(t.Device), value(t.Value, t.Own), t.FromAddr, t.Bytes)
		return
	}
	var list []unit
	c.each(int(t.Device), t.FromAddr, t.Bytes, func(u *unit, _ int64) {
		c.reading(i, u)
		list = append(list, *u)
	})
	c.sent[int32(i)] = list
}

// receive is the other end; the last dependence of i is its send.
func (c *checker) receive(i int, t *plan.Task) {
	if t.Value >= 0 {
		c.write(i, int(t.Device), value(t.Value, t.Own), t.Addr, t.Bytes)
		return
	}
	from := c.sent[c.p.Deps[t.Deps[1]-1]]
	c.each(int(t.Device), t.Addr, t.Bytes, func(u *unit, part int64) {
		c.writing(i, u)
		if c.problem == nil {
			u.holds, u.version = from[part].holds, from[part].version
		}
	})
}
