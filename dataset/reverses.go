package dataset

import (
	"fmt"
	"slices"

	"sagann/internal/words"
)

// reversals say which of n relations have the reverses of another's edges. What one of them tells, all of them tell that they lead to.
type reversals [][]int

func (x reversals) add(a, b int) {
	x[a], x[b] = append(x[a], b), append(x[b], a)
}

// alike is a relation that tells the same edges as another one: as they are or, if back, turned round.
type alike struct {
	relation int
	back     bool
}

// of lists the relations that lead from r, also over others, nearest first, without r.
func (x reversals) of(r int) (list []alike) {
	list = []alike{{r, false}}
	for k := 0; k < len(list); k++ {
		for _, next := range x[list[k].relation] {
			if !slices.ContainsFunc(list, func(a alike) bool { return a.relation == next }) {
				list = append(list, alike{next, !list[k].back})
			}
		}
	}
	return list[1:]
}

// reverseNames tells whether a relation has the name of the reverse of another one: rev_NAME of NAME.
func reverseNames(a, b string) bool { return a == "rev_"+b || b == "rev_"+a }

// reversePair reads NAME=REVERSE; is finds the number of a relation by its name. Names may have equals signs themselves.
func reversePair(text string, is func(string) (int, error)) (pair [2]int, err error) {
	err = fmt.Errorf("want two relations, NAME=REVERSE")
	for at := range text {
		if text[at] != '=' {
			continue
		}
		for i, name := range []string{text[:at], text[at+1:]} {
			if pair[i], err = is(name); err != nil {
				break
			}
		}
		if err == nil && pair[0] == pair[1] {
			return pair, fmt.Errorf("%.80q are the same relation: an edge and its reverse in one relation are one pair anyway", text)
		}
		if err == nil {
			return pair, nil
		}
	}
	return pair, err
}

// Reverse says that two relations have the reverses of each other's edges: NAME=REVERSE, names as of Relation. Of links what is held out in
// one is held out in the other. Of relations NAME and rev_NAME that is known.
func (h *Hetero) Reverse(text string) error {
	pair, err := reversePair(text, h.Relation)
	if err != nil {
		return err
	}
	a, b := h.Relations[pair[0]], h.Relations[pair[1]]
	if a.Source != b.Target || a.Target != b.Source {
		return fmt.Errorf("%s does not lead back between the types of %s", h.FullName(pair[1]), h.FullName(pair[0]))
	}
	h.Reverses = append(slices.Clip(h.Reverses), pair)
	return nil
}

// reversals are those of h for links of relation r: by names, those that h is told, and those whose edges are all turned round, which are
// found.
func (h *Hetero) reversals(r int) (x reversals, found [][2]int) {
	x = make(reversals, len(h.Relations))
	known := func(a, b int) bool {
		return slices.ContainsFunc(h.Reverses, func(p [2]int) bool { return p == [2]int{a, b} || p == [2]int{b, a} })
	}
	for i, a := range h.Relations {
		for k, b := range h.Relations[:i] {
			if a.Source == b.Target && a.Target == b.Source && (reverseNames(a.Name, b.Name) || known(i, k)) {
				x.add(i, k)
			}
		}
	}
	led := func(i int) bool {
		return i == r || slices.ContainsFunc(x.of(r), func(a alike) bool { return a.relation == i })
	}
	a := &h.Relations[r]
	for i := range h.Relations {
		if b := &h.Relations[i]; !led(i) && a.Source == b.Target && a.Target == b.Source && turned(a, b) {
			x.add(r, i)
			found = append(found, [2]int{r, i})
		}
	}
	return x, found
}

// turned tells whether the edges of b are those of a turned round, apart from how often each stands there.
func turned(a, b *Relation) bool {
	e, f := a.Links.Edges, b.Links.Edges
	v := max(e.V, f.V)
	x, y := indexEdges(v, e.Src, e.Dst), indexEdges(v, f.Dst, f.Src)
	return e.E() > 0 && slices.Equal(x.start, y.start) && slices.Equal(x.to, y.to)
}

// withheld takes from the other relations of h what tells the pairs of l that are held out of relation r: of its edges those of
// before are all, those of after pass messages. Pairs number targets from at on.
func (h *Hetero) withheld(r int, at uint32, before, after *edgeIndex, l *Links, report *Report) {
	x, found := h.reversals(r)
	l.Reverses = slices.Concat(h.Reverses, found)
	held := indexEdges(len(before.start)-1, slices.Concat(l.Val.Src, l.Test.Src), slices.Concat(l.Val.Dst, l.Test.Dst))
	for _, pair := range found {
		report.Changes = append(report.Changes, fmt.Sprintf("%s has the edges of %s turned round: it is taken for its reverse", h.FullName(pair[1]), h.FullName(r)))
	}
	like := x.of(r)
	for _, pair := range h.Reverses {
		if pair[0] != r && !slices.ContainsFunc(like, func(a alike) bool { return a.relation == pair[0] }) {
			report.Changes = append(report.Changes, fmt.Sprintf("%s and %s are said to be each other's reverses: nothing of them is held out, as neither has edges of %s, or their reverses", h.FullName(pair[0]), h.FullName(pair[1]), h.FullName(r)))
		}
	}
	for _, a := range like {
		b := &h.Relations[a.relation]
		e := b.Links.Edges
		kept := selected(e, func(n int) bool {
			u, v := e.Src[n], e.Dst[n]
			if a.back {
				u, v = v, u
			}
			v += at
			return after.find(u, v) >= 0 || before.find(u, v) < 0 && held.find(u, v) < 0 && held.find(v, u) < 0
		})
		text := "%d {edge|edges} of %s {passes|pass} no messages, as {the edge that it reverses passes|those that they reverse pass} none"
		if !a.back {
			text = "%d {edge|edges} of %s {passes|pass} no messages, as {its reverse passes|their reverses pass} none"
		}
		report.Changes = append(report.Changes, words.Text(text, e.E()-kept.E(), h.FullName(a.relation)))
		b.Links = &Data{Name: b.Links.Name, Edges: kept, Schema: b.Links.Schema}
	}
	h.warnAlso(r, at, l, like, report)
}

// warnAlso tells of relations, beside those that are known to tell the same, that join pairs that are held out.
func (h *Hetero) warnAlso(r int, at uint32, l *Links, like []alike, report *Report) {
	a := &h.Relations[r]
	for i := range h.Relations {
		b := &h.Relations[i]
		if i == r || slices.ContainsFunc(like, func(x alike) bool { return x.relation == i }) {
			continue
		}
		n := alsoIn(b, a, l, at)
		if n == 0 {
			continue
		}
		how := "where that is the same fact, the model sees what it is to predict"
		if b.Source == a.Target && b.Target == a.Source {
			name, other := a.Name, b.Name
			if _, err := h.Relation(name); err != nil {
				name = h.FullName(r)
			}
			if _, err := h.Relation(other); err != nil {
				other = h.FullName(i)
			}
			how += "; --reverse " + quotedPath(name+"="+other) + " says that these are the reverses of each other's edges, and holds them out in both"
		}
		report.Warnings = append(slices.Clip(report.Warnings), words.Text("%s: %d {pair|pairs} of validation or testing {is joined|are joined} by %s, too, along which messages pass: %s", h.Name, n, h.FullName(i), how))
	}
}

// alsoIn is how many pairs of validation and testing of relation r the edges of x join, in either direction. Pairs number targets from at on.
func alsoIn(x, r *Relation, l *Links, at uint32) (n int) {
	along, back := x.Source == r.Source && x.Target == r.Target, x.Source == r.Target && x.Target == r.Source
	if !along && !back {
		return 0
	}
	held := map[[2]uint32]bool{} // whether the pair was met
	for _, p := range []*Pairs{&l.Val, &l.Test} {
		for k, u := range p.Src {
			held[[2]uint32{u, p.Dst[k]}] = false
		}
	}
	meet := func(u, v uint32) {
		if met, is := held[[2]uint32{u, v + at}]; is && !met {
			held[[2]uint32{u, v + at}] = true
			n++
		}
	}
	for k, u := range x.Links.Edges.Src {
		v := x.Links.Edges.Dst[k]
		if along {
			meet(u, v)
		}
		if back {
			meet(v, u)
		}
	}
	return n
}
