package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
)

// TestTimes reads times of edges and vertices from tables, writes them as a folder of arrays and as a store, and reads them again, also
// in pieces, with reverse edges and without repeated ones.
func TestTimes(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	edges := file("edges.csv", "src,dst,timestamp,w\na,b,2026-03-01,1\nb,c,2026-03-01 00:00:01.5,2\nc,a,1772323203,3\na,b,1772323204,4\n")
	vertices := file("vertices.csv", "id,joined\na,1\nb,2.5\nc,-3\n")
	tables := Tables{Edges: edges, Vertices: vertices, Time: "joined", Heading: "auto"}
	want, at := []float64{1772323200, 1772323201.5, 1772323203, 1772323204}, []float64{1, 2.5, -3}
	d, err := LoadTables(tables, Options{})
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, d *Data, err error, want []float64) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if !slices.Equal(d.Edges.Time, want) || !slices.Equal(d.Vertices.Time, at) {
			t.Errorf("%s: times %v of edges, %v of vertices", what, d.Edges.Time, d.Vertices.Time)
		}
	}
	check("tables", d, nil, want)
	if err := WriteNpyFolder(filepath.Join(dir, "arrays"), d); err != nil {
		t.Fatal(err)
	}
	again, err := Load(filepath.Join(dir, "arrays"), Options{})
	check("folder", again, err, want)
	for _, base := range []int{1, 2} {
		store := filepath.Join(dir, "graph.saga")
		if err := WriteStore(store, d, base); err != nil {
			t.Fatal(err)
		}
		again, err = Load(store, Options{})
		check("store", again, err, want)
		copied := filepath.Join(dir, "copy.saga")
		if _, _, err := Convert(Conversion{From: store, Out: copied, Base: 2}); err != nil {
			t.Fatal(err)
		}
		again, err = Load(copied, Options{})
		check("store of a store", again, err, want)
	}
	again, err = LoadTables(tables, Options{Undirected: true})
	check("undirected", again, err, append(slices.Clone(want), want...))
	again, err = LoadTables(tables, Options{Simple: true})
	check("simple", again, err, want[:3])

	e := Simplify(&chunk.Edges{V: 2, Src: []uint32{0, 0, 0}, Dst: []uint32{1, 1, 1}, Time: []float64{5, 3, 4}, Weight: []float32{1, 2, 4}})
	if !slices.Equal(e.Time, []float64{3}) || !slices.Equal(e.Weight, []float32{7}) {
		t.Errorf("of repeated edges time %v and weight %v are left", e.Time, e.Weight)
	}
	tables.EdgeTime = "none"
	if again, err = LoadTables(tables, Options{}); err != nil || again.Edges.Time != nil {
		t.Errorf("without times: %v, error %v", again.Edges.Time, err)
	}
}

// TestTimesRefused has columns and arrays with gaps, and numbers that float64 does not hold.
func TestTimesRefused(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"src,dst,time\n0,1,5\n1,0,\n":             "edges.csv:3: column time: no time",
		"src,dst,time\n0,1,5\n1,0,nan\n":          "edges.csv:3: column time: no time",
		"src,dst,time\n0,1,soon\n":                `edges.csv:2: column time: "soon" is no time`,
		"src,dst,time\n0,1,1772323204000000001\n": "not below 2^53",
		"src,dst,time\n0,1,9007199254740993\n":    "not below 2^53",
		"src,dst,edge_time\n0,1,2026-02-30\n":     `"2026-02-30" is no time`,
	} {
		path := filepath.Join(dir, "edges.csv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadTables(Tables{Edges: path, Heading: "auto"}, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// TestTypedTimes reads times of types and relations from arrays by both names, keeps them in a store, and warns of those of no edge or vertex.
func TestTypedTimes(t *testing.T) {
	for _, name := range [][2]string{{"vertex_time", "edge_time"}, {"time", "time"}, {"node_time", "timestamp"}, {"x_time", "vertex_time"}} {
		dir := t.TempDir()
		writeArray(t, filepath.Join(dir, "p.x.npy"), []int{3, 1}, []float32{1, 2, 3})
		writeArray(t, filepath.Join(dir, "a.x.npy"), []int{2, 1}, []float32{1, 2})
		writeArray(t, filepath.Join(dir, "p."+name[0]+".npy"), []int{3}, []int64{7, 8, 9})
		writeArray(t, filepath.Join(dir, "a__w__p.edge_index.npy"), []int{2, 4}, []int64{0, 1, 1, 0, 0, 1, 2, 2})
		writeArray(t, filepath.Join(dir, "a__w__p."+name[1]+".npy"), []int{4}, []float32{4, 3, 2, 1.5})
		h, err := LoadHetero(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		store := filepath.Join(dir, "g.saga")
		if err := WriteHeteroStore(store, h, 1); err != nil {
			t.Fatal(err)
		}
		again, err := LoadHetero(store, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for what, g := range map[string]*Hetero{"arrays": h, "store": again} {
			of, at := g.Types[1].Rows.Vertices.Time, g.Relations[0].Links.Edges.Time
			read := slices.Equal(of, []float64{7, 8, 9}) && slices.Equal(at, []float64{4, 3, 2, 1.5})
			warned := strings.Join(h.Whole().Warnings, "; ")
			if known := name[0] != "x_time"; read != known || strings.Contains(warned, "nothing reads") == known {
				t.Errorf("%v, %s: times %v of vertices and %v of edges, warnings %q", name, what, of, at, warned)
			}
		}
	}
}

// TestTimeOfWhat: an array called time that may be of vertices and of edges is refused; with a name that says it, it is read.
func TestTimeOfWhat(t *testing.T) {
	for name, want := range map[string]string{"time": "call it edge_time or vertex_time", "timestamp": "call it edge_time or vertex_time", "edge_time": "", "vertex_time": ""} {
		dir := t.TempDir()
		writeArray(t, filepath.Join(dir, "features.npy"), []int{3, 1}, []float32{1, 2, 3})
		writeArray(t, filepath.Join(dir, "edges.npy"), []int{2, 3}, []int64{0, 1, 2, 1, 2, 0})
		writeArray(t, filepath.Join(dir, name+".npy"), []int{3}, []int64{7, 8, 9})
		d, err := Load(dir, Options{})
		if want != "" {
			refused(t, name, err, want)
		} else if err != nil || (d.Edges.Time != nil) != (name == "edge_time") || (d.Vertices.Time != nil) != (name == "vertex_time") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
