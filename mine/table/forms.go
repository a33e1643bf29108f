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

// gather adds counters, which each gives up, to the counts. take takes memory.
func (t *totals) gather(take func(bytes int64) bool, each func(f func(p pattern.Pattern, n uint64))) {
	f := newForms(take, newShapes())
	each(func(p pattern.Pattern, n uint64) {
		if !f.add(p, n) {
			t.add(p, run.Total{Lo: n})
		}
	})
	for key, n := range f.count {
		t.addCanonical(f.pattern(key), run.Total{Lo: n})
	}
}
