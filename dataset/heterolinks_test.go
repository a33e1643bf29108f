package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
)

// shop is a graph of users and items, 10 and 12, with the relation user:buys:item. Each other relation has those edges for which keep is true, turned round where it leads
// from items to users.
func shop(keep map[string]func(k int) bool) *Hetero {
	h := &Hetero{Name: "shop"}
	for _, t := range []struct {
		name string
		v    int
	}{{"item", 12}, {"user", 10}} {
		h.Types = append(h.Types, VertexType{Name: t.name, Rows: &Data{Name: t.name, Edges: &chunk.Edges{V: t.v}}})
	}
	r := rand.New(rand.NewPCG(1, 2))
	e := &chunk.Edges{V: 12}
	for range 50 { // some stand twice
		e.Src, e.Dst = append(e.Src, r.Uint32N(10)), append(e.Dst, r.Uint32N(12))
	}
	h.Relations = []Relation{{Source: 1, Name: "buys", Target: 0, Links: &Data{Edges: e}}}
	names := make([]string, 0, len(keep))
	for name := range keep {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		x := &chunk.Edges{V: 12}
		to, back := strings.CutPrefix(name, "<")
		for k, u := range e.Src {
			switch v := e.Dst[k]; {
			case !keep[name](k):
			case back:
				x.Src, x.Dst = append(x.Src, v), append(x.Dst, u)
			default:
				x.Src, x.Dst = append(x.Src, u), append(x.Dst, v)
			}
		}
		rel := Relation{Source: 1, Name: to, Target: 0, Links: &Data{Edges: x}}
		if back {
			rel.Source, rel.Target = 0, 1
		}
		h.Relations = append(h.Relations, rel)
	}
	return h
}

// leaks is how many edges of relation r of a divided graph join pairs that are held out; all such edges would be.
func leaks(d *Data, r int) (n int) {
	k, l := d.Vertices.Kinds, d.Targets.Links
	held := map[string]bool{}
	for _, p := range []*Pairs{&l.Val, &l.Test} {
		for i, u := range p.Src {
			held[fmt.Sprint(u, p.Dst[i]-k.behind())] = true
		}
	}
	x := k.Graph.Relations[r]
	for i, u := range x.Links.Edges.Src {
		v := x.Links.Edges.Dst[i]
		if x.Source != k.Graph.Relations[k.Relation].Source {
			u, v = v, u
		}
		if held[fmt.Sprint(u, v)] {
			n++
		}
	}
	return n
}

// TestReverses: what is held out of a relation is held out of those that have its reverses, by name, as it is said, where all edges are turned
// round, and over several of these; of others it is told, with the flag that would.
func TestReverses(t *testing.T) {
	all := func(int) bool { return true }
	most := func(k int) bool { return k%7 > 0 }
	for _, c := range []struct {
		name   string
		keep   map[string]func(int) bool
		told   string
		held   []string
		leaks  []string
		report string
	}{
		{"by name, some edges", map[string]func(int) bool{"<rev_buys": most}, "", []string{"rev_buys"}, nil, "of item:rev_buys:user pass no messages, as those that they reverse pass none"},
		{"all edges", map[string]func(int) bool{"<bought_by": all}, "", []string{"bought_by"}, nil, "item:bought_by:user has the edges of user:buys:item turned round: it is taken for its reverse"},
		{"some edges", map[string]func(int) bool{"<bought by": most}, "", nil, []string{"bought by"}, "are joined by item:bought by:user, too, along which messages pass: where that is the same fact, the model sees what it is to predict; --reverse 'buys=bought by' says"},
		{"said", map[string]func(int) bool{"<bought_by": most}, "buys=bought_by", []string{"bought_by"}, nil, ""},
		{"said the other way", map[string]func(int) bool{"<a=b": most}, "item:a=b:user=buys", []string{"a=b"}, nil, ""},
		{"reverses of both", map[string]func(int) bool{"<bought_by": all, "rev_bought_by": all, "<rev_buys": all}, "", []string{"bought_by", "rev_bought_by", "rev_buys"}, nil, "of user:rev_bought_by:item pass no messages, as their reverses pass none"},
		{"a copy of a reverse that is said", map[string]func(int) bool{"<bought_by": most, "rev_bought_by": most}, "buys=bought_by", []string{"bought_by", "rev_bought_by"}, nil, ""},
		{"the same way", map[string]func(int) bool{"views": all}, "", nil, []string{"views"}, "are joined by user:views:item, too, along which messages pass: where that is the same fact, the model sees what it is to predict"},
		{"others", map[string]func(int) bool{"<b": most, "views": all}, "b=views", nil, []string{"b", "views"}, "nothing of them is held out"},
	} {
		for k := range 4 {
			given, applied := k%2 == 1, k > 1
			h := shop(c.keep)
			if c.told != "" {
				if err := h.Reverse(c.told); err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
			}
			if e := h.Relations[0].Links; given {
				e.EdgeSplit = Split{}
				for k := range uint32(e.Edges.E()) {
					to := []*[]uint32{&e.EdgeSplit.Train, &e.EdgeSplit.Train, &e.EdgeSplit.Val, &e.EdgeSplit.Test}[k%4]
					*to = append(*to, k)
				}
			}
			split := func(d *Data) (*Data, error) { return SplitRelation(d, LinkShares{Val: 0.2, Test: 0.2}, 1) }
			if given {
				split = func(d *Data) (*Data, error) { return UseRelation(d, d.Targets.Given, 1) }
			}
			out, err := h.Along(0), error(nil)
			if applied { // as a run's data are brought into its form
				out, _, err = h.Record().FitTarget(out, Sides{"run", "data"})
			}
			if err == nil {
				out, err = split(out)
			}
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			for r := range h.Relations {
				name := h.Relations[r].Name
				if n := leaks(out, r); n > 0 != slices.Contains(c.leaks, name) {
					t.Errorf("%s, given %v, applied %v: %d edges of %s are held out of buys", c.name, given, applied, n, name)
				}
				if held := h.Relations[r].Links.Edges.E() > out.Vertices.Kinds.Graph.Relations[r].Links.Edges.E(); held != (r == 0 || slices.Contains(c.held, name)) {
					t.Errorf("%s, given %v, applied %v: edges of %s are left out: %v", c.name, given, applied, name, held)
				}
			}
			if text := strings.Join(slices.Concat(out.Report.Warnings, out.Report.Changes), "; "); !strings.Contains(text, c.report) || len(c.leaks) == 0 && len(out.Report.Warnings) > 0 {
				t.Errorf("%s, given %v, applied %v: told %q", c.name, given, applied, text)
			}
		}
	}
}

// TestReverseErrors: what cannot be the reverse is refused.
func TestReverseErrors(t *testing.T) {
	h := shop(map[string]func(int) bool{"<bought_by": func(int) bool { return true }, "views": func(int) bool { return true }})
	for text, want := range map[string]string{
		"buys":             "want two relations, NAME=REVERSE",
		"buys=buys":        "are the same relation",
		"buys=views":       "user:views:item does not lead back between the types of user:buys:item",
		"buys=sold":        `no relation "sold"; there are user:buys:item, item:bought_by:user, user:views:item`,
		"=":                `no relation ""`,
		"item:b:user=buys": `no relation "item:b:user"`,
	} {
		if err := h.Reverse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
