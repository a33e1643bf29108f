package plan

import "slices"

// step is one operation on the neighbours of a level's vertex.
type step struct {
	of    int
	minus bool
}

// sets decides which sets are made where. The candidates of a level are an intersection of the
// neighbours of some earlier levels, minus the neighbours of others. These operations are done in
// the order of the earlier levels, each as soon as its level is bound. Levels whose operations begin
// with the same ones share the sets of that beginning. A subtraction needs a set to subtract from:
// it is done right after the first set is known.
func (b *builder) sets() {
	b.chain = make([][]int, len(b.Levels))
	for l := 1; l < len(b.Levels); l++ {
		set := None
		for _, s := range b.steps(l) {
			set = b.share(l, set, s)
			b.chain[l] = append(b.chain[l], set)
		}
		b.Levels[l].From = set
	}
	b.windows()
	for i, s := range b.Sets {
		if s.Base != None {
			b.Levels[s.Level].Make = append(b.Levels[s.Level].Make, i)
		}
	}
}

// steps are the operations that make the candidates of level l.
func (b *builder) steps(l int) []step {
	v := b.Levels[l].Vertex
	var out, waiting []step
	for m, w := range b.Order[:l] {
		switch {
		case b.must.Adjacent(v, w):
			out = append(out, step{of: m})
			if len(out) == 1 {
				out, waiting = append(out, waiting...), nil
			}
		case b.must.Apart(v, w) && len(out) == 0:
			waiting = append(waiting, step{m, true})
		case b.must.Apart(v, w):
			out = append(out, step{m, true})
		}
	}
	return out
}

// share returns the set that step s makes of base for level l, and adds it if there is none yet.
func (b *builder) share(l, base int, s step) int {
	set := Set{Level: s.of, Base: base, Of: s.of, Minus: s.minus}
	if base != None {
		set.Level = max(set.Level, b.Sets[base].Level)
	}
	if b.opt.NoReuse && base != None {
		if l < b.Last() || set.Level > l-2 { // else the last two levels may be counted together
			set.Level = l - 1
		}
		b.Sets = append(b.Sets, set)
		return len(b.Sets) - 1
	}
	same := func(x Set) bool { return x.Base == set.Base && x.Of == set.Of && x.Minus == set.Minus }
	if i := slices.IndexFunc(b.Sets, same); i >= 0 {
		return i
	}
	b.Sets = append(b.Sets, set)
	return len(b.Sets) - 1
}

// windows trims each set to the window that all levels which use it have in common, as far as
// that window is known when the set is made. Constraints that hold already in the base of a set, or
// in the set of a level's candidates, are dropped.
func (b *builder) windows() {
	whole := make([]Set, len(b.Sets)) // the sets, with the windows of their bases included
	for i, s := range b.Sets {
		for m := 0; m <= s.Level && s.Base != None; m++ {
			above, below := true, true
			for l, chain := range b.chain {
				if slices.Contains(chain, i) {
					above = above && slices.Contains(b.Levels[l].Above, m)
					below = below && slices.Contains(b.Levels[l].Below, m)
				}
			}
			if above {
				s.Above = append(s.Above, m)
			}
			if below {
				s.Below = append(s.Below, m)
			}
		}
		whole[i] = s
	}
	for i, s := range whole {
		if s.Base != None {
			b.Sets[i].Above = without(s.Above, whole[s.Base].Above)
			b.Sets[i].Below = without(s.Below, whole[s.Base].Below)
		}
	}
	for l := 1; l < len(b.Levels); l++ {
		level := &b.Levels[l]
		level.Above = without(level.Above, whole[level.From].Above)
		level.Below = without(level.Below, whole[level.From].Below)
	}
}

// without is the members of a that are not in b.
func without(a, b []int) []int {
	return slices.DeleteFunc(slices.Clone(a), func(m int) bool { return slices.Contains(b, m) })
}
