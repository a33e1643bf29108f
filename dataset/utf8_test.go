package dataset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLatin1: a name in Latin-1 is refused by every reader of texts, with the line, whatever it names; in UTF-8 it comes back.
// Comments may be in any encoding.
func TestLatin1(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	plain := map[string]string{
		"list.csv": "# Zoë's\nZoë,b\nb,c\nc,Zoë\n", "list.tsv": "Zoë\tb\nb\tc\n", "edges.csv": "source,target,weight\nZoë,b,1\nb,c,2\n",
		"v.csv": "id,x,label,split\nZoë,1,red,train\nb,2,blue,train\nc,3,red,val\n", "class.csv": "id,x,label\na,1,rouë\nb,2,blue\n", "column.csv": "id,größe,label\na,1,0\nb,2,1\n",
		"ab.csv": "source,target\na,b\nb,a\n", "typed.csv": "source,target,type\na,b,naïve\nb,a,plain\n", "quoted.csv": "id,label\na,\"two\nlinés\"\nb,x\n",
		"split/train.csv": "id\nZoë\n", "split/val.csv": "id\nb\n", "split/test.csv": "id\nc\n", "m.mtx": "%%MatrixMarket matrix coordinate pattern general\n%Zoë\n3 3 2\n1 2\n2 3\n",
		"ids.txt": "Zoë\nb\n", "pairs.csv": "b,Zoë\n", "labels.csv": "id,label\nb,grün\n",
	}
	if err := os.Mkdir(at("split"), 0o755); err != nil {
		t.Fatal(err)
	}
	var named *Data
	read := map[string]func() error{
		"list.csv": func() error {
			_, err := LoadTables(Tables{Edges: at("list.csv"), Heading: "no", Source: "1", Target: "2"}, Options{})
			return err
		},
		"list.tsv": func() error {
			_, err := LoadTables(Tables{Edges: at("list.tsv"), Heading: "no", Source: "1", Target: "2"}, Options{})
			return err
		},
		"edges.csv": func() error { _, err := LoadTables(Tables{Edges: at("edges.csv")}, Options{}); return err },
		"v.csv": func() error {
			_, err := LoadTables(Tables{Edges: at("edges.csv"), Vertices: at("v.csv")}, Options{})
			return err
		},
		"class.csv": func() error {
			_, err := LoadTables(Tables{Edges: at("ab.csv"), Vertices: at("class.csv")}, Options{})
			return err
		},
		"column.csv": func() error {
			_, err := LoadTables(Tables{Edges: at("ab.csv"), Vertices: at("column.csv")}, Options{})
			return err
		},
		"typed.csv": func() error { _, err := LoadTables(Tables{Edges: at("typed.csv")}, Options{}); return err },
		"quoted.csv": func() error {
			_, err := LoadTables(Tables{Edges: at("ab.csv"), Vertices: at("quoted.csv")}, Options{})
			return err
		},
		"split/train.csv": func() error { return ReadSplit(at("split"), named, VertexLabels) },
		"ids.txt":         func() error { _, err := ReadVertices(at("ids.txt"), named); return err },
		"pairs.csv":       func() error { _, _, err := ReadPairs(at("pairs.csv"), named, false); return err },
		"labels.csv":      func() error { _, _, err := ReadLabels(at("labels.csv"), named); return err },
		"types": func() error {
			_, err := LoadHeteroTables(HeteroTables{Types: []TypeTable{{"a", Tables{Vertices: at("v.csv")}}}, Relations: []RelationTable{{"a", "r", "a", Tables{Edges: at("edges.csv")}}}}, Options{})
			return err
		},
	}
	write := func(latin string) {
		for name, text := range plain {
			if name == latin || latin == "types" && name == "v.csv" {
				var b strings.Builder
				for _, r := range text {
					b.Write([]byte{byte(r)}) // all are below U+0100
				}
				text = b.String()
			}
			if err := os.WriteFile(at(name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("")
	var err error
	if named, err = LoadTables(Tables{Edges: at("edges.csv"), Vertices: at("v.csv")}, Options{}); err != nil {
		t.Fatal(err)
	}
	if id := named.ID(0); id != "Zoë" {
		t.Errorf("id 0 is %q", id)
	}
	for name, door := range read {
		write("")
		if err := door(); err != nil {
			t.Errorf("%s in UTF-8: %v", name, err)
		}
		write(name)
		refused(t, name, door(), "which is not UTF-8")
	}
	write("m.mtx")
	if _, err := Load(at("m.mtx"), Options{}); err != nil {
		t.Errorf("a comment in Latin-1: %v", err)
	}
	_, err = LoadHeteroTables(HeteroTables{Types: []TypeTable{{"a\xe9", Tables{Vertices: at("v.csv")}}}, Relations: []RelationTable{{"a\xe9", "r", "a\xe9", Tables{Edges: at("edges.csv")}}}}, Options{})
	refused(t, "type", err, "is not in UTF-8")
}
