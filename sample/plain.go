package sample

// plainWalk tells whether a function does nothing but Pick, or PickWeighted by Alias, for
// walks: then a step is one loop, without registers.
func (p *Program) plainWalk() bool {
	if p.code == nil || p.code.pack == 1 || p.s.Over != Individual || p.transits != nil || p.counts {
		return false
	}
	l := p.code.list
	switch {
	case l[0].op != opAt:
		return false
	case len(l) == 2:
		return l[1].op == opAlias && l[1].a == 0 && p.code.result == 1
	}
	return len(l) == 3 && l[1].op == opDegree && l[1].a == 0 && l[2].op == opBelow && l[2].a == 1 && p.code.result == 2
}

// addPlain is add for a plainWalk: the same draws.
func (f *frame) addPlain(out []uint32) (added int) {
	if f.random == nil {
		f.random = make([][4]uint32, f.n)
	}
	turn := f.step % f.c.pack * f.c.sites
	if turn == 0 {
		for i, v := range f.transits {
			if v != NoVertex {
				f.random[i] = f.key.words(place{of: f.name(i), step: uint32(f.step / f.c.pack), site: counter(0, 0)})
			}
		}
	}
	f.find()
	if f.c.sites == 2 {
		f.settle(turn)
	} else {
		for i, n := range f.lengths {
			f.begins[i] += int64(below(f.random[i][turn&3], int(n)))
		}
	}
	far := f.p.g.Far
	for i, at := range f.begins {
		out[i] = NoVertex
		if f.lengths[i] > 0 {
			out[i] = far[at]
			added++
		}
	}
	return added
}

// find sets where the rows of the transits begin, and their lengths. The reads of a loop
// that does nothing else wait for memory together.
func (f *frame) find() {
	if f.begins == nil {
		f.begins, f.lengths = make([]int64, f.n), make([]uint32, f.n)
	}
	offsets := f.p.g.Offsets
	for i, v := range f.transits {
		if v == NoVertex {
			f.lengths[i] = 0
			continue
		}
		lo := offsets[v]
		f.begins[i], f.lengths[i] = lo, uint32(offsets[v+1]-lo)
	}
}

// settle adds places by alias tables to where rows begin.
func (f *frame) settle(turn int) {
	alias := f.p.tables.alias
	for i, n := range f.lengths {
		if n == 0 {
			continue
		}
		w := &f.random[i]
		place := below(w[turn&3], int(n))
		if x := alias[f.begins[i]+int64(place)]; w[turn&3|1] >= x.Cut {
			if x.Other == noPlace {
				f.lengths[i] = 0
				continue
			}
			place = int(x.Other)
		}
		f.begins[i] += int64(place)
	}
}
