package table

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"sagann/mine/pattern"
	"sagann/mine/run"
)

// Counts are counts of rows by canonical pattern, to which several GPUs add. They are divided by pattern, so that many threads add at a time.
type Counts struct {
	*shapes
	parts [countParts]struct {
		mu sync.Mutex
		of map[form]run.Total
	}
}

// countParts is into how many parts counts are divided, countBuffer how many counts a thread collects for a part.
const countParts, countBuffer = 1 << 8, 1 << 6

// NewCounts makes counts of nothing.
func NewCounts() *Counts { return &Counts{shapes: newShapes()} }

// part is the part of a form.
func (f *form) part() int {
	h := uint64(f.shape)
	for _, l := range f.label {
		h = (h ^ uint64(uint32(l))) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return int(h >> 32 % countParts)
}

// counted is a form with a number of rows.
type counted struct {
	form
	rows uint64
}

// adder adds counts of one thread.
type adder struct {
	*forms
	codes *Codes
	size  *codeList
	to    *Counts
	wait  [countParts][]counted
	// Of the last row: code, labels, and the position, kind of edge and far end with their shape.
	code, join    int
	label         [most]int32
	vertices      int
	shape         uint32
	known, closes bool // there is a last row; there are rows that go on so
}

// Add adds counted rows that go on from codes of rows of so many edges. They come in pieces: each of piece's calls of f is a code, a slot and a number of rows.
func (c *Codes) Add(ctx context.Context, to *Counts, edges, workers, pieces int, piece func(i int, f func(code, slot uint32, n uint64))) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, pieces) {
		wg.Go(func() {
			a := &adder{forms: newForms(func(int64) bool { return true }, to.shapes), codes: c, size: &c.size[edges], to: to}
			for i := int(next.Add(1)) - 1; i < pieces && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				piece(i, a.add)
			}
			for i := range a.wait {
				a.flush(i)
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

// add adds rows of a code that end at a slot.
func (a *adder) add(from, slot uint32, rows uint64) {
	c, q := a.codes, &a.size.list[from]
	join, class := int(slot)/c.width, int(slot)%c.width
	grown := func() pattern.Pattern {
		p, _ := c.grown(&code{codeKey: q.codeKey}, uint64(slot))
		return p
	}
	vertices := q.pattern.Vertices()
	if far := class - len(c.labels); far < 0 {
		join *= most + 1
	} else {
		join = join*(most+1) + 1 + far
	}
	if !a.known || int(from) != a.code || join != a.join {
		p, ok := c.grown(&code{codeKey: q.codeKey}, uint64(slot))
		a.known, a.code, a.join, a.closes, a.vertices = true, int(from), join, ok, p.Vertices()
		if !ok {
			return
		}
		a.shape, _ = a.forms.shape(p)
		for i := range vertices {
			a.label[i] = q.pattern.Label(i)
		}
	}
	if !a.closes {
		return
	}
	if a.vertices > vertices {
		a.label[vertices] = c.labels[class]
	}
	key, _ := a.canonical(a.shape, a.vertices, &a.label, grown)
	i := key.part()
	if a.wait[i] = append(a.wait[i], counted{key, rows}); len(a.wait[i]) == countBuffer {
		a.flush(i)
	}
}

// flush adds what waits for a part.
func (a *adder) flush(i int) {
	p := &a.to.parts[i]
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[form]run.Total{}
	}
	for _, x := range a.wait[i] {
		sum := p.of[x.form]
		sum.AddTotal(run.Total{Lo: x.rows})
		p.of[x.form] = sum
	}
	a.wait[i] = a.wait[i][:0]
}

// Sum is a canonical pattern with a number of rows.
type Sum struct {
	Pattern pattern.Pattern
	Rows    run.Total
}

// Sums are the counts of at least so many rows, in any order. They are forgotten.
func (c *Counts) Sums(least run.Total, workers int) (all []Sum) {
	var lists [countParts][]Sum
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, countParts) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < countParts; i = int(next.Add(1)) - 1 {
				for key, n := range c.parts[i].of {
					if !n.Less(least) {
						lists[i] = append(lists[i], Sum{c.pattern(key), n})
					}
				}
				c.parts[i].of = nil
			}
		})
	}
	wg.Wait()
	return slices.Concat(lists[:]...)
}
