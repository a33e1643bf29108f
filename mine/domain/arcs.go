package domain

import (
	"cmp"
	"math/bits"
	"slices"

	"sagann/mine/pattern"
	"sagann/mine/rows"
)

// arcKey names the edges of one label from the vertices of one label to those of another; labels of
// vertices are indices.
type arcKey struct{ from, to, kind int32 }

func (k arcKey) back() arcKey { return arcKey{k.to, k.from, k.kind} }

// arc is the neighbours along the edges of an arcKey, for the vertices that have any (members). Members are bits with
// the number of members before each word, or a list if they are few; their rows are in the same order.
type arc struct {
	key     arcKey
	number  int32 // in Graph.list
	members uint32
	words   []uint64 // nil: ids is used
	before  []uint32 // by word
	ids     []uint32
	off     []uint32 // members+1
	col     []uint32 // ascending in each row
	edges   uint32
	last    uint32 // 1 + the vertex that was seen last
}

// sparse is how many times the members fit into the label, if they are kept as a list.
const sparse = 64

// row is the neighbours of member x.
func (a *arc) row(x uint32) []uint32 {
	var k uint32
	if a.words != nil {
		k = a.before[x>>6] + uint32(bits.OnesCount64(a.words[x>>6]&(1<<(x&63)-1)))
	} else {
		i, _ := slices.BinarySearch(a.ids, x)
		k = uint32(i)
	}
	return a.col[a.off[k]:a.off[k+1]]
}

// set is the members.
func (a *arc) set() Set { return Set{list: a.ids, bits: a.words} }

// few reports whether the members are kept as a list, if their label has n vertices.
func (a *arc) few(n int) bool { return int(a.members)*sparse < n }

// bytes is the memory of the arc, if its label has n vertices.
func (a *arc) bytes(n int) int64 {
	members := 12 * int64((n+63)/64)
	if a.few(n) {
		members = 4 * int64(a.members)
	}
	return members + 4*int64(a.members+1) + 4*int64(a.edges)
}

// finder finds the arcs that begin in one label.
type finder struct {
	dense []*arc // by label of the far end, if edges have no labels and there are few labels
	all   map[arcKey]*arc
	from  int32
}

// mostDense bounds the labels for which a finder has a table.
const mostDense = 1 << 16

func newFinder(from int32, labels int, kinds []int32) *finder {
	if kinds == nil && labels <= mostDense {
		return &finder{dense: make([]*arc, labels), from: from}
	}
	return &finder{all: map[arcKey]*arc{}, from: from}
}

func (f *finder) find(to, kind int32) *arc {
	if f.dense != nil {
		return f.dense[to]
	}
	return f.all[arcKey{f.from, to, kind}]
}

func (f *finder) add(a *arc) {
	if f.dense != nil {
		f.dense[a.key.to] = a
	} else {
		f.all[a.key] = a
	}
}

// visit calls yield with the number of each vertex of a label, and the label of each of its edges and the place of
// its far end.
func visit(r *rows.Rows, kinds []int32, places []place, l *Label, yield func(x uint32, kind int32, far place)) {
	kind := int32(pattern.AnyLabel)
	for x, v := range l.Vertices {
		for at := r.Off[v]; at < r.Off[v+1]; at++ {
			far := places[r.Col[at]]
			if kinds != nil {
				kind = kinds[at]
			}
			if far.label >= 0 && (kinds == nil || kind >= 0) {
				yield(uint32(x), kind, far)
			}
		}
	}
}

// count finds the arcs that begin in label number i and have the least number of members, in the order of their keys.
func count(r *rows.Rows, kinds []int32, places []place, l *Label, i int32, labels int, least int64) (arcs []*arc) {
	f := newFinder(i, labels, kinds)
	visit(r, kinds, places, l, func(x uint32, kind int32, far place) {
		a := f.find(far.label, kind)
		if a == nil {
			a = &arc{key: arcKey{i, far.label, kind}}
			f.add(a)
			arcs = append(arcs, a)
		}
		a.edges++
		if a.last != x+1 {
			a.last = x + 1
			a.members++
		}
	})
	arcs = slices.DeleteFunc(arcs, func(a *arc) bool { return int64(a.members) < least })
	slices.SortFunc(arcs, func(a, b *arc) int {
		return cmp.Or(cmp.Compare(a.key.to, b.key.to), cmp.Compare(a.key.kind, b.key.kind))
	})
	return arcs
}

// fill gives the arcs, which begin in the label l, their rows.
func fill(r *rows.Rows, kinds []int32, places []place, l *Label, labels int, arcs []*arc) {
	if len(arcs) == 0 {
		return
	}
	f := newFinder(arcs[0].key.from, labels, kinds)
	for _, a := range arcs {
		a.off, a.col, a.last = make([]uint32, 0, a.members+1), make([]uint32, 0, a.edges), 0
		if a.few(len(l.Vertices)) {
			a.ids = make([]uint32, 0, a.members)
		} else {
			a.words = make([]uint64, (len(l.Vertices)+63)/64)
		}
		f.add(a)
	}
	visit(r, kinds, places, l, func(x uint32, kind int32, far place) {
		a := f.find(far.label, kind)
		if a == nil {
			return
		}
		if a.last != x+1 {
			a.last = x + 1
			a.off = append(a.off, uint32(len(a.col)))
			if a.words != nil {
				a.words[x>>6] |= 1 << (x & 63)
			} else {
				a.ids = append(a.ids, x)
			}
		}
		a.col = append(a.col, far.at)
	})
	for _, a := range arcs {
		a.off = append(a.off, uint32(len(a.col)))
		for i, from := range a.off[:a.members] {
			if row := a.col[from:a.off[i+1]]; len(row) > 1 {
				slices.Sort(row)
			}
		}
		a.before = make([]uint32, len(a.words))
		n := uint32(0)
		for i, m := range a.words {
			a.before[i] = n
			n += uint32(bits.OnesCount64(m))
		}
	}
}
