package dataset

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// TimeCut divides what has times: what is before Val is for training, what is from Val and before Test on for validation, and the rest for
// testing.
type TimeCut struct{ Val, Test float64 }

// part is 0, 1 or 2 for a time of training, validation or testing.
func (c TimeCut) part(t float64) int {
	switch {
	case t < c.Val:
		return 0
	case t < c.Test:
		return 1
	}
	return 2
}

// ParseTime reads a time as tables have it: a number below 2^53, or a day or moment such as 2026-03-01 or 2026-03-01 12:30:00.
func ParseTime(text string) (float64, error) { return parseTime([]byte(text)) }

// TimeText writes a time so that ParseTime reads the same one.
func TimeText(t float64) string { return strconv.FormatFloat(t, 'f', -1, 64) }

// TimesOf are the times of what has labels of kind k, or of the edges that are links, self loops left out. It is an error if there are none.
func TimesOf(d *Data, k LabelKind) ([]float64, error) {
	of, where := d.Vertices.Time, "vertex_time"
	if k == EdgeLabels || k == LinkLabels {
		of, where = LabelledEdges(d).Time, "edge_time"
	}
	if x := d.Vertices.Kinds; x != nil && k == LinkLabels {
		return x.times()
	}
	switch {
	case k == GraphLabels:
		return nil, fmt.Errorf("%sgraphs have no times to divide by; vertices, edges and links do", namedFirst(d))
	case of == nil:
		return nil, fmt.Errorf("%s%s have no times (%s) to divide by", namedFirst(d), k.Plural(), where)
	}
	var list []float64
	if k == LinkLabels {
		for i, t := range of {
			if d.Edges.Src[i] != d.Edges.Dst[i] {
				list = append(list, t)
			}
		}
		return list, nil
	}
	labels, _ := d.labelsOf(k)
	for i, t := range of {
		if labels == nil || labels[i] >= 0 {
			list = append(list, t)
		}
	}
	return list, nil
}

// CutByShares is the cut by which the earliest train of all times are for training, and the val after them for validation. Equal times are
// in one part, so that the shares are at most as large as asked for.
func CutByShares(times []float64, train, val float64) (TimeCut, error) {
	if !(train > 0 && val > 0 && train+val < 1) {
		return TimeCut{}, fmt.Errorf("shares %v and %v: each must be above 0, together below 1", train, val)
	}
	if len(times) == 0 {
		return TimeCut{}, errors.New("there are no times to divide by")
	}
	all := slices.Clone(times)
	slices.Sort(all)
	at := func(share float64) float64 { return all[min(len(all)-1, int(math.Round(share*float64(len(all)))))] }
	return TimeCut{at(train), at(train + val)}, nil
}

// SplitByTime replaces the splits of kind k of d: what has labels is divided by its time, vertices by theirs and edges by theirs.
func SplitByTime(d *Data, k LabelKind, c TimeCut) error {
	if err := c.fits(d, k); err != nil {
		return err
	}
	if !d.Labelled(k) {
		return fmt.Errorf("%sno labels of %s to split", namedFirst(d), k.Plural())
	}
	of := d.Vertices.Time
	if k == EdgeLabels {
		of = LabelledEdges(d).Time
	}
	to := d.parts(k)
	labels, _ := d.labelsOf(k)
	for i := range to {
		*to[i] = nil
	}
	for v, t := range of {
		if labels == nil || labels[v] >= 0 {
			i := c.part(t)
			*to[i] = append(*to[i], uint32(v))
		}
	}
	forgetSplit(d, k)
	return nil
}

// fits is an error if what has labels of kind k, or links, have no times, or a part of them is empty.
func (c TimeCut) fits(d *Data, k LabelKind) error {
	times, err := TimesOf(d, k)
	if err != nil {
		return err
	}
	name := namedFirst(d)
	if !(c.Val <= c.Test) {
		return fmt.Errorf("%svalidation from %s on and testing from %s on: the first is not later than the second", name, TimeText(c.Val), TimeText(c.Test))
	}
	var n [3]int
	for _, t := range times {
		n[c.part(t)]++
	}
	for i, part := range []string{"training", "validation", "testing"} {
		if n[i] == 0 {
			return fmt.Errorf("%stimes are from %s to %s, and with validation from %s and testing from %s on there is nothing for %s", name,
				TimeText(slices.Min(times)), TimeText(slices.Max(times)), TimeText(c.Val), TimeText(c.Test), part)
		}
	}
	return nil
}

// SplitLinksByTime divides the edges of d by their times for link prediction over a graph that is seen whole: the edges of training pass
// messages, and no later ones. As with SplitLinks an edge and its reverse are one pair; its time is the earliest of its edges. Of several types
// of vertices the edges of the relation of d are divided, and edges of other relations that have times pass messages if they are before c.Val.
func SplitLinksByTime(d *Data, c TimeCut, seed uint64) (*Data, error) {
	if d.Vertices.Kinds != nil {
		return relationByTime(d, c, seed)
	}
	if err := c.fits(d, LinkLabels); err != nil {
		return nil, err
	}
	e := d.Edges
	x := indexEdges(e.V, e.Src, e.Dst)
	first := x.earliest(e.Src, e.Dst, e.Time)
	s, r := &LinkSplit{}, rand.New(rand.NewPCG(seed, turnStream))
	for _, k := range x.pairs(e) {
		u, v := e.Src[k], e.Dst[k]
		t := first[x.find(u, v)]
		if back := x.find(v, u); back >= 0 {
			t = min(t, first[back])
			if r.Uint64()&1 == 1 {
				u, v = v, u
			}
		}
		[]*Pairs{&s.Train, &s.Val, &s.Test}[c.part(t)].add(u, v)
	}
	return UseLinks(d, s, seed)
}

// earliest is the least time of each edge of x, of edges with times.
func (x *edgeIndex) earliest(src, dst []uint32, times []float64) []float64 {
	first := make([]float64, len(x.to))
	for i := range first {
		first[i] = math.Inf(1)
	}
	for k, t := range times {
		at := x.find(src[k], dst[k])
		first[at] = min(first[at], t)
	}
	return first
}

// LinksOfPast makes the edges of d links to predict, each at its own time, for training that shows a pair only the edges before its time
// (saga.Sampling.Times): all edges pass messages, to later pairs. An edge that stands several times with different times is a pair each time; with
// equal times, or where its reverse has the same time, it is one pair, of the two directions one chosen at random. Self loops only pass
// messages. Of a graph of several types these are the edges of the relation of d (Hetero.Along); a relation that has their reverses needs times, too. Pairs without an edge have the times of the pairs that they are drawn for (see NotYet).
func LinksOfPast(d *Data, c TimeCut, seed uint64) (*Data, error) {
	if d.Vertices.Kinds != nil {
		return pastOfRelation(d, c, seed)
	}
	if err := c.fits(d, LinkLabels); err != nil {
		return nil, err
	}
	e := d.Edges
	l := &Links{past: newNotYet(e, c.Val)}
	type event struct {
		u, v uint32
		t    float64
	}
	seen, both := map[event]bool{}, map[event]bool{}
	order := slices.DeleteFunc(byTime(e), func(k uint32) bool {
		x := event{e.Src[k], e.Dst[k], e.Time[k]}
		back := event{x.v, x.u, x.t}
		if x.u == x.v || seen[x] {
			return true
		}
		if seen[back] {
			both[back] = true
			return true
		}
		seen[x] = true
		return false
	})
	r := rand.New(rand.NewPCG(seed, turnStream))
	for _, k := range order {
		x := event{e.Src[k], e.Dst[k], e.Time[k]}
		u, v := x.u, x.v
		if both[x] && r.Uint64()&1 == 1 {
			u, v = v, u
		}
		to := []*Pairs{&l.Train, &l.Val, &l.Test}[c.part(x.t)]
		to.add(u, v)
		to.Time = append(to.Time, x.t)
	}
	draw := rand.New(rand.NewPCG(seed, linkStream))
	for i, has := range []*Pairs{&l.Val, &l.Test} {
		to := []*Pairs{&l.NotVal, &l.NotTest}[i]
		for k := range has.Src {
			to.add(l.past.Draw(has, k, func(int) uint64 { return draw.Uint64() }))
		}
		to.Time = slices.Clone(has.Time)
	}
	out := *d
	out.EdgeLabels, out.EdgeSplit, out.Targets.Edge, out.Targets.EdgeSets = nil, Split{}, Numbers{}, Numbers{}
	out.Targets.Links, out.Targets.Given = l, nil
	return &out, nil
}
