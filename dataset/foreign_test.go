package dataset

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestForeign: files of other formats are refused with a command that converts them, by their endings or by what they begin with.
func TestForeign(t *testing.T) {
	for name, text := range map[string]string{
		"g.graphml": "<?xml version=\"1.0\"?>\n<graphml>", "g.txt": "<?xml version=\"1.0\"?>\n<graphml>", "g.gexf": "", "g.gml": "graph [", "a.txt": "graph\n[\n  directed 0\n",
		"g.net": "*Vertices 3\n", "b.txt": "*Vertices 3\n1 \"a\"\n*Edges\n1 2\n", "g.pajek": "", "g.metis": "3 2\n2\n1 3\n2\n", "g.graph": "", "g.json": "{}", "c.csv": "{\"nodes\": []}",
		"matrix.csv": "0,1,0,1\n1,0,0,0\n0,0,0,0.5\n1,0,0.5,0\n", "matrix.txt": "0 1 0 1\n1 0 0 0\n0 0 0 1\n1 0 1 0\n",
		"g.dot": "", "g.col": "", "d.txt": "c three\np edge 3 2\ne 1 2\ne 2 3\n", "noending": "p sp 3 2\na 1 2 5\n", "g.parquet": "",
	} {
		path := filepath.Join(writeFiles(t, map[string]string{name: text}), name)
		_, err := Load(path, Options{})
		refused(t, name, err, path, "is not read", "this converts it: ", "saga data convert ")
		if _, err := LoadTables(Tables{Edges: path}, Options{}); err == nil && !strings.HasPrefix(name, "matrix") {
			t.Errorf("%s was read as a table", name)
		}
	}
	for name, text := range map[string]string{"noending": "# c\n1 2\n2 3\n", "g.gz": gz("1,2\n2,3\n"), "out.mail": "% asym positive\n1 2 1 900\n2 3 1 901\n", "g.data": "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n"} {
		d, err := Load(filepath.Join(writeFiles(t, map[string]string{name: text}), name), Options{})
		if err != nil || d.Edges.V != 3 || d.Edges.E() != 2 || d.ID(0) != "1" {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	for _, text := range []string{"1 2 x\n", "1\n2\n", "1.5 2\n", "a b\n", ""} {
		_, err := Load(filepath.Join(writeFiles(t, map[string]string{"g.unknown": text}), "g.unknown"), Options{})
		refused(t, text, err, "unknown ending", "Anything else")
	}
	for _, magic := range []string{"PK\x03\x04xx", "\xfd7zXZ\x00", "\x28\xb5\x2f\xfd\x00\x00"} {
		_, err := Load(filepath.Join(writeFiles(t, map[string]string{"g.txt": magic}), "g.txt"), Options{})
		refused(t, magic, err, "packed by")
	}
	name := "it's $(x).gml"
	_, err := Load(filepath.Join(writeFiles(t, map[string]string{name: ""}), name), Options{})
	if err == nil || !strings.Contains(err.Error(), `it\'s \$(x).gml', label='id'`) {
		t.Error(err)
	}
}
