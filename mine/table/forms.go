package table

import (
	"unsafe"

	"sagann/mine/pattern"
	"sagann/mine/run"
)

// forms are counts of a worker by canonical pattern, which stands there in a short form: its number without labels of vertices, and these
// labels. A canonical form is computed once for patterns that differ in nothing but labels that compare alike.
type forms struct {
	take   func(bytes int64) bool
	number map[pattern.Pattern]uint32 // of patterns without labels of vertices
	shapes []pattern.Pattern
	turns  map[order]turn
	count  map[form]uint64
}

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
	n, ok = f.number[p]
	if !ok && f.take(shapeBytes) {
		n, ok = uint32(len(f.shapes)), true
		f.number[p], f.shapes = n, append(f.shapes, p)
	}
	return n, ok
}

// add adds n to the count of the canonical form of p, and reports whether there was room for it.
func (f *forms) add(p pattern.Pattern, n uint64) bool {
	o, ok := order{}, false
	if o.shape, ok = f.shape(p); !ok {
		return false
	}
	vertices := p.Vertices()
	var label, labels [most]int32
	for i := range vertices {
		label[i] = p.Label(i)
		for j, l := range label[:i] {
			if l < label[i] {
				o.less[i]++
			} else if l > label[i] {
				o.less[j]++
			}
		}
	}
	t, ok := f.turns[o]
	if !ok {
		var q pattern.Pattern
		q, t.to = p.Canon()
		if t.shape, ok = f.shape(q); !ok {
			return false
		}
		if len(f.turns) == mostTurns {
			clear(f.turns)
		}
		f.turns[o] = t
	}
	for i, l := range label[:vertices] {
		labels[t.to[i]] = l
	}
	key := form{t.shape, labels}
	known := len(f.count)
	if f.count[key] += n; len(f.count) > known && !f.take(formBytes) {
		delete(f.count, key)
		return false
	}
	return true
}

// gather adds the counters of a worker to the counts.
func (t *totals) gather(w worker) {
	f := &forms{take: w.take, number: map[pattern.Pattern]uint32{}, turns: map[order]turn{}, count: map[form]uint64{}}
	w.each(func(p pattern.Pattern, n uint64) {
		if !f.add(p, n) {
			t.add(p, run.Total{Lo: n})
		}
	})
	for key, n := range f.count {
		p := f.shapes[key.shape]
		for i := range p.Vertices() {
			p = p.WithLabel(i, key.label[i])
		}
		t.addCanonical(p, run.Total{Lo: n})
	}
}
