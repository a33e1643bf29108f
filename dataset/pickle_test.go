package dataset

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sagann/internal/testdata"
)

// array2 is a protocol 2 pickle, without PROTO and STOP, of a vector of int32.
func array2(x ...int32) string {
	var raw []byte
	for _, v := range x {
		raw = binary.LittleEndian.AppendUint32(raw, uint32(v))
	}
	return "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R" +
		fmt.Sprintf("(K\x01K%c\x85", len(x)) +
		"cnumpy\ndtype\nU\x02i4K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb" +
		"\x89U" + string([]byte{byte(len(raw))}) + string(raw) + "tb"
}

// array0 is the same in protocol 0, with strings as literals.
func array0(raw, shape string) string {
	return "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR(I1\n(" + shape + "t" +
		"cnumpy\ndtype\n(S'i4'\nI0\nI1\ntR(I3\nS'<'\nNNNI-1\nI-1\nI0\ntbI00\nS" + raw + "\ntb"
}

func csr2(shape string) string {
	return "cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06_shape" + shape +
		"U\x04data" + array2(5, 6, 7) + "U\x07indices" + array2(0, 2, 1) + "U\x06indptr" + array2(0, 2, 3) + "ub."
}

func TestPickleProtocols(t *testing.T) {
	for _, file := range []string{
		"\x80\x02" + array2(1, -2, 300) + ".",
		array0(`'\x01\x00\x00\x00\xfe\xff\xff\xff,\x01\x00\x00'`, "I3\n") + ".",
		array0(`"\x01\x00\x00\x00\xfe\xff\xff\xff,\x01\x00\x00"`, "L3L\n") + ".",
	} {
		x, err := unpickle([]byte(file))
		if err != nil {
			t.Fatal(err)
		}
		a, err := decodeArray(x, "x")
		if err != nil || !cmp.Equal(a.Data, []int32{1, -2, 300}) {
			t.Errorf("%v, %v", a, err)
		}
	}
	for _, file := range []string{
		"\x80\x02" + csr2("K\x02K\x03\x86"),
		// Protocol 0 makes its objects through copy_reg.
		strings.Replace("\x80\x02"+csr2("K\x02K\x03\x86"), "cscipy.sparse.csr\ncsr_matrix\n)\x81",
			"ccopy_reg\n_reconstructor\n(cscipy.sparse.csr\ncsr_matrix\nc__builtin__\nobject\nNtR", 1),
	} {
		x, err := unpickle([]byte(file))
		if err != nil {
			t.Fatal(err)
		}
		m, err := decodeCSR(x, "x")
		if err != nil {
			t.Fatal(err)
		}
		if rows, err := m.spread("x"); err != nil || !cmp.Equal(rows, []float32{5, 0, 6, 0, 7, 0}) {
			t.Errorf("%v, %v", rows, err)
		}
	}
	x, err := unpickle([]byte("(dI0\n(lI1\naI2\nasI2\n(lI0\nas."))
	if err != nil {
		t.Fatal(err)
	}
	e, err := graphEdges(x, 100)
	if err != nil || !cmp.Equal(e.Src, []uint32{0, 0, 2}) || !cmp.Equal(e.Dst, []uint32{1, 2, 0}) || e.V != 3 {
		t.Errorf("%+v, %v", e, err)
	}
	if x, err := unpickle([]byte("c_codecs\nencode\nX\x03\x00\x00\x00a\xc3\xbfX\x06\x00\x00\x00latin1\x86R.")); err != nil || x != "a\xff" {
		t.Errorf("%q, %v", x, err)
	}
}

func TestHostilePickles(t *testing.T) {
	for file, word := range map[string]string{
		"":                                      "cut off",
		"\x80\x02]":                             "byte 3",
		"cos\nsystem\n(S'id'\ntR.":              `byte 0: pickle instruction 0x63: class "os.system"`,
		"c__builtin__\neval\n(S'1'\ntR.":        `class "__builtin__.eval"`,
		"ccollections\nOrderedDict\n)R.":        `class "collections.OrderedDict"`,
		"(ios\nsystem\n.":                       "0x69",
		"\x80\x04\x8c\x02os\x8c\x06system\x93.": `byte 14: pickle instruction 0x93: class "os.system"`,
		"\xff.":                                 "0xff",
		"\x80\x02T\xff\xff\xff\x7fabc.":         "2147483647 bytes of data, 4 are left",
		"\x80\x02B\xff\xff\xff\xffabc.":         "4294967295 bytes",
		"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f.": "0x95",
		"\x8a\x09123456789.":                            "a number of 9 bytes",
		"L" + strings.Repeat("9", 1000) + "\n.":         "1000 characters",
		strings.Repeat("(", 1000) + ".":                 "nests",
		"t.":                                            "nests -1",
		"(K\x01u.":                                      "malformed",
		"(K\x01d.":                                      "malformed",
		"0.":                                            "malformed",
		"R.":                                            "malformed",
		"K\x01K\x02R.":                                  "malformed",
		"S'abc\n.":                                      "quotes",
		"S'a\\q'\n.":                                    `escape \q`,
		"S'a\\x4'\n.":                                   "cut off",
		"S'a\\'\n.":                                     "backslash",
		"(U\xff" + strings.Repeat("x", 255) + "q\x00" + strings.Repeat("h\x00", 1<<20) + "tK\x01R.":                                                                        "malformed",
		"c_codecs\nencode\nq\x000X\xff\x00\x00\x00" + strings.Repeat("x", 255) + "q\x01X\x06\x00\x00\x00latin1q\x020]" + strings.Repeat("h\x00h\x01h\x02\x86Ra", 99) + ".": "too often",
	} {
		_, err := unpickle([]byte(file))
		refused(t, strconv.Quote(file[:min(len(file), 60)]), err, word)
	}
	for file, word := range map[string]string{
		"K\x01.":            "int where a dictionary",
		"(dI-1\n(ls.":       "vertex",
		"(dI0\nI1\ns.":      "vertex 0: a int where a list",
		"(dI0\n(lS'a'\nas.": "vertex 0: a string",
		"(dI0\n(lp0\nI1\naI1\naI1\nasI1\ng0\nsI2\ng0\ns.": "more edges than",
	} {
		x, err := unpickle([]byte(file))
		if err == nil {
			_, err = graphEdges(x, 8)
		}
		refused(t, strconv.Quote(file), err, word)
	}
	for shape, word := range map[string]string{
		"K\x02K\x02\x86":             "column 2 of 2",
		"K\x03K\x03\x86":             "3 row pointers for 3 rows",
		"K\x02\x85":                  "shape",
		"K\x02J\xff\xff\xff\xff\x86": "entry 1 is not a length",
		"N":                          "shape",
	} {
		x, err := unpickle([]byte("\x80\x02" + csr2(shape)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = decodeCSR(x, "x")
		refused(t, strconv.Quote(shape), err, word)
	}
	for _, file := range []string{array0("'abcd'", "I2\n"), array0("'abcd'", "I4611686018427387904\nI4\n"), array0("'abcd'", "I-1\n"), array0("'abcd'", "S'x'\n")} {
		x, err := unpickle([]byte(file + "."))
		if err != nil {
			t.Fatal(err)
		}
		_, err = decodeArray(x, "x")
		refused(t, file, err, "shape")
	}
}

// damaged copies cora's raw files, with one replaced.
func damaged(t *testing.T, part, text string) string {
	t.Helper()
	from := testdata.Dir(t, "data/cora/raw")
	dir := t.TempDir()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(e.Name(), "cora."+part) {
			b = []byte(text)
			if text == "cut" {
				b, _ = os.ReadFile(filepath.Join(from, e.Name()))
				b = b[:len(b)/2]
			}
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPlanetoidRefused(t *testing.T) {
	for _, c := range []struct{ part, text, word string }{
		{"allx", "cut", "ind.cora.allx: byte"},
		{"graph", "cut", "ind.cora.graph: byte"},
		{"graph", "cos\nsystem\n(S'x'\ntR.", "os.system"},
		{"ally", "\x80\x02" + array2(1, 2) + ".", "ind.cora.ally: shape [2]"},
		{"y", "K\x01.", "ind.cora.y: a int"},
		{"test.index", "1708\n", "test.index 1"},
		{"test.index", "17o8\n", "ind.cora.test.index:1:"},
		{"test.index", strings.Repeat("1708\n", 1000), "test.index:2: vertex 1708 stands twice"},
		{"test.index", strings.Repeat("5\n", 1000), "test.index:1: vertex 5: must be at least 1708"},
		{"test.index", "4000000000\n" + strings.Repeat("1708\n", 999), "4000000001 vertices"},
	} {
		_, err := Load(damaged(t, c.part, c.text), Options{})
		refused(t, c.part+" "+c.text[:min(len(c.text), 20)], err, c.word)
	}
}

func FuzzPickle(f *testing.F) {
	f.Add([]byte("\x80\x02" + array2(1, 2) + "."))
	f.Add([]byte(array0(`'\x01\x00\x00\x00'`, "I1\n") + "."))
	f.Add([]byte("\x80\x02" + csr2("K\x02K\x03\x86")))
	f.Add([]byte("(dI0\n(lI1\naI2\nasI2\n(lI0\nas."))
	f.Add([]byte("ccollections\ndefaultdict\n(c__builtin__\nlist\ntR(K\x00](K\x01K\x02eu."))
	f.Fuzz(func(t *testing.T, file []byte) {
		x, err := unpickle(file)
		if err != nil {
			if len(err.Error()) > 100*len(file)+2000 {
				t.Fatalf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if e, err := graphEdges(x, int64(len(file))); err == nil {
			if err := e.Validate(); err != nil {
				t.Fatal(err)
			}
		}
		if a, err := decodeArray(x, "x"); err == nil {
			oneHotClasses(a, "x")
		}
		if m, err := decodeCSR(x, "x"); err == nil {
			m.spread("x")
		}
	})
}
