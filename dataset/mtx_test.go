package dataset

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sagann/chunk"
)

const (
	mtxBanner = "%%MatrixMarket matrix coordinate "
	mtxArray  = "%%MatrixMarket matrix array "
)

func TestMTX(t *testing.T) {
	for text, want := range map[string]*chunk.Edges{
		mtxBanner + "pattern general\n% c\n3 3 2\n1 2\n3 1\n":            {V: 3, Src: []uint32{0, 2}, Dst: []uint32{1, 0}},
		mtxBanner + "pattern symmetric\n\n3 3 2\n2 1\n3 3\n":             {V: 3, Src: []uint32{1, 0, 2}, Dst: []uint32{0, 1, 2}},
		mtxBanner + "real general\n2 2 1\n1 2 0.25\n":                    {V: 2, Src: []uint32{0}, Dst: []uint32{1}, Weight: []float32{0.25}},
		mtxBanner + "integer skew-symmetric\n2 2 1\n2 1 3\n":             {V: 2, Src: []uint32{1, 0}, Dst: []uint32{0, 1}, Weight: []float32{3, -3}},
		"%%matrixmarket MATRIX Coordinate Real General\n2 2 1\n1 2 1\n":  {V: 2, Src: []uint32{0}, Dst: []uint32{1}},
		"%MatrixMarket matrix coordinate pattern general \n2 2 1\n1 2\n": {V: 2, Src: []uint32{0}, Dst: []uint32{1}},
		mtxBanner + "real general\n2 3 2\n1 3 5\n2 1 1\n":                {V: 5, Src: []uint32{0, 1}, Dst: []uint32{4, 2}, Weight: []float32{5, 1}},
		// Columns come one after the other; of symmetric matrices what is not above the diagonal.
		mtxArray + "real general\n2 2\n0\n3\n1\n0\n":         {V: 2, Src: []uint32{1, 0}, Dst: []uint32{0, 1}, Weight: []float32{3, 1}},
		mtxArray + "integer general\n1 2\n4\n0\n":            {V: 3, Src: []uint32{0}, Dst: []uint32{1}, Weight: []float32{4}},
		mtxArray + "real symmetric\n3 3\n1\n0\n2\n0\n0\n1\n": {V: 3, Src: []uint32{0, 2, 0, 2}, Dst: []uint32{0, 0, 2, 2}, Weight: []float32{1, 2, 2, 1}},
		mtxArray + "real skew-symmetric\n3 3\n0\n2\n5\n":     {V: 3, Src: []uint32{2, 0, 2, 1}, Dst: []uint32{0, 2, 1, 2}, Weight: []float32{2, -2, 5, -5}},
	} {
		d, err := readMTX(textOf(t, text))
		if err != nil || !cmp.Equal(d.Edges, want) || len(d.Report.Warnings) > 0 {
			t.Errorf("%q: %+v, %v", text, d, err)
		} else if d.ID(0) != "1" && d.ID(0) != "r1" {
			t.Errorf("%q: the first vertex is %s", text, d.ID(0))
		}
	}
}

func TestMTXRefused(t *testing.T) {
	for text, word := range map[string]string{
		"":                                                             "empty",
		"1 2\n":                                                        ":1: not a Matrix Market",
		mtxBanner + "real general\n":                                   "sizes is missing",
		mtxBanner + "complex general\n1 1 0\n":                         ":1: field complex",
		mtxBanner + "real hermitian\n1 1 0\n":                          ":1: symmetry",
		mtxArray + "real general\n1 2\n1\n":                            "after 1 of 2",
		mtxArray + "real general\n1 2 3\n1\n":                          ":2: 3 numbers",
		mtxArray + "pattern general\n1 1\n1\n":                         "needs values",
		mtxBanner + "real symmetric\n2 3 1\n1 1 1\n":                   ":2: a 2×3",
		mtxBanner + "real general\n2 2\n":                              ":2: 2 numbers; the first line behind the comments has rows, columns and entries",
		mtxBanner + "real general\n2 2 1\n3 1 1\n":                     ":3: entry (3, 1)",
		mtxBanner + "real general\n2 2 1\n0 1 1\n":                     ":3: entry (0, 1)",
		mtxBanner + "real general\n2 2 1\n1 1\n":                       ":3: a number is missing",
		mtxBanner + "real general\n2 2 1\n1 1 nan\n":                   ":3: \"nan\" is not finite",
		mtxBanner + "real general\n2 2 1\n1 1 1\n2 2 1\n":              ":4: more than",
		mtxBanner + "real general\n2 2 3\n1 1 1\n":                     "after 1 of 3",
		mtxBanner + "pattern general\n2 2 1\n1 1 1\n":                  ":3: a value",
		mtxBanner + "real skew-symmetric\n2 2 1\n1 1 1\n":              ":3: entry (1, 1) on the diagonal",
		mtxBanner + "real general\n9 9 1152921504606846976\n1 1 1\n":   "after 1 of 1152921504606846976",
		mtxBanner + "real general\n4000000000 4000000000 1\n1 1 1\n":   "4000000000 vertices",
		mtxBanner + "real general\n40000000000 40000000000 1\n1 1 1\n": ":2: 40000000000 vertices",
		mtxBanner + "real general\n2 2 99999999999999999999\n1 1 1\n":  ":2:",
	} {
		_, err := readMTX(textOf(t, text))
		refused(t, strconv.Quote(text), err, "graph.txt", word)
	}
}

// TestMTXTriangles: if both triangles of a symmetric matrix are listed, edges do not repeat, and that is said.
func TestMTXTriangles(t *testing.T) {
	d, err := readMTX(textOf(t, mtxBanner+"pattern symmetric\n3 3 4\n1 2\n2 1\n2 3\n3 2\n"))
	if err != nil || !slices.Equal(d.Edges.Src, []uint32{0, 1, 1, 2}) || !slices.Equal(d.Edges.Dst, []uint32{1, 0, 2, 1}) {
		t.Errorf("%+v, %v", d.Edges, err)
	}
	if w := d.Report.Warnings; len(w) != 1 || !strings.Contains(w[0], "both triangles are listed (2 below the diagonal, 2 above): 4 edges that both triangles have are taken once") {
		t.Errorf("%q", w)
	}
	// One entry above the diagonal has no counterpart.
	d, err = readMTX(textOf(t, mtxBanner+"real symmetric\n3 3 4\n1 2 5\n2 1 5\n3 3 1\n2 3 7\n"))
	if err != nil || !slices.Equal(d.Edges.Src, []uint32{0, 1, 2, 1, 2}) || !slices.Equal(d.Edges.Weight, []float32{5, 5, 1, 7, 7}) {
		t.Errorf("%+v, %v", d.Edges, err)
	}
}

func FuzzMTX(f *testing.F) {
	f.Add([]byte(mtxBanner + "real symmetric\n3 3 2\n2 1 0.5\n3 3 1\n"))
	f.Add([]byte(mtxBanner + "pattern general\n% c\n3 3 2\n1 2\n3 1\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := newText(bytes.NewReader(file), int64(len(file)), "fuzz")
		if err != nil {
			return
		}
		d, err := readMTX(r)
		if err != nil {
			return
		}
		if err := Validate(d); err != nil {
			t.Fatal(err)
		}
	})
}
