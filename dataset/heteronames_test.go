package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataset/pickle"
)

// TestRelationNames: of which types a relation is, where names have underscores themselves.
func TestRelationNames(t *testing.T) {
	for _, x := range []struct{ name, types, want string }{
		{"a__w__p", "a p", "a|w|p"},
		{"a__w__p", "", "a|w|p"},
		{"a___w___p", "a p", "a|w|p"},
		{"a__w___p", "a p", "a|w_|p"},
		{"a___w__p", "a p", "a|_w|p"},
		{"a__w___p", "a _p", "a|w|_p"},
		{"a__w___p", "a", ""}, // is p or _p the other type?
		{"a__b__w__p", "a__b p", "a__b|w|p"},
		{"a__b__w__p", "a p", "a|b__w|p"},
		{"a__b__w__p", "a a__b p", "error"},
		{"a__w__b__p", "a b__p p", "error"},
		{"p__cites again__p", "p", "p|cites again|p"},
		{"a__w", "a w", ""},
		{"__w__p", "p", ""},
	} {
		ends, err := relationNames(x.name, func(name string) bool { return slices.Contains(strings.Fields(x.types), name) })
		got := strings.Join(ends, "|")
		if err != nil {
			got = "error"
		}
		if got != x.want {
			t.Errorf("%s of types %s: %q, want %q: %v", x.name, x.types, got, x.want, err)
		}
	}
}

// TestColons: relations whose names and ends together are the same text are not taken for each other.
func TestColons(t *testing.T) {
	key := func(names ...any) pickle.Pair { return pickle.Pair{Key: pickle.Tuple(names), Value: &pickle.Dict{}} }
	if list, err := dictStores([]pickle.Pair{key("a:b", "c", "p"), key("a", "b:c", "p"), {Key: "a:b:c:p", Value: &pickle.Dict{}}}); err != nil || len(list) != 3 {
		t.Errorf("%v %v", list, err)
	}
	link := func(from int, name string, to int, src, dst uint32) Relation {
		return Relation{from, name, to, &Data{Edges: &chunk.Edges{V: 3, Src: []uint32{src}, Dst: []uint32{dst}}}}
	}
	graph := func(first, second uint32) *Hetero {
		h := &Hetero{Name: "colons", Types: []VertexType{vertices("a", 3), vertices("a:b", 3), vertices("p", 3)}}
		h.Relations = []Relation{link(0, "b:c", 2, first, 0), link(1, "c", 2, second, 0)}
		if err := ValidateHetero(h); err != nil {
			t.Fatal(err)
		}
		return h
	}
	run, data := graph(0, 1).Record(), graph(1, 2)
	fitted, notes, err := run.FitTypes(data, Sides{"run", "data"})
	if err != nil || notes != nil || fitted.Relations[0].Links.Edges.Src[0] != 1 || fitted.Relations[1].Links.Edges.Src[0] != 2 {
		t.Errorf("%+v %v %v", fitted, notes, err)
	}
	_, err = data.Relation("a:b:c:p")
	refused(t, "a name of two", err, "2 relations")
	if r, err := data.Relation("b:c"); err != nil || r != 0 {
		t.Errorf("%d %v", r, err)
	}
	if err := data.undirect(); err != nil || len(data.Relations) != 4 {
		t.Errorf("%d relations: %v", len(data.Relations), err)
	}
}

// TestEndsByTypes: a heading that names the types of the ends says which column is which.
func TestEndsByTypes(t *testing.T) {
	const tables = "id\n10\n20\n30\n"
	for _, x := range []struct{ what, edges, want string }{
		{"in order", "author,paper\n10,20\n20,30\n", "10>20 20>30"},
		{"the other way round", "paper,author\n20,10\n30,20\n", "10>20 20>30"},
		{"ids", "paper_id,author_id\n20,10\n30,20\n", "10>20 20>30"},
		{"capitals", "PaperID\tAuthorID\n20\t10\n30\t20\n", "10>20 20>30"},
		{"several", "papers,authors\n20,10\n30,20\n", "10>20 20>30"},
		{"one of two", "paper,writer\n20,10\n30,20\n", "10>20 20>30"},
		{"the other of two", "text,author\n20,10\n30,20\n", "10>20 20>30"},
		{"more columns", "year,paper,author\n1999,20,10\n2001,30,20\n", "10>20 20>30"},
		{"source and target go before", "target,source\n20,10\n30,20\n", "10>20 20>30"},
		{"no names of types", "x,y\n10,20\n20,30\n", "10>20 20>30"},
		{"no heading", "10,20\n20,30\n", "10>20 20>30"},
	} {
		for _, both := range []bool{true, false} {
			dir := writeFiles(t, map[string]string{"t.csv": tables, "e.csv": x.edges})
			h := HeteroTables{Relations: []RelationTable{{"author", "writes", "paper", Tables{Edges: filepath.Join(dir, "e.csv")}}}}
			if both {
				table := Tables{Vertices: filepath.Join(dir, "t.csv")}
				h.Types = []TypeTable{{"author", table}, {"paper", table}}
			}
			g, err := LoadHeteroTables(h, Options{})
			if err != nil {
				t.Errorf("%s: %v", x.what, err)
				continue
			}
			var got []string
			e := g.Relations[0].Links.Edges
			for k := range e.Src {
				got = append(got, g.Types[0].Rows.ID(int(e.Src[k]))+">"+g.Types[1].Rows.ID(int(e.Dst[k])))
			}
			if strings.Join(got, " ") != x.want {
				t.Errorf("%s: %q, want %q", x.what, got, x.want)
			}
		}
	}
	dir := writeFiles(t, map[string]string{"e.csv": "year,paper,writer\n1999,20,10\n"})
	_, err := LoadHeteroTables(HeteroTables{Relations: []RelationTable{{"author", "writes", "paper", Tables{Edges: filepath.Join(dir, "e.csv")}}}}, Options{})
	refused(t, "one of three", err, "which columns are the ends", "year, paper, writer")
}

// TestSaidOfTypes: what looks like a mistake in names is said or refused.
func TestSaidOfTypes(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.csv": "id\n1\n2\n", "e.csv": "1,7\n2,8\n"})
	tables := HeteroTables{Types: []TypeTable{{"author", Tables{Vertices: filepath.Join(dir, "a.csv")}}},
		Relations: []RelationTable{{"Author", "writes", "paper", Tables{Edges: filepath.Join(dir, "e.csv")}}}}
	h, err := LoadHeteroTables(tables, Options{})
	if err != nil || len(h.Report.Warnings) != 1 || h.Report.Warnings[0] != `no relation has vertices of type "author"; relations are of Author, paper` {
		t.Errorf("%+v %v", h, err)
	}
	_, err = (&typeArrays{name: "a__w__p", where: "file", list: []string{"edge_attr", "edge_index"}, from: rowsNamed(&grouped{})}).open(nil, Options{}, &bound{})
	refused(t, "edges of a type", err, `file: vertices of type "a__w__p" have edge_index, which is of edges`)

	for _, x := range []struct {
		what     string
		src, dst []uint32 // of rev_in
		said     bool
	}{
		{"the reverse", []uint32{1, 0, 1}, []uint32{0, 2, 3}, false},
		{"in another order", []uint32{0, 1, 1}, []uint32{2, 3, 0}, false},
		{"with other edges", []uint32{0, 1, 1}, []uint32{2, 3, 1}, true},
		{"with fewer", []uint32{0}, []uint32{2}, true},
	} {
		h := &Hetero{Name: "back", Types: []VertexType{vertices("paper", 4), vertices("venue", 2)}}
		h.Relations = []Relation{{0, "in", 1, &Data{Edges: &chunk.Edges{V: 4, Src: []uint32{0, 2, 3}, Dst: []uint32{1, 0, 1}}}},
			{1, "rev_in", 0, &Data{Edges: &chunk.Edges{V: 4, Src: x.src, Dst: x.dst}}}}
		if err := h.undirect(); err != nil || len(h.Relations) != 2 {
			t.Fatal(err)
		}
		if said := len(h.Report.Warnings) == 1 && strings.Contains(h.Report.Warnings[0], "venue:rev_in:paper stays as it is"); said != x.said {
			t.Errorf("%s: %q", x.what, h.Report.Warnings)
		}
	}
}

// TestFitTarget: data that were prepared stay so when they are fitted again, and a run is of one type.
func TestFitTarget(t *testing.T) {
	h := sortedHetero(t)
	for i, cols := range []int{1, 2, 2} {
		d := h.Types[i].Rows
		d.FeatureCols, d.Features = cols, make([]float32, d.Edges.V*cols)
		for k := range d.Features {
			d.Features[k] = 2
		}
	}
	d := h.At(1)
	RowNormalize(d)
	if v, a := h.Types[2].Rows.Features, h.Types[0].Rows.Features; v[0] != .5 || a[0] != 1 || d.Features[0] != .5 {
		t.Errorf("%v %v %v", a, d.Features, v)
	}
	d.Features = slices.Clone(d.Features)
	d.Features[1] = .75
	run := d.Vertices.Kinds.With(d).Record()
	run.Target = "paper"
	by := Sides{"run", "data"}
	fitted, _, err := run.FitTarget(d, by)
	if err != nil || fitted.Features[1] != .75 || fitted.Vertices.Kinds.Graph.Types[1].Rows.Features[1] != .75 {
		t.Errorf("%+v %v", fitted, err)
	}
	DropFeatures(fitted)
	if again, _, err := fitted.Vertices.Kinds.With(fitted).Record().FitTarget(fitted, by); err != nil || again.FeatureCols != 0 {
		t.Errorf("%+v %v", again, err)
	}
	_, _, err = run.FitTarget(h.At(2), by)
	refused(t, "another type", err, `run was trained on vertices of type "paper", and those of data are of type "venue"`)
}

// TestLeftOutOfFolders: whatever stands in a folder of types and is not read is named, and two files with the same features are refused.
func TestLeftOutOfFolders(t *testing.T) {
	mag := map[string]string{"mag/raw/num-node-dict.csv": "a,b\n3,2\n", "mag/raw/triplet-type-list.csv": "a,to,b\n", "mag/raw/relations/a___to___b/edge.csv": "2,1\n", "mag/raw/node-label/b/node-label.csv": "0\n1\n",
		"mag/split/s/b/train.csv": "1\n", "mag/split/s/b/valid.csv": "0\n", "mag/split/s/b/test.csv": "0\n"}
	for file, want := range map[string]string{
		"mag/raw/relations/b___to___a/edge.csv": "raw/relations: nothing reads b___to___a",
		"mag/raw/node-feat/c/node-feat.csv":     "raw/node-feat: nothing reads c",
		"mag/raw/node-label/c/node-label.csv":   "raw/node-label: nothing reads c",
		"mag/split/s/c/train.csv":               "split/s: nothing reads c",
		"mag/split/s/nodetype-has-split.csv":    "",
	} {
		h, err := LoadHetero(filepath.Join(writeFiles(t, with(mag, file, "1\n")), "mag"), Options{})
		if err != nil || len(h.Report.Warnings) != min(len(want), 1) || want != "" && !strings.HasSuffix(h.Report.Warnings[0], want) {
			t.Errorf("%s: %v %v", file, h, err)
		}
	}
	// The ends of edges are read, and features of a are a matrix of SciPy.
	pieces := func(dir string, more ...string) *Hetero {
		t.Helper()
		for _, name := range more {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("1\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		h, err := LoadHetero(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(madeTypes, "folders"))); err != nil {
		t.Fatal(err)
	}
	before := pieces(dir).Report.Warnings
	after := pieces(dir, "paper/labels.csv", "notes.npz", "author__writes__paper/x.npz", "author/more/x.npy").Report.Warnings
	if text := strings.Join(after[len(before):], "; "); len(before) != 0 || !strings.Contains(text, "author__writes__paper/x.npz") || !strings.Contains(text, "nothing reads author/more, notes.npz, paper/labels.csv") {
		t.Errorf("%q, %q", before, after)
	}
}

// TestIDSum: learned rows are of the vertices of types without features; the order of others is none of their business.
func TestIDSum(t *testing.T) {
	graph := func(papers, venues []uint64) *Hetero {
		h := sortedHetero(t)
		h.Types[1].Rows.FeatureCols, h.Types[1].Rows.Features = 1, []float32{1, 2, 3, 4}
		h.Types[1].Rows.Vertices.IDs, h.Types[2].Rows.Vertices.IDs = papers, venues
		return h
	}
	h := graph([]uint64{1, 2, 3, 4}, []uint64{7, 8})
	sum := h.IDSum()
	for _, x := range []struct {
		papers, venues []uint64
		same           bool
	}{{[]uint64{4, 3, 2, 1}, []uint64{7, 8}, true}, {[]uint64{1, 2, 3, 4}, []uint64{8, 7}, false}, {nil, []uint64{7, 8}, true}, {nil, nil, false}} {
		if graph(x.papers, x.venues).HasIDSum(sum) != x.same {
			t.Errorf("%+v", x)
		}
	}
	if all := h.idSum(func(*Data) bool { return true }); !h.HasIDSum(all) || all == sum {
		t.Error("the sum of earlier versions")
	}
}

// TestNumPyNames: types and relations are named by strings of NumPy as by Python's own.
func TestNumPyNames(t *testing.T) {
	x, err := unpickle([]byte("\x80\x02}q\x00(cnumpy._core.multiarray\x0ascalar\x0aq\x01cnumpy\x0adtype\x0aq\x02X\x02\x00\x00\x00U5q\x03\x89\x88\x87q\x04Rq\x05(K\x03X\x01\x00\x00\x00<q\x06NNNK\x14K\x04K\x08tq\x07bc_codecs\x0aencode\x0aq\x08X\x14\x00\x00\x00p\x00\x00\x00a\x00\x00\x00p\x00\x00\x00e\x00\x00\x00r\x00\x00\x00q\x09X\x06\x00\x00\x00latin1q\x0a\x86q\x0bRq\x0c\x86q\x0dRq\x0e}q\x0fh\x01h\x02X\x02\x00\x00\x00U6q\x10\x89\x88\x87q\x11Rq\x12(K\x03h\x06NNNK\x18K\x04K\x08tq\x13bh\x08X\x18\x00\x00\x00a\x00\x00\x00u\x00\x00\x00t\x00\x00\x00h\x00\x00\x00o\x00\x00\x00r\x00\x00\x00q\x14h\x0a\x86q\x15Rq\x16\x86q\x17Rq\x18X\x06\x00\x00\x00writesq\x19h\x01h\x02X\x02\x00\x00\x00U5q\x1a\x89\x88\x87q\x1bRq\x1c(K\x03h\x06NNNK\x14K\x04K\x08tq\x1dbh\x08X\x14\x00\x00\x00p\x00\x00\x00a\x00\x00\x00p\x00\x00\x00e\x00\x00\x00r\x00\x00\x00q\x1eh\x0a\x86q\x1fRq \x86q!Rq\x22\x87q#}q$u."))
	if err != nil {
		t.Fatal(err)
	}
	dict, _ := pickle.AsDict(x)
	list, err := dictStores(dict.Pairs)
	if err != nil || len(list) != 2 || list[0].name != "paper" || !slices.Equal(list[1].ends, []string{"author", "writes", "paper"}) {
		t.Errorf("%+v %v", list, err)
	}
}

// TestNameless: what is said of a part of a graph, which has no name of its own, does not begin with the colon behind a name.
func TestNameless(t *testing.T) {
	d := &Data{Edges: &chunk.Edges{V: 4}, Labels: []int32{1, 1, 500, -1}, Classes: 501}
	d.warnClasses(VertexLabels)
	said := slices.Clone(d.Report.Warnings)
	bare := &Data{Edges: &chunk.Edges{V: 4}}
	for _, err := range []error{
		RandomSplitOf(bare, VertexLabels, .5, .2, 1), RandomSplitOf(d, VertexLabels, .9, .05, 1), ValidateTraining(bare), ValidateTraining(&Data{}),
		TimeCut{}.fits(bare, VertexLabels), TimeCut{}.fits(bare, GraphLabels),
	} {
		if err == nil {
			t.Error("no error")
			continue
		}
		said = append(said, err.Error())
	}
	if len(said) != 8 {
		t.Errorf("%d texts: %q", len(said), said)
	}
	for _, text := range said {
		if strings.HasPrefix(text, ":") || strings.HasPrefix(text, " ") {
			t.Errorf("%q", text)
		}
	}
}
