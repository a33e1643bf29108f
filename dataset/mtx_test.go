package dataset

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sagann/chunk"
)

const mtxBanner = "%%MatrixMarket matrix coordinate "

func TestMTX(t *testing.T) {
	for text, want := range map[string]*chunk.Edges{
		mtxBanner + "pattern general\n% c\n3 3 2\n1 2\n3 1\n":           {V: 3, Src: []uint32{0, 2}, Dst: []uint32{1, 0}},
		mtxBanner + "pattern symmetric\n\n3 3 2\n2 1\n3 3\n":            {V: 3, Src: []uint32{1, 0, 2}, Dst: []uint32{0, 1, 2}},
		mtxBanner + "real general\n2 2 1\n1 2 0.25\n":                   {V: 2, Src: []uint32{0}, Dst: []uint32{1}, Weight: []float32{0.25}},
		mtxBanner + "integer skew-symmetric\n2 2 1\n2 1 3\n":            {V: 2, Src: []uint32{1, 0}, Dst: []uint32{0, 1}, Weight: []float32{3, -3}},
		"%%matrixmarket MATRIX Coordinate Real General\n2 2 1\n1 2 1\n": {V: 2, Src: []uint32{0}, Dst: []uint32{1}},
	} {
		e, err := readMTX(textOf(t, text))
		if err != nil || !cmp.Equal(e, want) {
			t.Errorf("%q: %+v, %v", text, e, err)
		}
	}
}

func TestMTXRefused(t *testing.T) {
	for text, word := range map[string]string{
		"":                                     "empty",
		"1 2\n":                                ":1: not a Matrix Market",
		mtxBanner + "real general\n":           "sizes is missing",
		mtxBanner + "complex general\n1 1 0\n": ":1: field complex",
		mtxBanner + "real hermitian\n1 1 0\n":  ":1: symmetry",
		"%%MatrixMarket matrix array real general\n1 1\n1\n":           ":1: format array",
		mtxBanner + "real general\n2 3 1\n1 1 1\n":                     ":2: a 2×3",
		mtxBanner + "real general\n2 2\n":                              ":2: 2 sizes",
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

func FuzzMTX(f *testing.F) {
	f.Add([]byte(mtxBanner + "real symmetric\n3 3 2\n2 1 0.5\n3 3 1\n"))
	f.Add([]byte(mtxBanner + "pattern general\n% c\n3 3 2\n1 2\n3 1\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := newText(bytes.NewReader(file), int64(len(file)), "fuzz")
		if err != nil {
			return
		}
		e, err := readMTX(r)
		if err != nil {
			return
		}
		if err := e.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}
