package kernel

import "slices"

// widenAgain has every level repeat a number of a row over columns for itself: only the number passes from kernel to kernel.
func (l *Layout) widenAgain() {
	p := l.Program
	if p.Edges && !l.Dense {
		return
	}
	type place struct{ reg, level int }
	there, q := map[place]int{}, *p
	q.Instrs, q.Widths = nil, slices.Clone(p.Widths)
	for _, in := range p.Instrs {
		if v := l.Level[in.Dst]; !in.Role.Apart() {
			for k, r := range in.In {
				i := slices.IndexFunc(p.Instrs, func(x Instr) bool { return x.Dst == r })
				if i < 0 || p.Instrs[i].Role != Widen || p.Widths[p.Instrs[i].In[0]] != 1 || l.Level[r] == v {
					continue
				}
				at := place{r, v}
				if _, ok := there[at]; !ok {
					again := p.Instrs[i]
					again.Dst = len(q.Widths)
					there[at] = again.Dst
					q.Widths, q.Instrs = append(q.Widths, p.Widths[r]), append(q.Instrs, again)
					l.Level, l.Home = append(l.Level, v), append(l.Home, Home{})
				}
				in.In = slices.Clone(in.In)
				in.In[k] = there[at]
			}
		}
		q.Instrs = append(q.Instrs, in)
	}
	if len(there) == 0 {
		return
	}
	q.Instrs = slices.DeleteFunc(q.Instrs, func(in Instr) bool { // whose readers all have it themselves
		return in.Role == Widen && !slices.ContainsFunc(q.Instrs, func(x Instr) bool { return slices.Contains(x.In, in.Dst) }) &&
			!slices.ContainsFunc(q.Outs, func(o Out) bool { return o.Reg == in.Dst || o.Acc.Pair() && o.Reg2 == in.Dst })
	})
	l.Program = &q
}
