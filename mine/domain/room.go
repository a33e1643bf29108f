package domain

import (
	"unsafe"

	"sagann/mine/lattice"
	"sagann/mine/pattern"
	"sagann/mine/run"
)

// The bytes of a pattern. A list that grows takes up to 9/4 of its entries: the old and the new one stand beside each
// other while it is copied. A map takes up to 7/3.
const (
	foundBytes   = int64(unsafe.Sizeof(Found{}))
	patternBytes = int64(unsafe.Sizeof(pattern.Pattern{}))
	levelBytes   = foundBytes + patternBytes + (patternBytes+8)*7/3      // in the level that patterns grow from
	nextBytes    = int64(unsafe.Sizeof(dealt{}))*9/4 + foundBytes        // in the next level while it is made
	childBytes   = int64(unsafe.Sizeof(task{}))*3 + (patternBytes+8)*7/3 // a candidate in the list of its parent's, and in the queue
	parentBytes  = int64(unsafe.Sizeof(lattice.Parent{})) * 9 / 4        // of a candidate
)

// GrowBytes is the memory for the candidates that grow from one pattern.
func (g *Graph) GrowBytes(q Question) int64 {
	edges := make([]lattice.Edge, len(g.Edges))
	for i, e := range g.Edges {
		edges[i] = e.Edge
	}
	children, parents := lattice.NewGrower(edges, q.Vertices, q.Edges, q.Induced).Most()
	return int64(children) * (childBytes + int64(parents)*parentBytes)
}

// keeps is the bytes that the caller holds of a pattern.
func (q *Question) keeps(f *Found) (n int64) {
	if q.Keeps != nil {
		n = q.Keeps(f.Pattern)
	}
	if q.Domains {
		n += f.own()
	}
	return n
}

// own is the memory of the domains, but for those that are the graph's.
func (f *Found) own() int64 {
	if f.Pattern.Edges() == 1 {
		return 0
	}
	return f.Bytes()
}

// budget divides the room between patterns and domains while a level is made. Patterns come first: domains can be
// dropped, those of the level that is made first, then those of the level from which it grows.
type budget struct {
	q     *Question
	level []Found
	need  int64 // bytes of what cannot be dropped
	base  int64 // those of what was there before
	left  int64
	kept  []int // the patterns that have domains
	drops bool  // the level from which it grows has domains that can be dropped
	over  bool  // patterns alone take more than the room: they are only counted
	again bool  // domains are to be dropped as soon as no worker reads them; then the work goes on
}

// budget is the room for the patterns that grow from a level. Domains for which there is no room are dropped.
func (q *Question) budget(level []Found, held int64) *budget {
	b := &budget{q: q, level: level, need: held + levelBytes*int64(len(level))}
	b.base = b.need
	domains := int64(0)
	for i := range level {
		domains += level[i].own()
	}
	b.drops = domains > 0 && !q.Domains
	if b.left = q.Room - b.need; b.drops {
		if b.left -= domains; b.left < 0 {
			b.drop()
		}
	}
	b.over = q.Room > 0 && b.left < 0
	return b
}

// drop drops the domains from which patterns grow.
func (b *budget) drop() {
	for i := range b.level {
		if b.level[i].Pattern.Edges() > 1 {
			b.level[i].Domains = nil
		}
	}
	b.drops, b.left = false, b.q.Room-b.need
}

// err is a *run.RoomError if patterns take too much. It is known when all of a size are counted; larger ones may take more.
func (b *budget) err() error {
	if !b.over {
		return nil
	}
	p, q := b.level[0].Pattern, b.q
	last := !q.Induced && p.Edges()+1 == q.Edges || q.Induced && p.Vertices()+1 == q.Vertices
	return &run.RoomError{Need: b.need, More: !last}
}

// add keeps a frequent pattern, and its domains if there is room.
func (d *dealer) add(f dealt) {
	b := d.budget
	bytes := nextBytes + b.q.keeps(&f.Found)
	b.need += bytes
	switch {
	case b.q.Room == 0:
		d.found = append(d.found, f)
		return
	case b.over:
		return
	}
	b.left -= bytes
	others := int64(0) // what workers may have found before they stop
	if b.drops {
		others = 2 * int64(b.q.Workers) * bytes
	}
	for b.left < others && len(b.kept) > 0 {
		i := b.kept[len(b.kept)-1]
		b.kept = b.kept[:len(b.kept)-1]
		b.left += d.found[i].Bytes()
		d.found[i].Domains = nil
	}
	switch n := f.Bytes(); {
	case b.drops && b.left < others:
		b.again, d.ended, f.Domains = true, true, nil
		d.wake.Broadcast()
	case b.left < 0:
		b.over, d.found = true, nil
		return
	case b.q.Domains || n == 0:
	case n > b.left-others:
		f.Domains = nil
	default:
		b.left -= n
		b.kept = append(b.kept, len(d.found))
	}
	d.found = append(d.found, f)
}

// resume reports whether the work goes on without the domains that there was no room for.
func (d *dealer) resume() bool {
	b := d.budget
	if !b.again || d.failed != nil {
		return false
	}
	b.drop()
	b.again, d.ended = false, false
	if b.over = b.left < 0; b.over {
		d.found = nil
	}
	return true
}
