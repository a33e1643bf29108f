package domain

import "math/bits"

// consistent drops vertices that have no neighbour in the domain at the other end of an edge of the
// pattern, until nothing changes. It reports whether all domains keep the least size.
func (w *worker) consistent() bool {
	var dirty [most]uint8 // by vertex v: the neighbours whose domains have changed since v was joined with them
	for v := range w.n {
		dirty[v] = w.near[v]
	}
	for again := true; again; {
		again = false
		for v := range w.n {
			for dirty[v] != 0 {
				u := bits.TrailingZeros8(dirty[v])
				dirty[v] &= dirty[v] - 1
				n := semijoin(w.sets[v], w.sets[u], w.arcs[v][u])
				if n < w.least {
					return false
				}
				if n == w.count[v] {
					continue
				}
				w.count[v], again = n, true
				for rest := w.near[v] &^ (1 << u); rest != 0; rest &= rest - 1 {
					dirty[bits.TrailingZeros8(rest)] |= 1 << v
				}
			}
		}
	}
	return true
}

// semijoin keeps the vertices of set that have a neighbour in other along the arc, and returns how many
// they are. All are members of the arc.
func semijoin(set, other []uint64, a *arc) uint32 {
	if a.words == nil {
		return semijoinFew(set, other, a)
	}
	n := 0
	for i, m := range set {
		if m == 0 {
			continue
		}
		members, before, keep := a.words[i], a.before[i], uint64(0)
		for m != 0 {
			low := m & -m
			m ^= low
			k := before + uint32(bits.OnesCount64(members&(low-1)))
			for _, y := range a.col[a.off[k]:a.off[k+1]] {
				if other[y>>6]>>(y&63)&1 != 0 {
					keep |= low
					break
				}
			}
		}
		set[i] = keep
		n += bits.OnesCount64(keep)
	}
	return uint32(n)
}

// semijoinFew is semijoin for an arc whose members are a list.
func semijoinFew(set, other []uint64, a *arc) (n uint32) {
	for k, x := range a.ids {
		if set[x>>6]>>(x&63)&1 == 0 {
			continue
		}
		found := false
		for _, y := range a.col[a.off[k]:a.off[k+1]] {
			if other[y>>6]>>(y&63)&1 != 0 {
				found = true
				break
			}
		}
		if found {
			n++
		} else {
			set[x>>6] &^= 1 << (x & 63)
		}
	}
	return n
}
