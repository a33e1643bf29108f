package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sagann/internal/draw"
)

// TestHeteroAdded cuts graphs of persons, who know each other, and places, which they visit, into what a run knows and what is added. What
// comes together again is what the tables of all vertices and edges give, and so are the reverses of added edges.
func TestHeteroAdded(t *testing.T) {
	dir := t.TempDir()
	draw.Check(t, func(t *rapid.T) {
		file := func(name, heading string, rows []string) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(heading+"\n"+strings.Join(rows, "\n")+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			return path
		}
		o := Options{Undirected: rapid.Bool().Draw(t, "undirected"), Simple: rapid.Bool().Draw(t, "simple")}
		stored, guests := rapid.Bool().Draw(t, "stored with reverses"), rapid.Bool().Draw(t, "guests")
		n, old := [2]int{rapid.IntRange(3, 7).Draw(t, "persons"), rapid.IntRange(2, 5).Draw(t, "places")}, [2]int{2, 1}
		id := []func(v int) string{func(v int) string { return fmt.Sprint("p", v) }, func(v int) string { return fmt.Sprint(10 * v) }}
		var rows [2][]string
		for k := range n {
			for v := range n[k] {
				rows[k] = append(rows[k], fmt.Sprintf("%s,%d", id[k](v), rapid.IntRange(-3, 3).Draw(t, "x")))
			}
		}
		ends := [2][2]int{{0, 0}, {0, 1}}
		var before, added [2][]string // edges
		for r, names := range ends {
			for range rapid.IntRange(0, 12).Draw(t, "edges") {
				u, v := rapid.IntRange(0, n[names[0]]-1).Draw(t, "u"), rapid.IntRange(0, n[names[1]]-1).Draw(t, "v")
				row := fmt.Sprintf("%s,%s,%d,%d", id[names[0]](u), id[names[1]](v), rapid.IntRange(1, 5).Draw(t, "weight"), rapid.IntRange(0, 4).Draw(t, "time"))
				if u < old[names[0]] && v < old[names[1]] && rapid.Bool().Draw(t, "old") {
					before[r] = append(before[r], row)
				} else {
					added[r] = append(added[r], row)
				}
			}
			before[r] = append(before[r], fmt.Sprintf("%s,%s,1,2", id[names[0]](0), id[names[1]](0)), fmt.Sprintf("%s,%s,2,1", id[names[0]](1), id[names[1]](0)))
		}
		const heading = "source,target,weight,time"
		tables := func(rows, edges [2][]string, of string) HeteroTables {
			x := HeteroTables{}
			for k, name := range []string{"person", "place"} {
				x.Types = append(x.Types, TypeTable{name, Tables{Vertices: file(of+name+".csv", "id,x", rows[k]), Features: []string{"x"}}})
			}
			x.Relations = []RelationTable{{"person", "knows", "person", Tables{Edges: file(of+"knows.csv", heading, edges[0])}}, {"person", "visits", "place", Tables{Edges: file(of+"visits.csv", heading, edges[1])}}}
			if guests { // of which undirect makes rev_guests, which has the edges of visits again
				x.Relations = append(x.Relations, RelationTable{"place", "guests", "person", Tables{Edges: file(of+"guests.csv", "target,source,weight,time", edges[1])}})
			}
			return x
		}
		load := func(x HeteroTables, o Options) *Hetero {
			h, err := LoadHeteroTables(x, o)
			if err != nil {
				t.Fatal(err)
			}
			return h
		}
		whole := tables(rows, [2][]string{slices.Concat(before[0], added[0]), slices.Concat(before[1], added[1])}, "whole-")
		part := tables([2][]string{rows[0][:old[0]], rows[1][:old[1]]}, before, "old-")
		if stored {
			o = Options{}
		}
		want, h := load(whole, Options{Undirected: o.Undirected || stored, Simple: o.Simple}), load(part, Options{Undirected: stored})
		if look := LookAtEdges(h.Relations[0].Links.Edges); !stored && !o.Undirected && look.Looked == look.Reversed {
			return // added edges get their reverses, as those of the graph have theirs
		}
		list := []AddedTable{{"person", file("np.csv", "id,x", rows[0][old[0]:])}, {"place", file("nq.csv", "id,x", rows[1][old[1]:])}}
		for r, name := range []string{"knows", "person:visits:place"} {
			if len(added[r]) > 0 {
				list = append(list, AddedTable{name, file(fmt.Sprint("ne", r, ".csv"), heading, added[r])})
			}
		}
		a, err := h.ReadAdded(list)
		if err != nil {
			t.Fatal(err)
		}
		edges := h.E()
		got, err := a.To(h, o)
		if err != nil {
			t.Fatal(err)
		}
		if h.E() != edges || h.V() != old[0]+old[1] {
			t.Fatalf("the graph has %d edges of %d vertices now", h.E(), h.V())
		}
		for k := range want.Types {
			x, y := got.Types[k].Rows, want.Types[k].Rows
			if !reflect.DeepEqual(x.Features, y.Features) || x.ID(x.Edges.V-1) != y.ID(y.Edges.V-1) || x.Edges.V != y.Edges.V {
				t.Fatalf("%s: %v, want %v", got.Types[k].Name, x, y)
			}
		}
		for r := range want.Relations {
			x, y := got.Relations[r].Links.Edges, want.Relations[r].Links.Edges
			if got.FullName(r) != want.FullName(r) || !reflect.DeepEqual(x, y) {
				t.Fatalf("%s: %+v, want %+v", got.FullName(r), x, y)
			}
		}
	})
}

// TestHeteroAddedBad: what is wrong with tables that are added to a graph of several types is said.
func TestHeteroAddedBad(t *testing.T) {
	h, dir, files := madeHetero(t), t.TempDir(), 0
	file := func(text string) string {
		files++
		path := filepath.Join(dir, fmt.Sprint(files, ".csv"))
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for text, want := range map[string]string{"nobody=x.csv": "there are types author, field, paper, venue and relations", "paper": "want TYPE=FILE", "paper=": "want TYPE=FILE"} {
		if _, err := h.ParseAdded(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if x, err := h.ParseAdded("author:writes:paper=a=b.csv"); err != nil || x != (AddedTable{"author:writes:paper", "a=b.csv"}) {
		t.Errorf("%v, %v", x, err)
	}
	venues := "id\n3\n"
	DropFeatures(h.Types[3].Rows)
	for _, x := range []struct {
		list []AddedTable
		want string
	}{
		{[]AddedTable{{"venue", file(venues)}, {"venue", file(venues)}}, "two tables of vertices"},
		{[]AddedTable{{"venue", file("id\n2\n")}}, `vertex "2" is in the graph already`},
		{[]AddedTable{{"author", file("id,a\n99,1\n")}}, "the vertices of author have 2 features"},
		{[]AddedTable{{"author", file("id,a,b\n99,x,1\n")}}, "author has as numbers"},
		{[]AddedTable{{"in", file("source,target\n1,77\n")}}, `"77" is neither a vertex of the graph nor one of those that are added`},
	} {
		if _, err := h.ReadAdded(x.list); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v, want %s", x.list, err, x.want)
		}
	}
}
