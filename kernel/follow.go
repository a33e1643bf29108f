package kernel

import "slices"

// Follow is products of a level by tiles that are added, or one, and the instructions of the level whose columns are computed where the tile is.
type Follow struct {
	Of   []int // products, by number of the instruction
	Then []int // instructions
}

// MostAdded is how many products a kernel adds at most.
const MostAdded = 4

// follow finds, by level, the products by tiles that are added, and what is computed with them: all that reads a product, if each column needs no
// other column. Of products that are added that is else the sum alone, which the level's kernel reads.
func (l *Layout) follow() {
	p := l.Program
	l.After = make([][]Follow, l.Levels)
	for v := 1; v < l.Levels && !p.Edges; v++ {
		f := &following{l: l, level: v, sum: make([]int, len(p.Widths)), closed: make([]bool, len(p.Widths))}
		f.begin()
		f.merge()
		for _, of := range f.of {
			if g := f.whole(of); g != nil {
				l.After[v] = append(l.After[v], *g)
			} else if g = f.added(of); g != nil {
				l.After[v] = append(l.After[v], *g)
			}
		}
	}
}

// following is the search of a level.
type following struct {
	l      *Layout
	level  int
	of     [][]int // products that are added
	sum    []int   // by register: 1 + the place in of whose products it adds, with terms that are no products; 0: it is no such sum
	closed []bool  // by register: of the sum's parts nothing else is read
}

// at tells whether the level's kernel computes in.
func (f *following) at(in *Instr) bool { return !in.Role.Apart() && f.l.Level[in.Dst] == f.level }

// begin finds the products that instructions of the level alone read.
func (f *following) begin() {
	for i := range f.l.Program.Instrs {
		in := &f.l.Program.Instrs[i]
		if in.Role.Apart() && f.l.Level[in.Dst] == f.level && f.l.Tiled(in) && f.l.Fours(in) && f.l.readAt(in.Dst, f.level) && f.l.onlyAt(in.Dst, f.level) {
			f.of = append(f.of, []int{i})
			f.sum[in.Dst], f.closed[in.Dst] = len(f.of), true
		}
	}
}

// alone tells whether one instruction reads r, and no result does.
func (f *following) alone(r int) bool {
	p, n := f.l.Program, 0
	for i := range p.Instrs {
		for _, x := range p.Instrs[i].In {
			if x == r {
				n++
			}
		}
	}
	return n == 1 && !slices.ContainsFunc(p.Outs, func(o Out) bool { return o.Reg == r || o.Acc.Pair() && o.Reg2 == r })
}

// merge finds the products that are added.
func (f *following) merge() {
	p := f.l.Program
	for i := range p.Instrs {
		in := &p.Instrs[i]
		if in.Role != Plus || !f.at(in) {
			continue
		}
		a, b := f.sum[in.In[0]], f.sum[in.In[1]]
		whole := func(r int) bool { return f.closed[r] && f.alone(r) }
		switch {
		case a == 0 && b == 0 || !p.Columnwise(in, p.Widths[in.Dst]):
		case b == 0 && f.l.Level[in.In[1]] < f.level:
			f.sum[in.Dst], f.closed[in.Dst] = a, whole(in.In[0])
		case a == 0 && f.l.Level[in.In[0]] < f.level:
			f.sum[in.Dst], f.closed[in.Dst] = b, whole(in.In[1])
		case a > 0 && b > 0 && a != b && whole(in.In[0]) && whole(in.In[1]) && len(f.of[a-1])+len(f.of[b-1]) <= MostAdded &&
			p.Instrs[f.of[a-1][0]].Role == p.Instrs[f.of[b-1][0]].Role:
			f.of[a-1] = append(f.of[a-1], f.of[b-1]...)
			slices.Sort(f.of[a-1])
			f.of[b-1] = nil
			for r, of := range f.sum {
				if of == b {
					f.sum[r] = a
				}
			}
			f.sum[in.Dst], f.closed[in.Dst] = a, true
		}
	}
	f.of = slices.DeleteFunc(f.of, func(of []int) bool { return of == nil })
}

// whole is the products of with all instructions of the level that need them; nil: one of these needs more.
func (f *following) whole(of []int) *Follow {
	p, g := f.l.Program, &Follow{Of: of}
	width := p.Widths[p.Instrs[of[0]].Dst]
	tile, free := make([]bool, len(p.Widths)), make([]bool, len(p.Widths)) // registers of the tile; those that need no product of the level
	for _, i := range of {
		tile[p.Instrs[i].Dst] = true
	}
	for i := range p.Instrs {
		in := &p.Instrs[i]
		if !f.at(in) {
			continue
		}
		needs, others := false, false
		for _, r := range in.In {
			needs = needs || tile[r]
			others = others || f.l.Level[r] == f.level && !tile[r] && !free[r]
		}
		switch {
		case !needs && !others: // a number that is repeated
			free[in.Dst] = true
		case !needs:
			continue
		case others || !p.Columnwise(in, width):
			return nil
		default:
			tile[in.Dst] = true
		}
		g.Then = append(g.Then, i)
	}
	return f.needed(g, tile)
}

// added is the products of and the instructions that add them; nil: there is one product.
func (f *following) added(of []int) *Follow {
	if len(of) < 2 {
		return nil
	}
	p, g := f.l.Program, &Follow{Of: of}
	parts, tile := make([]int, len(p.Widths)), make([]bool, len(p.Widths)) // by register: how many of the products it adds
	for _, i := range of {
		parts[p.Instrs[i].Dst], tile[p.Instrs[i].Dst] = 1, true
	}
	for i := range p.Instrs {
		in := &p.Instrs[i]
		if !f.at(in) {
			continue
		}
		if in.Role == Plus && tile[in.In[0]] != tile[in.In[1]] && (f.l.Level[in.In[0]] < f.level || f.l.Level[in.In[1]] < f.level) || in.Role == Plus && tile[in.In[0]] && tile[in.In[1]] {
			g.Then = append(g.Then, i)
			parts[in.Dst], tile[in.Dst] = parts[in.In[0]]+parts[in.In[1]], true
			if parts[in.Dst] == len(of) {
				return f.needed(g, tile)
			}
		}
	}
	return nil
}

// needed is g without instructions that nothing of g needs, unless results of g lie where a kernel may still read.
func (f *following) needed(g *Follow, tile []bool) *Follow {
	p := f.l.Program
	for k := len(g.Then) - 1; k >= 0; k-- {
		dst := p.Instrs[g.Then[k]].Dst
		if !tile[dst] && !slices.ContainsFunc(g.Then, func(i int) bool { return slices.Contains(p.Instrs[i].In, dst) }) {
			g.Then = slices.Delete(g.Then, k, k+1)
		}
	}
	for _, o := range p.Outs {
		if o.Acc == Store && slices.ContainsFunc(g.Then, func(i int) bool { return p.Instrs[i].Dst == o.Reg }) && f.read(g, o.Operand) {
			return nil
		}
	}
	return g
}

// read tells whether a kernel beside g reads rows of an operand.
func (f *following) read(g *Follow, operand int) bool {
	p := f.l.Program
	return slices.ContainsFunc(p.Leaves, func(x Leaf) bool {
		return x.Operand == operand && x.From != Global && slices.ContainsFunc(p.Instrs, func(in Instr) bool {
			return slices.Contains(in.In, x.Reg) && f.l.Level[in.Dst] >= f.level && !slices.ContainsFunc(g.Then, func(i int) bool { return p.Instrs[i].Dst == in.Dst })
		})
	})
}

// InTile tells whether a product's kernel computes r, which is no product.
func (l *Layout) InTile(r int) bool {
	return slices.ContainsFunc(l.After, func(list []Follow) bool {
		return slices.ContainsFunc(list, func(g Follow) bool {
			return slices.ContainsFunc(g.Then, func(i int) bool { return l.Program.Instrs[i].Dst == r })
		})
	})
}

// Beside tells whether the kernel of its level computes in: no product's kernel does, or this one needs a number that is repeated, too.
func (l *Layout) Beside(in *Instr) bool {
	return !l.InTile(in.Dst) || l.repeated(in.Dst) && slices.ContainsFunc(l.Program.Instrs, func(x Instr) bool {
		return !x.Role.Apart() && l.Level[x.Dst] == l.Level[in.Dst] && slices.Contains(x.In, in.Dst) && !l.InTile(x.Dst)
	})
}

// repeated tells whether r is a number of a lower level that this level repeats over columns (widened.go).
func (l *Layout) repeated(r int) bool {
	return slices.ContainsFunc(l.Program.Instrs, func(x Instr) bool { return x.Dst == r && x.Role == Widen && l.Level[x.In[0]] < l.Level[r] })
}

// within tells whether r is the result of a product that only instructions of its own kernel read.
func (l *Layout) within(r int) bool {
	return slices.ContainsFunc(l.After, func(list []Follow) bool {
		return slices.ContainsFunc(list, func(g Follow) bool {
			return slices.ContainsFunc(g.Of, func(i int) bool { return l.Program.Instrs[i].Dst == r })
		})
	})
}

// time is when register r is written by a kernel of its level (scratch_alloc.go): with the products that it follows.
func (l *Layout) time(r int) int {
	if l.InTile(r) {
		return 2*l.Level[r] - 1
	}
	return 2 * l.Level[r]
}
