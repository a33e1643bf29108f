package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sagann/chunk"
	"sagann/internal/testdata"
)

// TestConvert writes every door's graph as a store, in pieces, and reads it back.
func TestConvert(t *testing.T) {
	dir := t.TempDir()
	from := map[string]Conversion{}
	for _, name := range append([]string{"graphs.pt"}, doors...) {
		from[name] = Conversion{From: filepath.Join(made, name)}
	}
	from["tables"] = Conversion{Tables: &Tables{Edges: filepath.Join(made, "names_edges.csv"), Vertices: filepath.Join(made, "names_vertices.tsv"), Features: []string{"f*"}}}
	for name, c := range from {
		for _, simple := range []bool{false, true} {
			var want *Data
			var err error
			if c.Simple = simple; c.Tables != nil {
				want, err = LoadTables(*c.Tables, c.Options)
			} else {
				want, err = Load(c.From, c.Options)
			}
			if err != nil {
				t.Fatal(err)
			}
			told := 0
			c.Out, c.Base = filepath.Join(dir, name+".saga"), 2
			c.Progress = func(_ string, done, of int) {
				if told++; done > of || done < 1 {
					t.Errorf("%s: %d of %d", name, done, of)
				}
			}
			d, edges, err := Convert(c)
			if err != nil {
				t.Error(err)
				continue
			}
			got, err := Load(c.Out, Options{})
			if err != nil || edges != got.Edges.E() || told < 2 || !cmp.Equal(got.Report, Report{Form: want.Report.Form, Changes: d.Report.Changes}) {
				t.Errorf("%s: %d edges, told %d times, %+v, %v", name, edges, told, got.Report, err)
			}
			got.Report, want.Report = Report{}, Report{}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, simple %v: %s", name, simple, diff)
			}
			os.Remove(c.Out)
		}
	}
}

// TestConvertNumbers keeps the ids of a table in a store and in a folder, and splits.
func TestConvertNumbers(t *testing.T) {
	dir := writeFiles(t, map[string]string{"e.csv": "900,7\n7,900\n31,7\n", "v.csv": "id,class\n7,dog\n900,cat\n31,\n5,cat\n6,cat\n8,dog\n9,dog\n"})
	c := Conversion{Tables: &Tables{Edges: filepath.Join(dir, "e.csv"), Vertices: filepath.Join(dir, "v.csv")}, Out: filepath.Join(dir, "g.saga"), Seed: 3}
	d, _, err := Convert(c)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(d.Report.Changes, "\n")
	for _, want := range []string{"cat, dog are 0 to 1", "of 6 labelled vertices 60 %", "by seed 3"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q lacks %q", all, want)
		}
	}
	got, err := Load(c.Out, Options{})
	if err != nil || !slices.Equal(got.Vertices.IDs, []uint64{7, 900, 31, 5, 6, 8, 9}) || got.ID(1) != "900" || !slices.Equal(got.Edges.Src, []uint32{1, 0, 2}) {
		t.Fatalf("%+v, %v", got, err)
	}
	if !slices.Equal(got.Labels, []int32{1, 0, -1, 0, 0, 1, 1}) || len(got.Train) != 3 || len(got.Val) != 1 || len(got.Test) != 2 {
		t.Errorf("%v: %v %v %v", got.Labels, got.Train, got.Val, got.Test)
	}
	for _, names := range [][]string{nil, {"a", "b,c", `"d"`, "é", "5", "six\nseven", "8"}} {
		if names != nil {
			got.Vertices.IDs, got.Vertices.Names = nil, names
		}
		folder := filepath.Join(t.TempDir(), "f")
		if err := WriteNpyFolder(folder, got); err != nil {
			t.Fatal(err)
		}
		got.Report = Report{}
		if diff := cmp.Diff(got, mustLoad(t, folder, Options{})); diff != "" {
			t.Error(diff)
		}
	}
}

// TestConvertEdgeList reads edge lists in pieces as they are read at once.
func TestConvertEdgeList(t *testing.T) {
	for text, relabels := range map[string][]Relabel{
		"0 1\n1 2\n2 0\n":                        {RelabelAuto, RelabelNever, RelabelAlways},
		"5 900\n7 5\n5 5\n":                      {RelabelAuto, RelabelNever, RelabelAlways},
		"# c\n7000000000 3 1\n3 268435456 0.5\n": {RelabelAuto, RelabelAlways},
		"18446744073709551615,4\n":               {RelabelAuto},
	} {
		for _, r := range relabels {
			path := filepath.Join(writeFiles(t, map[string]string{"g.txt.gz": gz(text)}), "g.txt.gz")
			want, err := Load(path, Options{Relabel: r})
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "g.saga")
			if _, _, err := Convert(Conversion{From: path, Out: out, Options: Options{Relabel: r}}); err != nil {
				t.Fatal(err)
			}
			got, err := Load(out, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q, %d: %s", text, r, diff)
			}
		}
	}
	for text, word := range map[string]string{"1 2\n3 x\n": "g.txt:2:", "": "no edges", "0 4000000000\n": "largest vertex id 4000000000"} {
		dir := writeFiles(t, map[string]string{"g.txt": text})
		_, _, err := Convert(Conversion{From: filepath.Join(dir, "g.txt"), Out: filepath.Join(dir, "g.saga"), Options: Options{Relabel: RelabelNever}})
		refused(t, text, err, word, "g.txt")
	}
}

// TestNothingIsLeftOfABadConversion stops in the middle of the edges and of the
// features.
func TestNothingIsLeftOfABadConversion(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "g")
	if err := WriteNpyFolder(dir, Karate()); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "g.saga")
	nan := float32(0)
	nan /= nan
	writeArray(t, filepath.Join(dir, "features.npy"), []int{34, 2}, append(make([]float32, 65), nan, 0, 0))
	_, _, err := Convert(Conversion{From: dir, Out: out})
	refused(t, "a NaN", err, "features.npy: byte 388: row 32, column 1 is NaN")
	writeArray(t, filepath.Join(dir, "edges.npy"), []int{2, 2}, []int32{0, 1, 2, 34})
	_, _, err = Convert(Conversion{From: dir, Out: out})
	refused(t, "an edge", err, "edges.npy: byte 140: vertex 34: ids must be below 34, the rows of", "features.npy")
	if list, _ := os.ReadDir(filepath.Dir(out)); len(list) != 0 {
		t.Errorf("%v is left", list)
	}
}

// TestOldStore opens a store that was written before there were notes.
func TestOldStore(t *testing.T) {
	path := testdata.Unpacked(t, "testdata/karate_version1.saga")
	want := Karate()
	want.Schema.Older = true
	if diff := cmp.Diff(want, mustLoad(t, path, Options{})); diff != "" {
		t.Error(diff)
	}
}

// TestStoresOfBefore: a store of data without ids and report has the blocks that it had
// before there were any.
func TestStoresOfBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.saga")
	if err := WriteStore(path, Karate(), 1); err != nil {
		t.Fatal(err)
	}
	s, err := chunk.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, b := range s.Blocks() {
		if b.Kind == chunk.KindVertexNames || b.Kind == chunk.KindNotes {
			t.Errorf("%v", b)
		}
	}
	if r, err := Notes(s); err != nil || !cmp.Equal(r, Report{}) {
		t.Errorf("%+v, %v", r, err)
	}
}
