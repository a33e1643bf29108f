package dataset

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zlib"
)

// matElem is an element with its tag, padded.
func matElem(kind uint32, data []byte) []byte {
	out := binary.LittleEndian.AppendUint32(nil, kind)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(data)))
	out = append(out, data...)
	for kind != miCompressed && len(out)%8 != 0 {
		out = append(out, 0)
	}
	return out
}

func int32s(x ...int32) []byte {
	var out []byte
	for _, v := range x {
		out = binary.LittleEndian.AppendUint32(out, uint32(v))
	}
	return out
}

func doubles(x ...float64) []byte {
	var out []byte
	for _, v := range x {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return out
}

// matVar is a matrix element; parts are the elements after the name.
func matVar(name string, class uint32, rows, cols int32, parts ...[]byte) []byte {
	body := matElem(miUint32, int32s(int32(class), 0))
	body = append(body, matElem(miInt32, int32s(rows, cols))...)
	body = append(body, matElem(miInt8, []byte(name))...)
	return matElem(miMatrix, append(body, bytes.Join(parts, nil)...))
}

func matFile(elements ...[]byte) []byte {
	head := []byte(strings.Repeat(" ", 124) + "\x00\x01IM")
	return append(head, bytes.Join(elements, nil)...)
}

func zipped(element []byte) []byte {
	var buf bytes.Buffer
	w := zlib.NewWriter(&buf)
	w.Write(element)
	w.Close()
	return matElem(miCompressed, buf.Bytes())
}

// Two vertices, 1→0 with weight 2, stored as doubles; the groups as a full
// matrix of bytes; both names fit the small form of an element in real files,
// which the file of BlogCatalog covers.
func smallMat() (network, group []byte) {
	network = matVar("network", mxSparse, 2, 2,
		matElem(miInt32, int32s(1)), matElem(miInt32, int32s(0, 1, 1)), matElem(miDouble, doubles(2)))
	group = matVar("group", 9, 2, 3, matElem(miUint8, []byte{1, 0, 0, 1, 1, 1}))
	return network, group
}

func TestMat(t *testing.T) {
	network, group := smallMat()
	other := matVar("other", 1, 7, 7) // a cell array: skipped by its name
	for _, file := range [][]byte{
		matFile(network, group), matFile(zipped(group), other, zipped(network)),
	} {
		d, err := matData(file, "g.mat")
		if err != nil {
			t.Fatal(err)
		}
		if !cmp.Equal(d.Edges.Src, []uint32{1}) || !cmp.Equal(d.Edges.Dst, []uint32{0}) || !cmp.Equal(d.Edges.Weight, []float32{2}) {
			t.Errorf("%+v", d.Edges)
		}
		if d.Classes != 3 || !cmp.Equal(d.MultiLabels, []float32{1, 0, 1, 0, 1, 1}) {
			t.Errorf("%d classes, %v", d.Classes, d.MultiLabels)
		}
	}
}

// TestMatVariables reads other variables than network and group. The two vertices have the edge 1→0.
func TestMatVariables(t *testing.T) {
	network, group := smallMat()
	named := func(name string) []byte {
		return matVar(name, mxSparse, 2, 2, matElem(miInt32, int32s(1)), matElem(miInt32, int32s(0, 1, 1)), matElem(miDouble, doubles(2)))
	}
	full := func(name string, rows, cols int32, x ...float64) []byte {
		return matVar(name, mxDouble, rows, cols, matElem(miDouble, doubles(x...)))
	}
	for what, c := range map[string]struct {
		file     []byte
		features []float32
		labels   []int32
		multi    []float32
		targets  []float32
		names    []string
		unread   string
	}{
		"full features":              {matFile(network, full("attrb", 2, 3, 1, 2, 3, 4, 5, 6), group), []float32{1, 3, 5, 2, 4, 6}, nil, []float32{1, 0, 1, 0, 1, 1}, nil, nil, ""},
		"sparse features":            {matFile(named("A"), matVar("Attributes", mxSparse, 2, 3, matElem(miInt32, int32s(1, 0, 1)), matElem(miInt32, int32s(0, 1, 1, 3)), matElem(miDouble, doubles(7, 8, 9)))), []float32{0, 0, 8, 7, 0, 9}, nil, nil, nil, nil, ""},
		"features of other rows":     {matFile(network, full("X", 3, 1, 1, 2, 3)), nil, nil, nil, nil, nil, "g.mat: nothing reads X"},
		"classes that begin at 1":    {matFile(network, full("gnd", 2, 1, 2, 1)), nil, []int32{1, 0}, nil, nil, []string{"1", "2"}, ""},
		"a row of classes":           {matFile(network, full("Y", 1, 2, 0, 1)), nil, []int32{0, 1}, nil, nil, nil, ""},
		"a class and none":           {matFile(network, full("label", 2, 1, math.NaN(), 5)), nil, []int32{-1, 0}, nil, nil, []string{"5"}, ""},
		"numbers":                    {matFile(network, full("y", 2, 1, 0.5, -2)), nil, nil, nil, []float32{0.5, -2}, nil, ""},
		"other variables":            {matFile(matVar("local_info", 1, 7, 7), network, full("label", 2, 1, 0, 1), group), nil, nil, []float32{1, 0, 1, 0, 1, 1}, nil, nil, "g.mat: nothing reads local_info, label"},
		"the workspace of functions": {matFile(matVar("", 9, 1, 8), network), nil, nil, nil, nil, nil, ""},
	} {
		d, err := matData(c.file, "g.mat")
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		d.HoldFeatures()
		if diff := cmp.Diff([]any{c.features, c.labels, c.multi, c.targets, c.names, []uint32{1}, []float32{2}, c.unread},
			[]any{d.Features, d.Labels, d.MultiLabels, d.Targets.Vertex, d.Schema.Vertex.Classes, d.Edges.Src, d.Edges.Weight, strings.Join(d.Report.Warnings, "\n")}); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
		if err := Validate(d); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestMatRefused(t *testing.T) {
	network, group := smallMat()
	row := func(r ...int32) []byte { return matElem(miInt32, int32s(r...)) }
	one := matElem(miDouble, doubles(1))
	for _, c := range []struct {
		what string
		file []byte
		word string
	}{
		{"nothing", nil, "byte 0"},
		{"text", bytes.Repeat([]byte("a"), 300), "byte 124"},
		{"big-endian", []byte(strings.Repeat(" ", 126) + "MI"), "big-endian"},
		{"no network", matFile(group), "no adjacency matrix: a variable named network, net, adjacency, adj, a, w; the file has group"},
		{"cut", matFile(network)[:200], "byte 128"},
		{"a tag cut", append(matFile(network), 1, 2, 3), "inside a tag"},
		{"twice", matFile(network, network), "second"},
		{"a loose element", matFile(one), "element type 9"},
		{"a bad stream", matFile(matElem(miCompressed, []byte("rubbish!"))), "byte 128"},
		{"a bomb", matFile(zipped(make([]byte, 40<<20))), "expands"},
		{"not square", matFile(matVar("network", mxSparse, 3, 2, row(1), row(0, 1, 1), one)), "square"},
		{"empty", matFile(matVar("network", mxSparse, 0, 0, row(), row(0), row())), "square"},
		{"row outside", matFile(matVar("network", mxSparse, 2, 2, row(2), row(0, 1, 1), one)), "entry 0 has row 2"},
		{"negative row", matFile(matVar("network", mxSparse, 2, 2, row(-1), row(0, 1, 1), one)), "entry 0 has row -1"},
		{"pointers fall", matFile(matVar("network", mxSparse, 2, 2, row(1), row(0, 2, 1), one)), "pointer 1 is 2"},
		{"pointers beyond", matFile(matVar("network", mxSparse, 2, 2, row(1), row(0, 1, 5), one)), "end at 5"},
		{"too few pointers", matFile(matVar("network", mxSparse, 2, 2, row(1), row(0, 1), one)), "2 column pointers"},
		{"huge", matFile(matVar("network", mxSparse, 2000000000, 2000000000, row(1), row(0, 1, 1), one)), "3 column pointers"},
		{"negative size", matFile(matVar("network", mxSparse, -2, -2, row(1), row(0, 1, 1), one)), "dimensions"},
		{"NaN", matFile(matVar("network", mxSparse, 2, 2, row(1), row(0, 1, 1), matElem(miDouble, doubles(math.NaN())))), "entry (2, 1) is NaN"},
		{"complex", matFile(matVar("network", mxSparse|mxComplex, 2, 2, row(1), row(0, 1, 1), one, one)), "complex"},
		{"cells", matFile(matVar("network", 1, 2, 2)), "class 1"},
		{"few values", matFile(matVar("network", mxDouble, 2, 2, one)), "1 values"},
		{"group of others", matFile(network, matVar("group", mxDouble, 1, 1, one)), "1×1 labels for 2"},
		{"group of twos", matFile(network, matVar("group", mxDouble, 2, 2, matElem(miDouble, doubles(1, 2, 0, 1)))), "(2, 1) is 2"},
		{"features without columns", matFile(network, matVar("attrb", mxDouble, 2, 0, matElem(miDouble, nil))), "2×0 features"},
		{"features that are not finite", matFile(network, matVar("x", mxDouble, 2, 1, matElem(miDouble, doubles(1, math.Inf(1))))), "x: a feature is +Inf"},
		{"HDF5", append([]byte("\x89HDF\r\n\x1a\n"), network...), "mat73.loadmat"},
		{"7.3", append([]byte(strings.Repeat(" ", 124)+"\x00\x02IM"), network...), "byte 124: a MATLAB 7.3 file, which is HDF5"},
		{"wide group", matFile(network, matVar("group", mxSparse, 2, 2000000000, row(1), row(0, 1, 1), one)), "column pointers"},
	} {
		_, err := matData(c.file, "g.mat")
		refused(t, c.what, err, c.word)
	}
}

func FuzzMat(f *testing.F) {
	network, group := smallMat()
	f.Add(matFile(network, group))
	f.Add(matFile(zipped(network)))
	f.Add(matFile(matVar("network", mxDouble, 1, 1, matElem(miDouble, doubles(1)))))
	f.Fuzz(func(t *testing.T, file []byte) {
		d, err := matData(file, "g.mat")
		if err != nil {
			return
		}
		if err := Validate(d); err != nil {
			t.Fatal(err)
		}
	})
}
