package dataset

import (
	"strings"
	"testing"
)

// TestRelationByTime: links of a relation are divided by the times of its edges; what is held out, and what is later, passes no messages in any relation.
func TestRelationByTime(t *testing.T) {
	h := shop(map[string]func(int) bool{"<rev_buys": func(int) bool { return true }, "views": func(k int) bool { return k%2 == 0 }})
	time := map[[2]uint32]float64{} // of a pair, by its first edge
	for r := range h.Relations {
		e := h.Relations[r].Links.Edges
		for k := range e.Src {
			at := float64(k)
			if r == 2 {
				at *= 2
			}
			if e.Time = append(e.Time, at); r == 0 {
				if p := [2]uint32{e.Src[k], e.Dst[k] + 10}; time[p] == 0 {
					time[p] = at + 1
				}
			}
		}
	}
	d := h.Along(0)
	times, err := TimesOf(d, LinkLabels)
	if err != nil || len(times) != 50 {
		t.Fatal(times, err)
	}
	cut, err := CutByShares(times, 0.6, 0.2)
	if err != nil {
		t.Fatal(err)
	}
	out, err := SplitLinksByTime(d, cut, 1)
	if err != nil {
		t.Fatal(err)
	}
	l, n := out.Targets.Links, 0
	for i, p := range []*Pairs{&l.Train, &l.Val, &l.Test} {
		for k, u := range p.Src {
			if at := time[[2]uint32{u, p.Dst[k]}] - 1; cut.part(at) != i {
				t.Errorf("part %d: a pair of time %v", i, at)
			}
			n++
		}
	}
	if n != len(time) {
		t.Errorf("%d pairs of %d", n, len(time))
	}
	for r := range h.Relations {
		if r < 2 && leaks(out, r) > 0 {
			t.Errorf("edges of %s are held out and pass messages", h.FullName(r))
		}
		if e := out.Vertices.Kinds.Graph.Relations[r].Links.Edges; r > 0 && (e.E() == 0 || e.Time[e.E()-1] >= cut.Val) {
			t.Errorf("%s: times %v, later than %v", h.FullName(r), e.Time, cut.Val)
		}
	}
	if text := strings.Join(out.Report.Changes, "; "); !strings.Contains(text, "10 edges of user:views:item pass no messages, as they are from 30 or later") {
		t.Errorf("told %q", text)
	}
	past, err := LinksOfPast(d, cut, 1)
	if err != nil {
		t.Fatal(err)
	}
	l, ends := past.Targets.Links, PairEnds(d)
	for i, p := range []*Pairs{&l.Train, &l.Val, &l.Test, &l.NotVal, &l.NotTest} { // all edges pass messages, to later pairs
		for k, u := range p.Src {
			if v := p.Dst[k]; u >= ends[0].End || v < ends[1].First || v >= ends[1].End || i < 3 && cut.part(p.Time[k]) != i {
				t.Errorf("list %d: pair %d to %d at %v", i, u, v, p.Time[k])
			}
		}
	}
	if n := l.Train.Len() + l.Val.Len() + l.Test.Len(); n == 0 || past.Vertices.Kinds.Graph.E() != d.Vertices.Kinds.Graph.E() {
		t.Errorf("%d pairs; %d edges of %d", n, past.Vertices.Kinds.Graph.E(), d.Vertices.Kinds.Graph.E())
	}
	d = shop(nil).Along(0)
	if _, err := SplitLinksByTime(d, cut, 1); err == nil || !strings.Contains(err.Error(), "edges of user:buys:item have no times") {
		t.Error(err)
	}
}
