package cuda

import (
	"slices"

	"sagann/kernel"
)

// Need is as kernel.Renderer says. It renders nothing.
func Need(p *kernel.Program, chip kernel.Chip, room int64) kernel.Need {
	l, laid := kernel.NewLayout(p, chip), kernel.LayingOf(p)
	return kernel.Need{Between: kernel.Between(l), Moved: moved(l), Bytes: func(rows, edges, far int) int64 {
		return max(scratch(l, rows, edges), laidBytes(laid, chip, edges, far, room))
	}}
}

// moved is what the kernels of a program over rows compute and move, a row, where groups of warps multiply. Nothing is rendered.
func moved(l *kernel.Layout) (m kernel.Moved) {
	p := l.Program
	if p.Edges || !l.Chip.Groups {
		return m
	}
	c := &Program{Layout: l, p: p}
	m.Known = true
	for level := range l.Levels {
		if f := c.fragmentOf(level); len(f.puts) > 0 {
			m.Kernels++
			m.Bytes += movedOperands(f)
		}
	}
	for i := range p.Instrs {
		in := &p.Instrs[i]
		if !in.Role.Product() {
			continue
		}
		g, level := followed(c, i)
		if g.Of[len(g.Of)-1] != i {
			continue // with the later one
		}
		if m.Products++; !l.Tiled(in) {
			m.Library.Flops += 2 * upTo(p.Widths[in.In[0]], libraryTerms) * upTo(p.Widths[in.Dst], libraryColumns)
			m.Library.Bytes += c.wide(in.In[0]).bytes + c.wide(in.Dst).bytes
			continue
		}
		m.Groups.Bytes += movedBehind(c, g, level)
		for _, k := range g.Of {
			x := &p.Instrs[k]
			m.Groups.Flops += 2 * int64(p.Widths[x.In[0]]) * int64(p.Widths[x.Dst])
			m.Groups.Bytes += c.wide(x.In[0]).bytes
		}
	}
	movedSums(c, &m)
	return m
}

// The library multiplies so many terms and columns at a time: on an H200 products of 128 to 4 columns take three quarters of those to 41.
const (
	libraryTerms   = 16
	libraryColumns = 32
)

// upTo is n or the next multiple of k.
func upTo(n, k int) int64 { return int64((n + k - 1) / k * k) }

// movedOperands is how many bytes of operands f reads and writes, a row. What kernels hand on to each other counts elsewhere (kernel.Between).
func movedOperands(f *fragment) (bytes int64) {
	c, done := f.c, map[int]bool{}
	for _, r := range f.used {
		leaf := slices.ContainsFunc(c.p.Leaves, func(l kernel.Leaf) bool { return l.Reg == r })
		if !done[r] && !c.shared(r) && (leaf || c.Home[r].Kind == kernel.InOperand) {
			bytes += c.read(r).bytes
		}
		done[r] = true
	}
	for _, o := range f.c.p.Outs {
		if o.Acc == kernel.Store && slices.ContainsFunc(f.puts, func(x put) bool { return x.reg == o.Reg }) {
			bytes += c.wide(o.Reg).bytes
		}
	}
	return bytes
}

// movedBehind is how many bytes the kernel of products reads and writes, a row, beside the rows that it multiplies.
func movedBehind(c *Program, g *kernel.Follow, level int) int64 {
	if level < 0 {
		return c.wide(c.p.Instrs[g.Of[0]].Dst).bytes
	}
	f := following(c, level, g)
	f.used = slices.DeleteFunc(f.used, func(r int) bool {
		return slices.ContainsFunc(g.Of, func(i int) bool { return c.p.Instrs[i].Dst == r })
	})
	var puts []int
	for _, x := range f.puts {
		puts = append(puts, x.reg)
	}
	return c.countRows(f.used, nil, puts).bytes
}

// movedSums adds the sums over rows.
func movedSums(c *Program, m *kernel.Moved) {
	s := &launcher{c: c, l: &kernel.GPULaunch{}}
	for i := range c.p.Outs {
		o := &c.p.Outs[i]
		switch o.Acc {
		case kernel.Store:
		case kernel.SumTN:
			w := work{flops: 2 * int64(c.p.Widths[o.Reg]) * int64(c.p.Widths[o.Reg2])}.plus(c.wide(o.Reg)).plus(c.wide(o.Reg2))
			to := &m.Rest
			if s.byGroupSums(o) {
				if _, second := s.together(o); o == second { // of these the rows in common are read once
					m.Sums.Flops += w.flops
					m.Sums.Bytes += c.wide(o.Reg).bytes
					continue
				}
				to = &m.Sums
			}
			to.Flops += w.flops
			to.Bytes += w.bytes
			m.Products++
			m.Kernels++ // adds the parts
		case kernel.SumRows:
			if s.beside(o) == nil && s.besideGroups(o) == nil {
				m.Kernels += 2
			}
		default:
			m.Kernels += 2
		}
	}
}
