package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"sagann/chunk"
	"sagann/internal/words"
)

// UseLinks is SplitLinks with a split that is given. A pair that stands twice in the split, in the same direction, stays where it is first: in
// training, validation, test. A pair of a vertex and itself is left out. An edge whose reverse is a pair of another part, negative pairs that are edges, and what is drawn are
// told in the report. Pairs for training that no edge joins are drawn as SplitLinks does, also by seed those of evaluation if there are none.
func UseLinks(d *Data, s *LinkSplit, seed uint64) (*Data, error) {
	if err := s.check(d.Edges.V); err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name, err)
	}
	out := *d
	out.Report.Changes, out.Report.Warnings = slices.Clone(d.Report.Changes), slices.Clone(d.Report.Warnings)
	e, l := d.Edges, &Links{}
	settleLinks(&out, s, l)
	hidden := indexEdges(e.V, slices.Concat(l.Val.Src, l.Test.Src), slices.Concat(l.Val.Dst, l.Test.Dst))
	hides := func(u, v uint32) bool { return hidden.find(u, v) >= 0 || hidden.find(v, u) >= 0 }
	if m := &s.Messages; m.Len() > 0 {
		passes := indexEdges(e.V, m.Src, m.Dst)
		predicted := indexEdges(e.V, slices.Concat(l.Train.Src, l.Val.Src, l.Test.Src), slices.Concat(l.Train.Dst, l.Val.Dst, l.Test.Dst))
		out.Edges = selected(e, func(k int) bool {
			u, v := e.Src[k], e.Dst[k]
			return passes.find(u, v) >= 0 || passes.find(v, u) >= 0 && predicted.find(u, v) < 0
		})
		if n := countEdges(out.Edges, hides); n > 0 {
			out.warn("%s: of %d {edge that passes|edges that pass} messages in training %d {is a pair|are pairs} of validation or testing, or {the reverse of one|their reverses}: the model sees what it is to predict", d.Name, out.Edges.E(), n)
		}
	} else {
		out.Edges = selected(e, func(k int) bool { return !hides(e.Src[k], e.Dst[k]) })
	}
	if out.Edges.E() == 0 {
		return nil, fmt.Errorf("%s: no edge of the graph is left to pass messages in training", d.Name)
	}
	if l.Train.Len() == 0 {
		for _, k := range indexEdges(e.V, out.Edges.Src, out.Edges.Dst).pairs(out.Edges) {
			l.Train.add(out.Edges.Src[k], out.Edges.Dst[k])
		}
		out.change("the split has no pairs for training: %d {edge that passes messages is|edges that pass messages are} predicted", l.Train.Len())
	}
	if l.Train.Len() == 0 {
		return nil, fmt.Errorf("%s: the training split of links is empty", d.Name)
	}
	src, dst := slices.Concat(e.Src, l.Train.Src, l.Val.Src, l.Test.Src), slices.Concat(e.Dst, l.Train.Dst, l.Val.Dst, l.Test.Dst)
	edges := indexEdges(e.V, src, dst)
	ends := endsOf(edges)
	free := ends.complement(e.V, src, dst)
	if free.Count() == 0 {
		return nil, fmt.Errorf("%s: every pair of vertices has an edge that could have one: there is none without to tell edges from", d.Name)
	}
	r := rand.New(rand.NewPCG(seed, linkStream))
	for _, x := range []struct {
		name     string
		not, has *Pairs
	}{{"validation", &l.NotVal, &l.Val}, {"test", &l.NotTest, &l.Test}} {
		if x.not.Len() == 0 && x.has.Len() > 0 {
			*x.not = free.draw(r, x.has.Len())
			out.Report.Changes = append(out.Report.Changes, words.Text("the split has no pairs without an edge for %s: %d {is|are} drawn at random by seed %d", x.name, x.not.Len(), seed))
		}
		n := 0
		for k, u := range x.not.Src {
			if v := x.not.Dst[k]; edges.find(u, v) >= 0 || edges.find(v, u) >= 0 {
				n++
			}
		}
		if n > 0 {
			out.warn("%s: of %d {pair|pairs} without an edge of the %s split %d {is an edge, or the reverse of one|are edges, or their reverses}", d.Name, x.not.Len(), x.name, n)
		}
	}
	predictLinks(&out, l, ends)
	return &out, nil
}

// settleLinks gives l the pairs of s, those that have an edge each once, without those of a vertex and itself.
func settleLinks(d *Data, s *LinkSplit, l *Links) {
	type pair struct{ u, v uint32 }
	part, twice, reversed, loops, again := map[pair]int{}, 0, 0, 0, 0
	to := []*Pairs{&l.Train, &l.Val, &l.Test}
	for i, from := range []*Pairs{&s.Train, &s.Val, &s.Test} {
		for k, u := range from.Src {
			p := pair{u, from.Dst[k]}
			if p.u == p.v {
				loops++
				continue
			}
			if part[p] != 0 {
				twice++
				continue
			}
			if other := part[pair{p.v, p.u}]; other != 0 && other != i+1 {
				reversed++
			}
			part[p] = i + 1
			to[i].add(p.u, p.v)
		}
	}
	for _, x := range []struct{ from, to *Pairs }{{&s.NotVal, &l.NotVal}, {&s.NotTest, &l.NotTest}} {
		for k, u := range x.from.Src {
			p := pair{u, x.from.Dst[k]}
			switch {
			case p.u == p.v:
				loops++
				continue
			case part[p] < 0:
				again++
			case part[p] == 0:
				part[p] = -1
			}
			x.to.add(p.u, p.v)
		}
	}
	if loops > 0 {
		d.change("%d {pair|pairs} of the split of links {joins a vertex and itself|join a vertex and itself}: left out, as self loops only pass messages", loops)
	}
	if again > 0 {
		d.change("%d {pair|pairs} without an edge {stands|stand} in the split of links before: {it counts|they count} each time", again)
	}
	if twice > 0 {
		d.change("%d {pair stands|pairs stand} in the split of links more than once: each stays where it is first, in training, validation or testing", twice)
	}
	if reversed > 0 {
		d.warn("%s: %d {pair of validation or testing is, in the other direction, a pair|pairs of validation or testing are, in the other direction, pairs} of an earlier part of the split: a head that does not tell directions apart has seen them", d.Name, reversed)
	}
}

// countEdges is how many edges of e have ends for which has is true.
func countEdges(e *chunk.Edges, has func(u, v uint32) bool) (n int) {
	for k, u := range e.Src {
		if has(u, e.Dst[k]) {
			n++
		}
	}
	return n
}
