package table

import (
	"sync"
	"unsafe"

	"sagann/mine/pattern"
	"sagann/mine/run"
)

// forms are counts of a worker by canonical pattern, which stands there in a short form: its number without labels of vertices, and these
// labels. A canonical form is computed once for patterns that differ in nothing but labels that compare alike.
type forms struct {
	take func(bytes int64) bool
	*shapes
	turns map[order]turn
	count map[form]uint64
}

// shapes are numbers of patterns without labels of vertices.
type shapes struct {
	mu     sync.Mutex
	number map[pattern.Pattern]uint32
	list   []pattern.Pattern
}

func newForms(take func(bytes int64) bool, s *shapes) *forms {
	return &forms{take: take, shapes: s, turns: map[order]turn{}, count: map[form]uint64{}}
}

func newShapes() *shapes { return &shapes{number: map[pattern.Pattern]uint32{}} }

type form struct {
	shape uint32
	label [most]int32
}

// order is how the labels of a pattern compare: by vertex, how many are less.
type order struct {
	shape uint32
	less  [most]uint8
}

// turn is the numbering that makes a pattern canonical, and the shape that it has then.
type turn struct {
	to    pattern.Perm
	shape uint32
}

const (
	shapeBytes = int64(unsafe.Sizeof(pattern.Pattern{})+5)*7/3 + 2*int64(unsafe.Sizeof(pattern.Pattern{}))
	formBytes  = int64(unsafe.Sizeof(form{})+9) * 7 / 3
	mostTurns  = 1 << 12 // that are remembered
)

// shape is the number of a pattern whose labels of vertices are taken off.
func (f *forms) shape(p pattern.Pattern) (n uint32, ok bool) {
	p = p.WithoutLabels()
	f.mu.Lock()
	defer f.mu.Unlock()
	n, ok = f.number[p]
	if !ok && f.take(shapeBytes) {
		n, ok = uint32(len(f.list)), true
		f.number[p], f.list = n, append(f.list, p)
	}
	return n, ok
}

// add adds n to the count of the canonical form of p, and reports whether there was room for it.
func (f *forms) add(p pattern.Pattern, n uint64) bool {
	shape, ok := f.shape(p)
	if !ok {
		return false
	}
	var label [most]int32
	for i := range p.Vertices() {
		label[i] = p.Label(i)
	}
	key, ok := f.canonical(shape, p.Vertices(), &label, func() pattern.Pattern { return p })
	if !ok {
		return false
	}
	known := len(f.count)
	if f.count[key] += n; len(f.count) > known && !f.take(formBytes) {
		delete(f.count, key)
		return false
	}
	return true
}

// canonical is the canonical form of a pattern, of which shape, labels and number of vertices are given. ok is false if there was no room for its shape.
func (f *forms) canonical(shape uint32, vertices int, label *[most]int32, of func() pattern.Pattern) (key form, ok bool) {
	o := order{shape: shape}
	for i, l := range label[:vertices] {
		for j, before := range label[:i] {
			if before < l {
				o.less[i]++
			} else if before > l {
				o.less[j]++
			}
		}
	}
	t, ok := f.turns[o]
	if !ok {
		var q pattern.Pattern
		q, t.to = of().Canon()
		if t.shape, ok = f.shape(q); !ok {
			return key, false
		}
		if len(f.turns) == mostTurns {
			clear(f.turns)
		}
		f.turns[o] = t
	}
	key.shape = t.shape
	for i, l := range label[:vertices] {
		key.label[t.to[i]] = l
	}
	return key, true
}

// pattern is the pattern of a form.
func (s *shapes) pattern(f form) pattern.Pattern {
	p := s.list[f.shape]
	for i := range p.Vertices() {
		p = p.WithLabel(i, f.label[i])
	}
	return p
}

// gather makes forms of the counters of a worker. What there is no room for is added to the counts.
func (t *totals) gather(w worker, s *shapes) *forms {
	f := newForms(w.take, s)
	w.each(func(p pattern.Pattern, n uint64) {
		if !f.add(p, n) {
			t.add(p, run.Total{Lo: n})
		}
	})
	return f
}

// gatherAll adds the counters of all workers to the counts. Each worker has codes of its own, and many have the same: these are added up first, as a pattern is made for
// each counter. Then each worker adds up a part of the forms of all.
func (t *totals) gatherAll(list []worker) {
	unite(list)
	s, at := newShapes(), map[worker]int{}
	for i, w := range list {
		at[w] = i
	}
	all, parts := make([]*forms, len(list)), make([]map[form]uint64, len(list))
	together(list, func(w worker) { all[at[w]] = t.gather(w, s) })
	if len(list) == 1 {
		parts[0] = all[0].count
	} else {
		together(list, func(w worker) { parts[at[w]] = t.part(w, all, at[w]) })
	}
	for _, part := range parts {
		for key, n := range part {
			t.addCanonical(s.pattern(key), run.Total{Lo: n})
		}
	}
}

// part adds up part i of the forms. What there is no room for is added to the counts.
func (t *totals) part(w worker, all []*forms, i int) map[form]uint64 {
	sums := map[form]uint64{}
	for _, f := range all {
		for key, n := range f.count {
			if key.part()%len(all) != i {
				continue
			}
			if _, ok := sums[key]; ok || w.take(formBytes) {
				sums[key] += n
			} else {
				t.addCanonical(f.pattern(key), run.Total{Lo: n})
			}
		}
	}
	return sums
}
