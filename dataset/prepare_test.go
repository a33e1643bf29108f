package dataset

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	gapEdges = "source,target\n1,2\n2,3\n3,4\n4,1\n"
	// Training rows are 1, 2 and 3. Row 4 has a word that they do not have, and a gap.
	gapVertices = "id,age,country,pay,label,split\n1,20,de,,a,train\n2,40,fr,5,b,train\n3,NA,,7,a,train\n4,30,it,,unknown,test\n"
)

// TestPreparation: fill values, words, means and deviations are those of the training rows; values by hand and NumPy.
func TestPreparation(t *testing.T) {
	dir := writeFiles(t, map[string]string{"e.csv": gapEdges, "v.csv": gapVertices})
	tables := func(p Preparation, features ...string) Tables {
		p.Unlabelled = "unknown"
		return Tables{Edges: filepath.Join(dir, "e.csv"), Vertices: filepath.Join(dir, "v.csv"), Features: features, Prepare: p}
	}
	for what, c := range map[string]struct {
		t     Tables
		names []string
		want  []float32
	}{
		"mean": {tables(Preparation{Missing: "mean"}, "age", "pay"), []string{"age", "age is missing", "pay", "pay is missing"},
			[]float32{20, 0, 6, 1, 40, 0, 5, 0, 30, 1, 7, 0, 30, 0, 6, 1}},
		"zero, order of the flag": {tables(Preparation{Missing: "0"}, "pay", "age"), []string{"pay", "pay is missing", "age", "age is missing"},
			[]float32{0, 1, 20, 0, 5, 0, 40, 0, 7, 0, 0, 1, 0, 1, 30, 0}},
		"words": {tables(Preparation{OneHot: []string{"country"}}), []string{"country=de", "country=fr", "country="},
			[]float32{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}},
		"standardised": {tables(Preparation{Standardize: true, Missing: "mean"}, "age"), []string{"age", "age is missing"},
			[]float32{-1, 0, 1, 0, 0, 1, 0, 0}},
	} {
		d, err := LoadTables(c.t, Options{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if !slices.Equal(d.Features, c.want) || !slices.Equal(d.Schema.Features.Names(), c.names) {
			t.Errorf("%s: %v %v", what, d.Schema.Features.Names(), d.Features)
		}
		if !slices.Equal(d.Labels, []int32{0, 1, 0, -1}) || d.Test != nil {
			t.Errorf("%s: labels %v, tested on %v", what, d.Labels, d.Test)
		}
		out := filepath.Join(t.TempDir(), "g.saga")
		if _, _, err := Convert(Conversion{Tables: &c.t, Out: out}); err != nil {
			t.Fatal(err)
		}
		if s := mustLoad(t, out, Options{}); !slices.Equal(s.Features, c.want) || !slices.Equal(s.Schema.Features.Names(), c.names) {
			t.Errorf("%s: the store has %v %v", what, s.Schema.Features.Names(), s.Features)
		}
		// Other rows, in other columns, are prepared by the record of the store.
		other := writeFiles(t, map[string]string{"e.csv": "9,8\n8,9\n", "v.csv": "country,id,pay,age\nfr,9,,60\nxx,8,2,\n"})
		like := Tables{Edges: filepath.Join(other, "e.csv"), Vertices: filepath.Join(other, "v.csv"), Prepare: Preparation{Like: out}}
		d, err = LoadTables(like, Options{})
		want := map[string][]float32{"mean": {60, 0, 6, 1, 30, 1, 2, 0}, "zero, order of the flag": {0, 1, 60, 0, 2, 0, 0, 1},
			"words": {0, 1, 0, 0, 0, 0}, "standardised": {3, 0, 0, 1}}[what]
		if err != nil || !slices.Equal(d.Features, want) || !slices.Equal(d.Schema.Features.Names(), c.names) {
			t.Errorf("%s: by the record: %v %+v", what, err, d)
		}
		of := map[string]string{"mean": "country", "zero, order of the flag": "country", "words": "pay, age", "standardised": "country, pay"}[what]
		if w := strings.Join(d.Report.Warnings, "\n"); !strings.Contains(w, "nothing reads the columns "+of+" (no feature of ") {
			t.Errorf("%s: %q, want that nothing reads %s", what, w, of)
		}
	}
	_, err := LoadTables(tables(Preparation{Missing: "0"}, "age", "country", "pay"), Options{})
	refused(t, "gaps that are filled", err, "words in country (3): --one-hot country")
	if strings.Contains(err.Error(), "--missing") {
		t.Errorf("%v advises a flag that is given", err)
	}
	_, err = LoadTables(tables(Preparation{}, "age", "country", "pay"), Options{})
	refused(t, "gaps", err, `v.csv:2: column country: "de" is not a number`, "missing in age (1), pay (2): --missing mean or", "words in country (3): --one-hot country")
	some := tables(Preparation{}, "age")
	some.Prepare.Unlabelled = "nothing"
	_, err = LoadTables(some, Options{})
	refused(t, "a word that does not occur", err, `no label is "nothing"`)
}

// TestUnseen: what rows have that no training row had is told, by column and with its number.
func TestUnseen(t *testing.T) {
	files := map[string]string{"e.csv": gapEdges, "v.csv": "id,age,country,pay,split\n1,20,de,1,train\n2,40,fr,5,train\n3,30,it,inf,test\n4,,,1e39,test\n",
		"new.csv": "id,age,country,pay\n1,?,xx,1\n2,1,yy,2\n3,2,de,3\n4,5,,4\n"}
	dir := writeFiles(t, files)
	path := func(name string) string { return filepath.Join(dir, name) }
	tables := Tables{Edges: path("e.csv"), Vertices: path("v.csv"), Features: []string{"age"}, Prepare: Preparation{Missing: "mean", OneHot: []string{"country"}}}
	out := path("g.saga")
	d, _, err := Convert(Conversion{Tables: &tables, Out: out})
	if err != nil {
		t.Fatal(err)
	}
	said := func(d *Data, want ...string) {
		t.Helper()
		text := strings.Join(d.Report.Warnings, "\n")
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%q is not said in %q", w, text)
			}
		}
	}
	said(d, "column age: of 4 rows 1 has no number, which the training rows all had: it is filled", `column country: of 4 rows 2 have words that no training row has, such as "it": their features are 0`)
	d, err = LoadTables(Tables{Edges: path("e.csv"), Vertices: path("new.csv"), Prepare: Preparation{Like: out}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	said(d, "column age: of 4 rows 1 has no number", `column country: of 4 rows 3 have words that no training row has, such as "xx"`)
	for _, p := range []Preparation{{}, {Missing: "mean"}, {Standardize: true}} {
		tables.Features, tables.Prepare = []string{"pay"}, p
		_, _, err = Convert(Conversion{Tables: &tables, Out: path("h.saga")})
		if p.Missing == "" {
			refused(t, "infinite", err, "infinite, or too large, are in pay (2): a feature is finite, so write another number, or an empty field with --missing mean or --missing 0")
			continue
		}
		refused(t, "infinite, filled", err, "are in pay (2): a feature is finite")
		if strings.Contains(err.Error(), "--missing") {
			t.Errorf("%v advises a flag that is given", err)
		}
	}
}

// TestIDColumn: the column of ids is that with a usual name, then the only one whose name ends in id, then name, then the first.
func TestIDColumn(t *testing.T) {
	for heading, want := range map[string]string{
		"customer_id,name,id": "id", "customer_id,name,x": "customer_id", "name,x,customerID": "customerID", "name,x,paid": "name",
		"x,name,z": "name", "x,q,z": "x", "country_id,name,customer_id": "", "orderId,region_id,x": "",
	} {
		dir := writeFiles(t, map[string]string{"e.csv": "source,target\n1,2\n2,3\n", "v.csv": heading + "\n1,1,1\n2,2,2\n3,3,3\n"})
		d, err := LoadTables(Tables{Edges: filepath.Join(dir, "e.csv"), Vertices: filepath.Join(dir, "v.csv")}, Options{})
		if want == "" {
			refused(t, heading, err, "which column has the ids", "--id COL")
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", heading, err)
			continue
		}
		read := strings.Split(heading, ",")
		if w := d.Report.Warnings; len(w) != 1 || !strings.Contains(w[0], strings.Join(slices.DeleteFunc(read, func(c string) bool { return c == want }), ", ")) {
			t.Errorf("%s: %q", heading, w)
		}
	}
}
