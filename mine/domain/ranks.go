package domain

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"sagann/mine/pattern"
)

// Peers are the ranks that share a search: processes that mine the same graph for the same question.
type Peers interface {
	Ranks() int
	// Deal gives this rank the next parents of a level, of so many: from up to to; from = parents at the end.
	// Each parent is given to one rank.
	Deal(level, parents int) (from, to int, err error)
	// Gather gives all ranks what each has, by rank. All call it. An error of one rank is one of all.
	Gather(what string, own []byte, failed error) ([][]byte, error)
}

// exchange gives all ranks what each has found of a level. err is why this rank has found nothing.
func (d *dealer) exchange(ctx context.Context, err error) error {
	b := d.budget
	p := b.q.Peers
	const again, over = 1, 2
	state := binary.LittleEndian.AppendUint64(nil, uint64(b.need-b.base))
	state = append(binary.LittleEndian.AppendUint64(state, uint64(b.q.Room)), 0)
	if b.again {
		state[16] |= again
	}
	if b.over {
		state[16] |= over
	}
	all, err := p.Gather("what a size of patterns takes", state, cmp.Or(err, ctx.Err()))
	if err != nil {
		return err
	}
	b.need = b.base
	for _, s := range all {
		if len(s) != 17 {
			return errors.New("mine: a rank sends something else than what it has found")
		}
		b.need += int64(binary.LittleEndian.Uint64(s))
		b.again, b.over = b.again || s[16]&again != 0, b.over || s[16]&over != 0
	}
	least := b.q.Room // each rank has its own, and all must fit
	for _, s := range all {
		if room := int64(binary.LittleEndian.Uint64(s[8:])); room > 0 {
			b.over = b.over || b.need > room
			least = min(least, room)
		}
	}
	if b.over {
		b.need += max(b.q.Room-least, 0) // a rank with less would fit then, too
	}
	if b.again || b.over {
		return nil
	}
	lists, err := p.Gather("patterns", encode(d.found), nil)
	if err != nil {
		return err
	}
	d.found = d.found[:0]
	for r, list := range lists {
		found, err := decode(list)
		if err != nil {
			return fmt.Errorf("mine: rank %d: %w", r, err)
		}
		d.found = append(d.found, found...)
	}
	if b.q.Room == 0 || b.q.Domains {
		return nil
	}
	left := b.q.Room - b.need
	for i := range d.found { // domains of all ranks need not fit
		f := &d.found[i]
		if n := f.Bytes(); n > left {
			f.Domains = nil
		} else {
			left -= n
		}
	}
	return nil
}

// encode is found patterns as bytes.
func encode(found []dealt) (b []byte) {
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(len(found)))
	for i := range found {
		f := &found[i]
		n := f.Pattern.Vertices()
		b = le.AppendUint32(le.AppendUint32(b, uint32(f.parent)), uint32(f.child))
		b = le.AppendUint64(b, uint64(f.Support))
		b = append(b, byte(n))
		for v := range n {
			b = le.AppendUint32(b, uint32(f.Pattern.Label(v)))
			for u := range v {
				if f.Pattern.Adjacent(u, v) {
					b = le.AppendUint32(append(b, 1), uint32(f.Pattern.EdgeLabel(u, v)))
				} else {
					b = append(b, 0)
				}
			}
		}
		if f.Domains == nil {
			b = append(b, 0)
			continue
		}
		b = append(b, 1)
		for v, low := range f.Pattern.Orbits() {
			if v >= n || int(low) != v {
				continue
			}
			s := f.Domains[v]
			b = le.AppendUint32(le.AppendUint32(b, uint32(len(s.list))), uint32(len(s.bits)))
			for _, x := range s.list {
				b = le.AppendUint32(b, x)
			}
			for _, x := range s.bits {
				b = le.AppendUint64(b, x)
			}
		}
	}
	return b
}

// bytesLeft reads numbers; short is set if there are too few.
type bytesLeft struct {
	b     []byte
	short bool
}

func (r *bytesLeft) take(n int) []byte {
	if n > len(r.b) {
		r.short, r.b = true, nil
		return make([]byte, min(n, 8))
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *bytesLeft) u8() byte    { return r.take(1)[0] }
func (r *bytesLeft) u32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *bytesLeft) u64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

var errTorn = errors.New("the patterns of a rank are torn")

// decode reads what encode wrote.
func decode(b []byte) (found []dealt, err error) {
	r := &bytesLeft{b: b}
	for range r.u32() {
		f := dealt{parent: int(r.u32()), child: int(r.u32())}
		f.Support = int64(r.u64())
		n := int(r.u8())
		if n > most {
			return nil, errTorn
		}
		p := pattern.New(0)
		for v := range n {
			p = p.Add(int32(r.u32()))
			for u := range v {
				if r.u8() == 1 {
					p = p.WithEdgeLabel(u, v, int32(r.u32()))
				}
			}
		}
		f.Pattern = p
		if r.u8() == 1 {
			f.Domains = make([]Set, n)
			for v, low := range p.Orbits() {
				switch {
				case v >= n:
				case int(low) < v:
					f.Domains[v] = f.Domains[low]
				default:
					f.Domains[v] = r.set()
				}
			}
		}
		if r.short {
			return nil, errTorn
		}
		found = append(found, f)
	}
	if r.short || len(r.b) > 0 {
		return nil, errTorn
	}
	return found, nil
}

func (r *bytesLeft) set() (s Set) {
	lists, bits := int(r.u32()), int(r.u32())
	if 4*lists+8*bits > len(r.b) {
		r.short = true
		return s
	}
	for range lists {
		s.list = append(s.list, r.u32())
	}
	for range bits {
		s.bits = append(s.bits, r.u64())
	}
	return s
}

// sorted is what was found, in the order of the level.
func (d *dealer) sorted() []Found {
	slices.SortFunc(d.found, func(a, b dealt) int { return cmp.Or(cmp.Compare(a.parent, b.parent), cmp.Compare(a.child, b.child)) })
	next := make([]Found, len(d.found))
	for i, f := range d.found {
		next[i] = f.Found
	}
	return next
}
