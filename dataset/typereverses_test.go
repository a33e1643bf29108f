package dataset

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
)

// familyData has edges of the types parent and friend; child has the reverses of parent's, all but those that less leaves out, and
// rev_friend some of friend's.
func familyData(less func(k int) bool) *Data {
	d := &Data{Name: "family", Edges: &chunk.Edges{V: 30, Types: 4}}
	d.Schema.Edges.Relations = []string{"child", "friend", "parent", "rev_friend"}
	r := rand.New(rand.NewPCG(3, 4))
	add := func(u, v, t uint32) {
		d.Edges.Src, d.Edges.Dst, d.Edges.Type = append(d.Edges.Src, u), append(d.Edges.Dst, v), append(d.Edges.Type, t)
	}
	for k := range 80 {
		u, v := r.Uint32N(29), uint32(0)
		v = u + 1 + r.Uint32N(29-u)
		if add(u, v, 2); !less(k) {
			add(v, u, 0)
		}
		if add(v, u, 1); k%2 == 0 {
			add(u, v, 3)
		}
	}
	return d
}

// TestTypeReverses: an edge and the reverse that is of another type are in the same part, both are predicted, and neither passes messages where it is held out; a split
// that is given and has them in two parts is told.
func TestTypeReverses(t *testing.T) {
	some := func(k int) bool { return k%9 == 0 }
	of := [4]uint32{0, 1, 0, 1} // what is the same
	for name, c := range map[string]struct {
		less  func(int) bool
		told  []string
		leaks bool
	}{
		"all edges":  {func(int) bool { return false }, nil, false},
		"some edges": {some, nil, true},
		"said":       {some, []string{"child=parent"}, false},
	} {
		d := familyData(c.less)
		pairs, err := TypeReverses(d, c.told)
		if err != nil {
			t.Fatal(err)
		}
		out, err := SplitTriples(d, LinkShares{Val: 0.2, Test: 0.2}, 1, pairs...)
		if err != nil {
			t.Fatal(err)
		}
		l, held := out.Targets.Links, map[triple]int{}
		for i, p := range []*Pairs{&l.Train, &l.Val, &l.Test} {
			for k := range p.Src {
				x := p.triple(k).fact(of[:])
				if held[x] > 0 && held[x] != i+1 && !(c.leaks && x.typ == 0) {
					t.Errorf("%s: %v is in parts %d and %d", name, p.triple(k), held[x]-1, i)
				}
				held[x] = max(held[x], i+1)
			}
		}
		n := 0
		for k, u := range out.Edges.Src {
			if x := (triple{u, out.Edges.Dst[k], out.Edges.Type[k]}); held[x.fact(of[:])] > 1 {
				n++
			}
		}
		if n > 0 != c.leaks {
			t.Errorf("%s: %d edges that are held out pass messages", name, n)
		}
		if found := strings.Contains(strings.Join(out.Report.Changes, ";"), "parent has the edges of child turned round"); found != (name == "all edges") {
			t.Errorf("%s: told %q", name, out.Report.Changes)
		}
		if !c.leaks && !slices.ContainsFunc(l.Test.Type, func(k uint32) bool { return k == 3 }) {
			t.Errorf("%s: no reverse is predicted", name)
		}
	}
	d, s := familyData(some), &LinkSplit{}
	for k, u := range d.Edges.Src {
		[]*Pairs{&s.Train, &s.Train, &s.Val, &s.Test}[k%4].addTriple(triple{u, d.Edges.Dst[k], d.Edges.Type[k]})
	}
	out, err := UseTriples(d, s, 1)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(out.Report.Warnings, ";"); !strings.Contains(text, "edges of validation or testing are told by earlier parts of the split") {
		t.Errorf("a given split: %q", text)
	}
	for text, want := range map[string]string{"child=uncle": "--reverse child=uncle: family has no edges of relation \"uncle\"; there are child, friend", "child": "want two relations"} {
		if _, err := TypeReverses(d, []string{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
