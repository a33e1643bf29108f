package plan

import "slices"

// step is one operation on the neighbours of a level's vertex.
type step struct {
	of    int
	minus bool
}

// sets decides which sets are made where. Each level needs an intersection of the
// neighbours of earlier levels, less the neighbours of others. Its operations are done
// in the order of the levels, each as soon as its level is bound; levels whose operations
// begin alike share the sets of that beginning. What is taken away before there is a
// first set is taken away right after it is.
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

// share is the set that s makes of base for level l, a new one if there is none yet.
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

// windows trims each set to the window that all levels that need it have in common, as
// far as it is known when the set is made. What a set, or a level's candidates, have by
// the set that they come from is not asked again.
func (b *builder) windows() {
	whole := make([]Set, len(b.Sets)) // with the windows of what a set comes from
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

// without is what of a does not stand in b.
func without(a, b []int) []int {
	return slices.DeleteFunc(slices.Clone(a), func(m int) bool { return slices.Contains(b, m) })
}
