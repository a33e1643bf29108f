package domain

import "math/bits"

// consistent drops vertices that lack neighbours in the domains at the other ends of edges of the pattern, until nothing
// changes. It reports whether all domains keep the least size.
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
				group := w.peers[v][u]
				dirty[v] &^= group
				n := w.join(v, u, group)
				if n < w.least {
					return false
				}
				if n == w.count[v] {
					continue
				}
				w.count[v], again = n, true
				behind := w.near[v]
				if group == 1<<u { // those that were dropped have no neighbour in the domain of u
					behind &^= group
				}
				for ; behind != 0; behind &= behind - 1 {
					dirty[bits.TrailingZeros8(behind)] |= 1 << v
				}
			}
		}
	}
	return true
}

// peers lists, for each neighbour of a vertex, those along the same arc, as bits. An embedding puts different vertices there.
func peers[A comparable](near uint8, arcs *[most]A) (list [most]uint8) {
	for rest := near; rest != 0; rest &= rest - 1 {
		u := bits.TrailingZeros8(rest)
		for others := near; others != 0; others &= others - 1 {
			if v := bits.TrailingZeros8(others); arcs[v] == arcs[u] {
				list[u] |= 1 << v
			}
		}
	}
	return list
}

// join keeps the vertices in the domain of v that have neighbours in the domains of a group of peers, u the first of them, and returns how many they are.
func (w *worker) join(v, u int, group uint8) (n uint32) {
	if group == 1<<u {
		return semijoin(w.sets[v], w.sets[u], w.arcs[v][u])
	}
	var sets [][]uint64
	for ; group != 0; group &= group - 1 {
		sets = append(sets, w.sets[bits.TrailingZeros8(group)])
	}
	for i, m := range w.sets[v] {
		for ; m != 0; m &= m - 1 {
			if enough(w.arcs[v][u].row(uint32(i<<6+bits.TrailingZeros64(m))), sets) {
				n++
			} else {
				w.sets[v][i] &^= m & -m
			}
		}
	}
	return n
}

// enough reports whether a row has a member of each set, and as many in any of the sets as there are sets: as peers are different vertices,
// there is no embedding otherwise.
func enough(row []uint32, sets [][]uint64) bool {
	n, met := 0, 0 // bits of the sets that were met
	for _, y := range row {
		of := 0
		for i, set := range sets {
			of |= int(set[y>>6]>>(y&63)&1) << i
		}
		if of == 0 {
			continue
		}
		n++
		if met |= of; n >= len(sets) && met == 1<<len(sets)-1 {
			return true
		}
	}
	return false
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
