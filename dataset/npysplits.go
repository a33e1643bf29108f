package dataset

import (
	"fmt"
	"slices"
	"strings"

	"sagann/dataset/npy"
	"sagann/internal/words"
)

// readSplits reads the arrays train, val and test, with a prefix for edges and graphs. They hold ids, or a
// truth value for each of the n vertices, edges or graphs. Of several splits in the file number which is taken.
func (d *Data) readSplits(from arrays, k LabelKind, which int) error {
	n := map[LabelKind]int{VertexLabels: d.Edges.V, EdgeLabels: max(len(d.EdgeLabels), d.Targets.Edge.Len(), d.Targets.EdgeSets.Len()), GraphLabels: d.GraphRows()}[k]
	return readSplitsOf(d, from, k, which, n)
}

// readSplitsOf is readSplits for n vertices, edges or graphs.
func readSplitsOf(d *Data, from arrays, k LabelKind, which, n int) error {
	prefix := ""
	if k != VertexLabels {
		prefix = string(k) + "_"
	}
	most := 1
	for i, name := range []string{"train", "val", "test"} {
		a, err := optional(from, prefix+name)
		if err != nil {
			return err
		}
		if a == nil {
			continue
		}
		theirs := prefix + name
		if m, ok := from.(named); ok {
			theirs = m.theirs(theirs)
		}
		s := splitArray{a, theirs, n, k, func(change string) { d.Report.Changes = append(d.Report.Changes, change) }}
		ids, of, err := s.members(which)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			d.Report.Warnings = append(d.Report.Warnings, fmt.Sprintf("%s: the %s split is empty", a.Name(), d.splits(k)[i].name))
			continue
		}
		*d.parts(k)[i], most = ids, max(most, of)
	}
	if most > 1 {
		d.Report.Mask, d.Report.Masks = which, most
		d.Report.Changes = append(d.Report.Changes, fmt.Sprintf("of the file's %d splits number %d"+ofSplits+"; saga data convert --mask K takes another", most, which))
	}
	return nil
}

// ofSplits is a part of what readSplits reports of several splits.
const ofSplits = " was taken"

// splitArray is one part of a split: ids, or truth values for each of n vertices, edges or graphs, as booleans or
// as numbers 0 and 1. Several splits are the columns of an array [n,k] or the rows of one [k,n].
type splitArray struct {
	*npy.Array
	name string // in the file
	n    int
	kind LabelKind
	told func(change string)
}

// isMask reports whether x, which are the numbers of a, are truth values, and whether they are ids although a mask is what the name says. Ids do
// not repeat, so many zeros and ones are no ids.
func (a splitArray) isMask(x []int64) (mask, named bool) {
	if _, truth := a.Data.([]bool); truth {
		return true, false
	}
	all := len(x) == a.n && !slices.ContainsFunc(x, func(y int64) bool { return y != 0 && y != 1 })
	if !strings.HasSuffix(a.name, "_mask") && !strings.HasSuffix(a.name, "_masks") {
		return all && len(x) > 2, false
	}
	wide := false // 64 or 32 bits, as lists of ids have
	switch a.Data.(type) {
	case []int64, []int32, []uint64, []uint32:
		wide = true
	}
	ids := slices.Clone(x)
	slices.Sort(ids)
	if all || !wide || len(slices.Compact(ids)) < len(x) {
		return true, false
	}
	return false, true
}

// members lists the members, ascending, and returns of how many splits they are one.
func (a splitArray) members(which int) (ids []uint32, of int, err error) {
	first, step, count, of := 0, 1, a.Len(), 1
	switch s := a.Shape; {
	case len(s) == 1 || len(s) == 2 && s[1] == 1:
	case len(s) == 2 && s[0] == a.n && (s[1] != a.n || !strings.HasSuffix(a.name, "s")):
		count, first, step, of = s[0], which, s[1], s[1]
	case len(s) == 2 && s[1] == a.n:
		count, first, of = s[1], which*s[1], s[0]
	default:
		return nil, 0, fmt.Errorf("%s: shape %v of a split: want ids, or a truth value for each of %d %s: [%d], or [%d k] or [k %d] for k splits", a.Where(0), s, a.n, a.kind.Plural(), a.n, a.n, a.n)
	}
	if of != 1 && which >= of {
		return nil, 0, fmt.Errorf("%s: shape %v has %d masks: no number %d (they count from 0)", a.Where(0), a.Shape, of, which)
	}
	at := func(i int) int { return first + i*step }
	all, err := a.Int64s()
	if err != nil {
		return nil, 0, err
	}
	x := make([]int64, count)
	for i := range x {
		x[i] = all[at(i)]
	}
	mask, named := a.isMask(x)
	if mask = mask || of > 1; named && !mask {
		a.told(words.Text(a.name+" holds %d {number of a "+string(a.kind)+"|numbers of "+a.kind.Plural()+"}, not a truth value for each: {it is|they are} taken as members", count))
	}
	if mask && count != a.n {
		return nil, 0, fmt.Errorf("%s: a mask of %d for %d %s", a.Where(0), count, a.n, a.kind.Plural())
	}
	for i, y := range x {
		switch {
		case mask && y == 1:
			ids = append(ids, uint32(i))
		case mask && y != 0:
			return nil, 0, fmt.Errorf("%s: %d in a mask: must be 0 or 1", a.Where(at(i)), y)
		case !mask && (y < 0 || y >= int64(a.n)):
			return nil, 0, fmt.Errorf("%s: %s %d: ids must be below %d", a.Where(at(i)), a.kind, y, a.n)
		case !mask:
			ids = append(ids, uint32(y))
		}
	}
	slices.Sort(ids)
	return ids, of, nil
}

// readLinks reads the arrays of a split of links: pairs of rows or, if vertices are numbered by the ids at edges, of ids.
func readLinks(d *Data, from arrays, ids *idSet) error {
	given, any := &LinkSplit{}, false
	for _, p := range given.linkParts() {
		a, err := optional(from, p.array)
		if err != nil {
			return err
		}
		if a == nil {
			continue
		}
		any = true
		if len(a.Shape) != 2 || a.Shape[0] != 2 && a.Shape[1] != 2 {
			return fmt.Errorf("%s: shape %v of pairs of vertices: want [2 N] or [N 2]", a.Where(0), a.Shape)
		}
		x, err := a.Int64s()
		if err != nil {
			return err
		}
		n, step, second := len(x)/2, 1, len(x)/2
		if a.Shape[0] != 2 {
			step, second = 2, 1
		}
		ends := make([]uint32, 0, len(x))
		for _, at := range []int{0, second} {
			for k := range n {
				i := at + k*step
				v, known := uint32(x[i]), x[i] >= 0 && x[i] < int64(d.Edges.V)
				if ids != nil && x[i] >= 0 {
					v, known = ids.rank(uint64(x[i]))
				}
				if !known {
					return fmt.Errorf("%s: %d is not a vertex of the graph", a.Where(i), x[i])
				}
				ends = append(ends, v)
			}
		}
		*p.pairs = Pairs{Src: ends[:n:n], Dst: ends[n:]}
	}
	switch {
	case !any:
		return nil
	case given.Test.Len() == 0:
		d.warn("arrays of a split of links without test pairs (link_test) are not read")
		return nil
	}
	d.Targets.Given = given
	return nil
}
