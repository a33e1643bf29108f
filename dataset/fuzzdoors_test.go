package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The parsers of the doors: what one does not refuse has passed Validate, and is the
// same when it is read from a store.

func FuzzNpz(f *testing.F) {
	f.Add(encoded(f, []int{2, 2}, int64(0), 1, 1, 2), encoded(f, []int{3, 1}, float32(1), 2, 3), encoded(f, []int{3}, int32(0), 1, -1), encoded(f, []int{3}, true, false, true))
	f.Add(encoded(f, []int{1, 2}, uint8(0), 1), encoded(f, []int{2, 2}, 1.5, 2, 3, 4), encoded(f, []int{2, 2}, uint8(0), 1, 1, 0), encoded(f, []int{2, 1}, uint8(0), 1))
	f.Fuzz(func(t *testing.T, edges, x, y, mask string) {
		checkDoor(t, "g.npz", archived(t, member{"edge_index.npy", edges}, member{"x.npy", x}, member{"y.npy", y}, member{"train_mask.npy", mask}))
	})
}

func FuzzMatrixNpz(f *testing.F) {
	ints := func(x ...int32) string { return encoded(f, []int{len(x)}, x...) }
	f.Add(encoded(f, []int{2}, float32(1), 2), ints(1, 0), ints(0, 1, 2), ints(2, 2))
	f.Fuzz(func(t *testing.T, data, indices, indptr, shape string) {
		checkDoor(t, "g.npz", archived(t, member{"adj_data.npy", data}, member{"adj_indices.npy", indices}, member{"adj_indptr.npy", indptr}, member{"adj_shape.npy", shape},
			member{"attr_data.npy", data}, member{"attr_indices.npy", indices}, member{"attr_indptr.npy", indptr}, member{"attr_shape.npy", shape}))
	})
}

func FuzzPickledNpz(f *testing.F) {
	f.Add("\x80\x02"+csr2("K\x03K\x03\x86"), "\x80\x02"+csr2("K\x03K\x03\x86"))
	f.Add("\x80\x02"+csr2("K\x03K\x03\x86"), "\x80\x02"+array2(1, 2)+".")
	f.Fuzz(func(t *testing.T, adj, attr string) {
		checkDoor(t, "g.npz", archived(t, member{"adj_matrix.npy", object(adj)}, member{"node_attr.npy", object(attr)}))
	})
}

func FuzzTorch(f *testing.F) {
	item := func(name, storage, key string, count int, shape, stride []int) string {
		return pickled(name) + tensorText(storage, key, count, 0, shape, stride)
	}
	edges := item("edge_index", "LongStorage", "0", 4, []int{2, 2}, []int{2, 1})
	f.Add("\x80\x02}("+edges+item("x", "HalfStorage", "1", 6, []int{3, 2}, []int{2, 1})+"u.", longs(0, 1, 1, 2), "\x00\x3c\x00\x3c\x00\x3c\x00\x3c\x00\x3c\x00\x3c")
	f.Add("\x80\x02ctorch_geometric.data.data\nData\n)\x81}"+pickled("_store")+"ctorch_geometric.data.storage\nGlobalStorage\n)\x81}"+pickled("_mapping")+"}("+edges+"usbsb.", longs(0, 1, 1, 2), "")
	f.Add("\x80\x02}("+edges+pickled("num_nodes")+"](K\x02K\x03eu}("+item("edge_index", "LongStorage", "1", 3, []int{3}, []int{1})+item("num_nodes", "LongStorage", "1", 3, []int{3}, []int{1})+"u\x86.", longs(0, 0, 1, 1), longs(0, 1, 2))
	f.Fuzz(func(t *testing.T, pkl, first, second string) {
		checkDoor(t, "g.pt", archived(t, member{"a/data.pkl", pkl}, member{"a/data/0", first}, member{"a/data/1", second}))
	})
}

func FuzzArchive(f *testing.F) {
	for _, name := range []string{"pyg.npz", "data.pt"} {
		text, err := os.ReadFile(filepath.Join(made, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), strings.HasSuffix(name, ".pt"))
	}
	f.Fuzz(func(t *testing.T, text string, torch bool) {
		checkDoor(t, map[bool]string{false: "g.npz", true: "g.pt"}[torch], text)
	})
}

func FuzzSVMlight(f *testing.F) {
	f.Add("a,b\n0,1\n2,0\n", "2 1:0.5 7:1 # why\n0 qid:3 2:-1e3\n\n-1 1:0\n")
	f.Add("0 1\n", "+1 1:2\n-1 3:4\n")
	f.Add("0 1\n1 0\n", "0,2 0:1\n1:2\n1 1:0.25\n")
	f.Add("0 1\n", "0.5 1:2\n-3 3:4\n")
	f.Fuzz(func(t *testing.T, edges, vertices string) {
		dir := writeFiles(t, map[string]string{"e.csv": edges, "v.svm": vertices})
		s := Tables{Edges: filepath.Join(dir, "e.csv"), Vertices: filepath.Join(dir, "v.svm")}
		d, err := LoadTables(s, Options{})
		if err == nil {
			checkConverted(t, d, Conversion{Tables: &s})
		} else if !strings.Contains(err.Error(), dir) || len(err.Error()) > 2000 {
			t.Fatalf("%d bytes: %v", len(err.Error()), err)
		}
	})
}

func FuzzTables(f *testing.F) {
	f.Add("source,target,weight\n1,2,0.5\n2,1,1\n", "id,label,f1\n1,a,2\n2,b,3\n")
	f.Add("a\tb\n\"x \"\"y\"\"\nz\"\tx\n", "id;split;f1\nx;train;1\n")
	f.Add("\ufeff1 2\n2 3\n", "")
	f.Add("from   to\n 1 \t 2\n\"2\"   3 \n", "id  f1\n1   \"\"\n2 \t 3\n")
	f.Fuzz(func(t *testing.T, edges, vertices string) {
		dir := writeFiles(t, map[string]string{"e.csv": edges, "v.csv": vertices})
		for _, s := range []Tables{{Heading: "yes"}, {}, {Vertices: filepath.Join(dir, "v.csv"), Features: []string{"f*"}}, {Vertices: filepath.Join(dir, "v.csv"), Targets: []string{"f*"}}} {
			s.Edges = filepath.Join(dir, "e.csv")
			d, err := LoadTables(s, Options{})
			if err == nil {
				checkConverted(t, d, Conversion{Tables: &s})
			} else if !strings.Contains(err.Error(), dir) || len(err.Error()) > 2000 {
				t.Fatalf("%d bytes: %v", len(err.Error()), err)
			}
		}
	})
}

func FuzzTextArrays(f *testing.F) {
	f.Add("0,1\n1,2\n2,0\n", "id,a,b\n0,1,2\n1,3,4\n2,5,6\n", "1\nnan\n0\n", "1\n0\n0\n")
	f.Add("0 1\n1 2\n", "1   2\n 3 \t4\n\"5\"  6 \n", "0,1\n1,\n2,0\n", "True\nFalse\nTrue\n")
	f.Fuzz(func(t *testing.T, edges, x, y, train string) {
		dir := writeFiles(t, map[string]string{"edges.csv": edges, "x.csv": x, "labels.txt": y, "train.tsv": train})
		d, err := Load(dir, Options{})
		if err == nil {
			checkConverted(t, d, Conversion{From: dir})
		} else if !strings.Contains(err.Error(), dir) || len(err.Error()) > 2000 {
			t.Fatalf("%d bytes: %v", len(err.Error()), err)
		}
	})
}

func FuzzOGBBinary(f *testing.F) {
	f.Add(encoded(f, []int{2, 2}, int64(0), 1, 1, 2), encoded(f, []int{3, 1}, float32(1), 2, 3), encoded(f, []int{3, 1}, float32(0), 1, 1), "0\n")
	f.Fuzz(func(t *testing.T, edges, x, y, train string) {
		dir := writeFiles(t, map[string]string{"raw/data.npz": archived(t, member{"edge_index.npy", edges}, member{"node_feat.npy", x}),
			"raw/node-label.npz": archived(t, member{"node_label.npy", y}),
			"split/s/train.csv":  train, "split/s/valid.csv": "1\n", "split/s/test.csv": "2\n"})
		if d, err := Load(dir, Options{}); err == nil {
			checkConverted(t, d, Conversion{From: dir})
		}
	})
}

func checkDoor(t *testing.T, name, text string) {
	dir := writeFiles(t, map[string]string{name: text})
	path := filepath.Join(dir, name)
	d, err := Load(path, Options{})
	if err == nil {
		checkConverted(t, d, Conversion{From: path})
	} else if !strings.Contains(err.Error(), name) || len(err.Error()) > 2000 {
		t.Fatalf("%d bytes: %v", len(err.Error()), err)
	}
}

// checkConverted converts what has been loaded as d.
func checkConverted(t *testing.T, d *Data, c Conversion) {
	if err := Validate(d); err != nil {
		t.Fatal(err)
	}
	if d.Edges.V > 1<<16 {
		return
	}
	c.Out = filepath.Join(t.TempDir(), "g.saga")
	if _, _, err := Convert(c); err != nil {
		t.Fatal(err)
	}
	got, err := Load(c.Out, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// A split and a form may be new in the store, and numbers as text lose their zeros.
	for _, x := range []*Data{d, got} {
		x.Report, x.Train, x.Val, x.Test = Report{}, nil, nil, nil
	}
	if d.Labels == nil && d.MultiLabels == nil {
		d.Classes = got.Classes
	}
	// As a whole: number by number, cmp takes seconds for the wide rows that a short line can claim.
	same := cmp.Comparer(func(a, b []float32) bool { return (a == nil) == (b == nil) && slices.Equal(a, b) })
	if diff := cmp.Diff(d, got, same); diff != "" {
		t.Fatal(diff)
	}
}
