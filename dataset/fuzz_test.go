package dataset

import (
	"bytes"
	"strconv"
	"testing"

	"sagann/chunk"
)

// The parsers of formats with several files, one text at a time.

func FuzzColumns(f *testing.F) {
	f.Add([]byte("1,2\n3,4\n"))
	f.Add([]byte(" 1.5; -2e3\n\n# c\n0 1\n"))
	f.Add([]byte("nan\n3\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		open := func() *textFile {
			r, err := newText(bytes.NewReader(file), int64(len(file)), "fuzz")
			if err != nil {
				t.Skip()
			}
			return r
		}
		if x, cols, err := readRows[float32](open()); err == nil && (chunk.NotFinite(x) >= 0 || cols > 0 && len(x)%cols != 0) {
			t.Fatalf("%d values of width %d", len(x), cols)
		}
		if values, _, err := readRows[int64](open()); err == nil {
			labels, _, n := classesOf(values)
			for _, c := range labels {
				if c < 0 || int(c) >= n {
					t.Fatalf("class %d of %d", c, n)
				}
			}
		}
	})
}

func FuzzTU(f *testing.F) {
	f.Add("1, 2\n2, 1\n", "1\n1\n", "3\n5\n", "0.5\n1\n")
	f.Fuzz(func(t *testing.T, a, indicator, labels, attributes string) {
		checkLoaded(t, map[string]string{"X_A.txt": a, "X_graph_indicator.txt": indicator,
			"X_node_labels.txt": labels, "X_node_attributes.txt": attributes})
	})
}

func FuzzOGB(f *testing.F) {
	f.Add("2\n", "0,1\n", "1\n0\n", "0\n")
	f.Add("2\n", "1,1\n", "1,0\n0,1\n", "1\n")
	f.Fuzz(func(t *testing.T, nodes, edges, labels, train string) {
		checkLoaded(t, map[string]string{"raw/num-node-list.csv": nodes, "raw/edge.csv": edges, "raw/node-label.csv": labels,
			"split/s/train.csv": train, "split/s/valid.csv": "0\n", "split/s/test.csv": "1\n"})
	})
}

func FuzzNpyFolder(f *testing.F) {
	f.Add([]byte("{\"vertices\": 3, \"classes\": 2}"), []byte{0, 1, 1, 2}, []byte{0, 1, 1}, []byte{0})
	f.Fuzz(func(t *testing.T, meta, edges, labels, train []byte) {
		head := func(descr string, body []byte, size int) string {
			return "\x93NUMPY\x01\x00" + npyHead(descr, len(body)/size) + string(body[:len(body)/size*size])
		}
		checkLoaded(t, map[string]string{"meta.json": string(meta), "edges.npy": edgesNpy(edges),
			"labels.npy": head("|i1", labels, 1), "train.npy": head("<i2", train, 2)})
	})
}

func npyHead(descr string, n int) string {
	dict := "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + strconv.Itoa(n) + ",)}"
	return string([]byte{byte(len(dict)), 0}) + dict
}

func edgesNpy(body []byte) string {
	n := len(body) / 2
	dict := "{'descr': '|u1', 'fortran_order': True, 'shape': (" + strconv.Itoa(n) + ", 2)}"
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(dict)), 0}) + dict + string(body[:2*n])
}

// checkLoaded loads a folder; what is not refused has passed Validate.
func checkLoaded(t *testing.T, files map[string]string) {
	d, err := Load(writeFiles(t, files), Options{Undirected: true, Simple: true})
	if err != nil {
		return
	}
	if err := Validate(d); err != nil {
		t.Fatal(err)
	}
}
