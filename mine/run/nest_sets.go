package run

import (
	"math"
	"math/bits"
	"slices"

	"sagann/mine/pattern"
	"sagann/mine/plan"
	"sagann/mine/rows"
)

// span is a window of vertices: those x with lo <= x < hi.
type span struct{ lo, hi int64 }

// span is the window after the vertices of some levels and before those of others.
func (n *nest) span(above, below []int) span {
	s := span{0, math.MaxInt64}
	for _, m := range above {
		s.lo = max(s.lo, int64(n.bound[m])+1)
	}
	for _, m := range below {
		s.hi = min(s.hi, int64(n.bound[m]))
	}
	return s
}

// within is the part of a sorted list that lies in the window.
func within(list []uint32, s span) []uint32 {
	if s.lo > 0 {
		list = list[search(list, s.lo):]
	}
	if s.hi < math.MaxInt64 {
		list = list[:search(list, s.hi)]
	}
	return list
}

// search is the number of members below x.
func search(list []uint32, x int64) int {
	lo, hi := 0, len(list)
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); int64(list[m]) < x {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// contains reports whether the sorted list has x.
func contains(list []uint32, x uint32) bool {
	i := search(list, int64(x))
	return i < len(list) && list[i] == x
}

// worthMarking is the least number of candidates of a loop for which marking is faster. Setting
// and clearing the marks reads the base twice; without marks every candidate reads it once.
const worthMarking = 3

// enter prepares the sets that the loop of level l, over k candidates, will make.
func (n *nest) enter(l, k int) {
	for i := range n.ops[l] {
		o := &n.ops[l][i]
		if !o.fixed {
			continue
		}
		s := &n.plan.Sets[o.set]
		o.self = 0
		if has(s.Above, l) {
			o.self = 1
		} else if has(s.Below, l) {
			o.self = -1
		}
		o.base = within(n.set[s.Base], n.spanBefore(s, l))
		if o.marked = k >= worthMarking && !s.Minus; o.marked {
			for _, v := range o.base {
				o.mark[v>>6] |= 1 << (v & 63)
			}
		}
	}
	if o := &n.both; l == n.plan.Last()-2 && o.fixed != plan.None && k >= worthMarking {
		o.list = n.set[o.fixed]
		for _, v := range o.list {
			o.mark[v>>6] |= 1 << (v & 63)
		}
	}
}

// common is for counting the vertices that are candidates of both of the last two levels. If one of
// the two sets does not change while the loop before them runs, it is marked.
type common struct {
	fixed int      // the set that does not change, or plan.None
	mark  []uint64 // a bit for each vertex
	list  []uint32 // the vertices that are marked; nil: none
}

func newCommon(p *plan.Plan, r *rows.Rows) common {
	o := common{fixed: plan.None}
	if p.Pair != plan.Product {
		return o
	}
	o.mark = make([]uint64, r.Words)
	for _, l := range []int{p.Last(), p.Last() - 1} {
		if s := p.Levels[l].From; p.Sets[s].Level < p.Last()-2 {
			o.fixed = s
		}
	}
	return o
}

// spanBefore is the window of a set by the levels before l.
func (n *nest) spanBefore(s *plan.Set, l int) span {
	w := span{0, math.MaxInt64}
	for _, m := range s.Above {
		if m < l {
			w.lo = max(w.lo, int64(n.bound[m])+1)
		}
	}
	for _, m := range s.Below {
		if m < l {
			w.hi = min(w.hi, int64(n.bound[m]))
		}
	}
	return w
}

// leave clears the marks of level l.
func (n *nest) leave(l int) {
	for i := range n.ops[l] {
		if o := &n.ops[l][i]; o.marked {
			for _, v := range o.base {
				o.mark[v>>6] = 0
			}
			o.marked = false
		}
	}
	if o := &n.both; l == n.plan.Last()-2 && o.list != nil {
		for _, v := range o.list {
			o.mark[v>>6] = 0
		}
		o.list = nil
	}
}

// makeSets makes the sets of level l, which is bound. It returns false when one is empty, so that
// there is no match. The set that is only counted (see countOnly) is counted here.
func (n *nest) makeSets(l int) bool {
	for i := range n.ops[l] {
		o := &n.ops[l][i]
		if o.set == n.size {
			n.countSet(o, l)
			continue
		}
		list := n.makeSet(o, l)
		if label := n.only[o.set]; label != pattern.AnyLabel {
			list = labelled(list, n.rows.Label, label)
		}
		if len(list) == 0 {
			return false
		}
		n.set[o.set] = list
	}
	return true
}

// withLabel is how many members of list have the label.
func withLabel(list []uint32, labels []int32, label int32) int {
	k := 0
	for _, v := range list {
		if labels[v] == label {
			k++
		}
	}
	return k
}

// labelled keeps the members of list, in place, that have the label.
func labelled(list []uint32, labels []int32, label int32) []uint32 {
	k := 0
	for _, v := range list {
		list[k] = v
		if labels[v] == label {
			k++
		}
	}
	return list[:k]
}

// sides are the two lists of an operation: the base, cut to the window, and the neighbours of the
// vertex at level Of, which need not be cut as the base is. The neighbours are only cut at
// the vertex itself, as rows store that place.
func (n *nest) sides(o *op, l int) (base, around []uint32) {
	s := &n.plan.Sets[o.set]
	v := n.bound[s.Of]
	if !o.fixed {
		return within(n.set[s.Base], n.span(s.Above, s.Below)), n.rows.Of(v)
	}
	switch o.self {
	case 1:
		return o.base[search(o.base, int64(v)+1):], n.rows.Above(v)
	case -1:
		return o.base[:search(o.base, int64(v))], n.rows.Below(v)
	}
	return o.base, n.rows.Of(v)
}

// longer is how many times longer than the other a sorted list must be for searching in it to
// be faster than merging the two.
const longer = 16

// makeSet makes a set.
func (n *nest) makeSet(o *op, l int) []uint32 {
	s := &n.plan.Sets[o.set]
	base, around := n.sides(o, l)
	n.read += min(len(base), len(around))
	if len(base) == 0 {
		return nil
	}
	to := n.room[o.set]
	hub := n.rows.HubBits(n.bound[s.Of])
	switch {
	case s.Minus && hub != nil:
		return keep(to, base, hub, 1)
	case s.Minus:
		return subtract(to, base, around)
	case hub != nil && (len(base) <= len(around) || !o.marked):
		return keep(to, base, hub, 0)
	case o.marked && len(around) <= longer/4*len(base):
		return keep(to, around, o.mark, 0)
	}
	if a, b := min(len(base), len(around)), max(len(base), len(around)); b <= longer*a {
		n.merge += a + b
	} else {
		n.merge += a * bits.Len(uint(b))
	}
	return intersect(to, base, around)
}

// countSet counts the last level's candidates without making their set.
func (n *nest) countSet(o *op, l int) {
	s := &n.plan.Sets[o.set]
	base, around := n.sides(o, l)
	if len(base) == 0 {
		return
	}
	level := &n.plan.Levels[n.plan.Last()]
	if len(level.Above)+len(level.Below) > 0 {
		w := n.span(level.Above, level.Below)
		base = within(base, w)
		if o.marked { // the marks are not cut to this window
			around = within(around, w)
		}
	}
	v := n.bound[s.Of]
	hub := n.rows.HubBits(v)
	k := 0
	switch {
	case hub != nil && (len(base) <= len(around) || !o.marked):
		k = int(hits(hub, base))
	case o.marked && len(around) <= longer/4*len(base):
		k = int(hits(o.mark, around))
	default:
		k = overlapSorted(base, around)
	}
	if s.Minus {
		k = len(base) - k
	}
	for _, m := range level.Apart {
		if x := n.bound[m]; n.rows.Has(v, x) != s.Minus && contains(base, x) {
			k--
		}
	}
	n.total.Add(uint64(k))
}

// keep copies the members of list whose bit in set differs from flip.
func keep(to, list []uint32, set []uint64, flip uint64) []uint32 {
	k := 0
	to = to[:len(list)]
	for _, v := range list {
		to[k] = v
		k += int(set[v>>6]>>(v&63)&1 ^ flip)
	}
	return to[:k]
}

// intersect writes the members of both sorted lists to to.
func intersect(to, a, b []uint32) []uint32 {
	if len(a) > len(b) {
		a, b = b, a
	}
	k := 0
	if len(b) > longer*len(a) {
		for _, v := range a {
			i := gallop(b, v)
			if i < len(b) && b[i] == v {
				to[k] = v
				k++
			}
			b = b[i:]
		}
		return to[:k]
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x, y := a[i], b[j]
		if x == y {
			to[k] = x
			k++
		}
		if x <= y {
			i++
		}
		if y <= x {
			j++
		}
	}
	return to[:k]
}

// overlapSorted is the number of vertices that both sorted lists have.
func overlapSorted(a, b []uint32) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	k := 0
	if len(b) > longer*len(a) {
		for _, v := range a {
			i := gallop(b, v)
			if i < len(b) && b[i] == v {
				k++
			}
			b = b[i:]
		}
		return k
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x, y := a[i], b[j]
		if x == y {
			k++
		}
		if x <= y {
			i++
		}
		if y <= x {
			j++
		}
	}
	return k
}

// subtract writes the members of sorted list a that are not in sorted list b to to.
func subtract(to, a, b []uint32) []uint32 {
	k := 0
	if len(b) > longer*len(a) || len(a) > longer*len(b) {
		for len(a) > 0 && len(b) > 0 {
			if len(a) > len(b) { // runs of a between members of b
				i := gallop(a, b[0])
				k += copy(to[k:], a[:i])
				if a = a[i:]; len(a) > 0 && a[0] == b[0] {
					a = a[1:]
				}
				b = b[1:]
				continue
			}
			b = b[gallop(b, a[0]):]
			if len(b) == 0 || b[0] != a[0] {
				to[k] = a[0]
				k++
			}
			a = a[1:]
		}
		k += copy(to[k:], a)
		return to[:k]
	}
	j := 0
	for _, x := range a {
		for j < len(b) && b[j] < x {
			j++
		}
		to[k] = x
		if j == len(b) || b[j] != x {
			k++
		}
	}
	return to[:k]
}

// gallop is the number of members of the sorted list below x. It is fast if that number is small.
func gallop(list []uint32, x uint32) int {
	hi := 1
	for hi < len(list) && list[hi-1] < x {
		hi *= 2
	}
	lo := hi / 2
	n, _ := slices.BinarySearch(list[lo:min(hi, len(list))], x)
	return lo + n
}
