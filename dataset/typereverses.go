package dataset

import (
	"fmt"
	"maps"
	"slices"
)

// typeNumbers are the numbers of the types of edges by their names or, where they have none, by these numbers as text.
func typeNumbers(d *Data) map[string]uint32 {
	number := map[string]uint32{}
	for k := range max(d.Edges.Types, len(d.Schema.Edges.Relations)) {
		number[TypeName(d, k)] = uint32(k)
	}
	return number
}

// TypeName is the name of a type of the edges of d or, where they have none, its number.
func TypeName(d *Data, k int) string {
	if k < len(d.Schema.Edges.Relations) {
		return d.Schema.Edges.Relations[k]
	}
	return fmt.Sprint(k)
}

// TypeReverses reads pairs NAME=REVERSE of types of the edges of d, of which each has the reverses of the other's edges, for SplitTriples and
// UseTriples.
func TypeReverses(d *Data, texts []string) (pairs [][2]int, err error) {
	if len(texts) > 0 && d.Edges.Type == nil {
		return nil, typed(d)
	}
	number := typeNumbers(d)
	for _, text := range texts {
		pair, err := reversePair(text, func(name string) (int, error) {
			k, is := number[name]
			if !is {
				return 0, fmt.Errorf("%s has no edges of relation %.80q; there are %.400s", d.Name, name, listed(slices.Sorted(maps.Keys(number))))
			}
			return int(k), nil
		})
		if err != nil {
			return nil, fmt.Errorf("--reverse %s: %w", text, err)
		}
		pairs = append(pairs, pair)
	}
	return pairs, nil
}

// typeFacts says of each type of edges which stands for all that tell the same, turned round or not: those of pairs, those whose names say
// so, and those of which one has all edges of another turned round, which are found. all are pairs and those found.
func typeFacts(d *Data, pairs [][2]int) (of []uint32, all, found [][2]int) {
	x := make(reversals, d.Edges.Types)
	for _, p := range pairs {
		x.add(p[0], p[1])
	}
	number := typeNumbers(d)
	for name, k := range number {
		if r, is := number["rev_"+name]; is {
			x.add(int(k), int(r))
		}
	}
	found = turnedTypes(d, x)
	for _, p := range found {
		x.add(p[0], p[1])
	}
	of = make([]uint32, len(x))
	for k := range of {
		of[k] = uint32(k)
		for _, a := range x.of(k) {
			of[k] = min(of[k], uint32(a.relation))
		}
	}
	return of, slices.Concat(pairs, found), found
}

// turnedTypes are the pairs of types, beside those of x, of which one has all edges of the other turned round and no more.
func turnedTypes(d *Data, x reversals) (found [][2]int) {
	e := d.Edges
	along, back := make([][]uint64, e.Types), make([][]uint64, e.Types)
	for k, t := range e.Type {
		along[t] = append(along[t], uint64(e.Src[k])<<32|uint64(e.Dst[k]))
		back[t] = append(back[t], uint64(e.Dst[k])<<32|uint64(e.Src[k]))
	}
	at := map[[2]uint64][]int{} // types by the number of edges and the first of them
	key := func(list []uint64) [2]uint64 { return [2]uint64{uint64(len(list)), list[0]} }
	for t := range along {
		slices.Sort(along[t])
		slices.Sort(back[t])
		along[t], back[t] = slices.Compact(along[t]), slices.Compact(back[t])
		if len(back[t]) > 0 {
			for _, other := range at[key(back[t])] {
				known := slices.ContainsFunc(x.of(t), func(a alike) bool { return a.relation == other })
				if !known && slices.Equal(along[other], back[t]) {
					found = append(found, [2]int{other, t})
				}
			}
			at[key(along[t])] = append(at[key(along[t])], t)
		}
	}
	return found
}
