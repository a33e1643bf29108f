package dataset

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"pgregory.net/rapid"

	"sagann/chunk"
	"sagann/internal/draw"
)

// textOf is a text file in memory.
func textOf(t testing.TB, s string) *textFile {
	t.Helper()
	f, err := newText(strings.NewReader(s), int64(len(s)), "graph.txt")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func gz(s string) string {
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	w.Write([]byte(s))
	w.Close()
	return buf.String()
}

// A text may begin with a byte order mark, packed or not.
func TestByteOrderMark(t *testing.T) {
	for _, s := range []string{"\ufeff0 1\r\n1 2\r\n", gz("\ufeff0,1\n1,2\n"), "\ufeffsource,target\n0,1\n1,2\n"} {
		dir := writeFiles(t, map[string]string{"graph.csv": s})
		e, _, err := listAt(filepath.Join(dir, "graph.csv"), RelabelAuto)
		if err != nil || e.V != 3 || e.E() != 2 {
			t.Errorf("%q: %v, %v", s, e, err)
		}
	}
}

// readList reads an edge list.
func readList(t testing.TB, text string, relabel Relabel) (*chunk.Edges, []uint64, error) {
	return listAt(filepath.Join(writeFiles(t, map[string]string{"graph.txt": text}), "graph.txt"), relabel)
}

func listAt(path string, relabel Relabel) (*chunk.Edges, []uint64, error) {
	d, err := Load(path, Options{Relabel: relabel})
	if err != nil {
		return nil, nil, err
	}
	return d.Edges, d.Vertices.IDs, nil
}

// writeFiles makes a folder with the files.
func writeFiles(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// refused checks that err has all the words.
func refused(t *testing.T, what string, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: accepted", what)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: error %q lacks %q", what, err, w)
		}
	}
}

func TestEdgeListForms(t *testing.T) {
	plain := &chunk.Edges{V: 4, Src: []uint32{0, 1, 3}, Dst: []uint32{1, 2, 0}}
	weighted := &chunk.Edges{V: 4, Src: plain.Src, Dst: plain.Dst, Weight: []float32{1, 0.5, -2e3}}
	for text, want := range map[string]*chunk.Edges{
		"0 1\n1 2\n3 0\n":                         plain,
		"0\t1\n1\t2\n3\t0":                        plain,
		"0,1\r\n1,2\r\n3,0\r\n":                   plain,
		"0; 1\n1 ;2\n3 ; 0\n":                     plain,
		"# SNAP\n% more\n\n  0   1  \n1 2\n3 0\n": plain,
		"from,to\n0,1\n1,2\n3,0\n":                plain,
		"\"src\" \"dst\"\n0 1\n1 2\n3 0\n":        plain,
		"0 1 1.0\n1 2 1\n3 0 1e0\n":               plain,
		"0 1 1\n1 2 .5\n3 0 -2e3\n":               weighted,
		gz("0 1\n1 2\n3 0\n"):                     plain,
	} {
		e, ids, err := readList(t, text, RelabelAuto)
		if err != nil || ids != nil || !cmp.Equal(e, want) {
			t.Errorf("%q: %+v, %v, %v", text, e, ids, err)
		}
	}
}

func TestEdgeListRefused(t *testing.T) {
	for text, word := range map[string]string{
		"":                   "no edges",
		"# nothing\n":        "no edges",
		"0 1\n1\n":           ":2: destination",
		"0 1\n1 x\n":         ":2: destination",
		"0 1\n1 2 3\n":       ":2: 3 fields",
		"0 1 2\n1 2\n":       ":2: 2 fields",
		"0 1 2 3\n":          ":1: more than three",
		"0 1 NaN\n":          ":1: weight",
		"0 1 1e300\n":        ":1: weight",
		"0 1 inf\n":          ":1: weight",
		"0 1.5\n":            ":1: destination",
		"0,,1\n":             ":1: destination",
		"src dst\nsrc dst\n": ":2: source",
		"\x00\x01\x02":       ":1: source",
		"0 1.25e9999\n":      ":1: destination",
		"0 1-\n":             ":1: destination",
		"0 +\n":              ":1: destination",
		"0 .0\n":             ":1: destination",
	} {
		_, _, err := readList(t, text, RelabelAuto)
		refused(t, strconv.Quote(text), err, "graph.txt", word)
	}
	_, _, err := readList(t, "0 4000000000\n", RelabelNever)
	refused(t, "a large id", err, "4000000000")
	_, _, err = readList(t, "0 18446744073709551615\n", RelabelNever)
	refused(t, "the largest id", err, "18446744073709551615")
}

func TestRelabel(t *testing.T) {
	const text = "7 18446744073709551615\n7 1000000\n"
	for _, policy := range []Relabel{RelabelAuto, RelabelAlways} {
		e, ids, err := readList(t, text, policy)
		if err != nil || e.V != 3 || !cmp.Equal(e.Src, []uint32{0, 0}) || !cmp.Equal(e.Dst, []uint32{2, 1}) || ids[2] != math.MaxUint64 {
			t.Errorf("%+v, %v, %v", e, ids, err)
		}
	}
	if e, ids, err := readList(t, "0 9\n", RelabelNever); err != nil || e.V != 10 || ids != nil {
		t.Errorf("%+v, %v, %v", e, ids, err)
	}
	if e, ids, err := readList(t, "0 2\n", RelabelAlways); err != nil || e.V != 2 || !cmp.Equal(ids, []uint64{0, 2}) {
		t.Errorf("%+v, %v, %v", e, ids, err)
	}
}

// A small file that expands without end must not fill memory.
func TestGzipBomb(t *testing.T) {
	_, _, err := readList(t, gz(strings.Repeat("#", 17<<20)), RelabelAuto)
	refused(t, "one long line", err, ":1:")
	_, _, err = readList(t, gz(strings.Repeat(strings.Repeat("#", 1<<16)+"\n", 1200)), RelabelAuto)
	refused(t, "many comments", err, "expands")
}

func TestParseFloatIsStrconv(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`-?[0-9]{0,18}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,3})?`).Draw(t, "s")
		got, err := parseFloat([]byte(s))
		want, wantErr := strconv.ParseFloat(s, 64)
		if (err == nil) != (wantErr == nil) || err == nil && got != want {
			t.Fatalf("%q: %v, %v; strconv %v, %v", s, got, err, want, wantErr)
		}
	})
}

func TestSimplifyIsDumb(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		v := rapid.IntRange(1, 6).Draw(t, "v")
		n := rapid.IntRange(0, 40).Draw(t, "n")
		id := rapid.Uint32Range(0, uint32(v-1))
		e := &chunk.Edges{V: v, Types: 9, DataCols: 2}
		first, sum := map[[2]uint32]int{}, map[[2]uint32]float32{}
		for i := range n {
			a, b := id.Draw(t, "a"), id.Draw(t, "b")
			e.Src, e.Dst = append(e.Src, a), append(e.Dst, b)
			e.Weight, e.Type = append(e.Weight, float32(i)), append(e.Type, uint32(i%9))
			e.Data = append(e.Data, float32(i), float32(-i))
			sum[[2]uint32{a, b}] += float32(i)
			if _, ok := first[[2]uint32{a, b}]; !ok && a != b {
				first[[2]uint32{a, b}] = i
			}
		}
		got := Simplify(e)
		if got.E() != len(first) {
			t.Fatalf("%d edges, want %d", got.E(), len(first))
		}
		for k := range got.Src {
			i, ok := first[[2]uint32{got.Src[k], got.Dst[k]}]
			if !ok || got.Weight[k] != sum[[2]uint32{got.Src[k], got.Dst[k]}] || got.Type[k] != uint32(i%9) || got.Data[2*k+1] != float32(-i) {
				t.Fatalf("edge %d is not the first of its kind", k)
			}
			if k > 0 && (got.Src[k-1] > got.Src[k] || got.Src[k-1] == got.Src[k] && got.Dst[k-1] >= got.Dst[k]) {
				t.Fatalf("edge %d is out of order", k)
			}
		}
	})
}

func FuzzEdgeList(f *testing.F) {
	for _, s := range []string{"0 1\n1 2\n", "a,b\n0,1,0.5\n", "# c\n0;1\n", "0 99999999999\n", gz("0 1\n")} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		checkDoor(t, "graph.txt", string(file))
	})
}
