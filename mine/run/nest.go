package run

import (
	"context"
	"sync/atomic"

	"sagann/mine/pattern"
	"sagann/mine/plan"
	"sagann/mine/rows"
)

// nest is one worker that runs the loops of a plan.
type nest struct {
	plan  *plan.Plan
	rows  *rows.Rows
	kinds *rows.Kinds
	ops   [][]op                      // by level: the sets that are made there
	bound [pattern.MaxVertices]uint32 // vertex by level
	set   [][]uint32                  // by set: what it holds now
	room  [][]uint32                  // by set: memory of those that are made
	only  []int32                     // by set: see onlyLabel
	size  int                         // set that is counted and not made, or plan.None; see countOnly
	both  common                      // for Pair == plan.Product: what the last two levels have in common
	stop  *atomic.Bool
	total Total
	emit  func(m *[pattern.MaxVertices]uint32) bool // matches by level; nil: they are counted
	read  int                                       // elements read, for Sampler
	merge int                                       // elements read by merging two sorted lists, for Sampler
	_     [64]byte
}

// op makes one set. If its base does not change while the loop of its level runs, the
// base is marked in a bit set before the loop. Then the intersection is found by reading the
// neighbours of the loop's vertex alone.
type op struct {
	set    int
	fixed  bool     // the base does not change in the loop, the neighbours do
	base   []uint32 // fixed: the base, cut to those bounds of its window that earlier levels set
	mark   []uint64 // fixed: room for V bits
	marked bool     // base is marked
	self   int8     // 1: the window begins above the loop's vertex, -1: it ends below it
}

// NestNeed is the bytes that a plan takes for each worker: for each set that is made, a row and a
// bit for each vertex; for Pair == plan.Product another bit for each vertex.
func NestNeed(p *plan.Plan, r *rows.Rows) int64 {
	n := int64(0)
	for _, s := range p.Sets {
		if s.Base != plan.None {
			n += 4*int64(r.MaxDegree) + 8*int64(r.Words)
		}
	}
	if p.Pair == plan.Product {
		n += 8 * int64(r.Words)
	}
	return n
}

// newNest takes the memory of a worker.
func newNest(p *plan.Plan, r *rows.Rows, kinds *rows.Kinds, stop *atomic.Bool) *nest {
	n := &nest{plan: p, rows: r, kinds: kinds, size: plan.None, stop: stop}
	n.ops = make([][]op, len(p.Levels))
	n.set, n.room = make([][]uint32, len(p.Sets)), make([][]uint32, len(p.Sets))
	for l, level := range p.Levels {
		for _, i := range level.Make {
			s := &p.Sets[i]
			n.room[i] = make([]uint32, r.MaxDegree)
			o := op{set: i, fixed: s.Of == l && p.Sets[s.Base].Level < l}
			if o.fixed {
				o.mark = make([]uint64, r.Words)
			}
			n.ops[l] = append(n.ops[l], o)
		}
	}
	n.both = newCommon(p, r)
	n.only = make([]int32, len(p.Sets))
	for i := range p.Sets {
		n.only[i] = pattern.AnyLabel
		if r.Label != nil {
			n.only[i] = onlyLabel(p, i)
		}
	}
	return n
}

// onlyLabel is the label that all levels with this set of candidates ask for; pattern.AnyLabel if
// they differ, or if the set is a row or the base of another set. Members without this label
// are dropped when the set is made.
func onlyLabel(p *plan.Plan, set int) int32 {
	if p.Sets[set].Base == plan.None {
		return pattern.AnyLabel
	}
	for _, s := range p.Sets {
		if s.Base == set {
			return pattern.AnyLabel
		}
	}
	label, used := int32(pattern.AnyLabel), false
	for l, level := range p.Levels {
		if l == 0 || level.From != set {
			continue
		}
		if used && level.Label != label {
			return pattern.AnyLabel
		}
		label, used = level.Label, true
	}
	return label
}

// countOnly has the last level's set counted instead of made, if nothing else needs the
// set. It must not be called when listing or sampling.
func (n *nest) countOnly() {
	p := n.plan
	if p.Loops() != p.Last() {
		return
	}
	i := p.Levels[p.Last()].From
	for _, s := range p.Sets {
		if s.Base == i {
			return
		}
	}
	if s := p.Sets[i]; s.Base != plan.None && s.Level == p.Last()-1 {
		n.size = i
	}
}

// Count runs the plan over the whole graph.
func (r *Run) Count(ctx context.Context, p *plan.Plan) (Total, error) {
	tasks := newPool(r.Rows, loopSlice)
	ws := make([]*nest, r.Workers)
	err := r.each(ctx, tasks, func(w int) func(task) {
		ws[w] = newNest(p, r.Rows, r.Kinds, &tasks.stop)
		ws[w].countOnly()
		return ws[w].root
	})
	var sum Total
	for _, w := range ws {
		sum.AddTotal(w.total)
	}
	if p.Pair == plan.Unordered {
		sum = sum.Half()
	}
	return sum, err
}

// root runs the loops below one root, or below a slice of its neighbours.
func (n *nest) root(t task) {
	if !n.fits(0, t.root) {
		return
	}
	n.bind(0, t.root)
	if n.plan.Pair != plan.NoPair && n.plan.Last() == 2 { // levels 1 and 2 are counted together: roots are not cut
		if t.lo == 0 {
			n.pair()
		}
		return
	}
	list := n.set[n.plan.Levels[1].From]
	if t.hi > 0 {
		list = list[t.lo:t.hi]
	}
	n.loop(1, list)
}

// bind sets the vertex of a level, and the sets that are rows of its neighbours.
func (n *nest) bind(l int, v uint32) {
	n.bound[l] = v
	for i := range n.plan.Sets {
		if s := &n.plan.Sets[i]; s.Base == plan.None && s.Of == l {
			n.set[i] = n.rows.Of(v)
		}
	}
}

// fits reports whether a candidate fulfils all conditions of a level except its window.
func (n *nest) fits(l int, v uint32) bool {
	level := &n.plan.Levels[l]
	if level.Label != pattern.AnyLabel && (n.rows.Label == nil || n.rows.Label[v] != level.Label) {
		return false
	}
	for _, m := range level.Apart {
		if n.bound[m] == v {
			return false
		}
	}
	if level.Degree > 1 && n.rows.Degree(v) < level.Degree {
		return false
	}
	if len(level.Where) > 0 {
		n.bound[l] = v
		for _, e := range level.Where {
			if e.Eval(n) == 0 {
				return false
			}
		}
	}
	return true
}

// loop runs level l, at least 1, over the candidates in list.
func (n *nest) loop(l int, list []uint32) {
	level := &n.plan.Levels[l]
	list = within(list, n.span(level.Above, level.Below))
	last := n.plan.Last()
	if l == last {
		n.innermost(list)
		return
	}
	n.enter(l, len(list))
	for _, v := range list {
		if n.stop.Load() {
			break
		}
		if !n.fits(l, v) {
			continue
		}
		n.bind(l, v)
		if !n.makeSets(l) {
			continue
		}
		switch {
		case l+1 == last && n.size != plan.None:
		case l+2 == last && n.plan.Pair != plan.NoPair:
			n.pair()
		default:
			n.loop(l+1, n.set[n.plan.Levels[l+1].From])
		}
	}
	n.leave(l)
}

// innermost counts or lists the candidates of the last level.
func (n *nest) innermost(list []uint32) {
	l := n.plan.Last()
	level := &n.plan.Levels[l]
	if n.emit == nil && (level.Label == pattern.AnyLabel || level.Label == n.only[level.From]) && len(level.Where) == 0 {
		n.total.Add(uint64(len(list) - n.among(level.Apart, list)))
		return
	}
	for _, v := range list {
		if !n.fits(l, v) {
			continue
		}
		if n.emit == nil {
			n.total.Add(1)
			continue
		}
		n.bound[l] = v
		if !n.emit(&n.bound) {
			n.stop.Store(true)
			return
		}
	}
}

// among is how many of the vertices bound at these levels are in the list.
func (n *nest) among(levels []int, list []uint32) int {
	k := 0
	for _, m := range levels {
		if contains(list, n.bound[m]) {
			k++
		}
	}
	return k
}

// pair counts the last two levels together; the level before them is bound.
func (n *nest) pair() {
	last := n.plan.Last()
	x, y := &n.plan.Levels[last-1], &n.plan.Levels[last]
	a := within(n.set[x.From], n.span(x.Above, x.Below))
	free := n.free(x, a)
	if free == 0 {
		return
	}
	if n.plan.Pair == plan.Unordered {
		n.total.AddProduct(free, free-1) // halved at the end, see Count
		return
	}
	b := within(n.set[y.From], n.span(y.Above, y.Below))
	if n.plan.Pair == plan.Unlike {
		n.total.AddProduct(free, n.free(y, b))
		return
	}
	ofY, both := len(b), 0
	switch {
	case x.From == y.From && len(a) == len(b) && a[0] == b[0]: // one set, in one window
		both = len(a)
	case n.both.list == nil:
		both = overlapSorted(a, b)
	case n.both.fixed == x.From:
		both = int(hits(n.both.mark, within(b, n.span(x.Above, x.Below))))
	default:
		both = int(hits(n.both.mark, within(a, n.span(y.Above, y.Below))))
	}
	// Take away the vertices that x or y must not be. both takes away the pairs with x = y.
	for m := range last - 1 {
		v := n.bound[m]
		notX, notY := has(x.Apart, m) && contains(a, v), has(y.Apart, m) && contains(b, v)
		if notY {
			ofY--
		}
		if notX && contains(b, v) || notY && contains(a, v) {
			both--
		}
	}
	n.total.AddProduct(free, uint64(ofY))
	n.total.sub(uint64(both))
}

// free is how many members of list, already cut to the level's window, have its label and differ
// from the vertices in Apart.
func (n *nest) free(level *plan.Level, list []uint32) uint64 {
	k := len(list)
	if level.Label != pattern.AnyLabel {
		k = withLabel(list, n.rows.Label, level.Label)
	}
	for _, m := range level.Apart {
		if v := n.bound[m]; contains(list, v) && (level.Label == pattern.AnyLabel || n.rows.Label[v] == level.Label) {
			k--
		}
	}
	return uint64(k)
}

func has(levels []int, l int) bool {
	for _, m := range levels {
		if m == l {
			return true
		}
	}
	return false
}

// Vertex, Label, Degree, EdgeLabel and Adjacent are the methods of pattern.Values, for conditions on the match.

func (n *nest) at(i int) uint32 { return n.bound[n.plan.At[i]] }

// Vertex is the user's number of the vertex bound to pattern vertex i.
func (n *nest) Vertex(i int) int64 { return int64(n.rows.User(n.at(i))) }

// Label is the label of that vertex, -1 without one.
func (n *nest) Label(i int) int64 {
	if n.rows.Label == nil {
		return -1
	}
	return int64(n.rows.Label[n.at(i)])
}

// Degree is the degree of that vertex.
func (n *nest) Degree(i int) int64 { return int64(n.rows.Degree(n.at(i))) }

// EdgeLabel is the label of the edge between the vertices bound to i and j, -1 without one.
func (n *nest) EdgeLabel(i, j int) int64 {
	return int64(n.kinds.Of(n.rows.User(n.at(i)), n.rows.User(n.at(j))))
}

// Adjacent reports whether the vertices bound to i and j are neighbours.
func (n *nest) Adjacent(i, j int) bool { return n.rows.Has(n.at(i), n.at(j)) }
