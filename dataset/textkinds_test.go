package dataset

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
)

// namedEdge is an edge by ids, as they stand in a file.
type namedEdge struct {
	src, dst, weight string
}

// rows writes edges with a mark between fields.
func rows(edges []namedEdge, mark string) string {
	var b strings.Builder
	for _, e := range edges {
		b.WriteString(e.src + mark + e.dst)
		if e.weight != "" {
			b.WriteString(mark + e.weight)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// byIDs are the edges of d by ids.
func byIDs(d *Data) (out []namedEdge) {
	for k, u := range d.Edges.Src {
		e := namedEdge{src: d.ID(int(u)), dst: d.ID(int(d.Edges.Dst[k]))}
		if d.Edges.Weight != nil {
			e.weight = fmt.Sprint(d.Edges.Weight[k])
		}
		out = append(out, e)
	}
	return out
}

// idsOf are the ids of d in the order of vertices.
func idsOf(d *Data) (ids []string) {
	for v := range d.Edges.V {
		ids = append(ids, d.ID(v))
	}
	return ids
}

// kindsOfIDs are ids of five vertices as files have them, and what they come back as, in the order of vertices.
var kindsOfIDs = map[string]struct {
	ids  [5]string // vertices 0 to 4 of shape
	back [5]string // of the same vertices
	list []string  // all, in the order of vertices
	text bool      // an edge list refuses them
}{
	"from 0":         {ids: [5]string{"0", "1", "2", "3", "4"}, list: []string{"0", "1", "2", "3", "4"}},
	"from 1":         {ids: [5]string{"1", "2", "3", "4", "5"}, list: []string{"1", "2", "3", "4", "5"}},
	"permuted":       {ids: [5]string{"3", "0", "4", "1", "2"}, list: []string{"0", "1", "2", "3", "4"}},
	"gaps":           {ids: [5]string{"0", "2", "3", "5", "9"}, list: []string{"0", "2", "3", "5", "9"}},
	"far apart":      {ids: [5]string{"7000000000", "12", "18446744073709551615", "3", "268435456"}, list: []string{"3", "12", "268435456", "7000000000", "18446744073709551615"}},
	"negative":       {ids: [5]string{"-1", "-12", "0", "5", "30"}, list: []string{"-12", "-1", "0", "5", "30"}},
	"with zeros":     {ids: [5]string{"007", "008", "010", "001", "100"}, list: []string{"001", "007", "008", "010", "100"}},
	"fractions":      {ids: [5]string{"2.0", "1.0", "3.0", "4.0", "10.0"}, back: [5]string{"2", "1", "3", "4", "10"}, list: []string{"1", "2", "3", "4", "10"}},
	"beyond 64 bits": {ids: [5]string{"82378273827382738273827382", "5", "18446744073709551616", "6", "7"}, list: []string{"5", "6", "7", "18446744073709551616", "82378273827382738273827382"}},
	"exponents":      {ids: [5]string{"1.000000000000000000e+00", "0.0e+00", "1e+05", "3.0E+00", "2.000e+01"}, back: [5]string{"1", "0", "100000", "3", "20"}, list: []string{"0", "1", "3", "20", "100000"}},
	"signs":          {ids: [5]string{"+3", "+1", "+2", "+40", "+5"}, list: []string{"+1", "+2", "+3", "+5", "+40"}},
	"no exponents":   {ids: [5]string{"1e5", "0x1", "12e4", "7e9", "a"}, list: []string{"1e5", "0x1", "12e4", "7e9", "a"}, text: true},
	"words":          {ids: [5]string{"ann", "bob", "c-3", "dan", "007"}, list: []string{"ann", "bob", "c-3", "dan", "007"}, text: true},
	"titles":         {ids: [5]string{"a_(planet)", "b", "c", "#d", "é"}, list: []string{"a_(planet)", "b", "c", "#d", "é"}, text: true},
}

// shape is the edges of the graph, by vertices, and their weights.
var shape = []struct {
	u, v   int
	weight string
}{{0, 1, "2"}, {1, 2, "0.5"}, {2, 0, "1"}, {3, 1, "4"}, {2, 1, "3"}, {4, 3, "7"}}

// TestKindsOfIDs reads the graph from every kind of text with every kind of ids, with and without weights and headings.
func TestKindsOfIDs(t *testing.T) {
	for kind, k := range kindsOfIDs {
		if k.back[0] == "" {
			k.back = k.ids
		}
		for _, weighted := range []bool{false, true} {
			var in, want []namedEdge
			for _, e := range shape {
				if !weighted {
					e.weight = ""
				}
				in, want = append(in, namedEdge{k.ids[e.u], k.ids[e.v], e.weight}), append(want, namedEdge{k.back[e.u], k.back[e.v], e.weight})
			}
			check := func(reader string, d *Data, err error, ids []string) {
				t.Helper()
				if err != nil {
					t.Errorf("%s, %s, weights %v: %v", reader, kind, weighted, err)
					return
				}
				if got := byIDs(d); !slices.Equal(got, want) || !slices.Equal(idsOf(d), ids) || len(d.Report.Warnings) > 0 {
					t.Errorf("%s, %s, weights %v:\n%v\n%v\n%+v", reader, kind, weighted, got, idsOf(d), d.Report)
				}
			}
			for name, text := range listsOf(in, weighted) {
				path := filepath.Join(writeFiles(t, map[string]string{name: text}), name)
				d, err := Load(path, Options{})
				if k.text {
					refused(t, name+" "+kind, err, name, "saga data convert --edges")
				} else {
					check("list "+name, d, err, k.list)
				}
				headed := !strings.Contains(name, "plain")
				d, err = LoadTables(Tables{Edges: path, Heading: map[bool]string{true: "yes", false: "no"}[headed], Weight: map[bool]string{true: "3"}[weighted && !strings.Contains(name, "nx")]}, Options{})
				check("table "+name, d, err, k.list)
				if !k.text {
					d, err = LoadTables(Tables{Edges: path, Weight: map[bool]string{true: "3"}[weighted && !strings.Contains(name, "nx")]}, Options{})
					check("table "+name, d, err, k.list)
				}
				vertices := "name,f\n"
				for i := 4; i >= 0; i-- {
					vertices += k.ids[i] + ",1\n"
				}
				path2 := filepath.Join(writeFiles(t, map[string]string{"v.csv": vertices}), "v.csv")
				d, err = LoadTables(Tables{Edges: path, Vertices: path2, Heading: map[bool]string{false: "no"}[headed], ID: "1", Features: []string{"2"},
					Weight: map[bool]string{true: "3"}[weighted && !strings.Contains(name, "nx")]}, Options{})
				if headed {
					back := slices.Clone(k.back[:])
					slices.Reverse(back)
					check("tables "+name, d, err, back)
				} else if err == nil {
					t.Errorf("tables %s, %s: a heading was read as a vertex", name, kind)
				}
			}
		}
	}
}

// listsOf are texts with the edges.
func listsOf(in []namedEdge, weighted bool) map[string]string {
	texts := map[string]string{
		"plain.txt": rows(in, " "), "plain.tsv": rows(in, "\t"), "plain.csv": "# c\n% d\n" + rows(in, ","), "plain.edges": strings.ReplaceAll(rows(in, "  "), "\n", "\r\n"),
		"plain.txt.gz": gz(rows(in, "\t")), "headed.csv": "src,dst\n" + rows(in, ","), "headed.tsv": "\ufefffrom\tto\n" + rows(in, "\t"),
	}
	var nx strings.Builder
	for _, e := range in {
		data := "{}"
		if e.weight != "" {
			data = "{'weight': " + e.weight + "}"
		}
		nx.WriteString(e.src + " " + e.dst + " " + data + "\n")
	}
	texts["plain_nx.edgelist"] = nx.String()
	if weighted {
		texts["headed.csv"] = "source,target,w\n" + rows(in, ",")
		texts["headed.tsv"] = "FROM\tTO\tWeight\n" + rows(in, "\t")
	}
	return texts
}

// TestRenamedIDs: new names of vertices change nothing but names, in every reader; 500 random graphs.
func TestRenamedIDs(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	dir := t.TempDir()
	for round := range 500 {
		n := 3 + r.IntN(12)
		ids := map[uint64]bool{}
		for len(ids) < n {
			ids[[]uint64{uint64(r.IntN(n + 3)), uint64(r.IntN(1000)), r.Uint64() >> r.IntN(60)}[r.IntN(3)]] = true
		}
		var a []string
		for id := range ids {
			a = append(a, fmt.Sprint(id))
		}
		slices.Sort(a)
		r.Shuffle(n, func(i, j int) { a[i], a[j] = a[j], a[i] })
		names := make([]string, n)
		for v := range names {
			names[v] = fmt.Sprintf("v%d", v)
		}
		var first, second []namedEdge
		for range 1 + r.IntN(3*n) {
			u, v := r.IntN(n), r.IntN(n)
			first, second = append(first, namedEdge{src: a[u], dst: a[v]}), append(second, namedEdge{src: names[u], dst: names[v]})
		}
		files := map[string]string{"a.txt": rows(first, " "), "b.csv": "source,target\n" + rows(second, ",")}
		for name, text := range files {
			writeFile(t, filepath.Join(dir, name), text)
		}
		d, err := Load(filepath.Join(dir, "a.txt"), Options{})
		e, no := LoadTables(Tables{Edges: filepath.Join(dir, "b.csv"), Heading: "yes"}, Options{})
		if err != nil || no != nil {
			t.Fatalf("round %d: %v %v", round, err, no)
		}
		if len(d.Report.Warnings) > 0 && strings.Contains(d.Report.Warnings[0], "the first row counts") {
			continue // by chance: it is said, and the text is one of counts
		}
		if !slices.Equal(byIDs(d), first) || !slices.Equal(byIDs(e), second) || d.Edges.V != e.Edges.V {
			t.Fatalf("round %d: %v\n%v\n%v", round, first, byIDs(d), byIDs(e))
		}
		if !slices.IsSortedFunc(idsOf(d), compareWhole) {
			t.Fatalf("round %d: ids %v", round, idsOf(d))
		}
		out := filepath.Join(dir, fmt.Sprint(round, ".saga"))
		if round%10 == 0 {
			if _, _, err := Convert(Conversion{From: filepath.Join(dir, "a.txt"), Out: out}); err != nil {
				t.Fatal(err)
			}
			if s := mustLoad(t, out, Options{}); !slices.Equal(byIDs(s), first) || !slices.Equal(idsOf(s), idsOf(d)) {
				t.Fatalf("round %d: the store has %v of %v", round, byIDs(s), idsOf(s))
			}
		}
	}
}

// TestFirstRowOfCounts: a row of counts is no edge, and names the vertices; what does not match is an edge.
func TestFirstRowOfCounts(t *testing.T) {
	for text, want := range map[string]struct {
		v, e  int
		first string
	}{
		"4 3\n1 2\n2 3\n3 1\n":           {4, 3, "1"},
		"4 3\n0 1\n1 2\n2 0\n":           {4, 3, "0"},
		"3 4\n0 1\n1 2\n2 0\n":           {4, 3, "0"}, // edges first
		"3 9\n1 2\n2 3\n3 1\n":           {9, 3, "1"},
		"4,4,3\n1,2,5\n2,3,1\n3,1,1\n":   {4, 3, "1"},
		"# c\n4 3 \n1 2\n2 3\n3 4\n":     {4, 3, "1"},
		"3 3\n1 2\n2 3\n3 4\n":           {4, 4, "1"}, // an id above V
		"4 3\n0 1\n1 2\n2 4\n":           {5, 4, "0"}, // ids 0 to 4 are five
		"4 2\n1 2\n2 3\n3 1\n":           {4, 4, "1"}, // other numbers of rows
		"4 4\n1 2\n2 3\n3 1\n":           {4, 4, "1"},
		"1 2\n2 3\n":                     {3, 2, "1"},
		"5 4 3\n1 2 1\n2 3 1\n3 1 1\n":   {5, 4, "1"}, // V, W, E of no square matrix: an edge with a weight
		"4 3\n1 2 0.5\n2 3 1\n3 1 1.5\n": {4, 3, "1"},
	} {
		dir := writeFiles(t, map[string]string{"g.txt": text})
		d, err := Load(filepath.Join(dir, "g.txt"), Options{})
		if err != nil || d.Edges.V != want.v || d.Edges.E() != want.e || d.ID(0) != want.first {
			t.Errorf("%q: %+v, %v", text, d, err)
			continue
		}
		said := slices.ContainsFunc(d.Report.Warnings, func(w string) bool { return strings.Contains(w, "the first row counts") })
		if counted := want.e == strings.Count(text, "\n")-1-strings.Count(text, "#"); said != counted {
			t.Errorf("%q: %q", text, d.Report.Warnings)
		}
		tables, err := LoadTables(Tables{Edges: filepath.Join(dir, "g.txt"), Heading: "no"}, Options{})
		if strings.Contains(text, "0.5") || strings.Contains(text, "4,4,3") {
			continue // fewer columns in the first row
		}
		if err != nil || tables.Edges.V != want.v || tables.Edges.E() != want.e || tables.ID(0) != want.first {
			t.Errorf("%q as a table: %+v, %v", text, tables, err)
		}
	}
}

// TestColumnsByNumber: a flag that is a number is a position, and a line of numbers is no heading.
func TestColumnsByNumber(t *testing.T) {
	for _, c := range []struct {
		text, heading, src, dst, weight string
		want                            []namedEdge // nil: refused
	}{
		{"2 1\n3 1\n", "", "1", "2", "", []namedEdge{{"2", "1", ""}, {"3", "1", ""}}},
		{"0,1\n1,2\n", "auto", "2", "1", "", []namedEdge{{"1", "0", ""}, {"2", "1", ""}}},
		{"1,2,3\n2,3,4\n", "", "1", "2", "3", []namedEdge{{"1", "2", "3"}, {"2", "3", "4"}}},
		{"1,2,3\n7,8,9\n", "yes", "1", "2", "", []namedEdge{{"7", "8", ""}}},
		{"a,b,c\n7,8,9\n", "", "3", "a", "2", []namedEdge{{"9", "7", "8"}}},
		{"2,1\n7,8\n", "yes", "1", "2", "", nil}, // named otherwise than placed
		{"0,1\n7,8\n", "", "0", "1", "", nil},
		{"0,1\n7,8\n", "", "1", "3", "", nil},
		{"id,who,whom\n1,2,3\n", "", "", "", "", nil}, // which are the ends?
		{"id,who,whom\n1,2,3\n", "", "who", "whom", "", []namedEdge{{"2", "3", ""}}},
		{"who,whom\n2,3\n", "", "", "", "", []namedEdge{{"2", "3", ""}}},
		{"to,by\n2,3\n", "", "", "", "", []namedEdge{{"3", "2", ""}}},
	} {
		dir := writeFiles(t, map[string]string{"e.csv": c.text})
		d, err := LoadTables(Tables{Edges: filepath.Join(dir, "e.csv"), Heading: c.heading, Source: c.src, Target: c.dst, Weight: c.weight}, Options{})
		if c.want == nil {
			refused(t, c.text, err, "e.csv")
		} else if err != nil || !slices.Equal(byIDs(d), c.want) {
			t.Errorf("%q: %+v, %v", c.text, d, err)
		}
	}
}

// TestNoGraph: texts that are no tables are refused, or what looks wrong is said.
func TestNoGraph(t *testing.T) {
	for text, want := range map[string]string{
		"(2, 1)\n(3, 1)\n": "bracket", "[2, 1]\n[3, 1]\n": "bracket", "{\"a\": 1, \"b\": 2}\n": "", "2 1 {'a': [1, 2]}\n": "no list of names and values",
		"2->1\n3->1\n": "one column", "2 -> 1\n3 -> 1\n": "neither a letter nor a digit", "2 -- 1\n3 -- 1\n": "neither a letter nor a digit", "a\x01,b\nb,c\n": "control character", "(0, 0) (0, 1) {}\n": "bracket", "1 2 {'w': 1}\n2 3 {'v': 1}\n": `the edge has "v"`,
	} {
		dir := writeFiles(t, map[string]string{"e.txt": text})
		_, err := LoadTables(Tables{Edges: filepath.Join(dir, "e.txt"), Heading: "no"}, Options{})
		refused(t, text, err, "e.txt", want)
	}
	for text, both := range map[string]bool{"a b\nb c\n": true, "a b\nc d\n": false, "1 2 3\n3 4 5\n": false, "1 2\n3 4\n": true, "1 1 3\n": true, "-1 2\n": false} {
		dir := writeFiles(t, map[string]string{"e.txt": text})
		d, err := LoadTables(Tables{Edges: filepath.Join(dir, "e.txt"), Heading: "no"}, Options{})
		if err != nil || saysNoLink(d) == both {
			t.Errorf("%q: %+v, %v", text, d, err)
		}
	}
}

func saysNoLink(d *Data) bool {
	return slices.ContainsFunc(d.Report.Warnings, func(w string) bool { return strings.Contains(w, "no id is both a source and a target") })
}

// FuzzNoLink: whatever becomes a graph in which no vertex is both a source and a target says so, unless it is a plain list of two numbers a line.
func FuzzNoLink(f *testing.F) {
	for _, s := range []string{"a b\nc d\n", "1 2\n3 4\n", "x,y\n1,2\n", "1 2 3\n4 5 6\n", "# c\n1;2\n", "2 1\n0 1\n", "-1 2\n", "% bip a\n1 2\n", "1 2 {'weight': 3}\n"} {
		f.Add(s, uint8(0))
		f.Add(s, uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, how uint8) {
		path := filepath.Join(writeFiles(t, map[string]string{"e.txt": text}), "e.txt")
		var d *Data
		var err error
		if how%4 == 0 {
			d, err = Load(path, Options{})
		} else {
			d, err = LoadTables(Tables{Edges: path, Heading: []string{"", "yes", "no"}[how%4-1]}, Options{})
		}
		if err != nil || linked(d.Edges) || saysNoLink(d) {
			return
		}
		if slices.ContainsFunc(d.Report.Changes, func(c string) bool { return strings.Contains(c, "two sets of vertices") }) {
			return
		}
		for _, id := range idsOf(d) {
			if strings.Trim(id, "0123456789") != "" {
				t.Fatalf("%q: no word of ids %q", text, idsOf(d))
			}
		}
		for _, line := range bytes.FieldsFunc([]byte(text), func(r rune) bool { return r == '\n' || r == '\r' }) {
			if n := len(fields(bytes.TrimSpace(line), nil)); n > 2 && line[0] != '#' && line[0] != '%' {
				t.Fatalf("%q: no word of a table of %d columns", text, n)
			}
		}
	})
}

// linked reports whether some vertex is a source and a target.
func linked(e *chunk.Edges) bool {
	source := map[uint32]bool{}
	for _, u := range e.Src {
		source[u] = true
	}
	return slices.ContainsFunc(e.Dst, func(v uint32) bool { return source[v] })
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
