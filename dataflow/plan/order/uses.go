package order

import "sagann/dataflow/plan"

// uses finds the memory that the tasks of a plan over a full graph read and write.
type uses struct {
	p       *plan.Plan
	maxNNZ  int64                // edges of the largest cell
	derived map[int32]*plan.Call // by kernel: the calls that derive values on arrival
}

// usesOf is the uses of p, whose largest cell has maxNNZ edges.
func usesOf(p *plan.Plan, maxNNZ int64) *uses {
	u := &uses{p: p, maxNNZ: maxNNZ, derived: map[int32]*plan.Call{}}
	for i := range p.Spec.Values {
		if c := p.Spec.Values[i].Derive; c != nil {
			u.derived[int32(c.Kernel)] = c
		}
	}
	return u
}

// of appends the spans that t reads to reads, and those that it writes to writes.
func (u *uses) of(t *plan.Task, reads, writes []span) (r, w []span) {
	d := int(t.Device)
	to := memory(d, t.Addr, t.Bytes)
	switch t.Kind {
	case plan.Run:
		return u.run(t, reads, writes)
	case plan.Load:
		if t.Value >= 0 {
			reads = append(reads, u.host(int(t.Value), int(t.Own)))
		}
		if t.Is.Gather { // its rows are spread over the whole chunk
			to = memory(d, t.Addr, u.rowBytes(int(t.Value), int(t.Own)))
		}
		return reads, append(writes, to)
	case plan.Save:
		return append(reads, to), append(writes, u.host(int(t.Value), int(t.Own)))
	case plan.Copy:
		return append(reads, memory(int(t.From), t.FromAddr, t.Bytes)), append(writes, to)
	case plan.Add:
		return append(reads, memory(d, t.FromAddr, t.Bytes)), append(writes, to)
	case plan.Zero, plan.Receive:
		return reads, append(writes, to)
	case plan.Send:
		if t.Is.Host {
			return append(reads, u.host(int(t.Value), int(t.Own))), writes
		}
		return append(reads, memory(d, t.FromAddr, t.Bytes)), writes
	case plan.Update: // may touch any Global
		for id := range u.p.Spec.Globals {
			writes = append(writes, u.global(d, id))
		}
	case plan.Results:
		for _, id := range u.p.Spec.Results {
			reads = append(reads, u.global(d, id))
		}
	}
	return reads, writes
}

// run is of for a kernel call.
func (u *uses) run(t *plan.Task, reads, writes []span) (r, w []span) {
	d, far := int(t.Device), int(t.Other)
	if t.Step < 0 { // derives interval Own from others that have come
		far = int(t.Own)
	}
	c := u.call(t)
	for x := range c.Operands {
		o := &c.Operands[x]
		var size int64
		switch o.Kind {
		case plan.OwnValue:
			size = u.rowBytes(o.ID, int(t.Own))
		case plan.OtherValue:
			if size = u.rowBytes(o.ID, far); t.Step >= 0 && u.p.Cells.Wide > 0 {
				size = u.reached(o.ID, far)
			}
		case plan.GlobalRef:
			size = u.p.Spec.Globals[o.ID].Room()
		case plan.EdgeTemp:
			size = u.maxNNZ * u.p.Spec.EdgeTemps[o.ID]
		}
		s := memory(d, u.p.Args[int(t.Args[0])+x], size)
		if o.Write {
			writes = append(writes, s)
		} else {
			reads = append(reads, s)
		}
	}
	if w := u.p.Places.Work; w != nil && w[t.Phase].Bytes > 0 {
		writes = append(writes, memory(d, w[t.Phase].At, w[t.Phase].Bytes))
	}
	if t.Other >= 0 {
		reads = append(reads, memory(d, t.Cell, u.p.Cells.Bytes[t.Dir][int(t.Own)*u.p.Cells.P+int(t.Other)]))
	}
	return reads, writes
}

// call is the kernel call of t.
func (u *uses) call(t *plan.Task) *plan.Call {
	if t.Step < 0 {
		return u.derived[t.Kernel]
	}
	list := u.p.Spec.Phases[t.Phase].Steps[t.Step].Calls
	for i := range list {
		if list[i].Kernel == int(t.Kernel) {
			return &list[i]
		}
	}
	return nil
}

// memory is n bytes of device d.
func memory(d int, at, n int64) span { return span{d, at, at + n} }

// global is the memory of Global id on device d.
func (u *uses) global(d, id int) span {
	return memory(d, u.p.Globals[id], u.p.Spec.Globals[id].Room())
}

// host is chunk i of value id in host memory: a span of one chunk number.
func (u *uses) host(id, i int) span {
	n := int64(u.p.Host.Of[id]*u.p.Cells.P + i)
	return span{-1, n, n + 1}
}

// reached is the size in bytes of the chunks of value id that a cell with interval i reads, one behind the other.
func (u *uses) reached(id, i int) int64 {
	s := u.p.Span(id)
	first, n := u.p.Cells.Reached(s, i)
	last := max(first, min(first+n-1, s.First+max(0, s.V-1)/s.Width))
	return int64(last-first)*u.p.Cells.ChunkBytes(&u.p.Spec.Values[id]) + u.rowBytes(id, last)
}

// rowBytes is the size in bytes of chunk i of value id.
func (u *uses) rowBytes(id, i int) int64 {
	return int64(u.p.Cells.Rows(i)) * u.p.Spec.Values[id].RowBytes
}
